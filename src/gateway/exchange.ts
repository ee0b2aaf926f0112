// The data that the steps hand on: `Exchange`, one request of a client with its connection, and the
// result type of each step. A step takes the results of the steps before it and returns its own.
import type { IncomingHttpHeaders } from 'node:http'
import type { ClientReply, ClientRequest, CloseCause } from '../http/http.ts'
import type { Caller } from '../keys/keys.ts'
import type { Ending } from '../ledger/ledger.ts'
import type { Clock } from '../platform/clock.ts'
import type { BookId, HoldId, RequestId } from '../platform/ids.ts'
import type { Model, Snapshot } from '../pricing/pricing.ts'
import type { Credits } from '../units/credits.ts'
import type { TokenCounts } from '../units/tokens.ts'
import type { InputBound } from '../wire/bound.ts'
import type { ClientWait } from './client-wait.ts'
import type { LoweredTools } from './lowering.ts'

export type Exchange = {
  /** Also the id of the request's hold. */
  readonly id: HoldId
  readonly requestId: RequestId
  readonly clientRequest: ClientRequest
  readonly clientReply: ClientReply
  /**
   * The client's IP address: from the edge's header when one is configured, else from the socket.
   */
  readonly address: string
  /** The API version that is sent upstream; see versions.ts. */
  readonly version: string
  /** The query string with its question mark; empty when there is none. */
  readonly query: string
  /** The clock of `startedMs` and of the journal's times. */
  readonly clock: Clock
  readonly startedMs: number
  /** What the ledger's entry and the request's line in the log will say about it. */
  readonly journal: Journal
  /** Who ended the request before its reply was complete; undefined while nobody did. */
  endedBy: EndedBy | undefined
  /**
   * True once the client or the gateway has closed the connection before the reply was complete.
   */
  isDisconnected: boolean
  /** When that was; undefined before. */
  disconnectedMs: number | undefined
  /** How long the reply has waited for the client to read. */
  readonly clientWait: ClientWait
  /** Called once, when `isDisconnected` becomes true. */
  onDisconnect: (() => void) | undefined
  /**
   * The ending with which step 7 settles or voids the hold. `endOf` in ending.ts also gives that of
   * a request without a hold, and the bytes and the time.
   */
  ending: Ending | undefined
  /**
   * Ends what the request waits for, because another account needs its memory, its place or its
   * connection. Undefined while the request cannot be ended (platform/shares.ts).
   */
  onShed: (() => void) | undefined
}

/** The client, or the gateway; ending.ts says for each what it costs. */
export type EndedBy = 'client_left' | CloseCause

/** Filled in by the steps; undefined where a step was not reached. */
export type Journal = {
  book: BookId | undefined
  keyId: string | undefined
  /** When the key was checked, the body read and parsed, and the credits held. */
  keyCheckedMs: number | undefined
  parsedMs: number | undefined
  heldMs: number | undefined
  model: string | undefined
  isStream: boolean | undefined
  bytesIn: number | undefined
  /** When the request first went upstream, and when the reply's first byte came. */
  sentMs: number | undefined
  firstByteMs: number | undefined
  attempts: number
  /** The credential that was asked last, and its upstream. */
  target: string | undefined
  upstream: string | undefined
  /** The upstream's answer; `bytes` grows while it arrives. */
  reply:
    | { readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: number }
    | undefined
  errorType: string | undefined
  /** When the ending was decided, and when the charge was durable. */
  endedMs: number | undefined
  settledMs: number | undefined
  /** What the reply had used by then. */
  counts: TokenCounts | undefined
  isEstimated: boolean | undefined
  messageId: string | undefined
}

/** Step 2: whose request it is. */
export type Authenticated = Caller & { readonly plainKey: string }

/** Step 3: what limits and prices need of the body. */
export type Parsed<Request> = {
  /** The bytes as the client sent them; empty after `releaseBody`. */
  body: Buffer
  readonly request: Request
  readonly model: Model
  readonly bound: InputBound
  /** The catalogue in force when the body was parsed; the request keeps its prices. */
  readonly catalogue: Snapshot
  /** Drops the buffer and returns its bytes to the budget. May be called again. */
  readonly releaseBody: () => void
}

/** Step 4: the hold for it. */
export type Reserved = {
  readonly book: BookId
  /** The fence with which the key was verified. */
  readonly fence: bigint
  /** The tariff of each price list by which the reply may be charged, by the list's name. */
  readonly tariffs: ReadonlyMap<string, number>
  /** The tariff of the list that applies by default. */
  readonly tariff: number
  readonly granted: Credits
  /** What max_tokens was lowered to, by the balance or the model; undefined when it stays. */
  readonly loweredMaxTokens: number | undefined
  /** The limits of server tools that were lowered or inserted, likewise. */
  readonly loweredTools: LoweredTools
  /** The upstream refuses `temperature` under the request's version, so it is not sent. */
  readonly isTemperatureRemoved: boolean
}
