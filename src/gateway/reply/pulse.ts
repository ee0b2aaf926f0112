// One beat a second for everything that waits: pings in silent streams, clients that do not read,
// requests that last too long. One timer for ten thousand streams instead of ten thousand timers.
import type { Clock } from '../../platform/clock.ts'

const BEAT_MS = 1_000

export type Pulsed = { beat(nowMs: number): void }

export function createPulse(clock: Clock) {
  const alive = new Set<Pulsed>()
  // A command that builds the rooms but serves nothing must be able to end.
  const timer = setInterval(() => {
    const nowMs = clock.spanMs()
    // A copy: a beat may end one and so remove it.
    for (const one of [...alive]) one.beat(nowMs)
  }, BEAT_MS).unref()
  return {
    add: (one: Pulsed) => void alive.add(one),
    remove: (one: Pulsed) => void alive.delete(one),
    size: () => alive.size,
    stop: () => clearInterval(timer),
  }
}

export type Pulse = ReturnType<typeof createPulse>
