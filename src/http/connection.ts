// One connection of a client: requests come in one after the other, each is answered before the
// next is looked at. Every wait has an end, which the server's clock looks after.
import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { Clock } from '../platform/clock.ts'
import type { Parser, Parsers } from './llhttp.ts'
import { Reply, UNSENT_BYTES_MAX } from './reply.ts'
import { Request } from './request.ts'

/** Why bytes did not become a request, or not all of one. */
export type Problem = 'malformed' | 'overflow' | 'cut' | 'late'

/** What the connection needs of its server. */
export type Host = {
  readonly limits: HttpLimits
  readonly clock: Clock
  readonly parsers: Parsers
  /** Replies that begin now tell the client to go elsewhere next. */
  readonly isDraining: boolean
  answer(request: Request, reply: Reply): void
  /** Answers what is no request, at once. */
  unparsed(problem: Problem, reply: Reply): void
  /** The `date` line of this second. */
  dateLine(): string
  gone(connection: Connection): void
}

export type HttpLimits = {
  readonly headBytesMax: number
  /** From the first byte of a request, or from a connection's begin, to the end of the head. */
  readonly headMs: number
  /** From the first byte to the last. */
  readonly requestMs: number
  readonly keepAliveMs: number
  /** A client that takes nothing for so long of a reply that has ended is gone. */
  readonly unreadMs: number
}

/** What comes of the next request while a reply is under way; then the client has to wait. */
const EARLY_BYTES_MAX = 1_024
/**
 * How much and how long is still taken of what nobody wants: a client that is sending when we close
 * sees a reset instead of our answer.
 */
const UNWANTED_BYTES_MAX = 67_108_864
const UNWANTED_MS_MAX = 5_000
/** What chunks may weigh beside their content: the smallest take 5 bytes to carry one. */
const OVERHEAD_FACTOR = 8

/** For whoever traces the process, as node:http has one: { request, port }. */
const started = channel('tollgate.http.request.start')

/**
 * `head`: between requests, or in a head. `length`, `chunks`: in a body of this kind. `whole`: the
 * request is there, its reply under way. `closing`: ours is said, theirs is not listened to.
 */
type Phase = 'head' | 'length' | 'chunks' | 'whole' | 'closing' | 'closed'

export class Connection {
  readonly socket: Socket
  readonly remoteAddress: string
  isKeepAlive = true
  private readonly host: Host
  private phase: Phase = 'head'
  private request: Request | undefined
  private reply: Reply | undefined
  private parser: Parser | undefined
  private hasServed = false
  /** Since when the present wait lasts: for a request, a body, a client that closes. */
  private sinceMs: number
  /** Bytes of the head, and later of what carries a chunked body. */
  private headBytes = 0
  private bodyBytes = 0
  /** Of a body of known length. */
  private bytesToCome = 0
  private unwantedBytes = 0
  private unsentBytes = 0
  private early: Buffer<ArrayBuffer> | undefined

  constructor(host: Host, socket: Socket) {
    this.host = host
    this.socket = socket
    this.remoteAddress = socket.remoteAddress ?? 'unknown'
    this.sinceMs = host.clock.spanMs()
    socket.on('data', (chunk: Buffer<ArrayBuffer>) => this.take(chunk))
    socket.on('end', () => this.fin())
    // What went wrong is told by the close that follows.
    socket.on('error', () => {})
    socket.on('close', () => this.closed())
  }

  // ── bytes of the client ──

  private take(chunk: Buffer<ArrayBuffer>): void {
    let at = 0
    while (at < chunk.length) {
      if (this.phase === 'head') at = this.readHead(chunk, at)
      else if (this.phase === 'length') at = this.readLength(chunk, at)
      else if (this.phase === 'chunks') at = this.readChunks(chunk, at)
      else if (this.phase === 'whole') at = this.keep(chunk, at)
      else {
        this.countUnwanted(chunk.length - at)
        return
      }
    }
    // Nobody reads the body yet: what has come is enough.
    if (this.isInBody && this.request?.isUnread) this.socket.pause()
  }

  private get isInBody(): boolean {
    return this.phase === 'length' || this.phase === 'chunks'
  }

  private readHead(chunk: Buffer<ArrayBuffer>, from: number): number {
    if (this.headBytes === 0) this.sinceMs = this.host.clock.spanMs()
    this.parser ??= this.host.parsers.take()
    const { parser } = this
    const found = parser.read(chunk, from)
    this.headBytes += parser.at - from
    if (found === 'malformed' || found === 'overflow') this.refuse(found)
    else if (this.headBytes > this.host.limits.headBytesMax) this.refuse('overflow')
    else if (found !== 'more') this.open(parser)
    return parser.at
  }

  private open(parser: Parser): void {
    const request = new Request(this, parser)
    this.isKeepAlive = parser.isKeepAlive && request.method !== 'CONNECT'
    this.bodyBytes = 0
    this.unwantedBytes = 0
    if (parser.isChunked) this.phase = 'chunks'
    else {
      this.giveParser()
      const bytes = lengthOf(request)
      if (bytes === undefined) {
        this.refuse('malformed')
        return
      }
      this.bytesToCome = bytes
      this.phase = bytes === 0 ? 'whole' : 'length'
      request.isWhole = bytes === 0
    }
    this.request = request
    const reply = new Reply(this, request)
    this.reply = reply
    if (this.isInBody && !request.isOldVersion && isExpecting(request)) {
      this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1')
    }
    if (started.hasSubscribers) started.publish({ request, port: this.socket.localPort })
    this.host.answer(request, reply)
  }

  private readLength(chunk: Buffer<ArrayBuffer>, from: number): number {
    const to = Math.min(chunk.length, from + this.bytesToCome)
    this.bytesToCome -= to - from
    this.arrive(chunk, from, to)
    if (this.bytesToCome === 0 && this.phase === 'length') this.bodyEnded()
    return to
  }

  private readChunks(chunk: Buffer<ArrayBuffer>, from: number): number {
    const parser = this.parser as Parser
    const found = parser.read(chunk, from)
    const { at, pieces } = parser
    let bytes = 0
    for (let i = 0; i < pieces.length; i += 2) {
      const [begin, end] = [pieces[i] as number, pieces[i + 1] as number]
      bytes += end - begin
      if (this.phase === 'chunks') this.arrive(chunk, begin, end)
    }
    this.bodyBytes += bytes
    this.headBytes += at - from - bytes
    if (this.phase !== 'chunks') return at
    const { headBytesMax } = this.host.limits
    if (found === 'malformed' || found === 'overflow') this.refuse(found)
    else if (this.headBytes > 2 * headBytesMax + OVERHEAD_FACTOR * this.bodyBytes) {
      this.refuse('overflow')
    } else if (found === 'whole') {
      this.giveParser()
      this.bodyEnded()
    }
    return at
  }

  private arrive(chunk: Buffer<ArrayBuffer>, from: number, to: number): void {
    if (this.reply?.isEnded) this.countUnwanted(to - from)
    this.request?.arrive(chunk.subarray(from, to))
  }

  private bodyEnded(): void {
    const isAnswered = this.reply?.isEnded === true
    this.phase = 'whole'
    this.request?.end()
    if (isAnswered) this.next()
  }

  private keep(chunk: Buffer<ArrayBuffer>, from: number): number {
    const rest = chunk.subarray(from)
    this.early = this.early === undefined ? rest : Buffer.concat([this.early, rest])
    if (this.early.length >= EARLY_BYTES_MAX) this.socket.pause()
    return chunk.length
  }

  private countUnwanted(bytes: number): void {
    this.unwantedBytes += bytes
    if (this.unwantedBytes > UNWANTED_BYTES_MAX) this.socket.destroy()
  }

  /** The client says nothing more. Who does so while we answer has left. */
  private fin(): void {
    if (this.isInBody && this.reply?.isEnded === false) {
      this.isKeepAlive = false
      this.request?.break()
    } else if (this.phase === 'head' && this.headBytes > 0) this.refuse('cut')
    else if (this.reply?.isEnded === false) this.socket.destroy()
    else if (this.phase !== 'closing') this.close()
  }

  private closed(): void {
    this.phase = 'closed'
    this.giveParser()
    this.host.gone(this)
    this.reply?.close()
    this.request?.break()
  }

  private giveParser(): void {
    if (this.parser === undefined) return
    this.host.parsers.give(this.parser)
    this.parser = undefined
  }

  /** What is no request is answered all the same, once, unless a reply has begun. */
  private refuse(problem: Problem): void {
    const { request, reply, socket } = this
    if (reply?.isBegun || !socket.writable) {
      this.phase = 'closing' // or the bytes that were refused would be looked at again, for ever
      socket.destroy()
      return
    }
    // Whoever has the reply of a request that went wrong in its middle says nothing more.
    reply?.close()
    request?.break()
    this.isKeepAlive = false
    this.host.unparsed(problem, new Reply(this, { method: '', isOldVersion: false }))
  }

  // ── for the request ──

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    this.socket.resume()
  }

  // ── for the reply ──

  /** The last lines of its head. */
  tail(): string {
    if (this.host.isDraining) this.isKeepAlive = false
    const { keepAliveMs } = this.host.limits
    const kind = this.isKeepAlive
      ? `keep-alive\r\nkeep-alive: timeout=${keepAliveMs / 1_000}`
      : 'close'
    return `${this.host.dateLine()}connection: ${kind}\r\n\r\n`
  }

  replied(): void {
    this.hasServed = true
    this.sinceMs = this.host.clock.spanMs()
    if (!this.isKeepAlive) this.close()
    else if (this.isInBody) this.request?.discard()
    else this.next()
  }

  // ── one after the other ──

  private next(): void {
    this.request = undefined
    this.reply = undefined
    this.headBytes = 0
    if (this.socket.writableLength >= UNSENT_BYTES_MAX) {
      // The client has not read its replies: its next request stays in the kernel until it has. 150
      // connections that sent and never read added 400 MiB to a process within 40 s.
      this.socket.pause()
      this.socket.once('drain', () => this.takeEarly())
    } else if (this.early === undefined) this.phase = 'head'
    // Not at once: a hundred short requests in one packet would be a hundred calls deep.
    else setImmediate(() => this.takeEarly())
  }

  private takeEarly(): void {
    if (this.phase !== 'whole') return
    const { early } = this
    this.phase = 'head'
    this.early = undefined
    this.socket.resume()
    if (early !== undefined) this.take(early)
  }

  /** The last word is said. Closes when the client does, or after a while. */
  private close(): void {
    this.phase = 'closing'
    this.sinceMs = this.host.clock.spanMs()
    this.giveParser()
    this.socket.end()
    this.socket.resume()
  }

  get isIdle(): boolean {
    return this.phase === 'head' && this.headBytes === 0 && this.socket.writableLength === 0
  }

  /** Whether something has lasted too long. */
  look(nowMs: number): void {
    const { limits } = this.host
    const isSending = this.isSending(nowMs)
    const ms = nowMs - this.sinceMs
    if (this.phase === 'head') {
      if (this.headBytes > 0) {
        if (ms > limits.headMs) this.refuse('late')
      } else if (ms > (this.hasServed ? limits.keepAliveMs : limits.headMs)) this.socket.destroy()
    } else if (this.phase === 'closing' || this.reply?.isEnded) {
      if (ms > (isSending ? limits.unreadMs : UNWANTED_MS_MAX)) this.socket.destroy()
    } else if (this.isInBody) {
      if (ms > limits.requestMs) this.refuse('late')
    } else if (this.reply === undefined && ms > limits.unreadMs) this.socket.destroy()
  }

  /** True while a reply that has ended is still being taken; each byte is a new beginning. */
  private isSending(nowMs: number): boolean {
    const { writableLength } = this.socket
    const isWaiting = this.phase === 'closing' || this.reply?.isEnded !== false
    if (isWaiting && writableLength !== this.unsentBytes && writableLength > 0) {
      this.sinceMs = nowMs
    }
    this.unsentBytes = writableLength
    return writableLength > 0
  }
}

/** What the body has by its head; llhttp has let only digits through. */
function lengthOf({ headers }: Request): number | undefined {
  const text = headers['content-length']
  if (text === undefined) return 0
  const bytes = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

function isExpecting({ headers }: Request): boolean {
  const { expect } = headers
  return expect !== undefined && expect.toLowerCase() === '100-continue'
}
