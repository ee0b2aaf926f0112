// What an upstream is to the rest of the house: something that takes a request and gives back a
// status, headers and bytes, with pause and resume for a slow client and abort for one that left.
import type { IncomingHttpHeaders } from 'node:http'

/** What is sent upstream: messages, which are paid for, and token counts, which are free. */
export type Path = '/v1/messages' | '/v1/messages/count_tokens'

export type Sending = {
  /** As the catalogue calls it: an upstream's limits are counted for each model. */
  readonly model: string
  /** Path and query under the upstream's address. */
  readonly path: string
  /** Flat list of names and values, without credentials: the upstream adds its own. */
  readonly headers: readonly string[]
  readonly body: readonly Buffer[]
  /** A stream's status comes at once; a plain reply's only when it is written. */
  readonly isStream: boolean
}

/** Who listens to a reply. Exactly one of `end` and `fail` comes, last. */
export type Sink = {
  head(status: number, headers: IncomingHttpHeaders): void
  data(chunk: Buffer): void
  end(): void
  fail(error: Error): void
}

export type Call = {
  pause(): void
  resume(): void
  /** Lets go of the upstream; the sink hears nothing more. May be repeated. */
  abort(): void
}

/** How a request went: it decides who is asked next time. */
export type Outcome = {
  /** A status that is not the target's fault has come. */
  answer(): void
  /** The reply came whole, whatever its status. */
  finish(): void
  /**
   * The target failed, which counts against it with every model. May follow an answer. The wait
   * that a 529 or another 5xx asks for holds for this model and path only: one busy model of the
   * vendor must not close the others, and a target that is down fails five times soon enough.
   */
  fail(retryAfterMs?: number): void
  /**
   * The target answered 429. That limits this model on this path for the time it asks for, and is
   * neither a failure nor a recovery of the target.
   */
  coolDown(retryAfterMs?: number): void
  /** The request is over, however it went. May be repeated. */
  end(): void
}

/** One credential at one upstream. */
export type Target = {
  /** Of the upstream, as the catalogue's `upstreamNames` know it. */
  readonly upstream: string
  /** The highest temperature it takes; a higher one is clamped for it. */
  readonly temperatureMax: number
  /** Starts a request. Not repeatable: each call is a new generation. */
  send(sending: Sending, sink: Sink): { call: Call; outcome: Outcome }
}
