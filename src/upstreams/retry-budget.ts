// Limits the retries that the gateway adds to its clients' requests: during an outage, retrying
// everything would double the load on upstreams that are already failing. The budget is a share of
// the requests, plus a reserve for the first moments of an outage.

/** One retry for every two requests: enough to leave a failing upstream while its breaker opens. */
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
    left: () => state.left,
  }
}

export type RetryBudget = ReturnType<typeof createRetryBudget>
