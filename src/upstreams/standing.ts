// Whether a credential is in service. An account without funds and a credential that is not
// accepted get the same answer for every model, until a person acts: such a credential gets one
// request a minute, which shows when it is accepted again. A new secret is in service until it is
// refused itself. A customer's header may cause a 401, so that one customer's 401 is not enough.
import type { BookId } from '../platform/ids.ts'

const PROBE_MS = 60_000
/** After a probe that met another fault, which says nothing about our account. */
const UNCLEAR_MS = 1_000

export type OutReason = 'unpaid' | 'unauthorised'

/** `secretNumber`: of the secret in use, as credential.ts numbers them. */
export function createStanding(nowMs: () => number, secretNumber: () => number) {
  const state = {
    reason: undefined as OutReason | undefined,
    /** Whose request was refused first. */
    book: undefined as BookId | undefined,
    /**
     * Whether it applies to all accounts. Funds are ours, but some values of `anthropic-beta` are
     * answered with 401 if the credential is a bearer token: that applies to the account that got
     * it, until a second one has got it too.
     */
    isShared: false,
    /** Another account was served since: the credential itself is accepted. */
    servesOthers: false,
    sinceMs: 0,
    /** When it was last refused. */
    refusedMs: 0,
    probeMs: 0,
    /** Of the secret that was refused. */
    secret: 0,
  }
  const isCurrent = (secret: number) => secret === secretNumber()
  const reason = () => (isCurrent(state.secret) ? state.reason : undefined)
  const isAbout = (book: BookId) =>
    reason() !== undefined && (state.isShared || state.book === book)
  /** Why it is out of service, as far as is known; undefined while it is in service. */
  const why = () => (state.servesOthers ? undefined : reason())
  return {
    /** Whether an answer to a request with this secret says anything about the one in use. */
    isCurrent,
    why,
    isOut: (book: BookId): boolean => isAbout(book) && nowMs() < state.probeMs,
    /** A request of this account is about to be sent; it may be the probe. */
    claim(book: BookId): void {
      if (isAbout(book)) state.probeMs = nowMs() + PROBE_MS
    },
    /** Returns true when it was in service until now. */
    leave(book: BookId, given: OutReason): boolean {
      const wasIn = why() === undefined
      const isNew = reason() === undefined
      if (isNew) Object.assign(state, { book, sinceMs: nowMs(), isShared: false })
      if (given === 'unpaid' || state.book !== book) state.isShared = true
      if (isNew || state.isShared) state.servesOthers = false
      Object.assign(state, { reason: given, secret: secretNumber(), refusedMs: nowMs() })
      state.probeMs = nowMs() + PROBE_MS
      return wasIn && why() !== undefined
    },
    /**
     * A request of this account that was sent at this time has ended. If it was sent after the last
     * refusal and the credential is still out of service, it showed nothing about our account (it
     * got a 500 or a 429, or its client left): the next probe need not wait for the whole minute.
     */
    end(book: BookId, sentMs: number): void {
      if (!isAbout(book) || sentMs <= state.refusedMs) return
      state.probeMs = Math.min(state.probeMs, nowMs() + UNCLEAR_MS)
    },
    /**
     * A request of this account was served that was sent at this time; one that was sent before the
     * first refusal shows nothing. Returns true when the credential is in service again.
     */
    serve(book: BookId, sentMs: number): boolean {
      if (reason() === undefined || sentMs < state.sinceMs) return false
      const wasOut = why() !== undefined
      if (isAbout(book)) Object.assign(state, { reason: undefined, servesOthers: false })
      else state.servesOthers = true
      return wasOut
    },
  }
}

export type Standing = ReturnType<typeof createStanding>
