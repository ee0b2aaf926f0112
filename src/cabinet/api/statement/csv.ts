// CSV by RFC 4180, for spreadsheets. Text that a spreadsheet would run as a formula gets an
// apostrophe in front: a pack's name must not run in an accountant's file.

/** `number`: our own number, written unchanged. Text may come from outside and is escaped. */
export type Field = { readonly number: string | bigint } | string | null

/** Excel reads a file as UTF-8 only if it begins with this mark. */
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
