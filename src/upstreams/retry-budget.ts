// Limits the retries at targets that are not well: during an outage, retrying everything would
// double the load on upstreams that are already failing. A retry at a well target takes nothing.
// The budget is a share of the requests, plus a reserve for the first moments of an outage. Each
// account has its own part of it: one whose requests always fail must not use up the others' part.
import type { BookId } from '../platform/ids.ts'

/** One retry for every two requests: failing upstreams get at most half as much again. */
const RETRIES_PER_REQUEST = 0.5
const RETRIES_MAX = 100
/** Of one account: half of the reserve, so that the others keep half. */
const ACCOUNT_RETRIES_MAX = RETRIES_MAX / 2
/** A few bytes each; an account that is forgotten has its whole part again. */
const ACCOUNTS_MAX = 10_000

export function createRetryBudget() {
  const state = { left: RETRIES_MAX }
  /** What accounts have left that have not earned back what they took. */
  const leftOf = new Map<BookId, number>()
  const ownOf = (book: BookId) => leftOf.get(book) ?? ACCOUNT_RETRIES_MAX
  const has = (book: BookId) => state.left >= 1 && ownOf(book) >= 1
  return {
    /** Whether a retry is left, for this account and for all. */
    has,
    /** A request of this account arrived: it earns its share of a retry. */
    earn(book: BookId): void {
      state.left = Math.min(RETRIES_MAX, state.left + RETRIES_PER_REQUEST)
      const own = leftOf.get(book)
      if (own === undefined) return
      if (own + RETRIES_PER_REQUEST >= ACCOUNT_RETRIES_MAX) leftOf.delete(book)
      else leftOf.set(book, own + RETRIES_PER_REQUEST)
    },
    /** Takes one retry; false when none is left. */
    take(book: BookId): boolean {
      if (!has(book)) return false
      state.left -= 1
      leftOf.set(book, ownOf(book) - 1)
      const [longestKnown] = leftOf.keys()
      if (leftOf.size > ACCOUNTS_MAX && longestKnown !== undefined) leftOf.delete(longestKnown)
      return true
    },
    accounts: (): number => leftOf.size,
  }
}

export type RetryBudget = ReturnType<typeof createRetryBudget>
