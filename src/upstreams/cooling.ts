// For one target, path and model: the pause that the upstream asked for. The answer may be about
// one customer's requests only (a prompt longer than our account's limit for long prompts gets a
// 429 at any time), so the pause applies to the account that got the answer, and to all accounts
// for as long as two accounts were asked to wait. If a third one is served meanwhile, the answers
// were about the two: for a while, theirs concern only themselves.
import type { BookId } from '../platform/ids.ts'

/** For an answer without a time. */
const COOL_MS_MIN = 1_000
/** Some upstreams ask for an hour; one request a minute shows whether the limit still applies. */
const COOL_MS_MAX = 60_000
/** While nothing else is left, one request a second shows whether the limit still applies. */
const PROBE_MS = 1_000
/** How much later than others an account may send it that caused a pause for all. */
const CAUSE_MS = 500
/** How long the answers to an account concern only itself, after another one was served. */
const APART_MS = 600_000
/** Some bytes each; one that is forgotten counts as before. */
const APART_MAX = 1_000

type Pause = { readonly book: BookId; readonly sinceMs: number; untilMs: number }

export function createCooling(nowMs: () => number) {
  const state = {
    /**
     * The pauses of the two accounts that wait longest, the longest first. The second ends when the
     * last moment is over for which two accounts were asked to wait: until then all wait.
     */
    pauses: [] as Pause[],
    probeMs: 0,
  }
  /** Accounts whose answers concern only themselves, until when, and the end of their own pause. */
  const apart = new Map<BookId, { readonly endMs: number; readonly untilMs: number }>()
  const apartOf = (book: BookId) => {
    const found = apart.get(book)
    return found !== undefined && found.endMs > nowMs() ? found : undefined
  }
  const untilMs = (i: 0 | 1): number => {
    const ms = state.pauses[i]?.untilMs ?? 0
    return ms > nowMs() ? ms : 0
  }
  const freeAtMs = (book: BookId): number => {
    const ownMs = apartOf(book)?.untilMs ?? 0
    const ms = untilMs(state.pauses[0]?.book === book ? 0 : 1)
    return Math.max(ms, ownMs > nowMs() ? ownMs : 0)
  }
  /** Whether this account was asked to wait, and others wait because of it. */
  const isCause = (book: BookId) => untilMs(1) > 0 && state.pauses.some((one) => one.book === book)
  const sort = () => state.pauses.sort((a, b) => b.untilMs - a.untilMs)

  return {
    /**
     * When an account gets several answers, the longest time counts. Returns true when a pause has
     * begun, or now applies to all accounts.
     */
    coolDown(book: BookId, askedMs: number): boolean {
      const [wasActive, wasShared] = [untilMs(0) > 0, untilMs(1) > 0]
      const ms = Math.min(Math.max(askedMs, COOL_MS_MIN), COOL_MS_MAX)
      const own = apartOf(book)
      if (own !== undefined) {
        apart.set(book, { ...own, untilMs: Math.max(own.untilMs, nowMs() + ms) })
        return false
      }
      const before = state.pauses.find((one) => one.book === book && one.untilMs > nowMs())
      const pause = {
        book,
        sinceMs: before?.sinceMs ?? nowMs(),
        untilMs: Math.max(before?.untilMs ?? 0, nowMs() + ms),
      }
      state.pauses = [...state.pauses.filter((one) => one.book !== book), pause]
      sort()
      state.pauses.length = Math.min(state.pauses.length, 2)
      state.probeMs = nowMs() + PROBE_MS
      return !wasActive || (!wasShared && untilMs(1) > 0)
    },

    isActive: (): boolean => untilMs(0) > 0,
    isCooling: (book: BookId): boolean => freeAtMs(book) > 0,
    /** When the account may use the model again; 0 when it may now. */
    freeAtMs,
    /** The end of the longest pause, which may be one account's; 0 without one. */
    untilMs: (): number => untilMs(0),
    /** The end of the pause that applies to all accounts; 0 without one. */
    sharedUntilMs: (): number => untilMs(1),

    /**
     * Whether a request that has no other target may be sent now. The accounts that caused a pause
     * for all let the others go first: a request of theirs would not show whether it is needed.
     */
    isProbeDue: (book: BookId): boolean =>
      nowMs() >= state.probeMs + (isCause(book) ? CAUSE_MS : 0),
    claim(book: BookId): void {
      if (apartOf(book) === undefined) state.probeMs = nowMs() + PROBE_MS
    },
    /**
     * A request of this account that was sent at this time was served although a pause applied to
     * it; one that was sent before a pause shows nothing.
     */
    lift(book: BookId, sentMs: number): void {
      for (const one of state.pauses) {
        if (sentMs < one.sinceMs || one.untilMs <= nowMs()) continue
        one.untilMs = 0
        if (one.book !== book) apart.set(one.book, { endMs: nowMs() + APART_MS, untilMs: 0 })
      }
      const [longestKnown] = apart.keys()
      if (apart.size > APART_MAX && longestKnown !== undefined) apart.delete(longestKnown)
      sort()
    },
  }
}

export type Cooling = ReturnType<typeof createCooling>
