// POST /v1/messages and its token count: reads the request and sends the reply that its words and
// faults ask for.
import { sendEvents, sendJson } from './answer.ts'
import { distortEvents, distortMessage, distortUsage } from './distort.ts'
import { invalid } from './errors.ts'
import type { Exchange, Parts } from './exchange.ts'
import { choosePlan, readPlan } from './plan.ts'
import { composeReply, messageObject } from './reply.ts'
import { type MessageRequest, readRequest } from './request.ts'
import { eventsOf } from './stream.ts'
import { countInput, takeInput } from './usage.ts'
import { readVersion } from './version.ts'

export async function postMessages(exchange: Exchange, parts: Parts): Promise<void> {
  const { faults, received, requestId, replyWords } = exchange
  const request = readBody(exchange, parts, false)
  const plan = replyWords === null ? choosePlan(request) : readPlan(replyWords)
  const honest = composeReply(request, plan, {
    ids: parts.ids,
    input: takeInput(request, parts.cache, exchange.key ?? ''),
    fillerBytes: faults.huge ?? null,
  })
  const reply = { ...honest, usage: distortUsage(honest.usage, faults) }
  received.usage = faults['no-usage'] ? null : reply.usage
  const bill = parts.bill.open(received, honest, faults)
  if (request.isStream) {
    const events = bill.events(eventsOf(reply))
    await sendEvents(exchange, distortEvents(events, faults, requestId, reply.usage))
  } else {
    bill.input()
    bill.end()
    await sendJson(exchange, 200, distortMessage(messageObject(reply), faults))
  }
}

export async function postCountTokens(exchange: Exchange, parts: Parts): Promise<void> {
  await sendJson(exchange, 200, { input_tokens: countInput(readBody(exchange, parts, true)) })
}

function readBody(exchange: Exchange, parts: Parts, isCount: boolean): MessageRequest {
  const version = readVersion(exchange.request.headers['anthropic-version'])
  if (exchange.body === undefined) {
    throw invalid('The request body is not valid JSON: unexpected character: line 1 column 1')
  }
  const request = readRequest(exchange.body, { version, findModel: parts.models.find, isCount })
  const tokens = countInput(request)
  if (tokens > request.model.windowTokens) {
    throw invalid(`prompt is too long: ${tokens} tokens > ${request.model.windowTokens} maximum`)
  }
  return request
}
