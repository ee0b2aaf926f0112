// A circuit breaker for one target, path and model: after several failures in a row the target gets
// one request a second while another target is well, until it answers one. When no other is well,
// it gets every request (route.ts). A request may be the cause itself, and one customer may send it
// over and over; so the failures must be of more than one customer, unless nobody else is served
// there. It depends on nothing but the clock.
import type { BookId } from '../platform/ids.ts'

/** Consecutive failures that open the breaker; every upstream has one or two now and then. */
const FAILURES_MAX = 5
/** Different requests among them, if they are all of one customer. */
const BODIES_MIN = 3
/** For how long a complete reply shows that the target serves others. */
const SERVES_MS = 60_000
/** Time between probes while another target is well. */
const PROBE_MS = 1_000

export type BreakerState = 'closed' | 'open' | 'probing'

/** Numbers the requests to this target, from 1. */
export type Ticket = number

/** Whose request it was, and a hash by which two requests of one customer differ. */
export type Sender = { readonly book: BookId; readonly bodyHash: number }

export function createBreaker(nowMs: () => number) {
  const state = {
    failures: 0,
    failuresMax: FAILURES_MAX,
    isOpen: false,
    nextProbeMs: 0,
    lastTicket: 0,
    lastTicketBefore: 0,
    closedBy: 0,
  }
  const probes = new Set<Ticket>()
  const failed = createFailedSenders()
  const served = createServedBooks(nowMs)

  /**
   * Whether the request was sent before the breaker last opened or closed: its outcome then says
   * nothing new. The probe that closed the breaker is never old.
   */
  const isOld = (ticket: Ticket) => ticket <= state.lastTicketBefore && ticket !== state.closedBy

  /** Whether the failures may be the fault of one customer's requests. */
  function mayBeOneCustomer(): boolean {
    const { book } = failed
    if (book === undefined) return failed.bodyHashes.size < 2
    const bodiesMin = Math.min(BODIES_MIN, state.failuresMax)
    return failed.bodyHashes.size < bodiesMin || served.hasOther(book)
  }

  return {
    state: (): BreakerState => {
      if (!state.isOpen) return 'closed'
      return probes.size > 0 ? 'probing' : 'open'
    },

    /** Whether it may be preferred like a well target: closed, or the next probe is due. */
    isReady: (): boolean => !state.isOpen || (probes.size === 0 && nowMs() >= state.nextProbeMs),

    /** Whether another customer than this one was served here within the last minute. */
    servesOthers: (book: BookId): boolean => served.hasOther(book),

    /** Closed, but a request has failed since the last complete reply, for all one knows. */
    isFailing: (): boolean => !state.isOpen && state.failures > 0 && !mayBeOneCustomer(),

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
     * A reply of the model has begun. Only a probe closes an open breaker, because an upstream that
     * has begun to refuse requests still answers those it accepted before. Until one reply is
     * complete, one failure is enough to open it again, if no other account was served here within
     * the last minute. Returns true when this call closed it.
     */
    answer(ticket: Ticket): boolean {
      if (!state.isOpen || isOld(ticket)) return false
      probes.clear()
      failed.clear()
      Object.assign(state, { isOpen: false, failures: 0, failuresMax: 1 })
      // Other probes were sent while the breaker was open, and may still hang.
      Object.assign(state, { lastTicketBefore: state.lastTicket, closedBy: ticket })
      return true
    },

    /**
     * A reply of the model is complete. Its beginning is not enough: some failing upstreams begin
     * every reply and break it off.
     */
    succeed(ticket: Ticket, book: BookId): void {
      if (state.isOpen || isOld(ticket)) return
      served.add(book)
      failed.clear()
      state.failures = 0
      state.failuresMax = FAILURES_MAX
    },

    /** Returns true when this call opened it. */
    fail(ticket: Ticket, sender: Sender): boolean {
      probes.delete(ticket)
      if (state.isOpen || isOld(ticket)) return false
      state.failures += 1
      failed.add(sender)
      if (state.failures < state.failuresMax || mayBeOneCustomer()) return false
      state.isOpen = true
      state.lastTicketBefore = state.lastTicket
      state.closedBy = 0
      state.nextProbeMs = nowMs() + PROBE_MS
      return true
    },

    /**
     * A request ended; if it was a probe, another one is allowed. A call of `fail` or `succeed` for
     * the same request may still follow.
     */
    forget(ticket: Ticket): void {
      probes.delete(ticket)
    },
  }
}

export type Breaker = ReturnType<typeof createBreaker>

/** The senders of a run of failures. */
function createFailedSenders() {
  const bodyHashes = new Set<number>()
  const state: { book: BookId | undefined; isShared: boolean } = {
    book: undefined,
    isShared: false,
  }
  return {
    bodyHashes,
    /** The only customer of the run; undefined when there are several. */
    get book() {
      return state.isShared ? undefined : state.book
    },
    add({ book, bodyHash }: Sender): void {
      if (state.book !== undefined && state.book !== book) state.isShared = true
      state.book = book
      if (bodyHashes.size < BODIES_MIN) bodyHashes.add(bodyHash)
    },
    clear(): void {
      bodyHashes.clear()
      Object.assign(state, { book: undefined, isShared: false })
    },
  }
}

/** The last two customers that got a complete reply: at least one is not the one asked about. */
function createServedBooks(nowMs: () => number) {
  type Served = { readonly book: BookId; ms: number }
  const state: { last: Served | undefined; before: Served | undefined } = {
    last: undefined,
    before: undefined,
  }
  return {
    add(book: BookId): void {
      if (state.last?.book === book) state.last.ms = nowMs()
      else Object.assign(state, { before: state.last, last: { book, ms: nowMs() } })
    },
    /** Whether another customer than this one was served within the last minute. */
    hasOther: (book: BookId): boolean =>
      [state.last, state.before].some(
        (one) => one !== undefined && one.book !== book && nowMs() - one.ms < SERVES_MS,
      ),
  }
}
