// Keeps calls to a provider within a number per second. Providers do not publish their limits, and
// one that throttles us while people pay is worse than a short wait. A window of the last starts,
// shared by everything in this process that asks the provider.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'

/** Longer than this the answer would come too late for whoever waits. */
const WAIT_MS_MAX = 10_000
const SECOND_MS = 1_000

export function createLimiter(options: {
  readonly perSecond: number
  readonly clock: Clock
  /** Waits; turned by hand together with the clock. */
  readonly wait?: (ms: number) => Promise<unknown>
}) {
  const { perSecond, clock, wait = pause } = options
  /** When the last calls start, oldest first; some of them are still to come. */
  const starts: number[] = []

  return {
    /** Resolves when a call may start; false when its turn is too far away. */
    async enter(): Promise<boolean> {
      const nowMs = clock.spanMs()
      const oldest = starts.length < perSecond ? undefined : starts[starts.length - perSecond]
      const startMs = Math.max(nowMs, oldest === undefined ? nowMs : oldest + SECOND_MS)
      if (startMs - nowMs > WAIT_MS_MAX) return false
      starts.push(startMs)
      if (starts.length > perSecond) starts.splice(0, starts.length - perSecond)
      // Timers may fire a millisecond early; one more keeps the second whole.
      if (startMs > nowMs) await wait(Math.ceil(startMs - nowMs) + 1)
      return true
    },

    /** The provider said when to come back: nobody asks before. */
    holdOff(ms: number): void {
      const untilMs = clock.spanMs() + Math.min(ms, WAIT_MS_MAX) - SECOND_MS
      while (starts.length < perSecond) starts.unshift(untilMs)
      for (const [i, at] of starts.entries()) starts[i] = Math.max(at, untilMs)
    },
  }
}

export type Limiter = ReturnType<typeof createLimiter>
