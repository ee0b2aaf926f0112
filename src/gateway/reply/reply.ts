// A reply of the upstream while it arrives: status and headers first, then the body for the sink
// that is attached. Chunks that arrive before a sink is attached are kept; a compressed body is
// decompressed.
import type { IncomingHttpHeaders } from 'node:http'
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'
import { type Call, lostReplyOf, type Outcome, type ReplySink } from '../../upstreams/upstreams.ts'
import { gatewayRefusal } from '../refusals.ts'

/** Receives the reply's body. Exactly one of `end` and `fail` is called, last. */
export type ReplyBodySink = { data(chunk: Buffer): void; end(): void; fail(error: Error): void }

export type UpstreamReply = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Bytes of the body that have arrived. */
  readonly bytes: number
  /** The body of an error that step 5 has read to decide whether another upstream may do better. */
  errorBody: Buffer | undefined
  /** Starts the flow of the body, with the chunks that have arrived before. */
  attach(sink: ReplyBodySink): void
  pause(): void
  resume(): void
  abort(): void
}

// Connects the upstream's connection, which delivers at any time, with the sink that reads the
// body. A class, because a dozen closures for each request took 2 µs and made a tenth of its
// garbage.
class ReplyReceiver implements ReplySink, UpstreamReply {
  /** The relay sets it right after it has started the request. */
  started: { readonly call: Call; readonly outcome: Outcome } | undefined
  readonly reply: Promise<UpstreamReply>
  status = 0
  headers: IncomingHttpHeaders = {}
  bytes = 0
  errorBody: Buffer | undefined
  private readonly deferred = Promise.withResolvers<UpstreamReply>()
  private earlyChunks: Buffer[] = []
  private sink: ReplyBodySink | undefined
  private over: Error | 'clean' | undefined

  constructor() {
    this.reply = this.deferred.promise
  }

  // ── from the upstream ──

  head(status: number, headers: IncomingHttpHeaders): void {
    this.status = status
    this.headers = headers
    this.deferred.resolve(this)
  }

  data(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.sink === undefined) this.earlyChunks.push(chunk)
    else this.sink.data(chunk)
  }

  end(): void {
    this.started?.outcome.finish()
    this.started?.outcome.end()
    this.over = 'clean'
    this.sink?.end()
  }

  fail(error: Error): void {
    // A refusal is ours: the request was not sent, or another account needed its connection.
    if (!isRefusal(error)) this.started?.outcome.fail()
    this.started?.outcome.end()
    this.deferred.reject(isRefusal(error) ? error : refusalOf(error))
    this.over = error
    this.sink?.fail(error)
  }

  // ── for the reader of the body ──

  attach(given: ReplyBodySink): void {
    const decoder = decoderOf(this.headers)
    const sink = decoder === undefined ? given : decoded(decoder, given)
    this.sink = sink
    for (const chunk of this.earlyChunks) sink.data(chunk)
    this.earlyChunks = []
    if (this.over === 'clean') sink.end()
    else if (this.over !== undefined) sink.fail(this.over)
  }

  pause(): void {
    this.started?.call.pause()
  }

  resume(): void {
    this.started?.call.resume()
  }

  abort(): void {
    this.started?.call.abort()
    this.started?.outcome.end()
  }
}

/** What the client gets for a request that no status was received for. */
function refusalOf(error: Error): Refusal {
  switch (lostReplyOf(error)) {
    case 'overdue':
      return gatewayRefusal('upstream_overdue', 'The upstream did not answer in time.', {}, error)
    case 'closed':
      return gatewayRefusal('upstream_failed', 'The upstream gave no answer.', {}, error)
    default:
      return gatewayRefusal('upstream_unreachable', 'The upstream could not be reached.', {}, error)
  }
}

export function createReplyReceiver(): ReplyReceiver {
  return new ReplyReceiver()
}

// We send `accept-encoding: identity`, but some upstreams compress all the same.
function decoderOf(headers: IncomingHttpHeaders): Transform | undefined {
  switch (headers['content-encoding']) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    case 'deflate':
      return zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH })
    case 'br':
      return zlib.createBrotliDecompress()
    case 'zstd':
      return zlib.createZstdDecompress()
    default:
      return undefined
  }
}

function decoded(decoder: Transform, sink: ReplyBodySink): ReplyBodySink {
  decoder.on('data', (chunk: Buffer) => sink.data(chunk))
  decoder.once('end', () => sink.end())
  decoder.once('error', (error: Error) => sink.fail(error))
  return {
    data: (chunk) => void decoder.write(chunk),
    end: () => void decoder.end(),
    fail: (error) => {
      decoder.destroy()
      sink.fail(error)
    },
  }
}
