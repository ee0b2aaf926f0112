// One beat a second for everything that waits: pings in silent streams, clients that do not read,
// requests that last too long. One timer for ten thousand streams instead of ten thousand timers.
import type { Clock } from '../../platform/clock.ts'
import { type Listed, Roster } from '../../platform/roster.ts'

const BEAT_MS = 1_000

export type Pulsed = Listed & { beat(nowMs: number): void }

export function createPulse(clock: Clock) {
  const alive = new Roster<Pulsed>()
  // A command that builds the rooms but serves nothing must be able to end.
  const timer = setInterval(() => {
    const nowMs = clock.spanMs()
    for (const one of alive.list()) one.beat(nowMs)
  }, BEAT_MS).unref()
  return {
    add: (one: Pulsed) => alive.add(one),
    remove: (one: Pulsed) => alive.remove(one),
    size: () => alive.size,
    stop: () => clearInterval(timer),
  }
}

export type Pulse = ReturnType<typeof createPulse>
