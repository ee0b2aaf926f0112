// A month as CSV (RFC 4180): one figure per line, with its section, what it is of, and its unit;
// corrections and differences after the figures. Amounts are exact decimal texts.
import { type Credits, creditsText } from '../units/credits.ts'
import type { Difference, FigureLine, Unit } from './lines.ts'
import type { MonthReport } from './months.ts'

const HEAD = 'month,about,section,item,figure,unit,value'

export function csvOf({ figures, lines, corrections, differences }: MonthReport): string[] {
  const { month } = figures
  const line = (about: string, one: Omit<FigureLine, 'value'>, value: bigint | null) =>
    [month, about, one.section, one.item, one.figure, one.unit, valueText(value, one.unit)]
      .map(cell)
      .join(',')
  const changed = (about: string, one: Difference) => line(about, one, one.difference)
  return [
    HEAD,
    ...lines.map((one) => line('', one, one.value)),
    ...corrections.map((one) => changed(`correction of ${one.about}`, one)),
    ...differences.map((one) => changed('found since the seal', one)),
  ]
}

/** `1234.5` credits, `-1300.00` roubles, `12.3` percent; empty: not known. */
export function valueText(value: bigint | null, unit: Unit): string {
  if (value === null) return ''
  if (unit === 'credits') return creditsText(value as Credits)
  if (unit === 'count') return String(value)
  return decimal(value, unit === 'roubles' ? 2 : 1)
}

function decimal(value: bigint, digits: number): string {
  const size = (value < 0n ? -value : value).toString().padStart(digits + 1, '0')
  return `${value < 0n ? '-' : ''}${size.slice(0, -digits)}.${size.slice(-digits)}`
}

/** An apostrophe is put before text that a spreadsheet would run as a formula. */
function cell(text: string): string {
  const safe = /^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
