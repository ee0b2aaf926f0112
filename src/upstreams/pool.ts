// Connections to one upstream, over node:net or node:tls: kept open between requests, one request
// at a time on each, never more than the configured number. Requests beyond it wait their turn.
// One clock looks after all deadlines: ten thousand timers would cost more than the requests.
import net from 'node:net'
import tls from 'node:tls'
import type { Call, Sink } from './port.ts'
import { ReplyReader } from './reply-reader.ts'

/** Deadlines are seconds and more; being late by this is nothing. */
const LOOK_MS = 250
const CONNECT_MS_MAX = 10_000
/**
 * An idle connection is let go before the upstream does: a request that crosses its close on the
 * way is lost. Servers keep 60 s and more, or tell (`keep-alive: timeout=5`).
 */
const IDLE_MS_MAX = 30_000
/** What a told keep-alive is shortened by: the way there, and a look of ours. */
const IDLE_MARGIN_MS = 1_500
/** Up to here, head and body in one buffer and one write are cheaper than two pieces. */
const JOIN_BYTES_MAX = 16_384
/** A single write of 32 MiB can keep ten thousand streams waiting for 20 ms; one of this, 0.1. */
const PIECE_BYTES = 262_144
/** Above this a body goes in pieces, a turn of the event loop apart. */
const WHOLE_BYTES_MAX = 1_048_576
/**
 * All sockets read into this one buffer, one after the other, and what is passed on is copied: a
 * stream's events are small, and a buffer of 64 KiB for each read was a tenth of its CPU time.
 */
const READ_BYTES = 65_536

export type Asked = {
  /** Request line and headers, with the blank line. */
  readonly head: string
  readonly body: readonly Buffer[]
  readonly bodyBytes: number
  readonly headersTimeoutMs: number
  readonly sink: Sink
}

export type PoolOptions = {
  readonly url: string
  readonly connections: number
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
}

export function createPool(options: PoolOptions) {
  const { protocol, hostname, port } = new URL(options.url)
  const isTls = protocol === 'https:'
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const idle: Connection[] = []
  const waiting: Request[] = []
  const all = new Set<Connection>()
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  const state: { session: Buffer | undefined; isClosed: boolean } = {
    session: undefined,
    isClosed: false,
  }
  function look(): void {
    const nowMs = options.spanMs()
    for (const request of waiting.filter((one) => nowMs > one.deadlineMs)) {
      waiting.splice(waiting.indexOf(request), 1)
      request.fail(new Error('no connection to the upstream became free in time'))
    }
    for (const connection of all) connection.look(nowMs)
  }

  // Not at once: timers come before sockets in a turn of the event loop. After one that took long,
  // replies that have come would be overdue before they are read, and be asked for a second time.
  // A command that builds the rooms but sends nothing must be able to end.
  const timer = setInterval(() => setImmediate(look), LOOK_MS).unref()

  const pool: Pool = {
    idleTimeoutMs: options.idleTimeoutMs,
    spanMs: options.spanMs,
    free(connection) {
      const next = waiting.shift()
      if (next === undefined) idle.push(connection)
      else connection.take(next)
    },
    gone(connection) {
      all.delete(connection)
      const at = idle.indexOf(connection)
      if (at !== -1) idle.splice(at, 1)
      const next = state.isClosed ? undefined : waiting.shift()
      if (next !== undefined) open().take(next)
    },
  }

  function open(): Connection {
    const connection = new Connection(
      pool,
      (onread) => {
        const at = { host, port: Number(port) || (isTls ? 443 : 80), onread }
        if (!isTls) return net.connect({ ...at, noDelay: true, keepAlive: true })
        const { session } = state
        const socket = tls.connect({
          ...at,
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

  return {
    send(asked: Asked): Call {
      const request = new Request(asked, options.spanMs() + asked.headersTimeoutMs)
      if (state.isClosed) setImmediate(() => request.fail(new Error('the pool is closed')))
      else {
        // The one used last: the others can grow old and go.
        const connection = idle.pop() ?? (all.size < options.connections ? open() : undefined)
        if (connection === undefined) waiting.push(request)
        else connection.take(request)
      }
      return request
    },
    /** Breaks off whatever is under way. */
    close(): void {
      state.isClosed = true
      clearInterval(timer)
      const reason = new Error('the pool is closed')
      for (const request of waiting.splice(0)) request.fail(reason)
      for (const connection of [...all]) connection.destroy(reason)
    },
  }
}

type Pool = {
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
  free(connection: Connection): void
  gone(connection: Connection): void
}

// Classes: one object per request and per connection instead of a dozen closures each.
class Request implements Call {
  readonly deadlineMs: number
  asked: Asked | undefined
  sink: Sink
  connection: Connection | undefined
  isOver = false

  constructor(asked: Asked, deadlineMs: number) {
    this.asked = asked
    this.sink = asked.sink
    this.deadlineMs = deadlineMs
  }

  fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.fail(error)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.sink.end()
  }

  // Once it is over its connection belongs to another.
  pause(): void {
    if (!this.isOver) this.connection?.pause()
  }

  resume(): void {
    if (!this.isOver) this.connection?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.connection?.destroy(new Error('the request was given up'))
  }
}

class Connection {
  private readonly pool: Pool
  private readonly socket: net.Socket
  private request: Request | undefined
  private reader = new ReplyReader()
  private deadlineMs: number
  private isSent = false
  private isPaused = false
  private isGone = false
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
      if (this.request !== undefined) this.deadlineMs = this.request.deadlineMs
    })
    this.socket.once('end', () => this.ended(new Error('the upstream closed the connection')))
    this.socket.on('error', (error) => this.ended(error))
    this.socket.once('close', () => this.ended(new Error('the connection was closed')))
  }

  take(request: Request): void {
    const { asked } = request
    if (asked === undefined || request.isOver) {
      this.pool.free(this)
      return
    }
    this.request = request
    this.reader = new ReplyReader()
    this.isSent = false
    request.connection = this
    // The body is the socket's from here on, and let go when it is sent.
    request.asked = undefined
    if (!this.socket.connecting) this.deadlineMs = request.deadlineMs
    this.write(asked)
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

  destroy(error: Error): void {
    this.ended(error)
  }

  look(nowMs: number): void {
    if (nowMs < this.deadlineMs || this.isPaused) return
    if (this.request === undefined) this.destroy(new Error('idle'))
    else this.destroy(new Error('the upstream did not answer in time'))
  }

  private write({ head, body, bodyBytes }: Asked): void {
    const { socket } = this
    const sent = () => {
      this.isSent = true
    }
    if (bodyBytes <= JOIN_BYTES_MAX) {
      const joined = Buffer.allocUnsafe(head.length + bodyBytes)
      let at = joined.write(head, 0, 'latin1')
      for (const slice of body) at += slice.copy(joined, at)
      socket.write(joined, sent)
    } else if (bodyBytes <= WHOLE_BYTES_MAX) {
      socket.cork()
      socket.write(head, 'latin1')
      for (const slice of body.slice(0, -1)) socket.write(slice)
      socket.write(body.at(-1) as Buffer, sent)
      socket.uncork()
    } else {
      socket.write(head, 'latin1')
      void this.writeInTurns(body, this.request).then(sent)
    }
  }

  /** A large body in pieces: the next when the last has gone, and others have had their turn. */
  private async writeInTurns(body: readonly Buffer[], request: Request | undefined): Promise<void> {
    for (const slice of body) {
      for (let at = 0; at < slice.length; at += PIECE_BYTES) {
        if (this.isGone || this.request !== request) return
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
      this.destroy(new Error('bytes that nobody asked for'))
      return
    }
    this.deadlineMs = this.pool.spanMs() + this.pool.idleTimeoutMs
    try {
      reader.push(bytes, this)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    if (reader.isOver) this.over()
  }

  // ── what the reader tells ──

  head(status: number, headers: Parameters<Sink['head']>[1]): void {
    const told = /\btimeout=(\d+)/i.exec(String(headers['keep-alive'] ?? ''))?.[1]
    this.idleMs =
      told === undefined
        ? IDLE_MS_MAX
        : Math.min(IDLE_MS_MAX, Math.max(0, Number(told) * 1_000 - IDLE_MARGIN_MS))
    if (this.request?.isOver === false) this.request.sink.head(status, headers)
  }

  data(bytes: Buffer): void {
    if (this.request?.isOver === false) this.request.sink.data(bytes)
  }

  private over(): void {
    const { request } = this
    this.request = undefined
    if (this.isPaused) this.resume()
    // A reply before the request was sent whole is an error's; what is left cannot be unsent.
    if (this.reader.mayFollow && this.isSent && this.idleMs > 0 && !this.isGone) {
      this.deadlineMs = this.pool.spanMs() + this.idleMs
      request?.end()
      this.pool.free(this)
    } else {
      request?.end()
      this.destroy(new Error('not used again'))
    }
  }

  private ended(error: Error): void {
    if (this.isGone) return
    this.isGone = true
    const { request } = this
    this.request = undefined
    this.socket.destroy()
    this.pool.gone(this)
    if (request === undefined) return
    if (this.reader.close()) request.end()
    else request.fail(error)
  }
}
