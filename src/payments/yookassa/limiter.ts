// Limits the calls to a provider per second, for the whole process. Providers do not publish their
// limits, and being throttled while people pay is worse than a short wait. It is a sliding window
// over the start times of the last calls.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'

/** After a longer wait the answer would come too late for the caller. */
const WAIT_MS_MAX = 10_000
const SECOND_MS = 1_000

export function createLimiter(options: {
  readonly perSecond: number
  readonly clock: Clock
  /** Waits; tests replace it together with the clock. */
  readonly wait?: (ms: number) => Promise<unknown>
}) {
  const { perSecond, clock, wait = pause } = options
  /** Start times of the last calls, oldest first; some are in the future. */
  const starts: number[] = []

  return {
    /** Resolves when a call may start; false when the wait would be too long. */
    async acquire(): Promise<boolean> {
      const nowMs = clock.spanMs()
      const oldest = starts.length < perSecond ? undefined : starts[starts.length - perSecond]
      const startMs = Math.max(nowMs, oldest === undefined ? nowMs : oldest + SECOND_MS)
      if (startMs - nowMs > WAIT_MS_MAX) return false
      starts.push(startMs)
      if (starts.length > perSecond) starts.splice(0, starts.length - perSecond)
      // Timers may fire a millisecond early, so wait one more.
      if (startMs > nowMs) await wait(Math.ceil(startMs - nowMs) + 1)
      return true
    },

    /** The provider asked for a pause: no call starts before it is over. */
    holdOff(ms: number): void {
      const untilMs = clock.spanMs() + Math.min(ms, WAIT_MS_MAX) - SECOND_MS
      while (starts.length < perSecond) starts.unshift(untilMs)
      for (const [i, at] of starts.entries()) starts[i] = Math.max(at, untilMs)
    },
  }
}

export type Limiter = ReturnType<typeof createLimiter>
