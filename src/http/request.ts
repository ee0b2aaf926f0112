// A client's request: the head is available at once, the body only when it is read. node:http stops
// reading the socket while 64 KiB of the body are unread.
import type { IncomingMessage } from 'node:http'

/** Receives a body. Exactly one of `end` and `broken` is called, last. */
export type RequestBodySink = {
  data(chunk: Buffer<ArrayBuffer>): void
  end(): void
  /** The client left, stopped before the announced length, or sent a body of mostly framing. */
  broken(): void
}

/**
 * Bytes that may arrive in addition to the content of a body: a head, and 8 bytes for each byte of
 * a chunked body, where the smallest chunk needs 6. node:http allows 16 KiB of extensions for each
 * chunk.
 */
const OVERHEAD_BYTES_MAX = 131_072
const OVERHEAD_FACTOR_MAX = 8
/**
 * A chunked body may have CHUNKS_MAX chunks, and one more for each CHUNK_BYTES_MIN bytes. node:http
 * makes a buffer and an event of every chunk. A megabyte in chunks of one byte took 70 ms of the
 * event loop and, with a hundred such bodies, 12 MB of memory each. Client libraries send chunks of
 * kilobytes.
 */
const CHUNKS_MAX = 1_024
const CHUNK_BYTES_MIN = 16

export class ClientRequest {
  readonly method: string
  readonly url: string
  private readonly message: IncomingMessage
  /** The rest of the body will not arrive. */
  isBroken = false
  private sink: RequestBodySink | undefined
  private isListening = false
  /** Bytes of the body that have arrived, discarded ones included. */
  bodyBytes = 0
  private chunks = 0
  /** The body comes in too many chunks: no more of them are read. */
  private isUnread = false
  /** Sends `100 Continue`; undefined once sent, and when the client does not wait for it. */
  private askForBody: (() => void) | undefined

  private readonly paceDiscarded: (request: ClientRequest, bytes: number) => void

  constructor(
    message: IncomingMessage,
    paceDiscarded: (request: ClientRequest, bytes: number) => void,
    askForBody?: () => void,
  ) {
    this.message = message
    this.paceDiscarded = paceDiscarded
    this.askForBody = askForBody
    this.method = message.method ?? ''
    this.url = message.url ?? '/'
  }

  /**
   * Values of a repeated header are joined by commas, or the first one counts, as RFC 9110 says.
   */
  get headers(): Readonly<Record<string, string | undefined>> {
    // Only `set-cookie` is an array in node:http, and requests do not have it.
    return this.message.headers as Record<string, string | undefined>
  }

  get remoteAddress(): string {
    return this.message.socket.remoteAddress ?? 'unknown'
  }

  /** True while the client waits for `100 Continue` before it sends its body. */
  get isBodyWithheld(): boolean {
    return this.askForBody !== undefined && !this.isWhole
  }

  /** True when the last byte of the body has arrived. */
  get isWhole(): boolean {
    return this.message.complete
  }

  /**
   * The complete body, if it has arrived already; undefined otherwise. Reading it at once costs
   * less than the events of a stream. May be called once, before `read`.
   */
  takeWhole(): Buffer<ArrayBuffer> | undefined {
    const { message } = this
    if (!message.complete || message.destroyed || this.sink !== undefined) return undefined
    const parts: Buffer<ArrayBuffer>[] = []
    // Each call of read() returns one of the pieces in which the body arrived.
    for (let part = message.read(); part !== null; part = message.read()) parts.push(part)
    const whole = parts.length === 1 ? (parts[0] as Buffer<ArrayBuffer>) : Buffer.concat(parts)
    this.bodyBytes += whole.length
    return whole
  }

  read(sink: RequestBodySink): void {
    const { message } = this
    if (this.isBroken || message.destroyed) {
      sink.broken()
      return
    }
    this.sink = sink
    this.askForBody?.()
    this.askForBody = undefined
    this.listen()
    message.on('end', () => this.takeSink()?.end())
    // node:http emits `close` last, also after a disconnect in the middle of the body.
    message.on('close', () => this.takeSink()?.broken())
  }

  /** Discards the rest of the body, so that the client finishes sending and reads our answer. */
  discard(): void {
    this.sink = undefined
    if (!this.isListening) this.listen()
    this.message.resume()
  }

  pause(): void {
    this.message.pause()
  }

  resume(): void {
    this.message.resume()
  }

  /** Called by the server: the rest of the body will not arrive, but the client can be answered. */
  break(): void {
    if (this.message.complete) return
    this.isBroken = true
    this.takeSink()?.broken()
  }

  /** Gives the chunks to the sink, if there is one, and ends bodies that are mostly framing. */
  private listen(): void {
    this.isListening = true
    const { message } = this
    const { socket } = message
    const isChunked = message.headers['transfer-encoding'] !== undefined
    const readBefore = socket.bytesRead
    message.on('data', (chunk: Buffer<ArrayBuffer>) => {
      this.bodyBytes += chunk.length
      this.chunks += 1
      if (this.isUnread) return
      if (isChunked && this.chunks > CHUNKS_MAX + this.bodyBytes / CHUNK_BYTES_MIN) {
        this.isUnread = true
        setImmediate(() => this.stopReading())
        this.break()
        return
      }
      const readMax = OVERHEAD_BYTES_MAX + (1 + OVERHEAD_FACTOR_MAX) * this.bodyBytes
      if (!message.complete && socket.bytesRead - readBefore > readMax) this.break()
      else if (this.sink !== undefined) this.sink.data(chunk)
      else this.paceDiscarded(this, chunk.length)
    })
  }

  /**
   * Takes the connection from node:http's parser, which makes the cost, and reads no more of it. It
   * stays open for the answer: a proxy counts one that closes without an answer as a failure of
   * this node, so that a client could put nodes out of service. Not called by the parser itself,
   * which still holds the bytes of its last read.
   */
  private stopReading(): void {
    const { socket, complete } = this.message
    if (complete || socket.destroyed) return
    socket.removeAllListeners('data')
    // node:http gives up the connection when it gets a listener for its data.
    socket.on('data', () => {})
    socket.pause()
  }

  private takeSink(): RequestBodySink | undefined {
    const { sink } = this
    this.sink = undefined
    return sink
  }
}
