// POST /v1/messages/count_tokens: free of charge, so it makes no hold; the key is looked up anew
// instead, since no fence will be compared.
import { Refusal } from '../../platform/refusal.ts'
import type { Target } from '../../upstreams/upstreams.ts'
import { readErrorBody } from '../../wire/errors.ts'
import { expectJson } from '../1-accept.ts'
import { authenticate } from '../2-authenticate.ts'
import { parseCount } from '../3-parse.ts'
import { relay, upstreamCountBody } from '../5-relay.ts'
import { isAboutUs } from '../8-respond.ts'
import type { Exchange } from '../exchange.ts'
import { collect } from '../reply/plain.ts'
import type { Rooms } from '../rooms.ts'

const OPEN_OBJECT = 0x7b

export async function postCountTokens(exchange: Exchange, rooms: Rooms): Promise<void> {
  expectJson(exchange)
  const caller = await authenticate(exchange, rooms.keys, rooms.limits.slug)
  await rooms.keys.fresh(caller)
  const parsed = await parseCount(exchange, caller, rooms)
  try {
    const relayed = {
      path: '/v1/messages/count_tokens' as const,
      model: parsed.model.id,
      conversation: rooms.upstreams.conversationOf(caller.book, parsed.body),
      isStream: false,
      bodyFor: (target: Target) => upstreamCountBody(parsed, target),
    }
    const reply = await relay(exchange, relayed, rooms)
    const { status } = reply
    const body = await collect(reply).catch((error: unknown) => {
      throw new Refusal('upstream_failed', 'The upstream failed.', { status }, error)
    })
    const said = readErrorBody(body)
    if (isAboutUs(status, said?.message)) {
      throw new Refusal('upstream_misconfigured', 'The upstream is not available.', { status })
    }
    // As with messages: never HTML, never nothing.
    const type = reply.headers['content-type'] ?? ''
    const isReadable = status < 300 ? body[0] === OPEN_OBJECT : said !== undefined
    if (!type.startsWith('application/json') || !isReadable) {
      throw new Refusal('upstream_failed', 'The upstream failed.', { status })
    }
    const text = rooms.upstreams.withoutSecrets(body.toString('latin1'), reply.headers)
    exchange.outgoing.begin(status, {
      'content-type': 'application/json',
      'content-length': text.length,
      'request-id': exchange.requestId,
    })
    exchange.outgoing.end(Buffer.from(text, 'latin1'))
  } finally {
    parsed.free()
  }
}
