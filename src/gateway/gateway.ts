// The entry file of the gateway: the HTTP server in front of the endpoints of /v1. Every answer,
// errors included, has the vendor's format and a request id. The gateway never redirects; TLS and
// port 80 belong to the edge.
import { type ClientReply, type ClientRequest, createHttpServer } from '../http/http.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import { accept } from './1-accept.ts'
import { answerError } from './answers.ts'
import { createBodyBudget } from './body/body.ts'
import { createLargeBodies } from './body/large-bodies.ts'
import { labelOf, pathOf, route } from './endpoints/endpoints.ts'
import { readOpenapi } from './endpoints/openapi.ts'
import { createInputCounts } from './input-count.ts'
import type { Modules } from './modules.ts'
import { UNREAD_MS_MAX } from './reply/context.ts'
import { createTicker } from './reply/ticker.ts'
import { answerUnparsed } from './unparsed.ts'

export type GatewayOptions = Omit<
  Modules,
  'ticker' | 'largeBodies' | 'budget' | 'inputCounts' | 'shutdown' | 'openapi'
> & {
  /** Limit on the bytes of all request bodies that this process holds at a time. */
  readonly waitBytesMax: number
}

/**
 * Longer than the 60 s after which common CDNs close an idle connection, so that they close it
 * first.
 */
const KEEP_ALIVE_MS = 75_000
const HEAD_MS = 60_000
/** Enough for 32 MiB over a slow line; a client that takes longer has stopped sending. */
const REQUEST_MS = 300_000
/** Agents send long lists of beta headers that come near Node's default of 16 KiB. */
const HEAD_BYTES_MAX = 65_536

const IDLE_CHECK_MS = 250
/**
 * Time after the drain's limit for the last settlements. A reply that `closeAll` cuts is voided,
 * one whose client left just before is charged 700 ms later, and the ledger then commits both.
 */
const LAST_SETTLEMENTS_MS = 2_000

export function createGateway(options: GatewayOptions) {
  const ticker = createTicker(options.clock)
  const largeBodies = createLargeBodies()
  const budget = createBodyBudget(options.waitBytesMax)
  const shutdown = { isForced: false }
  const openapi = readOpenapi()
  const inputCounts = createInputCounts()
  const own = { ticker, largeBodies, budget, inputCounts, shutdown, openapi }
  const modules: Modules = { ...options, ...own }
  const state = { underWay: 0, onIdle: () => {} }
  const countDown = () => {
    state.underWay -= 1
    if (state.underWay === 0) state.onIdle()
  }
  options.metrics.gauge('gateway_replies_open', 'Replies under way', () => ticker.size())
  options.metrics.gauge('gateway_body_bytes', 'Request bodies in memory', () => budget.bytes)
  const server = createHttpServer({
    limits: {
      keepAliveMs: KEEP_ALIVE_MS,
      headMs: HEAD_MS,
      requestMs: REQUEST_MS,
      headBytesMax: HEAD_BYTES_MAX,
      unreadMs: UNREAD_MS_MAX,
    },
    answer(clientRequest, clientReply) {
      state.underWay += 1
      void serve(clientRequest, clientReply, modules).finally(countDown)
    },
    unaccepted: (error) => options.log.warn({ err: error }, 'a connection was not accepted'),
    unparsed: (problem) =>
      answerUnparsed(problem, requestIdOf(newHoldId(options.settings.cell, options.clock.nowMs()))),
  })
  function closeAll(): void {
    shutdown.isForced = true
    server.closeAll()
  }
  return {
    listen: server.listen,
    /**
     * Accepts no new connection. An open connection may still bring a request, whose answer says
     * `connection: close`; idle connections are closed after `idleMs`. Replies that are not
     * complete at `limitMs` are cut and not charged. Resolves when the last reply has ended, also
     * that of a client that has left.
     */
    async drain({ idleMs, limitMs }: { idleMs: number; limitMs: number }): Promise<void> {
      const idle = Promise.withResolvers<void>()
      const timers = [
        setTimeout(() => {
          timers.push(setInterval(() => server.closeIdle(), IDLE_CHECK_MS))
        }, idleMs),
        setTimeout(closeAll, limitMs),
        setTimeout(() => idle.resolve(), limitMs + LAST_SETTLEMENTS_MS),
      ]
      // Idle connections stay open for now: a request may be on its way on one of them.
      await server.drain()
      state.onIdle = idle.resolve
      if (state.underWay > 0) await idle.promise
      for (const timer of timers) clearTimeout(timer)
      ticker.stop()
      await largeBodies.stop()
    },
    isDraining: server.isDraining,
    closeAll,
  }
}

export type Gateway = ReturnType<typeof createGateway>

async function serve(clientRequest: ClientRequest, clientReply: ClientReply, modules: Modules) {
  const exchange = accept(clientRequest, clientReply, modules)
  try {
    await route(exchange, modules)
  } catch (error) {
    answerError(exchange, error, modules.log)
  }
  modules.metrics.countAnswer(labelOf(pathOf(clientRequest.url)), clientReply.statusCode)
}
