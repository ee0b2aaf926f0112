// A reply of the upstream while it comes in: its status and headers, then its body, for whoever
// reads it next. What arrives before anyone listens is kept; a compressed body is decompressed.
import type { IncomingHttpHeaders } from 'node:http'
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Refusal } from '../../platform/refusal.ts'
import type { Call, Outcome, Sink } from '../../upstreams/upstreams.ts'

/** What listens to the reply's body. Exactly one of `end` and `fail` comes, last. */
export type BodySink = { data(chunk: Buffer): void; end(): void; fail(error: Error): void }

export type Reply = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Starts the flow of the body; what came before is handed over first. */
  attach(sink: BodySink): void
  pause(): void
  resume(): void
  abort(): void
}

// Between the upstream's connection, which speaks when it likes, and whoever reads the body next. A
// class: a dozen closures for each request were 2 us and a tenth of its garbage.
class Incoming implements Sink, Reply {
  /** Set by who started the request, right after. */
  started: { readonly call: Call; readonly outcome: Outcome } | undefined
  readonly reply: Promise<Reply>
  status = 0
  headers: IncomingHttpHeaders = {}
  private readonly settled = Promise.withResolvers<Reply>()
  private early: Buffer[] = []
  private sink: BodySink | undefined
  private over: Error | 'clean' | undefined

  constructor() {
    this.reply = this.settled.promise
  }

  // ── from the upstream ──

  head(status: number, headers: IncomingHttpHeaders): void {
    this.status = status
    this.headers = headers
    this.settled.resolve(this)
  }

  data(chunk: Buffer): void {
    if (this.sink === undefined) this.early.push(chunk)
    else this.sink.data(chunk)
  }

  end(): void {
    this.started?.outcome.finish()
    this.started?.outcome.end()
    this.over = 'clean'
    this.sink?.end()
  }

  fail(error: Error): void {
    this.started?.outcome.fail()
    this.started?.outcome.end()
    this.settled.reject(
      new Refusal('upstream_unreachable', 'The upstream could not be reached.', {}, error),
    )
    this.over = error
    this.sink?.fail(error)
  }

  // ── for who reads ──

  attach(given: BodySink): void {
    const decoder = decoderOf(this.headers)
    const sink = decoder === undefined ? given : decoded(decoder, given)
    this.sink = sink
    for (const chunk of this.early) sink.data(chunk)
    this.early = []
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

export function createIncoming(): Incoming {
  return new Incoming()
}

// We ask for plain bytes, and some upstreams compress all the same.
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

function decoded(decoder: Transform, sink: BodySink): BodySink {
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
