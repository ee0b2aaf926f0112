// A circuit breaker for one target: after failures it is left alone, then asked once a second until
// it answers again. Pure but for the clock it is given.

/** Failures in a row that open it: one or two are an upstream's ordinary day. */
const FAILURES_MAX = 5
/** Between probes of a sick target: it gets at most one request a second. */
const PROBE_MS = 1_000

export type BreakerState = 'closed' | 'open' | 'probing'

/** The place of a request in the order in which they went to this target. */
export type Ticket = number

export function createBreaker(nowMs: () => number) {
  const state = {
    failures: 0,
    failuresMax: FAILURES_MAX,
    isOpen: false,
    nextProbeMs: 0,
    begun: 0,
    begunBefore: 0,
    closedBy: 0,
    recoveries: 0,
  }
  const probes = new Set<Ticket>()

  /**
   * Sent before the breaker last opened or closed: how it ends is part of what is known already.
   * Only the probe that closed it goes on to speak for the target.
   */
  const isOld = (ticket: Ticket) => ticket <= state.begunBefore && ticket !== state.closedBy
  const isDue = () => state.isOpen && nowMs() >= state.nextProbeMs

  return {
    state: (): BreakerState => {
      if (!state.isOpen) return 'closed'
      return probes.size > 0 ? 'probing' : 'open'
    },

    /** Whether a request may go there now. A sick target is asked by one request at a time. */
    isReady: (): boolean => !state.isOpen || (probes.size === 0 && isDue()),

    /**
     * Whether a request that has nowhere else to go may ask a sick target now, though another may
     * be asking it: what hangs there for a minute must not hide that it is well again.
     */
    isDue,

    /** When a sick target may be asked next. */
    dueMs: (): number => state.nextProbeMs,

    /** In use, and the last thing it did was to fail. */
    isFailing: (): boolean => !state.isOpen && state.failures > 0,

    /** How often it has got well: who was refused there may ask again after the next time. */
    recoveries: (): number => state.recoveries,

    /** Takes the turn to ask a sick target; `begin` follows, but others look first. */
    claim(): void {
      if (state.isOpen) state.nextProbeMs = nowMs() + PROBE_MS
    },

    /** A request goes there. An open breaker lets this one through as its probe. */
    begin(): Ticket {
      state.begun += 1
      if (state.isOpen) {
        probes.add(state.begun)
        // From its beginning: a probe may end at once and tell nothing, and the next one waits too.
        state.nextProbeMs = nowMs() + PROBE_MS
      }
      return state.begun
    },

    /**
     * An answer begins. Only a probe's closes an open breaker: an upstream that has begun to refuse
     * goes on answering what it took before. It is closed on probation: until a reply has come
     * whole, one more failure opens it again. True when this closed it.
     */
    answer(ticket: Ticket): boolean {
      if (!state.isOpen || isOld(ticket)) return false
      probes.clear()
      Object.assign(state, { isOpen: false, failures: 0, failuresMax: 1 })
      // Other probes were sent while it was sick, and may still hang there.
      Object.assign(state, { begunBefore: state.begun, closedBy: ticket })
      state.recoveries += 1
      return true
    },

    /** A reply has come whole. Not its beginning: some upstreams break off whatever they begin. */
    succeed(ticket: Ticket): void {
      if (state.isOpen || isOld(ticket)) return
      state.failures = 0
      state.failuresMax = FAILURES_MAX
    },

    /** True when this was a probe: who waits for what it brings need not any more. */
    fail(ticket: Ticket): boolean {
      const wasProbe = probes.delete(ticket)
      if (state.isOpen) return wasProbe
      if (isOld(ticket)) return false
      state.failures += 1
      if (state.failures < state.failuresMax) return false
      state.isOpen = true
      state.begunBefore = state.begun
      state.closedBy = 0
      state.nextProbeMs = nowMs() + PROBE_MS
      return false
    },

    /**
     * A request ended; if it was a probe, which is told back, another may be it. What the request
     * told may still follow.
     */
    forget: (ticket: Ticket): boolean => probes.delete(ticket),
  }
}

export type Breaker = ReturnType<typeof createBreaker>
