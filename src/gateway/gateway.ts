// The door of the gateway: the HTTP server in front of the endpoints of /v1. Everything it answers,
// errors included, has the vendor's shape and a request id. It never redirects; TLS and port 80 are
// the edge's.
import { type ClientReply, type ClientRequest, createHttpServer } from '../http/http.ts'
import { newHoldId, requestIdOf } from '../platform/ids.ts'
import { accept } from './1-accept.ts'
import { createBodyBudget } from './body/body.ts'
import { createLargeBodies } from './body/large-bodies.ts'
import { labelOf, pathOf, route } from './endpoints/endpoints.ts'
import { readOpenapi } from './endpoints/openapi.ts'
import { answerError } from './refusals.ts'
import { UNREAD_MS_MAX } from './reply/passing.ts'
import { createPulse } from './reply/pulse.ts'
import type { Rooms } from './rooms.ts'
import { answerUnparsed } from './unparsed.ts'

export type GatewayOptions = Omit<
  Rooms,
  'pulse' | 'largeBodies' | 'budget' | 'shutdown' | 'openapi'
> & {
  /** All bodies of requests under way in this process together. */
  readonly waitBytesMax: number
}

/** Above the 60 s after which common CDNs let an idle connection go: they close it, not we. */
const KEEP_ALIVE_MS = 75_000
const HEAD_MS = 60_000
/** 32 MiB over a slow line; a body that takes longer is a client that stopped. */
const REQUEST_MS = 300_000
/** Agents send long lists of betas; the default of 16 KiB is near. */
const HEAD_BYTES_MAX = 65_536

const IDLE_LOOK_MS = 250
/**
 * What is broken off at the drain's limit is voided, what its client left just before is charged
 * 700 ms later, and either is then committed.
 */
const BROKEN_OFF_MS = 2_000

export function createGateway(options: GatewayOptions) {
  const pulse = createPulse(options.clock)
  const largeBodies = createLargeBodies()
  const budget = createBodyBudget(options.waitBytesMax)
  const shutdown = { isForced: false }
  const openapi = readOpenapi()
  const rooms: Rooms = { ...options, pulse, largeBodies, budget, shutdown, openapi }
  const state = { underWay: 0, onIdle: () => {} }
  const over = () => {
    state.underWay -= 1
    if (state.underWay === 0) state.onIdle()
  }
  options.metrics.gauge('gateway_replies_open', 'Replies under way', () => pulse.size())
  options.metrics.gauge('gateway_body_bytes', 'Request bodies in memory', () => budget.bytes)
  const server = createHttpServer({
    limits: {
      keepAliveMs: KEEP_ALIVE_MS,
      headMs: HEAD_MS,
      requestMs: REQUEST_MS,
      headBytesMax: HEAD_BYTES_MAX,
      unreadMs: UNREAD_MS_MAX,
    },
    answer(incoming, outgoing) {
      state.underWay += 1
      void serve(incoming, outgoing, rooms).finally(over)
    },
    unaccepted: (error) => options.log.warn({ err: error }, 'a connection was not accepted'),
    unparsed: (problem) =>
      answerUnparsed(problem, requestIdOf(newHoldId(options.limits.cell, options.clock.nowMs()))),
  })
  function closeAll(): void {
    shutdown.isForced = true
    server.closeAll()
  }
  return {
    listen: server.listen,
    /**
     * Takes no new connection. Those that are there may still bring a request, and are told to
     * close with its answer; idle ones are closed after a while, and what is not over at the limit
     * is broken off and free. Resolves when the last reply is over, also of a client that has left.
     */
    async drain({ idleMs, limitMs }: { idleMs: number; limitMs: number }): Promise<void> {
      const idle = Promise.withResolvers<void>()
      const timers = [
        setTimeout(() => {
          timers.push(setInterval(() => server.closeIdle(), IDLE_LOOK_MS))
        }, idleMs),
        setTimeout(closeAll, limitMs),
        setTimeout(() => idle.resolve(), limitMs + BROKEN_OFF_MS),
      ]
      // Idle ones stay for now: a request may be on its way on one of them.
      await server.drain()
      state.onIdle = idle.resolve
      if (state.underWay > 0) await idle.promise
      for (const timer of timers) clearTimeout(timer)
      pulse.stop()
      await largeBodies.stop()
    },
    isDraining: server.isDraining,
    closeAll,
  }
}

export type Gateway = ReturnType<typeof createGateway>

async function serve(incoming: ClientRequest, outgoing: ClientReply, rooms: Rooms) {
  const exchange = accept(incoming, outgoing, rooms)
  try {
    await route(exchange, rooms)
  } catch (error) {
    answerError(exchange, error, rooms.log)
  }
  rooms.metrics.answered(labelOf(pathOf(incoming.url)), outgoing.statusCode)
}
