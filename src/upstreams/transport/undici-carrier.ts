// Carries requests through undici: through an HTTP proxy (CONNECT) or a SOCKS5 proxy, or over
// HTTP/2. undici keeps the connections; it never queues, because it may open as many as it likes
// and transport.ts limits the requests.
import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, Pool, ProxyAgent, Socks5ProxyAgent } from 'undici'
import {
  type Carrier,
  type CarrierCall,
  type CarrierListener,
  type ConnectionOptions,
  HEAD_BYTES_MAX,
  JOIN_BYTES_MAX,
  KEEP_ALIVE_MARGIN_MS,
  type OutgoingRequest,
} from './carrier.ts'
import { piecesOf } from './request-writer.ts'

export function createUndiciCarrier(url: string, options: ConnectionOptions): Carrier {
  const { origin } = new URL(url)
  const dispatcher = createDispatcher(origin, options)
  return {
    send(request, listener) {
      const { path, headers, bodyBytes, headersTimeoutMs } = request
      const exchange = new UndiciExchange(listener)
      dispatcher.dispatch(
        {
          origin,
          path,
          method: 'POST',
          headers: [...headers, 'content-length', String(bodyBytes)],
          // undici takes every iterable of buffers, which its types do not say.
          body: bodyOf(request) as Buffer,
          headersTimeout: headersTimeoutMs,
          bodyTimeout: options.idleTimeoutMs,
        },
        exchange,
      )
      return exchange
    },
    close: () => void dispatcher.destroy(new Error('the transport is closed')),
  }
}

function createDispatcher(origin: string, options: ConnectionOptions): Dispatcher {
  const { proxy, proxyLogin, http2, connectTimeoutMs, keepAliveMs } = options
  const requestTls = {
    timeout: connectTimeoutMs,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.clientCertificate === undefined
      ? {}
      : { cert: options.clientCertificate, key: options.clientKey?.reveal() }),
  }
  const connect = { ...requestTls, allowH2: http2, preferH2: http2 }
  const pooling = {
    pipelining: 1,
    allowH2: http2,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    clientTtl: options.connectionMaxAgeMs,
    maxHeaderSize: HEAD_BYTES_MAX,
  }
  if (proxy === undefined) return new Pool(origin, { ...pooling, connect })
  if (proxy.startsWith('socks5:')) {
    // Its connections keep undici's own limits: HTTP/1.1, idle for 4 s, of any age.
    const [username = '', ...rest] = proxyLogin?.reveal().split(':') ?? []
    const login = proxyLogin === undefined ? {} : { username, password: rest.join(':') }
    return new Socks5ProxyAgent(proxy, { ...login, connectTimeout: connectTimeoutMs, requestTls })
  }
  return new ProxyAgent({
    ...pooling,
    uri: proxy,
    // CONNECT for http:// too, so that the proxy need not understand requests.
    proxyTunnel: true,
    connectTimeout: connectTimeoutMs,
    requestTls: connect,
    // Without it, undici waits five minutes for the proxy's answer to CONNECT.
    clientFactory: (to, given) => new Pool(to, { ...given, headersTimeout: connectTimeoutMs }),
    ...(proxyLogin === undefined ? {} : { token: `Basic ${basicOf(proxyLogin.reveal())}` }),
  })
}

function basicOf(login: string): string {
  return Buffer.from(login).toString('base64')
}

function bodyOf({ body, bodyBytes }: OutgoingRequest): Buffer | Pieces {
  // A copy: undici keeps the body until the reply has ended, and must not keep the client's buffer.
  return bodyBytes <= JOIN_BYTES_MAX ? Buffer.concat(body, bodyBytes) : new Pieces(body)
}

/** A larger body in pieces; undici waits between them until the socket has taken one. */
class Pieces {
  private body: readonly Buffer[]

  constructor(body: readonly Buffer[]) {
    this.body = body
  }

  *[Symbol.iterator](): Generator<Buffer> {
    const { body } = this
    this.body = []
    yield* piecesOf(body)
  }
}

// undici calls these while it parses: an exception here would abort another request's parsing, and
// so would a call of another connection. transport.ts starts the next request in a turn of its own.
class UndiciExchange implements CarrierCall, Dispatcher.DispatchHandler {
  private readonly listener: CarrierListener
  private controller: Dispatcher.DispatchController | undefined
  private isOver = false

  constructor(listener: CarrierListener) {
    this.listener = listener
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    // Aborted while it was connecting: undici writes nothing then.
    if (this.isOver) controller.abort(new Error('the request was aborted'))
  }

  onRequestSent(): void {
    if (!this.isOver) this.listener.sent()
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // Informational replies, such as 103, come before the reply.
    if (!this.isOver && status >= 200) this.listener.head(status, joined(headers))
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (!this.isOver) this.listener.data(chunk)
  }

  /** undici frees the connection in the next turn; before, the next request would open another. */
  onResponseEnd(): void {
    setImmediate(() => setImmediate(() => this.end()))
  }

  private end(): void {
    if (this.isOver) return
    this.isOver = true
    this.listener.end()
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.listener.fail(error)
  }

  pause(): void {
    if (!this.isOver) this.controller?.pause()
  }

  resume(): void {
    if (!this.isOver) this.controller?.resume()
  }

  abort(): void {
    if (this.isOver) return
    this.isOver = true
    this.controller?.abort(new Error('the request was aborted'))
  }
}

/** undici gives a header that came twice as a list; our own client joins its values. */
function joined(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const plain: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(headers)) {
    plain[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain as IncomingHttpHeaders
}
