// A reply of the upstream while it comes in: its status and headers, then its body, for whoever
// reads it next. What arrives before anyone listens is kept; a compressed body is decompressed.
import type { IncomingHttpHeaders } from 'node:http'
import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Refusal } from '../platform/refusal.ts'
import type { Call, Outcome, Sink } from '../upstreams/upstreams.ts'

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

type Incoming = Sink & {
  /** Set by who started the request, right after. */
  started: { readonly call: Call; readonly outcome: Outcome } | undefined
  readonly reply: Promise<Reply>
}

// Between the upstream's connection, which speaks when it likes, and whoever reads the body next.
export function createIncoming(): Incoming {
  const settled = Promise.withResolvers<Reply>()
  const early: Buffer[] = []
  const state: { sink: BodySink | undefined; end: Error | 'clean' | undefined } = {
    sink: undefined,
    end: undefined,
  }
  const incoming: Incoming = {
    started: undefined,
    reply: settled.promise,
    head(status, headers) {
      const decoder = decoderOf(headers)
      settled.resolve({
        status,
        headers,
        attach(given) {
          const sink = decoder === undefined ? given : decoded(decoder, given)
          state.sink = sink
          for (const chunk of early.splice(0)) sink.data(chunk)
          if (state.end === 'clean') sink.end()
          else if (state.end !== undefined) sink.fail(state.end)
        },
        pause: () => incoming.started?.call.pause(),
        resume: () => incoming.started?.call.resume(),
        abort() {
          incoming.started?.call.abort()
          incoming.started?.outcome.end()
        },
      })
    },
    data(chunk) {
      if (state.sink === undefined) early.push(chunk)
      else state.sink.data(chunk)
    },
    end() {
      incoming.started?.outcome.finish()
      incoming.started?.outcome.end()
      state.end = 'clean'
      state.sink?.end()
    },
    fail(error) {
      incoming.started?.outcome.fail()
      incoming.started?.outcome.end()
      settled.reject(
        new Refusal('upstream_unreachable', 'The upstream could not be reached.', {}, error),
      )
      state.end = error
      state.sink?.fail(error)
    },
  }
  return incoming
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
