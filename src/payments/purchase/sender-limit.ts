// Counts notifications that tell us nothing, per sender and minute: of no order of ours, repeats,
// unreadable ones, and events that we do not use. Most cost a database lookup; a sender above the
// limit gets 429 instead. Memory is bounded: the oldest counts are dropped.
import type { Clock } from '../../platform/clock.ts'

const WINDOW_MS = 60_000
/** A shop shared with another site sends us some of its notifications; a flood is thousands. */
const PER_MINUTE = 300
/** About 100 bytes each. An attacker with more addresses only pushes out other counts. */
const SENDERS_MAX = 10_000

export function createSenderLimit(clock: Clock) {
  const counts = new Map<string, { count: number; readonly sinceMs: number }>()

  function current(peer: string) {
    const known = counts.get(peer)
    return known !== undefined && clock.spanMs() - known.sinceMs < WINDOW_MS ? known : undefined
  }

  return {
    isExceeded: (peer: string): boolean => (current(peer)?.count ?? 0) >= PER_MINUTE,

    count(peer: string): void {
      const known = current(peer) ?? { count: 0, sinceMs: clock.spanMs() }
      known.count += 1
      counts.delete(peer)
      counts.set(peer, known)
      for (const oldest of counts.keys()) {
        if (counts.size <= SENDERS_MAX) break
        counts.delete(oldest)
      }
    },
  }
}

export type SenderLimit = ReturnType<typeof createSenderLimit>
