// The pause after failures. The batcher has one backoff for the whole database and one for each
// lane. Without it, an unavailable database would get thousands of calls a second.

/** The first pause; each further failure in a row doubles it, up to the maximum. */
const RETRY_MS = 50
const RETRY_MS_MAX = 1_000

export type Backoff = {
  /** One more failure in a row. */
  fail(): void
  /** Resets the count of failures. */
  succeed(): void
  isFailing(): boolean
  /** Runs `next` at once, or after a pause that depends on the number of failures. */
  rest(next: () => void): void
}

export function createBackoff(): Backoff {
  let failures = 0
  return {
    fail() {
      failures += 1
    },
    succeed() {
      failures = 0
    },
    isFailing: () => failures > 0,
    rest(next) {
      if (failures === 0) next()
      else setTimeout(next, Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX))
    },
  }
}
