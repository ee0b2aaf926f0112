// A client's request as the gateway sees it: its head at once, its body only when somebody reads
// it. node:http stops reading the socket when 64 KiB of an unread body are waiting.
import type { IncomingMessage } from 'node:http'

/** Reads a body. One of `end` and `broken` is called last. */
export type BodySink = {
  data(chunk: Buffer<ArrayBuffer>): void
  end(): void
  /** The client left, or stopped before the announced length. */
  broken(): void
}

/**
 * What may come beside the content of a body: a head, and 8 bytes for each byte of a chunked body,
 * of which the smallest chunk takes 6. node:http allows 16 KiB of extensions for each chunk.
 */
const OVERHEAD_BYTES_MAX = 131_072
const OVERHEAD_FACTOR_MAX = 8
/**
 * Chunks that a chunked body may have: so many, and one more for each 16 bytes. node:http makes a
 * buffer and an event of every chunk. A megabyte in chunks of one byte took 70 ms of the event loop
 * and, with a hundred of them, 12 MB of memory each. Client libraries send chunks of kilobytes.
 */
const CHUNKS_MAX = 1_024
const CHUNK_BYTES_MIN = 16

export class ClientRequest {
  readonly method: string
  readonly url: string
  private readonly message: IncomingMessage
  /** The rest of the body will not come. */
  isBroken = false
  private sink: BodySink | undefined
  private isListening = false
  private bodyBytes = 0
  private chunks = 0

  constructor(message: IncomingMessage) {
    this.message = message
    this.method = message.method ?? ''
    this.url = message.url ?? '/'
  }

  /** A header that came twice is joined by commas, or its first value counts, as RFC 9110 says. */
  get headers(): Readonly<Record<string, string | undefined>> {
    // node:http makes an array of `set-cookie` only, which no request has a use for.
    return this.message.headers as Record<string, string | undefined>
  }

  get remoteAddress(): string {
    return this.message.socket.remoteAddress ?? 'unknown'
  }

  /** True when the last byte of the body has arrived. */
  get isWhole(): boolean {
    return this.message.complete
  }

  /**
   * The whole body, when it arrived with the head or while the key was looked up. Reading it at
   * once costs less than the events of a stream; may be called once, before `read`.
   */
  takeWhole(): Buffer<ArrayBuffer> | undefined {
    const { message } = this
    if (!message.complete || message.destroyed || this.sink !== undefined) return undefined
    const parts: Buffer<ArrayBuffer>[] = []
    // One call of read() returns one of the pieces in which the body arrived.
    for (let part = message.read(); part !== null; part = message.read()) parts.push(part)
    return parts.length === 1 ? (parts[0] as Buffer<ArrayBuffer>) : Buffer.concat(parts)
  }

  read(sink: BodySink): void {
    const { message } = this
    if (this.isBroken || message.destroyed) {
      sink.broken()
      return
    }
    this.sink = sink
    this.listen()
    message.on('end', () => this.takeSink()?.end())
    // node:http emits `close` last, also after a disconnect in the middle of the body.
    message.on('close', () => this.takeSink()?.broken())
  }

  /** Throws the rest of the body away, so that the client reaches the point where it reads. */
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

  /** Called by the server: the rest of the body will not come, but the client can be answered. */
  break(): void {
    if (this.message.complete) return
    this.isBroken = true
    this.takeSink()?.broken()
  }

  /** Hands what arrives to the sink, if there is one; ends bodies that are mostly wrapping. */
  private listen(): void {
    this.isListening = true
    const { message } = this
    const { socket } = message
    const isChunked = message.headers['transfer-encoding'] !== undefined
    const readBefore = socket.bytesRead
    message.on('data', (chunk: Buffer<ArrayBuffer>) => {
      this.bodyBytes += chunk.length
      this.chunks += 1
      if (isChunked && this.chunks > CHUNKS_MAX + this.bodyBytes / CHUNK_BYTES_MIN) {
        // Not answered: reading on to the point where the client reads is what costs.
        socket.destroy()
        return
      }
      const readMax = OVERHEAD_BYTES_MAX + (1 + OVERHEAD_FACTOR_MAX) * this.bodyBytes
      if (!message.complete && socket.bytesRead - readBefore > readMax) this.break()
      else this.sink?.data(chunk)
    })
  }

  private takeSink(): BodySink | undefined {
    const { sink } = this
    this.sink = undefined
    return sink
  }
}
