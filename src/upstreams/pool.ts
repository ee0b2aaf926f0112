// Connections to one upstream, over node:net or node:tls. They are kept open between requests and
// carry one request at a time; their number is limited, accounts share them, and further requests
// wait. One timer checks all deadlines: ten thousand timers would cost more than the requests.
import net from 'node:net'
import tls from 'node:tls'
import { assert } from '../platform/assert.ts'
import type { BookId } from '../platform/ids.ts'
import { createShares, type Holder, type Shares } from '../platform/shares.ts'
import { createSlots, type Slot } from '../platform/slots.ts'
import type { Call, ReplySink } from './port.ts'
import { upstreamRefusal } from './refusals.ts'
import { ReplyReader } from './reply-reader.ts'

/** Deadlines are seconds or more, so a check this often is precise enough. */
const CHECK_MS = 250
const CONNECT_MS_MAX = 10_000
/**
 * Close an idle connection before the upstream does: a request that is sent while the upstream
 * closes is lost. Servers keep idle connections for 60 s or more, or announce their limit
 * (`keep-alive: timeout=5`).
 */
const IDLE_MS_MAX = 30_000
/** An announced limit is shortened by this: network latency plus the interval of our check. */
const IDLE_MARGIN_MS = 1_500
/** Up to this size, copying head and body into one buffer is cheaper than two writes. */
const JOIN_BYTES_MAX = 16_384
/** A single write of 32 MiB can delay ten thousand streams by 20 ms, one of this size by 0.1 ms. */
const PIECE_BYTES = 262_144
/** A larger body is written in pieces, one in each turn of the event loop. */
const WHOLE_BYTES_MAX = 1_048_576
/**
 * All sockets read into one shared buffer, one after the other, and the bytes are copied out: a
 * stream's events are small, and allocating 64 KiB for each read took a tenth of its CPU time.
 */
const READ_BYTES = 65_536

/** Connections that an account may use however many others there are: a few parallel requests. */
const CONNECTIONS_LEAST = 4
/** As long as a request waits for the database: client libraries wait ten minutes. */
const WAIT_MS_MAX = 30_000

export type PoolRequest = {
  readonly book: BookId
  readonly holder: Holder
  /** Request line and headers, with the blank line. */
  readonly head: string
  readonly body: readonly Buffer[]
  readonly bodyBytes: number
  readonly headersTimeoutMs: number
  readonly sink: ReplySink
}

export type PoolOptions = {
  readonly url: string
  readonly connections: number
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
  /** The places of requests that wait, which all upstreams share. */
  readonly waiting: Shares
}

export function createPool(options: PoolOptions) {
  const { protocol, hostname, port } = new URL(options.url)
  const isTls = protocol === 'https:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const idle: Connection[] = []
  const waiting = new Set<PendingRequest>()
  const all = new Set<Connection>()
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const state = { session: undefined as Buffer | undefined, isClosed: false }
  const shares = createShares({
    capacity: options.connections,
    least: CONNECTIONS_LEAST,
    spanMs: options.spanMs,
  })
  const slots = createSlots(shares, options.waiting)

  function checkDeadlines(): void {
    const nowMs = options.spanMs()
    for (const request of waiting) {
      if (nowMs <= request.waitUntilMs) continue
      waiting.delete(request)
      request.fail(busy('no connection became free in time'))
    }
    for (const connection of all) connection.checkDeadlines(nowMs)
  }

  // setImmediate, because Node runs timers before it reads sockets: after a slow turn, replies that
  // have arrived would be declared overdue before they are read, and their requests sent again.
  // `unref`: a command that builds the modules but sends nothing must be able to end.
  const timer = setInterval(() => setImmediate(checkDeadlines), CHECK_MS).unref()

  const pool: Pool = {
    idleTimeoutMs: options.idleTimeoutMs,
    spanMs: options.spanMs,
    release(connection) {
      idle.push(connection)
    },
    remove(connection) {
      all.delete(connection)
      const at = idle.indexOf(connection)
      if (at !== -1) idle.splice(at, 1)
    },
  }

  function open(): Connection {
    const connection = new Connection(
      pool,
      (onread) => {
        const address = { host, port: Number(port) || (isTls ? 443 : 80), onread }
        if (!isTls) return net.connect({ ...address, noDelay: true, keepAlive: true })
        const { session } = state
        const socket = tls.connect({
          ...address,
          ...(net.isIP(host) === 0 ? { servername: host } : {}),
          ...(session === undefined ? {} : { session }),
          ALPNProtocols: ['http/1.1'],
        } as tls.ConnectionOptions)
        socket.setNoDelay(true)
        socket.on('session', (fresh) => {
          state.session = fresh
        })
        return socket
      },
      buffer,
    )
    all.add(connection)
    return connection
  }

  /** A request that has a slot finds a connection that is idle, or may open one. */
  function start(request: PendingRequest): void {
    waiting.delete(request)
    if (state.isClosed) {
      request.fail(new Error('the pool is closed'))
      return
    }
    request.deadlineMs = options.spanMs() + request.headersTimeoutMs
    // Take the connection used last, so that the others can reach their idle limit and close.
    const connection = idle.pop() ?? open()
    connection.take(request)
  }

  return {
    shares,
    send(toSend: PoolRequest): Call {
      const nowMs = options.spanMs()
      const request = new PendingRequest(toSend, nowMs)
      if (state.isClosed) {
        setImmediate(() => request.fail(new Error('the pool is closed')))
        return request
      }
      waiting.add(request)
      const slot = slots.take(toSend.book, toSend.holder, () => start(request))
      request.slot = slot
      if (slot === undefined) {
        waiting.delete(request)
        setImmediate(() => request.fail(busy('too many requests wait')))
      }
      return request
    },
    /** Fails all requests under way. */
    close(): void {
      state.isClosed = true
      clearInterval(timer)
      const reason = new Error('the pool is closed')
      for (const request of [...waiting]) request.fail(reason)
      for (const connection of [...all]) connection.destroy(reason)
    },
  }
}

type Pool = {
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
  release(connection: Connection): void
  remove(connection: Connection): void
}

// Classes, so that a request and a connection are one object each instead of a dozen closures.
class PendingRequest implements Call {
  readonly waitUntilMs: number
  readonly headersTimeoutMs: number
  /** Set when it gets a connection. */
  deadlineMs = Number.POSITIVE_INFINITY
  toSend: PoolRequest | undefined
  sink: ReplySink
  connection: Connection | undefined
  slot: Slot | undefined
  isOver = false

  constructor(toSend: PoolRequest, nowMs: number) {
    this.toSend = toSend
    this.sink = toSend.sink
    this.waitUntilMs = nowMs + WAIT_MS_MAX
    this.headersTimeoutMs = toSend.headersTimeoutMs
  }

  fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.fail(error)
    this.slot?.close()
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.end()
    this.slot?.close()
  }

  get isSent(): boolean {
    return this.connection?.isOpen === true
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
    this.toSend = undefined
    this.connection?.destroy(new Error('the request was aborted'))
    this.slot?.close()
  }
}

class Connection {
  /** Before that, what was written waits in the socket's buffer. */
  isOpen = false
  private readonly pool: Pool
  private readonly socket: net.Socket
  private request: PendingRequest | undefined
  private reader = new ReplyReader()
  private deadlineMs: number
  private isRequestSent = false
  private isPaused = false
  private isClosed = false
  private idleMs = IDLE_MS_MAX

  constructor(
    pool: Pool,
    connect: (onread: { buffer: Buffer; callback: (bytes: number) => boolean }) => net.Socket,
    buffer: Buffer,
  ) {
    this.pool = pool
    this.deadlineMs = pool.spanMs() + CONNECT_MS_MAX
    const callback = (bytes: number) => {
      this.read(buffer.subarray(0, bytes))
      return true
    }
    this.socket = connect({ buffer, callback })
    this.socket.once(this.socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect', () => {
      this.isOpen = true
      if (this.request !== undefined) this.deadlineMs = this.request.deadlineMs
    })
    this.socket.once('end', () => this.destroy(new Error('the upstream closed the connection')))
    this.socket.on('error', (error) => this.destroy(error))
    this.socket.once('close', () => this.destroy(new Error('the connection was closed')))
  }

  take(request: PendingRequest): void {
    const { toSend } = request
    assert(toSend !== undefined, 'a request is sent once')
    this.request = request
    this.reader = new ReplyReader()
    this.isRequestSent = false
    request.connection = this
    // Drop our reference to the body: the socket keeps it until it is sent.
    request.toSend = undefined
    if (!this.socket.connecting) this.deadlineMs = request.deadlineMs
    this.write(toSend)
  }

  pause(): void {
    this.isPaused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.deadlineMs = this.pool.spanMs() + this.pool.idleTimeoutMs
    this.socket.resume()
  }

  checkDeadlines(nowMs: number): void {
    if (nowMs < this.deadlineMs || this.isPaused) return
    if (this.request === undefined) this.destroy(new Error('the connection was idle too long'))
    else this.destroy(new Error('the upstream did not answer in time'))
  }

  private write({ head, body, bodyBytes }: PoolRequest): void {
    const { socket } = this
    const markSent = () => {
      this.isRequestSent = true
    }
    if (bodyBytes <= JOIN_BYTES_MAX) {
      const joined = Buffer.allocUnsafe(head.length + bodyBytes)
      let at = joined.write(head, 0, 'latin1')
      for (const slice of body) at += slice.copy(joined, at)
      socket.write(joined, markSent)
    } else if (bodyBytes <= WHOLE_BYTES_MAX) {
      socket.cork()
      socket.write(head, 'latin1')
      for (const slice of body.slice(0, -1)) socket.write(slice)
      socket.write(body.at(-1) as Buffer, markSent)
      socket.uncork()
    } else {
      socket.write(head, 'latin1')
      void this.writeInTurns(body, this.request).then(markSent)
    }
  }

  /** Writes a large body in pieces, each in a turn of the event loop of its own. */
  private async writeInTurns(
    body: readonly Buffer[],
    request: PendingRequest | undefined,
  ): Promise<void> {
    for (const slice of body) {
      for (let at = 0; at < slice.length; at += PIECE_BYTES) {
        if (this.isClosed || this.request !== request) return
        const piece = slice.subarray(at, at + PIECE_BYTES)
        await new Promise<void>((resolve) => {
          this.socket.write(piece, () => setImmediate(resolve))
        })
      }
    }
  }

  private read(bytes: Buffer): void {
    const { request, reader } = this
    if (request === undefined) {
      this.destroy(new Error('the upstream sent bytes without a request'))
      return
    }
    this.deadlineMs = this.pool.spanMs() + this.pool.idleTimeoutMs
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
    const announced = /\btimeout=(\d+)/i.exec(String(headers['keep-alive'] ?? ''))?.[1]
    this.idleMs =
      announced === undefined
        ? IDLE_MS_MAX
        : Math.min(IDLE_MS_MAX, Math.max(0, Number(announced) * 1_000 - IDLE_MARGIN_MS))
    if (this.request?.isOver === false) this.request.sink.head(status, headers)
  }

  data(bytes: Buffer): void {
    if (this.request?.isOver === false) this.request.sink.data(bytes)
  }

  private finishReply(): void {
    const { request } = this
    this.request = undefined
    if (this.isPaused) this.resume()
    // A reply that ends before the whole request was sent is usually a refusal, such as 413. The
    // connection cannot be reused, because the rest of the body is still in its buffer.
    if (this.reader.mayFollow && this.isRequestSent && this.idleMs > 0 && !this.isClosed) {
      this.deadlineMs = this.pool.spanMs() + this.idleMs
      this.pool.release(this)
    } else this.destroy(new Error('the connection cannot be reused'))
    // Last: the end of a request lets the next one in, which then finds this connection.
    request?.end()
  }

  destroy(error: Error): void {
    if (this.isClosed) return
    this.isClosed = true
    const { request } = this
    this.request = undefined
    this.socket.destroy()
    this.pool.remove(this)
    if (request === undefined) return
    if (this.reader.close()) request.end()
    else request.fail(error)
  }
}

function busy(reason: string): Error {
  return upstreamRefusal('waiting_exhausted', 'The service is overloaded; try again shortly.', {
    reason,
  })
}
