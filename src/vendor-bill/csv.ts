// CSV as spreadsheets write it: cells with commas or quotes stand in quotes, a quote is doubled.

/** The names of the first line, and every other line by them. */
export function csvRecords(text: string): {
  readonly columns: readonly string[]
  readonly records: readonly Readonly<Record<string, string>>[]
} {
  const [columns = [], ...lines] = cellsOf(text.replace(/^\uFEFF/, ''))
  const records = lines
    .filter((cells) => cells.some((cell) => cell !== ''))
    .map((cells) => Object.fromEntries(columns.map((name, i) => [name, cells[i] ?? ''])))
  return { columns, records }
}

function cellsOf(text: string): string[][] {
  const lines: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^,"\r\n]*))(,|\r?\n|$)/g,
  )) {
    lines.at(-1)?.push((quoted?.replaceAll('""', '"') ?? plain).trim())
    if (end === '') break
    if (end !== ',') lines.push([])
  }
  return lines
}
