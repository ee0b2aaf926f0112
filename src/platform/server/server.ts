// The HTTP server that people reach with a browser, on Fastify: what all plugins of the cabinet and
// of the console share. Request ids, the client's address, limits, headers, error answers, one log
// line for each request, and a drain that loses no request. The plugins add the routes.
import { Server as NetServer } from 'node:net'
import helmet from '@fastify/helmet'
import createFastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { assert } from '../assert.ts'
import type { Clock } from '../clock.ts'
import { newHoldId, requestIdOf } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { readNetworks } from '../networks.ts'
import { addressOf } from './address.ts'
import { type Answers, answerUnparsed } from './answers.ts'
import { nulParameter } from './input.ts'
import type { Plugin } from './plugin.ts'

export type ServerOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'countAnswer'>
  readonly cell: number
  /** The header in which a trusted proxy names the client; `none`: no header is read. */
  readonly addressHeader: string
  /** Addresses and networks, as in the settings. */
  readonly trustedProxies: string
  /** How long a request may take to arrive. */
  readonly requestMs?: number
}

type OwnOptions = ServerOptions & { readonly answers: Answers }

/** Forms of the pages are a few hundred bytes; a page of text fits twenty times. */
const BODY_BYTES_MAX = 64 * 1024
/** 64 KiB at 5 KiB a second; a slower client holds the connection on purpose. */
const REQUEST_MS = 15_000
/** Node's own limit: cookies and a long path fit many times. */
const HEADER_BYTES_MAX = 16_384
/** How often Node looks for requests that take too long; its default is half a minute. */
const TIMEOUT_CHECK_MS = 1_000
/** Above the 60 s after which common proxies close an idle connection: they close it, not we. */
const KEEP_ALIVE_MS = 75_000
const IDLE_CHECK_MS = 250
/** A request on its way on an idle connection arrives within seconds, or not at all. */
const DRAIN_IDLE_MS = 5_000
const DRAIN_LIMIT_MS = 30_000
type Drain = { readonly idleMs?: number; readonly limitMs?: number }

/** Answers of an API are not pages, so they may load, run and frame nothing. */
const headers = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  frameguard: { action: 'deny' },
  // Two years, as the preload lists of browsers require.
  strictTransportSecurity: { maxAge: 63_072_000, includeSubDomains: true },
} as const

export function createServer(options: OwnOptions, plugins: readonly Plugin[]) {
  const { clock } = options
  const state = { isDraining: false }
  const newId = () => requestIdOf(newHoldId(options.cell, clock.nowMs()))
  // The newest reply on each connection: a parser error must not be written into the middle of it.
  const replies = new WeakMap<object, FastifyReply>()
  const requestMs = options.requestMs ?? REQUEST_MS

  const app = createFastify({
    logger: false,
    genReqId: newId,
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: requestMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, requestMs),
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    // We drain before we close Fastify, and still serve the requests that arrive meanwhile.
    return503OnClosing: false,
    // Fastify would answer an undecodable or overlong path itself, without hooks and our headers.
    rewriteUrl: ({ url = '/' }) => (isReadable(url) ? url : '/unreadable'),
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    clientErrorHandler: (error, socket) => {
      const reply = replies.get(socket)?.raw
      const isBegun = reply?.headersSent === true && !reply.writableFinished
      answerUnparsed(error, socket, newId(), isBegun)
    },
  })

  addShared(app, options, state)
  app.addHook('onRequest', async (request, reply) => {
    replies.set(request.raw.socket, reply)
  })
  app.register(helmet, headers)
  for (const plugin of plugins) app.register(async (scope) => plugin(scope))

  return {
    /** Resolves with the port. `fd` is a listening socket to use instead of a new one. */
    async listen(port: number, host: string, fd?: number): Promise<number> {
      // Fastify passes `fd` on to net.Server, which then ignores the host. For the host `localhost`
      // Fastify would open a second socket.
      await app.listen(fd === undefined ? { port, host } : { host: '127.0.0.1', ...{ fd } })
      const address = app.server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    },
    /**
     * Accepts no new connections. Open ones may still send a request, whose answer says
     * `connection: close`; idle ones are closed after `idleMs`, and all others at `limitMs`.
     */
    async close({ idleMs = DRAIN_IDLE_MS, limitMs = DRAIN_LIMIT_MS }: Drain = {}): Promise<void> {
      state.isDraining = true
      if (app.server.listening) await drain(app, idleMs, limitMs)
      await app.close()
    },
    /** Sends a request without a network, for tests. */
    inject: app.inject.bind(app) as FastifyInstance['inject'],
  }
}

function isReadable(url: string): boolean {
  try {
    decodeURI(url)
    return true
  } catch {
    return false
  }
}

/** Hooks and handlers for every request, of any plugin. */
function addShared(
  app: FastifyInstance,
  options: OwnOptions,
  state: { readonly isDraining: boolean },
): void {
  const { log, metrics, addressHeader, answers } = options
  const trusted = readNetworks(options.trustedProxies)
  assert(!('problem' in trusted), 'the trusted proxies were checked with the settings')
  app.decorateRequest('address', '')
  app.decorate('isDraining', () => state.isDraining)
  app.addHook('onRequest', async (request, reply) => {
    request.address = addressOf(request.raw, { header: addressHeader, trusted })
    reply.header('request-id', request.id)
  })
  // Here, because routes without a schema pass identifiers and codes on to PostgreSQL, which would
  // raise an error: a fault, which wakes the person on call. After the headers of helmet are set.
  app.addHook('preParsing', (request, reply, _body, done) => {
    const field = nulParameter(request)
    if (field === undefined) done()
    // Without `done`, so that the route does not run.
    else answers.send(reply, 'field_invalid', 'A field is missing or invalid.', { field })
  })
  app.addHook('onSend', async (_request, reply) => {
    // No cache may keep balances and keys; the plugin that serves files sets another value.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    // The client opens its next connection elsewhere.
    if (state.isDraining) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const fields = lineOf(request, reply)
    metrics.countAnswer(fields.route, fields.status)
    log[/^\/(?:healthz|readyz)$/.test(fields.route) ? 'debug' : 'info'](fields, 'answered')
  })
  app.setErrorHandler((error, request, reply) => answers.sendError(error, request, reply, log))
  app.setNotFoundHandler((_request, reply) => {
    answers.send(reply, 'path_unknown', 'There is no such path.')
  })
}

/** Logs the pattern of the path, never the path itself, which may contain codes. */
function lineOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    request: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'other',
    status: reply.statusCode,
    tookMs: Math.round(reply.elapsedTime),
  }
}

async function drain(app: FastifyInstance, idleMs: number, limitMs: number): Promise<void> {
  const { server } = app
  const timers = [
    setTimeout(() => {
      timers.push(setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS))
    }, idleMs),
    setTimeout(() => server.closeAllConnections(), limitMs),
  ]
  // Call the `close` of net.Server: that of http.Server closes idle connections at once, although a
  // request may be on its way on one of them.
  await new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  for (const timer of timers) clearTimeout(timer)
}
