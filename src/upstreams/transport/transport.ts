// Sends requests to one upstream that speaks the vendor's Messages API. Accounts share its
// connections, and a request without one waits here. It adds our credential; the customer's key is
// never sent. A request that fails before its last byte was sent is repeated once, on another
// connection; after that byte the upstream may have accepted it, so that it must not be repeated.
import type { IncomingHttpHeaders } from 'node:http'
import { createShares, type Shares } from '../../platform/shares.ts'
import { createSlots, type Slot } from '../../platform/slots.ts'
import { bytesTotal } from '../../wire/edit.ts'
import {
  type Call,
  type CredentialHeader,
  LostReply,
  type ReplySink,
  type UpstreamRequest,
} from '../port.ts'
import { upstreamRefusal } from '../refusals.ts'
import type {
  Carrier,
  CarrierCall,
  CarrierListener,
  ConnectionOptions,
  OutgoingRequest,
} from './carrier.ts'
import { createDirectCarrier } from './direct-carrier.ts'
import { createUndiciCarrier } from './undici-carrier.ts'

/** The wait for a connection may take half a minute, so a check this often is precise enough. */
const CHECK_MS = 250
/** Connections that an account may use however many others there are: a few parallel requests. */
const CONNECTIONS_LEAST = 4

export type TransportOptions = ConnectionOptions & {
  readonly url: string
  /** Requests under way at a time; further ones wait. Over HTTP/2 they share connections. */
  readonly connections: number
  /** The longest wait for a connection. */
  readonly queueTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly spanMs: () => number
  /** The places of requests that wait, which all upstreams share. */
  readonly waiting: Shares
}

export type Transport = ReturnType<typeof createTransport>

export function createTransport(options: TransportOptions) {
  const { spanMs } = options
  const prefix = new URL(options.url).pathname.replace(/\/$/, '')
  const carrier = createCarrier(options)
  const shares = createShares({ capacity: options.connections, least: CONNECTIONS_LEAST, spanMs })
  const slots = createSlots(shares, options.waiting)
  const waiting = new Set<PendingRequest>()
  const state = { isClosed: false }

  function checkDeadlines(): void {
    const nowMs = spanMs()
    for (const request of waiting) {
      if (nowMs <= request.waitUntilMs) continue
      waiting.delete(request)
      request.refuse(busy('no connection became free in time'))
    }
  }

  // setImmediate, because Node runs timers before it reads sockets: after a slow turn, replies have
  // arrived whose ends free connections.
  const timer = setInterval(() => setImmediate(checkDeadlines), CHECK_MS).unref()

  function outgoing(credential: CredentialHeader, request: UpstreamRequest): OutgoingRequest {
    const { path, headers, body, isStream, untilMs } = request
    const limitMs = isStream ? options.streamHeadersTimeoutMs : options.headersTimeoutMs
    return {
      path: prefix + path,
      headers: [...credential, ...headers],
      body,
      bodyBytes: bytesTotal(body),
      headersTimeoutMs: Math.max(1, Math.min(limitMs, Math.ceil(untilMs - spanMs()))),
      isRepeated: false,
    }
  }

  return {
    /** Its connections, as accounts share them. */
    shares,
    /**
     * `credential` is called when the request has a connection: the secret may have been replaced
     * while it waited.
     */
    send(credential: () => CredentialHeader, request: UpstreamRequest, sink: ReplySink): Call {
      const prepare = () => outgoing(credential(), request)
      const pending = new PendingRequest(carrier, prepare, sink)
      pending.waitUntilMs = Math.min(spanMs() + options.queueTimeoutMs, request.untilMs)
      if (state.isClosed) {
        setImmediate(() => pending.refuse(new Error('the transport is closed')))
        return pending
      }
      waiting.add(pending)
      const slot = slots.take(request.book, request.holder, () => {
        waiting.delete(pending)
        pending.start()
      })
      pending.slot = slot
      if (slot === undefined) {
        waiting.delete(pending)
        setImmediate(() => pending.refuse(busy('too many requests wait')))
      }
      return pending
    },
    /** Fails all requests under way. */
    close(): void {
      state.isClosed = true
      clearInterval(timer)
      for (const request of [...waiting]) request.refuse(new Error('the transport is closed'))
      carrier.close()
    },
  }
}

/** Our own client costs half of undici's CPU time, but knows neither proxies nor HTTP/2. */
function createCarrier(options: TransportOptions): Carrier {
  const isDirect = options.proxy === undefined && !options.http2
  return isDirect ? createDirectCarrier(options) : createUndiciCarrier(options.url, options)
}

// A class, so that a request is one object instead of a dozen closures.
class PendingRequest implements Call, CarrierListener {
  waitUntilMs = 0
  slot: Slot | undefined
  private readonly carrier: Carrier
  private readonly sink: ReplySink
  /** Undefined once it has a connection. */
  private prepare: (() => OutgoingRequest) | undefined
  /** Undefined before that, and once its last byte was sent, so that its body can be freed. */
  private toSend: OutgoingRequest | undefined
  private call: CarrierCall | undefined
  private hasHead = false
  private isOver = false

  constructor(carrier: Carrier, prepare: () => OutgoingRequest, sink: ReplySink) {
    this.carrier = carrier
    this.prepare = prepare
    this.sink = sink
  }

  start(): void {
    if (this.isOver) return
    this.toSend ??= this.prepare?.()
    this.prepare = undefined
    if (this.toSend !== undefined) this.call = this.carrier.send(this.toSend, this)
  }

  /** It was not sent, for a reason of ours. */
  refuse(error: Error): void {
    if (this.isOver) return
    this.finish()
    this.sink.fail(error)
  }

  // ── from the carrier ──

  sent(): void {
    this.toSend = undefined
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.hasHead = true
    this.sink.head(status, headers)
  }

  data(chunk: Buffer): void {
    this.sink.data(chunk)
  }

  end(): void {
    if (this.isOver) return
    this.finish()
    this.sink.end()
  }

  fail(error: Error): void {
    if (this.isOver) return
    const { toSend } = this
    if (toSend !== undefined && !toSend.isRepeated && !this.hasHead) {
      this.toSend = { ...toSend, isRepeated: true }
      setImmediate(() => this.start())
      return
    }
    this.finish()
    this.sink.fail(toSend === undefined && !this.hasHead ? new LostReply(error) : error)
  }

  // ── from the relay ──

  get isSent(): boolean {
    return this.hasHead || (this.toSend === undefined && this.prepare === undefined)
  }

  pause(): void {
    this.call?.pause()
  }

  resume(): void {
    this.call?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.finish()
    this.call?.abort()
  }

  private finish(): void {
    this.isOver = true
    this.prepare = undefined
    this.toSend = undefined
    // Later: the freed connection lets the next request in, and undici may be parsing just now.
    queueMicrotask(() => this.slot?.close())
  }
}

function busy(reason: string): Error {
  return upstreamRefusal('waiting_exhausted', 'The service is overloaded; try again shortly.', {
    reason,
  })
}
