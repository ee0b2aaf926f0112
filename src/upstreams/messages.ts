// One upstream that speaks the vendor's Messages API, over undici's dispatch: no fetch, no web
// streams (measured four to six times the CPU). Our credential goes up, the customer's never does.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { Pool } from 'undici'
import { bytesTotal } from '../wire/edit.ts'
import type { Call, Sending, Sink } from './port.ts'

/** Below this, copying an edited body into one buffer is cheaper than two writes. */
const COPY_BYTES_MAX = 1_048_576
/** A single write of 32 MiB can keep ten thousand streams waiting for 20 ms; one of this, 0.1. */
const PIECE_BYTES = 262_144

export type Wire = {
  send(credential: string, sending: Sending, sink: Sink): Call
  close(): Promise<void>
}

export function createMessagesWire(options: {
  readonly url: string
  readonly connections: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly idleTimeoutMs: number
}): Wire {
  const { origin, pathname } = new URL(options.url)
  const prefix = pathname.replace(/\/$/, '')
  const pool = new Pool(origin, {
    connections: options.connections,
    // One request at a time on a connection: a reply behind a long stream would wait for it.
    pipelining: 1,
    bodyTimeout: options.idleTimeoutMs,
    keepAliveTimeout: 30_000,
  })
  return {
    send(credential, sending, sink) {
      const handler = new Handler(sink)
      const bytes = bytesTotal(sending.body)
      pool.dispatch(
        {
          method: 'POST',
          path: prefix + sending.path,
          headers: ['x-api-key', credential, 'content-length', String(bytes), ...sending.headers],
          body: bodyOf(sending.body, bytes),
          headersTimeout: sending.isStream
            ? options.streamHeadersTimeoutMs
            : options.headersTimeoutMs,
        },
        handler,
      )
      return handler
    },
    // Not the pool's own close, which waits for replies that nobody will settle any more.
    close: () => pool.destroy(),
  }
}

type Body = NonNullable<Dispatcher.DispatchOptions['body']>

function bodyOf(slices: readonly Buffer[], bytes: number): Body {
  // Any iterable will do, though the types know only streams.
  if (bytes > COPY_BYTES_MAX) return inTurns(slices) as unknown as Body
  return slices.length === 1 ? (slices[0] as Buffer) : Buffer.concat(slices as Buffer[], bytes)
}

/** Pieces of a large body, a turn of the event loop apart. */
async function* inTurns(slices: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const slice of slices) {
    for (let at = 0; at < slice.length; at += PIECE_BYTES) {
      yield slice.subarray(at, at + PIECE_BYTES)
      await nextTurn()
    }
  }
}

// A class: one object per request instead of nine closures.
class Handler implements Dispatcher.DispatchHandler, Call {
  private readonly sink: Sink
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false

  constructor(sink: Sink) {
    this.sink = sink
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isOver) controller.abort(new Error('the client left'))
    else this.controller = controller
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<Sink['head']>[1],
  ): void {
    // 1xx answers (early hints) announce the reply; they are not it.
    if (!this.isOver && status >= 200) this.sink.head(status, headers)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.isOver) this.sink.data(chunk)
  }

  onResponseEnd(): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.fail(error)
  }

  pause(): void {
    this.controller?.pause()
  }

  resume(): void {
    this.controller?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.controller?.abort(new Error('the client left'))
  }
}
