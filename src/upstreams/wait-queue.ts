// Requests that wait for a target. Each looks for one again when a target has room, when the
// operator changed something, and when a pause ends. Of those that wait, the first that can use a
// target gets it. They take no place in platform/slots.ts: a wait ends after 1.5 s (route.ts).
import type { Clock } from '../platform/clock.ts'

type WaitOptions<Found> = {
  /** Returns what is available now. Called repeatedly until it finds something. */
  find(): Found | undefined
  /** When to call `find` next, by the monotonic clock; undefined: only after `wake`. */
  nextMs(): number | undefined
  /** When to give up; may change during the wait. */
  untilMs(): number
}

export type PendingWait<Found> = {
  /** Resolves with undefined at the end of the time, or after `abandon`. */
  readonly found: Promise<Found | undefined>
  abandon(): void
}

export function createWaitQueue(clock: Clock) {
  const waiters = new Set<() => void>()
  return {
    /** Something has changed: all look again, the longest waiting first. */
    wake(): void {
      for (const retry of [...waiters]) retry()
    },
    /** There is room for one request: the one that waits longest and can use it gets it. */
    wakeOne(): void {
      for (const retry of waiters) {
        retry()
        if (!waiters.has(retry)) return
      }
    },
    size: (): number => waiters.size,

    wait<Found>({ find, nextMs, untilMs }: WaitOptions<Found>): PendingWait<Found> {
      const deferred = Promise.withResolvers<Found | undefined>()
      const state: { timer?: NodeJS.Timeout; isLast: boolean } = { isLast: false }
      const end = (found: Found | undefined) => {
        if (!waiters.delete(retry)) return
        clearTimeout(state.timer)
        deferred.resolve(found)
      }
      const retry = () => {
        if (!waiters.has(retry)) return
        const found = find()
        const nowMs = clock.spanMs()
        if (found !== undefined || state.isLast) {
          end(found)
          return
        }
        clearTimeout(state.timer)
        const endMs = untilMs()
        if (nowMs >= endMs) {
          // Node runs timers before it reads sockets: after a busy turn an answer may have arrived
          // but not been read yet.
          state.isLast = true
          setImmediate(retry)
          return
        }
        const ms = Math.min(endMs, nextMs() ?? endMs) - nowMs
        // Timers take whole milliseconds and may fire slightly early.
        state.timer = setTimeout(retry, Math.max(1, Math.ceil(ms)))
      }
      waiters.add(retry)
      retry()
      return { found: deferred.promise, abandon: () => end(undefined) }
    },
  }
}

export type WaitQueue = ReturnType<typeof createWaitQueue>
