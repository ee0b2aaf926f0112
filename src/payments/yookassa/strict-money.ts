// Parses an amount as the provider writes it: digits, a dot, exactly two digits. Anything else is
// null, never rounded or repaired, and the payment goes to review.
import type { Kopecks } from '../../units/kopecks.ts'

/** Thirteen digits before the dot allow ten trillion rubles, more than any payment. */
const STRICT = /^(0|[1-9]\d{0,12})\.(\d{2})$/

export function strictKopecks(text: unknown): Kopecks | null {
  const match = typeof text === 'string' ? STRICT.exec(text) : null
  return match === null ? null : (BigInt(`${match[1]}${match[2]}`) as Kopecks)
}
