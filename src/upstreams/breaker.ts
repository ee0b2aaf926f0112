// A circuit breaker for one target: after failures it is left alone, then asked once a second until
// it answers again. Pure but for the clock it is given.

/** Failures in a row that open it: one or two are an upstream's ordinary day. */
const FAILURES_MAX = 5
/** Between probes of a sick target: it gets at most one request a second. */
const PROBE_MS = 1_000
/** A target that says when to come back is left alone so long, but not for ever. */
const RETRY_AFTER_MS_MAX = 60_000

export type BreakerState = 'closed' | 'open' | 'probing'

/** The place of a request in the order in which they went to this target. */
export type Ticket = number

export function createBreaker(nowMs: () => number) {
  const state = {
    failures: 0,
    isOpen: false,
    isProbing: false,
    nextProbeMs: 0,
    begun: 0,
    probe: 0,
    begunAtOpening: 0,
  }
  /** Sent before the breaker opened: how it ends is part of what is known already. */
  const isOld = (ticket: Ticket) => ticket <= state.begunAtOpening

  return {
    state: (): BreakerState => {
      if (!state.isOpen) return 'closed'
      return state.isProbing ? 'probing' : 'open'
    },

    /** Whether a request may go there now. */
    isReady: (): boolean => !state.isOpen || (!state.isProbing && nowMs() >= state.nextProbeMs),

    /** A request goes there. An open breaker lets this one through as its probe. */
    begin(): Ticket {
      state.begun += 1
      if (state.isOpen) {
        state.probe = state.begun
        state.isProbing = true
        // From its beginning: a probe may end at once and tell nothing, and the next one waits too.
        state.nextProbeMs = nowMs() + PROBE_MS
      }
      return state.begun
    },

    /**
     * An answer begins. Only the probe's closes an open breaker: an upstream that has begun to
     * refuse goes on answering what it took before. It is closed on probation: until a reply has
     * come whole, one more failure opens it again.
     */
    answer(ticket: Ticket): void {
      if (!state.isOpen || ticket !== state.probe) return
      state.failures = FAILURES_MAX - 1
      state.isOpen = false
      state.isProbing = false
      state.nextProbeMs = 0
    },

    /** A reply has come whole. Not its beginning: some upstreams break off whatever they begin. */
    succeed(ticket: Ticket): void {
      if (!state.isOpen && !isOld(ticket)) state.failures = 0
    },

    /** `retryAfterMs` is what the target itself asked for, as with 429 and 529. */
    fail(ticket: Ticket, retryAfterMs: number | undefined): void {
      const askedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_MS_MAX)
      if (isOld(ticket)) {
        // Of the waits that are asked for, the longest counts.
        if (state.isOpen) state.nextProbeMs = Math.max(state.nextProbeMs, nowMs() + askedMs)
        return
      }
      state.failures += 1
      if (ticket === state.probe) state.isProbing = false
      if (!state.isOpen) {
        if (state.failures < FAILURES_MAX && askedMs === 0) return
        state.isOpen = true
        state.begunAtOpening = state.begun
      }
      state.nextProbeMs = nowMs() + Math.max(PROBE_MS, askedMs)
    },

    /** A request ended; if it was the probe, another may be it. What it told may still follow. */
    forget(ticket: Ticket): void {
      if (ticket === state.probe) state.isProbing = false
    },
  }
}

export type Breaker = ReturnType<typeof createBreaker>
