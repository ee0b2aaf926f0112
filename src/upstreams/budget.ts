// How many repeats the gateway may add to what clients send: in a storm, repeating everything would
// double the load on upstreams that are already failing. A share of the requests, and a reserve for
// the first moments of trouble.

/** One repeat for every two requests: enough to move off a sick upstream while breakers open. */
const SHARE = 0.5
const RESERVE = 100

export function createRetryBudget() {
  const state = { left: RESERVE }
  return {
    /** A request came: it earns its share of a repeat. */
    earn(): void {
      state.left = Math.min(RESERVE, state.left + SHARE)
    },
    /** Takes one repeat; false when there is none. */
    take(): boolean {
      if (state.left < 1) return false
      state.left -= 1
      return true
    },
    left: () => state.left,
  }
}

export type RetryBudget = ReturnType<typeof createRetryBudget>
