// The limits that an owner sets on a book, and whether a change of them lets more through. Making
// them stricter protects and is always welcome; making them looser wants a fresh session.
import type { Credits } from '../units/credits.ts'

export type Velocity = { readonly limit: Credits; readonly minutes: number }

export type Limits = {
  /** Credits that one day may cost; null: any. */
  readonly dayLimit: Credits | null
  /** More than this within so many minutes stops the book; null: nothing does. */
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
