// Money as a provider writes it: digits, a dot, exactly two digits. Anything else is not rounded,
// guessed or repaired: it is null, and an order with such an amount goes to a person.
import type { Kopecks } from '../../units/kopecks.ts'

/** Thirteen digits before the dot are ten trillion rubles; more is not a payment. */
const STRICT = /^(0|[1-9]\d{0,12})\.(\d{2})$/

export function strictKopecks(text: unknown): Kopecks | null {
  const match = typeof text === 'string' ? STRICT.exec(text) : null
  return match === null ? null : (BigInt(`${match[1]}${match[2]}`) as Kopecks)
}
