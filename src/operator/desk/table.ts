// Tables and cards for a terminal of eighty columns: two spaces between columns, numbers to the
// right, and the last column cut rather than wrapped.

export type Column = {
  readonly head: string
  readonly side?: 'right'
}

/** One line for the heads and one for each row; an empty list of rows is no table. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  if (rows.length === 0) return []
  const all = [columns.map(({ head }) => head), ...rows]
  const widths = columns.map((_, i) => Math.max(...all.map((row) => lengthOf(row[i] ?? ''))))
  return all.map((row) => {
    const cells = columns.map(({ side }, i) => {
      const cell = row[i] ?? ''
      const pad = ' '.repeat((widths[i] ?? 0) - lengthOf(cell))
      return side === 'right' ? pad + cell : cell + pad
    })
    return cut(cells.join('  ').trimEnd(), width)
  })
}

/** `label     value` lines; a label without a value is left out. */
export function cardOf(facts: readonly (readonly [string, string | undefined])[]): string[] {
  return facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(10)}${value}`],
  )
}

/** The text, at most so many characters of it; an ellipsis stands for the rest. */
export function cut(text: string, width: number): string {
  const letters = [...text]
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join('')}…`
}

function lengthOf(text: string): number {
  return [...text].length
}
