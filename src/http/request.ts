// A request as it comes in: its head at once, its body to whoever reads it. What comes before
// anyone reads is kept, and the connection waits with the rest.
import { headersOf } from './headers.ts'
import type { Parser } from './llhttp.ts'

/** What reads a body. One of `end` and `broken` comes, last. */
export type BodySink = {
  data(chunk: Buffer<ArrayBuffer>): void
  end(): void
  /** The client left, or what it sent was no body. */
  broken(): void
}

/** The side of the connection. */
export type Line = {
  readonly remoteAddress: string
  pause(): void
  resume(): void
}

export class Request {
  readonly method: string
  readonly url: string
  /** Names in lower case and values, in turn, each as often as it came. */
  readonly fields: readonly string[]
  readonly isOldVersion: boolean
  /** All of it has come. */
  isWhole = false
  /** No more of it will come. */
  isBroken = false
  private readonly line: Line
  private named: Readonly<Record<string, string>> | undefined
  private sink: BodySink | undefined
  private early: Buffer<ArrayBuffer> | undefined

  constructor(line: Line, { method, url, fields, isOldVersion }: Parser) {
    this.line = line
    this.method = method
    this.url = url
    this.fields = fields
    this.isOldVersion = isOldVersion
  }

  get headers(): Readonly<Record<string, string>> {
    this.named ??= headersOf(this.fields)
    return this.named
  }

  get remoteAddress(): string {
    return this.line.remoteAddress
  }

  /** The whole body, when it has come with the head or while the key was looked up; once. */
  takeWhole(): Buffer<ArrayBuffer> | undefined {
    if (!this.isWhole || this.sink !== undefined) return undefined
    const { early } = this
    this.early = undefined
    return early
  }

  read(sink: BodySink): void {
    const { early } = this
    this.early = undefined
    this.sink = sink
    if (early !== undefined) sink.data(early)
    if (this.isWhole) sink.end()
    else if (this.isBroken) sink.broken()
    else this.line.resume()
  }

  /** Nobody wants the rest: it is taken and thrown away, so that the client reads our answer. */
  discard(): void {
    this.sink = nobody
    this.early = undefined
    if (!this.isWhole) this.line.resume()
  }

  pause(): void {
    this.line.pause()
  }

  resume(): void {
    this.line.resume()
  }

  // ── from the connection ──

  arrive(chunk: Buffer<ArrayBuffer>): void {
    if (this.sink !== undefined) {
      this.sink.data(chunk)
      return
    }
    this.early = this.early === undefined ? chunk : Buffer.concat([this.early, chunk])
  }

  /** Some of it is here, and nobody has asked for it. */
  get isUnread(): boolean {
    return this.early !== undefined
  }

  end(): void {
    this.isWhole = true
    this.sink?.end()
  }

  break(): void {
    if (this.isWhole || this.isBroken) return
    this.isBroken = true
    this.sink?.broken()
  }
}

const nobody: BodySink = { data: () => {}, end: () => {}, broken: () => {} }
