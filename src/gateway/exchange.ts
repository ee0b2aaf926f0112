// What travels through the steps: one request of a client and whether the client is still there,
// and what each step has found out about it. A step takes the findings of those before it and adds
// its own.
import type { ClientReply, ClientRequest } from '../http/http.ts'
import type { Caller } from '../keys/keys.ts'
import type { BookId, HoldId, RequestId } from '../platform/ids.ts'
import type { Model, Snapshot } from '../pricing/pricing.ts'
import type { Credits } from '../units/credits.ts'
import type { InputBound } from '../wire/bound.ts'

export type Exchange = {
  /** The number of the request; its hold has the same. */
  readonly id: HoldId
  readonly requestId: RequestId
  readonly incoming: ClientRequest
  readonly outgoing: ClientReply
  /** Where the client calls from, as far as we may believe it. */
  readonly address: string
  /** The query of the request with its question mark, or nothing. */
  readonly query: string
  readonly startedMs: number
  /** True once the connection is closed before the reply was complete, by the client or by us. */
  isGone: boolean
  /** True once we closed the connection, at the limit of a drain: the client did not leave. */
  isStopped: boolean
  /** Told once, when the client goes or is stopped. */
  onGone: (() => void) | undefined
}

/** Step 2: whose request it is. */
export type Authenticated = Caller & { readonly plain: string }

/** Step 3: what limits and prices need of the body. */
export type Parsed<Request> = {
  /** As the client sent it; let go once the upstream has it. */
  body: Buffer
  readonly request: Request
  readonly model: Model
  readonly bound: InputBound
  /** The catalogue this request began with and keeps. */
  readonly catalogue: Snapshot
  /** Lets the body go and gives its bytes back to the budget. May be repeated. */
  readonly free: () => void
}

/** Step 4: what is held for it. */
export type Reserved = {
  readonly book: BookId
  readonly tariff: number
  readonly granted: Credits
  /** What max_tokens was lowered to; undefined when it stays as asked. */
  readonly loweredMaxTokens: number | undefined
}
