// The interface between upstreams and the gateway: a target takes a request and delivers status,
// headers and bytes, with pause and resume for a slow client and abort for one that left.
import type { IncomingHttpHeaders } from 'node:http'
import type { BookId } from '../platform/ids.ts'
import type { Holder } from '../platform/shares.ts'
import type { Verdict } from '../wire/verdict.ts'

/** The header with our credential. */
export type CredentialHeader = readonly [name: 'x-api-key' | 'authorization', value: string]

/** Messages are charged, token counts are free. */
export type UpstreamPath = '/v1/messages' | '/v1/messages/count_tokens'

export type UpstreamRequest = {
  /** Whose request it is: accounts share the connections. */
  readonly book: BookId
  /** The request itself; while its `onShed` is set, its connection may be taken away. */
  readonly holder: Holder
  /** The catalogue's id of the model: upstreams apply their rate limits per model. */
  readonly model: string
  /** Path and query, appended to the upstream's URL. */
  readonly path: string
  /** Flat list of names and values, without credentials: the transport adds ours. */
  readonly headers: readonly string[]
  readonly body: readonly Buffer[]
  /**
   * The status of a stream comes at once, that of a plain reply only when the model has finished.
   */
  readonly isStream: boolean
  /** The deadline of the whole request, by the monotonic clock; no wait for a status exceeds it. */
  readonly untilMs: number
}

const OVERDUE_CODES = ['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT']

/**
 * The whole request was sent, but no status came. The upstream may have accepted it and may bill
 * it, so it must not be sent again.
 */
export class LostReply extends Error {
  /** It was silent for too long; otherwise it closed the connection. */
  readonly isOverdue: boolean

  constructor(cause: Error) {
    super(`no reply came: ${cause.message}`, { cause })
    this.isOverdue = OVERDUE_CODES.includes((cause as NodeJS.ErrnoException).code ?? '')
  }
}

/** Receives a reply. Exactly one of `end` and `fail` is called, last. */
export type ReplySink = {
  head(status: number, headers: IncomingHttpHeaders): void
  data(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

export type Call = {
  /** False until its last byte was sent: before that no upstream has accepted it. */
  readonly isSent: boolean
  pause(): void
  resume(): void
  /** Closes the connection; the sink is not called again. May be repeated. */
  abort(): void
}

/** How a request went: it decides which targets later requests try. */
export type Outcome = {
  /** The status has arrived; the verdict says what it means for the target. */
  answer(verdict: Verdict, headers: IncomingHttpHeaders): void
  /** The reply has arrived completely, whatever its status. */
  finish(): void
  /** The target gave no answer, or broke off its reply. May follow `answer`. */
  fail(): void
  /** The request has ended, however it went. May be repeated. */
  end(): void
}

/** One credential at one upstream, for one path: messages or token counts. */
export type Target = {
  /**
   * For logs and metrics: the upstream's name, then the credential's number in the file of
   * upstreams, or the name that the operator gave it.
   */
  readonly label: string
  /** The upstream's name, as in the catalogue's `upstreamNames`. */
  readonly upstream: string
  /** The highest temperature that it accepts; a higher one is lowered to it. */
  readonly temperatureMax: number
  /** Starts a request. Each call starts, and costs, a new generation. */
  send(request: UpstreamRequest, sink: ReplySink): { call: Call; outcome: Outcome }
}
