// Counts notices that concern nobody here, per sender and minute. They cost a lookup each; a sender
// of very many is told to stop before that. It may forget, and its memory is bounded.
import type { Clock } from '../../platform/clock.ts'

const WINDOW_MS = 60_000
/** A provider shared with another site sends us some of its notices; a flood is thousands. */
const PER_MINUTE = 300
/** About 100 bytes each. Whoever has more addresses pushes out only counts. */
const SENDERS_MAX = 10_000

export function createStrangers(clock: Clock) {
  const counts = new Map<string, { count: number; readonly sinceMs: number }>()

  function current(peer: string) {
    const known = counts.get(peer)
    return known !== undefined && clock.spanMs() - known.sinceMs < WINDOW_MS ? known : undefined
  }

  return {
    isOver: (peer: string): boolean => (current(peer)?.count ?? 0) >= PER_MINUTE,

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

export type Strangers = ReturnType<typeof createStrangers>
