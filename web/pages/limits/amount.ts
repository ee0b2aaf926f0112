// Parses typed amounts, with or without separators between thousands. Whole numbers only, and as
// text: they may exceed the precision of a JavaScript number.
import type { IntegerText, Kopecks } from '../../../src/cabinet/contract/contract.ts'

/** Null for empty text, undefined for text that is not an amount. */
export function wholeOf(text: string): IntegerText | null | undefined {
  const digits = text.replace(/[\s,.'’]/gu, '').replace(/^0+(?=\d)/, '')
  if (digits === '') return null
  return /^[1-9]\d{0,11}$/.test(digits) ? digits : undefined
}

/** Reads whole rubles. */
export function kopecksOf(text: string): Kopecks | null | undefined {
  const rubles = wholeOf(text)
  return rubles === null || rubles === undefined ? rubles : `${rubles}00`
}

/** A small number such as days; null for empty text, undefined if invalid or above `max`. */
export function countOf(text: string, max: number): number | null | undefined {
  const whole = wholeOf(text)
  if (whole === null || whole === undefined) return whole
  return Number(whole) <= max ? Number(whole) : undefined
}
