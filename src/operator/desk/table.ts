// Formats tables and label-value lists for a terminal: two spaces between columns, numbers aligned
// right, and long lines cut instead of wrapped.

export type Column = {
  readonly head: string
  readonly side?: 'right'
}

/** One line for the headings and one for each row; no lines when there are no rows. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  if (rows.length === 0) return []
  const all = [columns.map(({ head }) => head), ...rows.map((row) => row.map(visible))]
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

/** Lines of `label     value`; labels without a value are left out. */
export function cardOf(facts: readonly (readonly [string, string | undefined])[]): string[] {
  return facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`${label.padEnd(10)}${value}`],
  )
}

/**
 * Escapes what would control the terminal instead of being shown: control characters, line breaks
 * of Unicode, and changes of direction. A row may have text of a client, a file name or an error.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}

/** Cuts the text to `width` characters, the last of them an ellipsis. */
export function cut(text: string, width: number): string {
  const letters = [...text]
  return letters.length <= width ? text : `${letters.slice(0, width - 1).join('')}…`
}

function lengthOf(text: string): number {
  return [...text].length
}
