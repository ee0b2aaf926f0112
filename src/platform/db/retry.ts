// Repeats work while the database is unavailable or has no connection left, with growing pauses. It
// logs one line when the database goes away and one when it is back, however many callers there
// are.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { isDatabaseUnavailable } from './database-errors.ts'

const PAUSE_MS_MIN = 500
/** Work must resume within 15 s after the database is back; a pause may take a third of that. */
const PAUSE_MS_MAX = 5_000
/**
 * When one connection works and the next is refused, successes and failures alternate, and each
 * pair would log two lines. So it counts as back only after this time without a failure, which is
 * longer than five polls of a worker.
 */
const QUIET_MS = 10_000

export type DatabaseRetry = ReturnType<typeof createDatabaseRetry>

export function createDatabaseRetry({
  log,
  clock,
  signal,
}: {
  readonly log: Log
  readonly clock: Clock
  /** Ends the retries. */
  readonly signal: AbortSignal
}) {
  const state = { isUnavailable: false, failedMs: 0 }

  function reportFailure(error: unknown): void {
    state.failedMs = clock.spanMs()
    if (state.isUnavailable) return
    state.isUnavailable = true
    log.warn({ err: error }, 'the database is away: work waits for it')
  }

  function reportSuccess(): void {
    if (!state.isUnavailable || clock.spanMs() - state.failedMs < QUIET_MS) return
    state.isUnavailable = false
    log.info('the database is back: work goes on')
  }

  /**
   * Pauses half a second, doubled with each try. Resolves at once, without an error, when `signal`
   * aborts.
   */
  async function backOff(tries: number): Promise<void> {
    const ms = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(tries, 16))
    await pause(ms, undefined, { signal }).catch(() => undefined)
  }

  return {
    reportFailure,
    reportSuccess,
    backOff,
    /**
     * Runs `work` until it succeeds; `work` must be repeatable. Returns false when `signal` aborted
     * first. Throws errors that are not transient, such as a wrong password.
     */
    async retryUntilAvailable(work: () => Promise<unknown>): Promise<boolean> {
      for (let tries = 0; !signal.aborted; tries++) {
        try {
          await work()
          return true
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error
          reportFailure(error)
        }
        await backOff(tries)
      }
      return false
    },
  }
}
