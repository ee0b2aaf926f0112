// Requests that have nowhere to go and wait for a target to get well: each looks when one did, when
// the operator changed something, and when a sick one may be asked again. First come, first served.
import type { Clock } from '../platform/clock.ts'

export type Wanted<Found> = {
  /** What is there now. Called again until it finds something. */
  look(): Found | undefined
  /** When the next look is worth it, on the clock of spans; undefined: only when woken. */
  nextMs(): number | undefined
  /** When to give up; may move while it waits. */
  untilMs(): number
}

export type Wait<Found> = {
  /** Undefined at the end of the time, or when abandoned. */
  readonly found: Promise<Found | undefined>
  abandon(): void
}

export function createWaiting(clock: Clock) {
  const looks = new Set<() => void>()
  return {
    /** Something has changed: all look again, the longest waiting first. */
    wake(): void {
      for (const look of [...looks]) look()
    },
    size: (): number => looks.size,

    wait<Found>({ look, nextMs, untilMs }: Wanted<Found>): Wait<Found> {
      const settled = Promise.withResolvers<Found | undefined>()
      const state: { timer?: NodeJS.Timeout; isLast: boolean } = { isLast: false }
      const end = (found: Found | undefined) => {
        if (!looks.delete(again)) return
        clearTimeout(state.timer)
        settled.resolve(found)
      }
      const again = () => {
        if (!looks.has(again)) return
        const found = look()
        const nowMs = clock.spanMs()
        if (found !== undefined || state.isLast) {
          end(found)
          return
        }
        clearTimeout(state.timer)
        const endMs = untilMs()
        if (nowMs >= endMs) {
          // Timers come before the network: after a busy turn the answer may be there, unread.
          state.isLast = true
          setImmediate(again)
          return
        }
        const ms = Math.min(endMs, nextMs() ?? endMs) - nowMs
        // Timers are whole milliseconds and may come a little early.
        state.timer = setTimeout(again, Math.max(1, Math.ceil(ms)))
      }
      looks.add(again)
      again()
      return { found: settled.promise, abandon: () => end(undefined) }
    },
  }
}

export type Waiting = ReturnType<typeof createWaiting>
