// CSV as RFC 4180 has it, for spreadsheets. Text that a spreadsheet would take for a formula is
// told to be text by an apostrophe: a pack's name must not run in an accountant's file.

/** A number of ours, as it is; or text, which may be from anywhere. */
export type Field = { readonly number: string | bigint } | string | null

/** Excel reads UTF-8 only after this mark. */
export const BYTE_ORDER_MARK = '\uFEFF'

export function csvLine(fields: readonly Field[]): string {
  return `${fields.map(fieldText).join(',')}\r\n`
}

function fieldText(field: Field): string {
  if (field === null) return ''
  if (typeof field === 'object') return String(field.number)
  const text = /^[=+\-@\t\r]/.test(field) ? `'${field}` : field
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
