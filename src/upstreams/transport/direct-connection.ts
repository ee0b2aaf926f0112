// One HTTP/1.1 connection to an upstream, and the request that it carries. It writes the request,
// passes the reply on as it arrives, keeps the deadlines, and decides whether another request may
// follow.
import type net from 'node:net'
import tls from 'node:tls'
import { assert } from '../../platform/assert.ts'
import type { ReplySink } from '../port.ts'
import {
  type CarrierCall,
  type CarrierListener,
  type ConnectionOptions,
  KEEP_ALIVE_MARGIN_MS,
  type OutgoingRequest,
} from './carrier.ts'
import { ReplyReader } from './reply-reader.ts'
import { writeRequest } from './request-writer.ts'

/**
 * A connection that was idle this long is not written to before a turn of the event loop: an end or
 * a reset that has arrived is then read first, while the request can still go elsewhere.
 */
const UNCHECKED_IDLE_MS = 1_000

export type DirectOptions = Omit<ConnectionOptions, 'proxy' | 'proxyLogin' | 'http2'> & {
  readonly url: string
  readonly spanMs: () => number
}

export type OnRead = { readonly buffer: Buffer; callback(bytes: number): boolean }

/** Keeps the connections. */
type Owner = {
  readonly options: DirectOptions
  release(connection: Connection): void
  remove(connection: Connection): void
}

// Classes, so that a request and a connection are one object each instead of a dozen closures.
export class DirectExchange implements CarrierCall {
  /** Undefined once a connection has it: the socket keeps the body until it is written. */
  request: OutgoingRequest | undefined
  readonly listener: CarrierListener
  connection: Connection | undefined
  isOver = false

  constructor(request: OutgoingRequest, listener: CarrierListener) {
    this.request = request
    this.listener = listener
  }

  fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.listener.fail(error)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.listener.end()
  }

  // Once this request has ended, its connection may already serve another one.
  pause(): void {
    if (!this.isOver) this.connection?.pause()
  }

  resume(): void {
    if (!this.isOver) this.connection?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.connection?.destroy(new Error('the request was aborted'))
  }
}

export class Connection {
  private readonly owner: Owner
  private readonly socket: net.Socket
  /** From then on it takes no further request. */
  private readonly retiresMs: number
  private exchange: DirectExchange | undefined
  private reader = new ReplyReader()
  private deadlineMs: number
  /** When the exchange's head is due; it counts from the time when the connection is made. */
  private headersTimeoutMs = 0
  /** The last byte of the request was passed to `write`, and the kernel has taken it. */
  private isWritten = false
  private isFlushed = false
  private isConnected = false
  private isPaused = false
  private isClosed = false
  private keepAliveMs: number
  private idleFromMs = 0

  constructor(owner: Owner, connect: (onread: OnRead) => net.Socket, buffer: Buffer) {
    const { spanMs, connectTimeoutMs, keepAliveMs, connectionMaxAgeMs } = owner.options
    const nowMs = spanMs()
    this.owner = owner
    this.retiresMs = nowMs + connectionMaxAgeMs
    this.deadlineMs = nowMs + connectTimeoutMs
    this.keepAliveMs = keepAliveMs
    const callback = (bytes: number) => {
      this.read(buffer.subarray(0, bytes))
      return true
    }
    this.socket = connect({ buffer, callback })
    this.socket.once(this.socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect', () => {
      this.isConnected = true
      this.begin()
    })
    this.socket.once('end', () => this.close(new Error('the upstream closed the connection')))
    this.socket.on('error', (error) => this.close(error))
    this.socket.once('close', () => this.close(new Error('the connection was closed')))
  }

  take(exchange: DirectExchange, authority: string): void {
    const { request } = exchange
    assert(request !== undefined, 'a request is sent once')
    this.exchange = exchange
    this.reader = new ReplyReader()
    this.isWritten = false
    this.isFlushed = false
    this.headersTimeoutMs = request.headersTimeoutMs
    exchange.connection = this
    exchange.request = undefined
    if (this.isConnected) this.begin()
    writeRequest(this.socket, request, authority, {
      isCurrent: () => !this.isClosed && this.exchange === exchange,
      written: () => this.markWritten(),
      flushed: () => {
        this.isFlushed = true
      },
    })
  }

  pause(): void {
    this.isPaused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.deadlineMs = this.owner.options.spanMs() + this.owner.options.idleTimeoutMs
    this.socket.resume()
  }

  destroy(error: Error): void {
    this.close(error)
  }

  /** Whether to wait for a turn of the event loop before it is used; asked once. */
  mustBeChecked(): boolean {
    const nowMs = this.owner.options.spanMs()
    if (nowMs - this.idleFromMs < UNCHECKED_IDLE_MS) return false
    this.idleFromMs = nowMs
    return true
  }

  checkDeadlines(nowMs: number): void {
    if (nowMs < this.deadlineMs || this.isPaused) return
    const what = this.exchange === undefined ? 'the connection was idle' : 'the upstream was silent'
    this.destroy(Object.assign(new Error(`${what} for too long`), { code: 'ETIMEDOUT' }))
  }

  /** The connection is made: it carries its first request, or the next one. */
  private begin(): void {
    if (this.exchange === undefined) return
    this.deadlineMs = this.owner.options.spanMs() + this.headersTimeoutMs
    if (this.isWritten) this.exchange.listener.sent()
  }

  /** Until the connection is made, the socket only keeps what is written. */
  private markWritten(): void {
    this.isWritten = true
    if (this.isConnected) this.exchange?.listener.sent()
  }

  private read(bytes: Buffer): void {
    const { exchange, reader } = this
    if (exchange === undefined) {
      this.destroy(new Error('the upstream sent bytes without a request'))
      return
    }
    this.deadlineMs = this.owner.options.spanMs() + this.owner.options.idleTimeoutMs
    try {
      reader.push(bytes, this)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    if (reader.isOver) this.finishReply()
  }

  // ── called by the reader ──

  head(status: number, headers: Parameters<ReplySink['head']>[1]): void {
    const { keepAliveMs } = this.owner.options
    const announced = /\btimeout=(\d+)/i.exec(String(headers['keep-alive'] ?? ''))?.[1]
    this.keepAliveMs =
      announced === undefined
        ? keepAliveMs
        : Math.min(keepAliveMs, Number(announced) * 1_000 - KEEP_ALIVE_MARGIN_MS)
    if (this.exchange?.isOver === false) this.exchange.listener.head(status, headers)
  }

  data(bytes: Buffer): void {
    if (this.exchange?.isOver === false) this.exchange.listener.data(bytes)
  }

  private finishReply(): void {
    const { exchange } = this
    this.exchange = undefined
    if (this.isPaused) this.resume()
    if (this.mayBeKept()) {
      this.idleFromMs = this.owner.options.spanMs()
      this.deadlineMs = Math.min(this.idleFromMs + this.keepAliveMs, this.retiresMs)
      this.owner.release(this)
    } else this.destroy(new Error('the connection cannot be reused'))
    // Last: the end of a request lets the next one in, which then finds this connection.
    exchange?.end()
  }

  /**
   * A reply that ends before the whole request was sent is usually a refusal, such as 413. The
   * connection cannot be reused then: the rest of the body is still in its buffer.
   */
  private mayBeKept(): boolean {
    if (this.isClosed || !this.reader.mayFollow || !this.isFlushed) return false
    return this.keepAliveMs > 0 && this.owner.options.spanMs() < this.retiresMs
  }

  private close(error: Error): void {
    if (this.isClosed) return
    this.isClosed = true
    const { exchange } = this
    this.exchange = undefined
    this.socket.destroy()
    this.owner.remove(this)
    if (exchange === undefined) return
    if (this.reader.close()) exchange.end()
    else exchange.fail(error)
  }
}
