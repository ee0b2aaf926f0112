// Amounts and times in the contract's form: decimal text, because JSON's numbers are floats.
import { type Credits, creditsText, wholeCredits } from '../../../units/credits.ts'
import type * as contract from '../contract/contract.ts'

/** Whole credits for display, and the exact amount. */
export function creditsOf(amount: Credits): contract.Credits {
  return { whole: String(wholeCredits(amount)), exact: creditsText(amount) }
}

export function creditsOrNull(amount: Credits | null): contract.Credits | null {
  return amount === null ? null : creditsOf(amount)
}

export function timeOf(date: Date): contract.Time {
  return date.toISOString()
}

export function timeOrNull(date: Date | null | undefined): contract.Time | null {
  return date === null || date === undefined ? null : timeOf(date)
}
