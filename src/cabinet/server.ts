// The control plane's HTTP server, on Fastify: what every part of the cabinet shares. Request ids,
// the client's address, limits, headers, the shape of a no, one log line for a request, and a drain
// that loses none. What is served is in the parts.
import { Server as NetServer } from 'node:net'
import helmet from '@fastify/helmet'
import createFastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import { readNetworks } from '../platform/networks.ts'
import { addressOf } from './address.ts'
import { answerError, answerNo, answerUnparsed } from './answers.ts'
import type { Part } from './part.ts'

export type ServerOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'answered'>
  readonly cell: number
  /** The header in which a trusted proxy names the client; `none`: no header is read. */
  readonly addressHeader: string
  /** Addresses and networks, as in the settings. */
  readonly trustedProxies: string
  /** How long a request may take to arrive. */
  readonly requestMs?: number
}

/** Forms of the account area are a few hundred bytes; a page of text fits twenty times. */
const BODY_BYTES_MAX = 64 * 1024
/** 64 KiB at 5 KiB a second; whoever is slower holds a connection on purpose. */
const REQUEST_MS = 15_000
/** Node's own limit: cookies and a long path fit many times. */
const HEADER_BYTES_MAX = 16_384
/** Node looks at this pace for requests that take too long; its own would be half a minute. */
const LOOK_MS = 1_000
/** Above the 60 s after which common proxies let an idle connection go: they close it, not we. */
const KEEP_ALIVE_MS = 75_000
const IDLE_LOOK_MS = 250
/** A request on its way on an idle connection arrives within seconds, or not at all. */
const IDLE_MS = 5_000
const LIMIT_MS = 30_000
type Drain = { readonly idleMs?: number; readonly limitMs?: number }

/** Answers of an API are neither pages nor to be framed, so they may load and run nothing. */
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
  // Two years, as the lists of browsers want it.
  strictTransportSecurity: { maxAge: 63_072_000, includeSubDomains: true },
} as const

export function createServer(options: ServerOptions, parts: readonly Part[]) {
  const { clock } = options
  const state = { isDraining: false }
  const newId = () => requestIdOf(newHoldId(options.cell, clock.nowMs()))
  // The newest reply on each connection: an error of the parser must not be written into it.
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
      connectionsCheckingInterval: Math.min(LOOK_MS, requestMs),
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    // We drain by ourselves before Fastify closes, and serve what still comes meanwhile.
    return503OnClosing: false,
    // Fastify answers these two by itself, without hooks: our headers would be missing.
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
  for (const part of parts) app.register(async (scope) => part(scope))

  return {
    /** Resolves with the port taken. */
    async listen(port: number, host: string): Promise<number> {
      await app.listen({ port, host })
      const address = app.server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    },
    /**
     * Takes no new connection. Those that are there may still bring a request, and are told to
     * close with its answer; idle ones are closed after a while, and what is not over at the limit
     * is broken off.
     */
    async close({ idleMs = IDLE_MS, limitMs = LIMIT_MS }: Drain = {}): Promise<void> {
      state.isDraining = true
      if (app.server.listening) await drain(app, idleMs, limitMs)
      await app.close()
    },
    /** A request without a network. */
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

/** What holds for every request, whichever part it is for. */
function addShared(
  app: FastifyInstance,
  options: ServerOptions,
  state: { readonly isDraining: boolean },
): void {
  const { log, metrics, addressHeader } = options
  const trusted = readNetworks(options.trustedProxies)
  assert(!('complaint' in trusted), 'the trusted proxies were checked with the settings')
  app.decorateRequest('address', '')
  app.decorate('isDraining', () => state.isDraining)
  app.addHook('onRequest', async (request, reply) => {
    request.address = addressOf(request.raw, { header: addressHeader, trusted })
    reply.header('request-id', request.id)
  })
  app.addHook('onSend', async (_request, reply) => {
    // Balances and keys are nothing for a cache; a part that serves files says otherwise.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    // The client opens its next connection elsewhere.
    if (state.isDraining) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const fields = lineOf(request, reply)
    metrics.answered(fields.route, fields.status)
    log[/^\/(?:healthz|readyz)$/.test(fields.route) ? 'debug' : 'info'](fields, 'answered')
  })
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, log))
  app.setNotFoundHandler((_request, reply) => {
    answerNo(reply, 'path_unknown', 'There is no such path.')
  })
}

/** The pattern of the path and never the path itself: links of letters carry codes. */
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
      timers.push(setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS))
    }, idleMs),
    setTimeout(() => server.closeAllConnections(), limitMs),
  ]
  // Of net and not of http: that one closes idle connections at once, under a request that may be
  // on its way on one of them.
  await new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve())
  })
  for (const timer of timers) clearTimeout(timer)
}
