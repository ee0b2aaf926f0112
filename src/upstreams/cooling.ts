// For one target, path and model: the pause that the upstream asked for. The answer may be about
// one customer's requests only (a prompt longer than our account's limit for long prompts gets a
// 429 at any time), so the pause applies to the account that got the answer, and to all accounts
// once a second one has got it too.
import type { BookId } from '../platform/ids.ts'

/** For an answer without a time. */
const COOL_MS_MIN = 1_000
/** Some upstreams ask for an hour; one request a minute shows whether the limit still applies. */
const COOL_MS_MAX = 60_000
/** While nothing else is left, one request a second shows whether the limit still applies. */
const PROBE_MS = 1_000

export function createCooling(nowMs: () => number) {
  const state = {
    sinceMs: 0,
    untilMs: 0,
    book: undefined as BookId | undefined,
    isShared: false,
    probeMs: 0,
  }
  const isActive = () => state.untilMs > nowMs()
  const appliesTo = (book: BookId) => isActive() && (state.isShared || state.book === book)

  return {
    /**
     * When several answers ask for different times, the longest counts. Returns true when a pause
     * has begun, or now applies to all accounts.
     */
    coolDown(book: BookId, askedMs: number): boolean {
      const wasActive = isActive()
      const ms = Math.min(Math.max(askedMs, COOL_MS_MIN), COOL_MS_MAX)
      const isSecond = wasActive && !state.isShared && state.book !== book
      if (!wasActive) {
        Object.assign(state, { book, isShared: false, sinceMs: nowMs(), untilMs: 0 })
      }
      if (isSecond) state.isShared = true
      state.untilMs = Math.max(state.untilMs, nowMs() + ms)
      state.probeMs = nowMs() + PROBE_MS
      return !wasActive || isSecond
    },

    isActive,
    isShared: () => isActive() && state.isShared,
    isCooling: appliesTo,
    /** When the account may use the model again; 0 when it may now. */
    freeAtMs: (book: BookId): number => (appliesTo(book) ? state.untilMs : 0),
    untilMs: (): number => (isActive() ? state.untilMs : 0),

    /** Whether a request that has no other target may be sent now. */
    isProbeDue: (): boolean => nowMs() >= state.probeMs,
    claim(): void {
      state.probeMs = nowMs() + PROBE_MS
    },
    /**
     * A request that was sent at this time was served although the pause applied to it; one that
     * was sent before the pause shows nothing.
     */
    lift(sentMs: number): void {
      if (sentMs >= state.sinceMs) state.untilMs = 0
    },
  }
}

export type Cooling = ReturnType<typeof createCooling>
