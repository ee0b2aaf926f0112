// Waiting for a database that is away or has no connection left: again and again with growing
// pauses, and with one line in the log when it goes and one when it is back, however many ask it.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { isDatabaseUnavailable } from './database-errors.ts'

const PAUSE_MS_MIN = 500
/** Work must go on within 15 s of a database that is back; this pause may take a third of them. */
const PAUSE_MS_MAX = 5_000
/**
 * Where one connection works and the next is refused, answers and refusals alternate; without a
 * quiet span each pair of them would be two lines. Longer than five polls of a worker.
 */
const QUIET_MS = 10_000

export type Patience = ReturnType<typeof createPatience>

export function createPatience({
  log,
  clock,
  signal,
}: {
  readonly log: Log
  readonly clock: Clock
  /** Ends the waiting. */
  readonly signal: AbortSignal
}) {
  const state = { isAway: false, failedMs: 0 }

  function failed(error: unknown): void {
    state.failedMs = clock.spanMs()
    if (state.isAway) return
    state.isAway = true
    log.warn({ err: error }, 'the database is away: work waits for it')
  }

  function answered(): void {
    if (!state.isAway || clock.spanMs() - state.failedMs < QUIET_MS) return
    state.isAway = false
    log.info('the database is back: work goes on')
  }

  /** Half a second, and each time twice as long. Resolves early, and quietly, at the end. */
  async function wait(tries: number): Promise<void> {
    const ms = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(tries, 16))
    await pause(ms, undefined, { signal }).catch(() => undefined)
  }

  return {
    failed,
    answered,
    wait,
    /**
     * Does it, as often as the database is away; it must bear to be repeated. False when the end
     * came first. Throws what no waiting mends, such as a wrong password.
     */
    async persist(work: () => Promise<unknown>): Promise<boolean> {
      for (let tries = 0; !signal.aborted; tries++) {
        try {
          await work()
          return true
        } catch (error) {
          if (!isDatabaseUnavailable(error)) throw error
          failed(error)
        }
        await wait(tries)
      }
      return false
    },
  }
}
