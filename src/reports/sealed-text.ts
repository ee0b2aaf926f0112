// A month as the text that is sealed, and back. Amounts are texts in JSON, because its numbers are
// not exact; every other text is a member that TEXTS names.
import { createHash } from 'node:crypto'
import type { Difference } from './lines.ts'
import type { MonthFigures } from './month.ts'

/** What became known since of a month that was sealed earlier. */
export type Correction = Difference & {
  /** The sealed month that it is about. */
  readonly about: string
}

export type Sealed = {
  readonly figures: MonthFigures
  readonly corrections: readonly Correction[]
}

/** Members whose values are texts or small numbers, not amounts. */
const TEXTS = new Set([
  ...['month', 'timeZone', 'from', 'to', 'kind', 'pack', 'title', 'reason', 'contra'],
  ...['section', 'item', 'figure', 'unit', 'about'],
])

export function sealedText(sealed: Sealed): string {
  return JSON.stringify(sealed, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

export function readSealed(text: string): Sealed {
  return JSON.parse(text, (name, value) =>
    typeof value === 'string' && !TEXTS.has(name) ? BigInt(value) : value,
  ) as Sealed
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}
