// POST /v1/messages, from top to bottom. gateway.ts has called `accept` of step 1, as for every
// endpoint, and endpoints.ts has chosen this function. The numbers are the order in which the steps
// start. During a stream, steps 5, 6 and 8 run at the same time; step 7 commits the charge before
// step 8 sends the end.
// docs/request.md says for each step what can fail, what the client sees and what the ledger shows.
import type { Target } from '../upstreams/upstreams.ts'
import { expectJson } from './1-accept.ts'
import { authenticate } from './2-authenticate.ts'
import { parse } from './3-parse.ts'
import { reserve } from './4-reserve.ts'
import { relay, upstreamBody } from './5-relay.ts'
import { meter } from './6-meter.ts'
import { settle } from './7-settle.ts'
import { respond } from './8-respond.ts'
import { endWithoutReply } from './ending.ts'
import type { Exchange } from './exchange.ts'
import type { Modules } from './modules.ts'
import { conversationOf } from './upstream-call.ts'

export async function postMessages(exchange: Exchange, modules: Modules): Promise<void> {
  const { settings, metrics, clock } = modules
  expectJson(exchange) //                                                           1
  const caller = await authenticate(exchange, modules.keys, settings.slug) //         2
  const parsed = await parse(exchange, caller, modules) //                          3
  try {
    const reserved = await reserve(exchange, caller, parsed, modules) //            4
    exchange.journal.heldMs = clock.spanMs()
    const metering = meter(parsed) //                                               6: begins
    const settlement = settle(exchange, reserved, parsed.model.id, metering, modules) // 7: begins
    try {
      // Do not destructure `parsed.body`: a local variable would keep the buffer alive until the
      // reply ends.
      const { model, request } = parsed
      exchange.journal.isStream = request.stream
      const relayRequest = {
        book: caller.book,
        path: '/v1/messages' as const,
        model: model.id,
        conversation: conversationOf(exchange, caller.book, parsed, modules.upstreams),
        isStream: request.stream,
        bodyFor: (target: Target) => upstreamBody(parsed, reserved, target),
      }
      const reply = await relay(exchange, relayRequest, modules) //                 5
      // Step 5 has set both. Without the time that the client took for its body.
      const { sentMs = 0, firstByteMs = 0 } = exchange.journal
      metrics.observeFirstChunk(model.id, (firstByteMs - sentMs) / 1_000)
      parsed.releaseBody()
      await respond({
        exchange,
        reserved,
        reply,
        meter: metering, //                                                         6
        settlement,
        upstreams: modules.upstreams,
        ticker: modules.ticker,
        clock,
        requestSecondsMax: settings.requestSecondsMax,
      }) //                                                                         8
      metrics.observeDuration(model.id, (clock.spanMs() - exchange.startedMs) / 1_000)
    } catch (error) {
      // The upstream sent no reply, or step 8 refused it: void the hold unless it was charged.
      const { ending, reason } = endWithoutReply(exchange, error)
      settlement.void(ending, reason)
      throw error
    }
  } finally {
    parsed.releaseBody()
  }
}
