// Who ended a request, and what that means for its charge. The first cause counts:
//
//   the reply is complete                 `complete`         charged as reported
//   the client left                       `client_left`      charged for what was generated
//   the client read too slowly            `client_slow`      the same
//   it left before anything was reported  `given_up`         free
//   the upstream refused or failed        `refused`, `upstream_failed`   free
//   the gateway was stopped, or overloaded `drained`, `shed` free
//   the gateway died or had a fault       `process_lost`     free; after a death the sweep voids it
//
// docs/charging.md publishes the table; docs/request.md has the details.
import type { Ending, VoidInput } from '../ledger/ledger.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { EndedBy, Exchange } from './exchange.ts'

/** What a finished request is recorded with: in the log, and for its hold in the ledger. */
export type RequestEnd = {
  readonly ending: Ending
  /** From the request's first byte. */
  readonly ms: number
  /** Bytes of the reply's body that the upstream sent, and that the client was sent. */
  readonly bytesReceived: number
  readonly bytesSent: number
}

export function endOf(exchange: Exchange, nowMs: number): RequestEnd {
  const { clientReply, journal, startedMs, endedBy } = exchange
  const answered = clientReply.statusCode >= 400 ? 'refused' : 'complete'
  return {
    ending: exchange.ending ?? endedBy ?? answered,
    ms: nowMs - startedMs,
    bytesReceived: journal.reply?.bytes ?? 0,
    bytesSent: clientReply.bytes,
  }
}

/**
 * Closes the client's connection and records the cause: for the client's slowness it pays, for a
 * drain or under overload it does not. `exchange.onDisconnect` follows, as when the client leaves.
 */
export function cutOff(exchange: Exchange, cause: Exclude<EndedBy, 'client_left'>): void {
  exchange.endedBy ??= cause
  exchange.clientReply.destroy(cause)
}

/** Why the gateway's own act ended the request; undefined when the client did, or nobody. */
export function ourCause({ endedBy }: Exchange): Void | undefined {
  if (endedBy === 'drained') {
    return { ending: endedBy, reason: 'the gateway was stopped before the reply ended' }
  }
  if (endedBy === 'shed') {
    return { ending: endedBy, reason: 'the gateway was overloaded and ended it' }
  }
  return undefined
}

/** The ending of a request that has a hold but got no reply. */
export function endWithoutReply(exchange: Exchange, error: unknown): Void {
  const ours = ourCause(exchange)
  if (ours !== undefined) return ours
  if (!isRefusal(error)) return { ending: 'process_lost', reason: 'a fault of the gateway' }
  if (exchange.endedBy !== undefined) {
    return { ending: 'given_up', reason: 'the client left before the reply began' }
  }
  if (isRefusal(error, 'request_shed')) {
    return { ending: 'shed', reason: 'another account needed its connection' }
  }
  if (isRefusal(error, 'waiting_exhausted')) {
    return { ending: 'refused', reason: 'no connection to the upstream was free' }
  }
  if (isRefusal(error, 'upstream_limited')) {
    return { ending: 'refused', reason: 'every upstream asked for a pause' }
  }
  return { ending: 'upstream_failed', reason: 'no reply' }
}

type Void = Pick<VoidInput, 'ending' | 'reason'>
