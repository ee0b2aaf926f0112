// The entry file of the gateway: the HTTP server in front of the endpoints of /v1. Every answer,
// errors included, has the vendor's format and a request id. The gateway never redirects; TLS and
// port 80 belong to the edge.
import { type CloseCause, createHttpServer } from '../http/http.ts'
import { watchEventLoop } from '../platform/event-loop.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import { accept } from './1-accept.ts'
import { createAdmission, watchShares } from './admission.ts'
import { answerError, type Failure } from './answers.ts'
import { createLargeBodies } from './body/large-bodies.ts'
import {
  BODY_BYTES_MAX,
  BUSY_BODY_BYTES_MAX,
  createPace,
  DISCARDED_BYTES_MAX,
} from './body/pace.ts'
import { UNREAD_MS_MAX } from './client-wait.ts'
import { allowCabinet } from './cross-origin.ts'
import { cutOff } from './ending.ts'
import { labelOf, pathOf, route } from './endpoints/endpoints.ts'
import { readOpenapi } from './endpoints/openapi.ts'
import type { Exchange } from './exchange.ts'
import { createInputCounts } from './input-count.ts'
import type { Modules } from './modules.ts'
import { createTicker } from './reply/ticker.ts'
import { createRequestLog } from './request-log.ts'
import { answerUnparsed } from './unparsed.ts'

export type GatewayOptions = Omit<
  Modules,
  | 'ticker'
  | 'eventLoop'
  | 'largeBodies'
  | 'admission'
  | 'pace'
  | 'inputCounts'
  | 'openapi'
  | 'requestLog'
> &
  Pick<Parameters<typeof createAdmission>[0], 'waitBytesMax' | 'freeMax'>

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
 * Time after the drain's limit for replies that are being charged: a commit takes milliseconds, and
 * a client that reads gets the rest of its reply.
 */
const LAST_REPLIES_MS = 1_500
/**
 * The same for the last settlements. A reply that is cut at the limit is voided, one whose client
 * left just before is charged 700 ms later, and the ledger then commits both.
 */
const LAST_SETTLEMENTS_MS = 2_000

export function createGateway(options: GatewayOptions) {
  const ticker = createTicker(options.clock)
  const eventLoop = watchEventLoop()
  const largeBodies = createLargeBodies()
  const admission = createAdmission(options)
  const { isLoopBusy } = admission
  const pace = createPace(() => (isLoopBusy() ? BUSY_BODY_BYTES_MAX : BODY_BYTES_MAX))
  const underWay = new Set<Exchange>()
  const openapi = readOpenapi()
  const inputCounts = createInputCounts()
  const requestLog = createRequestLog(options)
  const own = { ticker, eventLoop, largeBodies, admission, pace, inputCounts, openapi, requestLog }
  const modules: Modules = { ...options, ...own }
  const state = { onIdle: () => {} }
  options.metrics.gauge('gateway_replies_open', 'Replies under way', () => ticker.size())
  watchShares(admission, options.metrics)
  options.upstreams.report(admission.all)
  const server = createHttpServer({
    limits: {
      keepAliveMs: KEEP_ALIVE_MS,
      headMs: HEAD_MS,
      requestMs: REQUEST_MS,
      headBytesMax: HEAD_BYTES_MAX,
      unreadMs: UNREAD_MS_MAX,
    },
    answer(clientRequest, clientReply) {
      const exchange = accept(clientRequest, clientReply, modules)
      underWay.add(exchange)
      void serve(exchange, modules).finally(() => {
        underWay.delete(exchange)
        if (underWay.size === 0) state.onIdle()
      })
    },
    paceDiscarded: createPace(() => DISCARDED_BYTES_MAX),
    unaccepted: (error) => options.log.warn({ err: error }, 'a connection was not accepted'),
    unparsed(problem) {
      const requestId = requestIdOf(newHoldId(options.settings.cell, options.clock.nowMs()))
      const answer = answerUnparsed(problem, requestId)
      requestLog.writeUnparsed(requestId, answer.status, problem)
      return answer
    },
  })
  /** Cuts the requests that are not decided yet; the others are charged, and get their reply. */
  function cutUndecided(): void {
    const nowMs = options.clock.spanMs()
    for (const exchange of underWay) {
      if (exchange.ending !== undefined) continue
      const isSlow = exchange.clientWait.hasStalledUpstream(nowMs)
      cutOff(exchange, isSlow ? 'client_slow' : 'drained')
    }
  }
  function closeAll(cause: CloseCause = 'drained'): void {
    server.closeAll(cause)
  }
  return {
    listen: server.listen,
    take: server.take,
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
        setTimeout(cutUndecided, limitMs),
        setTimeout(() => closeAll(), limitMs + LAST_REPLIES_MS),
        setTimeout(() => idle.resolve(), limitMs + LAST_SETTLEMENTS_MS),
      ]
      // Idle connections stay open for now: a request may be on its way on one of them.
      await server.drain()
      state.onIdle = idle.resolve
      if (underWay.size > 0) await idle.promise
      for (const timer of timers) clearTimeout(timer)
      ticker.stop()
      eventLoop.stop()
      await largeBodies.stop()
    },
    isDraining: server.isDraining,
    closeAll,
  }
}

export type Gateway = ReturnType<typeof createGateway>

async function serve(exchange: Exchange, modules: Modules): Promise<void> {
  const { clientRequest, clientReply } = exchange
  let failure: Failure | undefined
  try {
    // Programs send no Origin: only pages do.
    const { origin } = clientRequest.headers
    const { cabinetOrigin } = modules.settings
    const isAnswered =
      origin !== undefined && allowCabinet(exchange, pathOf(clientRequest.url), cabinetOrigin)
    if (!isAnswered) await route(exchange, modules)
  } catch (error) {
    failure = answerError(exchange, error)
  }
  // The client got no status when its connection was closed before: the label then says who closed
  // it.
  const status = clientReply.statusCode || (exchange.endedBy ?? 'none')
  const label = labelOf(pathOf(clientRequest.url))
  modules.metrics.countAnswer(label, status)
  modules.requestLog.write(exchange, label, failure)
  const reason = refusedFor(exchange, failure)
  if (reason === undefined) return
  modules.metrics.countRefusal(reason)
  const { book } = exchange.journal
  if (book !== undefined) modules.ledger.usage.refused.count(book, reason)
}

/** The reason of a request that the upstream refused, in the upstream's own words. */
const UPSTREAM_REFUSED = 'upstream_refused'

/** Why a finished request was refused; undefined if it was not: it was served, or it failed. */
function refusedFor(exchange: Exchange, failure: Failure | undefined): string | undefined {
  const { ending = 'refused', endedBy, clientReply } = exchange
  if (ending !== 'refused' || endedBy !== undefined) return undefined
  if (failure !== undefined) return failure.code
  return clientReply.statusCode >= 400 ? UPSTREAM_REFUSED : undefined
}
