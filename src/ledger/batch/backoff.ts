// How long something rests after failures. The batcher keeps one for the database as a whole and
// one for each lane. Without it a database that is away would be asked thousands of times a second.

/** The first pause; each further failure in a row doubles it, up to the maximum. */
const RETRY_MS = 50
const RETRY_MS_MAX = 1_000

export type Backoff = {
  /** One more failure in a row. */
  fail(): void
  /** Ends the row of failures. */
  succeed(): void
  isFailing(): boolean
  /** Runs `next` at once, or after the pause that the failures so far ask for. */
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
