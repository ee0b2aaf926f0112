// Amounts that people type: digits in groups as they were shown, or without. Whole numbers only,
// and as text: they may be beyond what a JavaScript number holds exactly.
import type { Kopecks, Whole } from '../../../src/cabinet/contract/contract.ts'

/** Empty text is no amount: null. Undefined: it cannot be read. */
export function wholeOf(text: string): Whole | null | undefined {
  const digits = text.replace(/[\s,.'’]/gu, '').replace(/^0+(?=\d)/, '')
  if (digits === '') return null
  return /^[1-9]\d{0,11}$/.test(digits) ? digits : undefined
}

/** Whole rubles, as people agree to sums. */
export function kopecksOf(text: string): Kopecks | null | undefined {
  const rubles = wholeOf(text)
  return rubles === null || rubles === undefined ? rubles : `${rubles}00`
}

/** A small number such as days; null for empty, undefined when it is none or too large. */
export function countOf(text: string, max: number): number | null | undefined {
  const whole = wholeOf(text)
  if (whole === null || whole === undefined) return whole
  return Number(whole) <= max ? Number(whole) : undefined
}
