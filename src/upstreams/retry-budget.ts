// Limits the retries at targets that are not well: during an outage, retrying everything would
// double the load on upstreams that are already failing. A retry at a well target takes nothing.
// The budget is a share of the requests, plus a reserve for the first moments of an outage.

/** One retry for every two requests: failing upstreams get at most half as much again. */
const RETRIES_PER_REQUEST = 0.5
const RETRIES_MAX = 100

export function createRetryBudget() {
  const state = { left: RETRIES_MAX }
  return {
    /** A request arrived: it earns its share of a retry. */
    earn(): void {
      state.left = Math.min(RETRIES_MAX, state.left + RETRIES_PER_REQUEST)
    },
    /** Takes one retry; false when none is left. */
    take(): boolean {
      if (state.left < 1) return false
      state.left -= 1
      return true
    },
  }
}

export type RetryBudget = ReturnType<typeof createRetryBudget>
