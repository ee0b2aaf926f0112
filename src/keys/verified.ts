// What this process remembers about keys: who a verified key speaks for, and which keys are wrong.
// Each key is checked once at a time, however many requests bring it. Nothing here can keep a
// revoked key alive: what is remembered carries the key's fence, and every hold compares it.
import type { Clock } from '../platform/clock.ts'

export type Verdict<Caller> =
  | { readonly kind: 'verified'; readonly caller: Caller }
  | { readonly kind: 'unknown' | 'pending' | 'revoked' }

/** Long enough to make repeating a wrong key useless, short enough to wait for after an import. */
const WRONG_MS = 30_000

export function createVerified<Caller>(options: {
  readonly clock: Clock
  readonly verifiedMax: number
  readonly wrongMax: number
}) {
  const { clock } = options
  const callers = createLru<Caller>(options.verifiedMax)
  const wrongs = createLru<{ verdict: Verdict<Caller>; untilMs: number }>(options.wrongMax)
  const flights = new Map<string, Promise<Verdict<Caller>>>()
  const counts = { hits: 0, wrongHits: 0, joined: 0, checks: 0 }

  function remember(digest: string, verdict: Verdict<Caller>): void {
    if (verdict.kind === 'verified') callers.set(digest, verdict.caller)
    // A pending key is confirmed within seconds and must work from then on.
    else if (verdict.kind !== 'pending') {
      wrongs.set(digest, { verdict, untilMs: clock.spanMs() + WRONG_MS })
    }
  }

  async function fly(digest: string, check: () => Promise<Verdict<Caller>>) {
    counts.checks += 1
    try {
      const verdict = await check()
      remember(digest, verdict)
      return verdict
    } finally {
      flights.delete(digest)
    }
  }

  return {
    /** Who a key speaks for, if it was verified before. */
    find(digest: string): Caller | undefined {
      const caller = callers.get(digest)
      if (caller !== undefined) counts.hits += 1
      return caller
    },

    /**
     * What a key is: remembered as wrong, being checked by another request, or checked now. A check
     * that fails (the database is away) is not a verdict, and nothing is remembered of it.
     */
    judge(digest: string, check: () => Promise<Verdict<Caller>>): Promise<Verdict<Caller>> {
      const wrong = wrongs.get(digest)
      if (wrong !== undefined && clock.spanMs() < wrong.untilMs) {
        counts.wrongHits += 1
        return Promise.resolve(wrong.verdict)
      }
      const underWay = flights.get(digest)
      if (underWay !== undefined) {
        counts.joined += 1
        return underWay
      }
      const flight = fly(digest, check)
      flights.set(digest, flight)
      return flight
    },

    forget: (digest: string) => callers.delete(digest),

    stats: () => ({ ...counts, verified: callers.size(), wrong: wrongs.size() }),
  }
}

/**
 * A map that keeps the entries used last, at least half of `max` of them and never more than it. In
 * two generations: when the young one is full it becomes the old one, and what is used again comes
 * back. Moving every entry to the end at each use took 2 us more and made garbage of the map.
 */
export function createLru<V>(max: number) {
  const half = Math.max(1, Math.floor(max / 2))
  let young = new Map<string, V>()
  let old = new Map<string, V>()

  function set(key: string, value: V): void {
    if (young.size >= half && !young.has(key)) {
      old = young
      young = new Map()
    }
    old.delete(key)
    young.set(key, value)
  }

  return {
    get(key: string): V | undefined {
      const recent = young.get(key)
      if (recent !== undefined) return recent
      const value = old.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set,
    delete(key: string): void {
      young.delete(key)
      old.delete(key)
    },
    size: () => young.size + old.size,
  }
}
