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

/** A map that keeps the entries used last. */
export function createLru<V>(max: number) {
  // A Map lists its keys in the order of insertion; moving an entry to the end on use costs less
  // than the digest it is found by.
  const entries = new Map<string, V>()
  return {
    get(key: string): V | undefined {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key: string, value: V): void {
      entries.delete(key)
      entries.set(key, value)
      for (const oldest of entries.keys()) {
        if (entries.size <= max) break
        entries.delete(oldest)
      }
    },
    delete: (key: string) => entries.delete(key),
    size: () => entries.size,
  }
}
