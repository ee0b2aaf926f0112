// POST /v1/messages, from top to bottom. gateway.ts has called `accept` of step 1, as for every
// endpoint, and endpoints.ts has found this one. The numbers are the order in which the steps take
// charge; with a stream, 5, 6 and 8 go on at the same time and 7 closes last. docs/request.md
// tells, for each step, what can fail, what the client sees and what the ledger shows.
import type { Target } from '../upstreams/upstreams.ts'
import { expectJson } from './1-accept.ts'
import { authenticate } from './2-authenticate.ts'
import { parse } from './3-parse.ts'
import { reserve } from './4-reserve.ts'
import { relay, upstreamBody } from './5-relay.ts'
import { meter } from './6-meter.ts'
import { settle } from './7-settle.ts'
import { respond } from './8-respond.ts'
import type { Exchange } from './exchange.ts'
import type { Rooms } from './rooms.ts'

export async function postMessages(exchange: Exchange, rooms: Rooms): Promise<void> {
  const { limits, metrics, clock } = rooms
  expectJson(exchange) //                                                             1
  const caller = await authenticate(exchange, rooms.keys, limits.slug) //             2
  const parsed = await parse(exchange, caller, rooms) //                              3
  try {
    const reserved = await reserve(exchange, caller, parsed, rooms) //                4
    const settlement = settle(exchange, reserved, parsed.model.id, rooms) //          7: waits
    try {
      // Not the body: a name of ours would keep it for as long as the reply lasts.
      const { model, request } = parsed
      const relayed = {
        path: '/v1/messages' as const,
        model: model.id,
        conversation: rooms.upstreams.conversationOf(caller.book, parsed.body),
        isStream: request.stream,
        bodyFor: (target: Target) => upstreamBody(parsed, reserved, target),
      }
      const reply = await relay(exchange, relayed, rooms) //                          5
      const sentMs = clock.spanMs() - exchange.startedMs
      metrics.began(model.id, sentMs / 1_000)
      parsed.free()
      await respond({
        exchange,
        reserved,
        reply,
        meter: meter(model.price), //                                                 6
        settlement,
        upstreams: rooms.upstreams,
        pulse: rooms.pulse,
        clock,
        requestSecondsMax: limits.requestSecondsMax,
      }) //                                                                           8
      metrics.lasted(model.id, (clock.spanMs() - exchange.startedMs) / 1_000)
    } catch (error) {
      // Nothing of a reply came, or it was refused: whatever was not charged is given back.
      if (exchange.isStopped) settlement.stop()
      else if (exchange.isGone)
        settlement.free('given_up', 'the client left before the reply began')
      else settlement.free('upstream_failed', 'no reply')
      throw error
    }
  } finally {
    parsed.free()
  }
}
