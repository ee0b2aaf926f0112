// The limits that an owner sets on a book, and whether a change makes them looser. Stricter limits
// are always allowed; looser ones need a recent proof of the password.
import type { Credits } from '../units/credits.ts'

export type Velocity = { readonly limit: Credits; readonly minutes: number }

export type Limits = {
  /** Credits that may be spent in one day; null: no limit. */
  readonly dayLimit: Credits | null
  /** Spending more than this within these minutes stops the book; null: no limit. */
  readonly velocity: Velocity | null
}

export function isLooser(before: Limits, after: Limits): boolean {
  return (
    isHigher(before.dayLimit, after.dayLimit) ||
    isHigher(before.velocity?.limit ?? null, after.velocity?.limit ?? null) ||
    // The same sum within a shorter time is a higher speed.
    (before.velocity?.minutes ?? 0) > (after.velocity?.minutes ?? 0)
  )
}

function isHigher(before: Credits | null, after: Credits | null): boolean {
  return before !== null && (after === null || after > before)
}
