// A circuit breaker for one target: after several failures in a row the target gets only one probe
// a second, until it answers one. It depends on nothing but the clock.

/** Consecutive failures that open the breaker; every upstream has one or two now and then. */
const FAILURES_MAX = 5
/** Time between probes: a target with an open breaker gets at most one request a second. */
const PROBE_MS = 1_000

export type BreakerState = 'closed' | 'open' | 'probing'

/** Numbers the requests to this target, from 1. */
export type Ticket = number

export function createBreaker(nowMs: () => number) {
  const state = {
    failures: 0,
    failuresMax: FAILURES_MAX,
    isOpen: false,
    nextProbeMs: 0,
    lastTicket: 0,
    lastTicketBefore: 0,
    closedBy: 0,
    recoveries: 0,
  }
  const probes = new Set<Ticket>()

  /**
   * Whether the request was sent before the breaker last opened or closed: its outcome then says
   * nothing new. The probe that closed the breaker is never old.
   */
  const isOld = (ticket: Ticket) => ticket <= state.lastTicketBefore && ticket !== state.closedBy
  const isDue = () => state.isOpen && nowMs() >= state.nextProbeMs

  return {
    state: (): BreakerState => {
      if (!state.isOpen) return 'closed'
      return probes.size > 0 ? 'probing' : 'open'
    },

    /** Whether the target may get a request now. An open breaker allows one probe at a time. */
    isReady: (): boolean => !state.isOpen || (probes.size === 0 && isDue()),

    /**
     * Whether a request that has no other target may probe now, even during another probe: a probe
     * that hangs for a minute must not hide that the target has recovered.
     */
    isDue,

    /** When the next probe is allowed. */
    dueMs: (): number => state.nextProbeMs,

    /** Closed, but a request has failed since the last complete reply. */
    isFailing: (): boolean => !state.isOpen && state.failures > 0,

    /** How often the target has recovered: each time, requests that failed there may try again. */
    recoveries: (): number => state.recoveries,

    /** Reserves the next probe: between this and `begin` other requests choose their targets. */
    claim(): void {
      if (state.isOpen) state.nextProbeMs = nowMs() + PROBE_MS
    },

    /** A request is sent. While the breaker is open, it is a probe. */
    begin(): Ticket {
      state.lastTicket += 1
      if (state.isOpen) {
        probes.add(state.lastTicket)
        // Measured from the start of the probe: even if it ends at once without an outcome, the
        // next one waits.
        state.nextProbeMs = nowMs() + PROBE_MS
      }
      return state.lastTicket
    },

    /**
     * A reply has begun. Only a probe closes an open breaker, because an upstream that has begun to
     * refuse requests still answers those it accepted before. Until one reply is complete, a single
     * failure opens the breaker again. Returns true when this call closed it.
     */
    answer(ticket: Ticket): boolean {
      if (!state.isOpen || isOld(ticket)) return false
      probes.clear()
      Object.assign(state, { isOpen: false, failures: 0, failuresMax: 1 })
      // Other probes were sent while the breaker was open, and may still hang.
      Object.assign(state, { lastTicketBefore: state.lastTicket, closedBy: ticket })
      state.recoveries += 1
      return true
    },

    /**
     * A reply is complete. Its beginning is not enough: some failing upstreams begin every reply
     * and break it off.
     */
    succeed(ticket: Ticket): void {
      if (state.isOpen || isOld(ticket)) return
      state.failures = 0
      state.failuresMax = FAILURES_MAX
    },

    /** Returns true when this was a probe; the caller then wakes waiting requests. */
    fail(ticket: Ticket): boolean {
      const wasProbe = probes.delete(ticket)
      if (state.isOpen) return wasProbe
      if (isOld(ticket)) return false
      state.failures += 1
      if (state.failures < state.failuresMax) return false
      state.isOpen = true
      state.lastTicketBefore = state.lastTicket
      state.closedBy = 0
      state.nextProbeMs = nowMs() + PROBE_MS
      return false
    },

    /**
     * A request ended. Returns true if it was a probe; another one is then allowed. A call of
     * `fail` or `succeed` for the same request may still follow.
     */
    forget: (ticket: Ticket): boolean => probes.delete(ticket),
  }
}

export type Breaker = ReturnType<typeof createBreaker>
