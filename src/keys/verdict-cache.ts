// Caches the results of key checks in this process: the callers of verified keys, and wrong keys.
// Concurrent requests with the same key share one check. The cache cannot keep a revoked key
// working: a cached caller contains the key's fence, and every hold compares it.
import type { Clock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'

export type Verdict<Caller> =
  | { readonly kind: 'verified'; readonly caller: Caller }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'pending' | 'revoked'; readonly book: BookId }

/** Repeated wrong keys cost little for this time; a key imported meanwhile works after it. */
const WRONG_MS = 30_000

export function createVerdictCache<Caller>(options: {
  readonly clock: Clock
  readonly verifiedMax: number
  readonly wrongMax: number
}) {
  const { clock } = options
  const callers = createLru<Caller>(options.verifiedMax)
  const wrongs = createLru<{ verdict: Verdict<Caller>; untilMs: number }>(options.wrongMax)
  const checks = new Map<string, Promise<Verdict<Caller>>>()
  const counts = { hits: 0, wrongHits: 0, joined: 0, checks: 0 }

  function remember(digest: string, verdict: Verdict<Caller>): void {
    if (verdict.kind === 'verified') callers.set(digest, verdict.caller)
    // Not cached while pending: the key is confirmed within seconds and must work at once.
    else if (verdict.kind !== 'pending') {
      wrongs.set(digest, { verdict, untilMs: clock.spanMs() + WRONG_MS })
    }
  }

  async function runCheck(digest: string, check: () => Promise<Verdict<Caller>>) {
    counts.checks += 1
    try {
      const verdict = await check()
      remember(digest, verdict)
      return verdict
    } finally {
      checks.delete(digest)
    }
  }

  return {
    /** The caller of a key that was verified before. */
    findCaller(digest: string): Caller | undefined {
      const caller = callers.get(digest)
      if (caller !== undefined) counts.hits += 1
      return caller
    },

    /**
     * The verdict on a key: a cached wrong one, that of a check in flight, or that of a new check.
     * A check that fails (the database is unavailable) is not a verdict and is not cached.
     */
    verdictOf(digest: string, check: () => Promise<Verdict<Caller>>): Promise<Verdict<Caller>> {
      const wrong = wrongs.get(digest)
      if (wrong !== undefined && clock.spanMs() < wrong.untilMs) {
        counts.wrongHits += 1
        return Promise.resolve(wrong.verdict)
      }
      const inFlight = checks.get(digest)
      if (inFlight !== undefined) {
        counts.joined += 1
        return inFlight
      }
      const running = runCheck(digest, check)
      checks.set(digest, running)
      return running
    },

    forget: (digest: string) => callers.delete(digest),

    stats: () => ({ ...counts, verified: callers.size(), wrong: wrongs.size() }),
  }
}

/**
 * A map of the most recently used entries: at least half of `max`, never more than `max`. It has
 * two generations: when the young one is full, it replaces the old one; an old entry that is used
 * moves to the young one. Moving an entry to the end of one map at each use took 2 us more and
 * produced garbage.
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
