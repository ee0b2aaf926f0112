// Requests that wait for a target. Each looks for one again when a target has room for its group
// (a path and a model), when the operator changed something, and when a pause ends. Of those that
// wait, the first that can use a target gets it. The gateway bounds how many wait at a time
// (admission.ts).
import type { Clock } from '../platform/clock.ts'

/**
 * How many of a group look when there is room for one. Those that cannot use it, because the target
 * asked their account for a pause or has refused them, go to the end: with thousands of them in
 * front, each request that ends would otherwise make all of them look.
 */
const LOOKS_MAX = 16

type WaitOptions<Found> = {
  /** What becomes free for one request of a group can be used by the others. */
  readonly group: string
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
  const groups = new Map<string, Set<() => void>>()

  function waitersOf(group: string): Set<() => void> {
    const waiters = groups.get(group) ?? new Set()
    groups.set(group, waiters) // bounded: the gateway refuses models that are not in the catalogue
    return waiters
  }

  return {
    /** Something has changed: all look again, the longest waiting first. */
    wake(): void {
      for (const waiters of groups.values()) for (const retry of [...waiters]) retry()
    },
    /** There is room for one request of a group: the first that can use it gets it. */
    wakeOne(group: string): void {
      const waiters = waitersOf(group)
      for (const retry of waiters.values().take(LOOKS_MAX).toArray()) {
        retry()
        if (!waiters.delete(retry)) return
        waiters.add(retry)
      }
    },
    size: (): number => [...groups.values()].reduce((sum, waiters) => sum + waiters.size, 0),

    wait<Found>({ group, find, nextMs, untilMs }: WaitOptions<Found>): PendingWait<Found> {
      const waiters = waitersOf(group)
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
