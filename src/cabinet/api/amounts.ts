// Amounts and times as the contract writes them: decimal text, because JSON's numbers are floats.
import { type Credits, creditsText, wholeCredits } from '../../units/credits.ts'
import type * as contract from '../contract/contract.ts'

/** Whole credits for reading, and the exact amount beside them; microcredits are never shown. */
export function creditsOf(amount: Credits): contract.Credits {
  return { whole: String(wholeCredits(amount)), exact: creditsText(amount) }
}

export function timeOf(date: Date): contract.Time {
  return date.toISOString()
}

export function timeOrNull(date: Date | null | undefined): contract.Time | null {
  return date === null || date === undefined ? null : timeOf(date)
}
