// Calls every reply under way once a second, to send pings into silent streams and to find clients
// that do not read and requests that take too long. One timer serves ten thousand streams.
import type { Clock } from '../../platform/clock.ts'

const TICK_MS = 1_000

export type Ticking = { tick(nowMs: number): void }

export function createTicker(clock: Clock) {
  const alive = new Set<Ticking>()
  // `unref`: a command that builds the modules but serves nothing must be able to end.
  const timer = setInterval(() => {
    const nowMs = clock.spanMs()
    // A copy, because a tick may end a reply and so remove it.
    for (const one of [...alive]) one.tick(nowMs)
  }, TICK_MS).unref()
  return {
    add: (one: Ticking) => void alive.add(one),
    remove: (one: Ticking) => void alive.delete(one),
    size: () => alive.size,
    stop: () => clearInterval(timer),
  }
}

export type Ticker = ReturnType<typeof createTicker>
