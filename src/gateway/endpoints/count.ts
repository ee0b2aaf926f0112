// POST /v1/messages/count_tokens: free of charge, so there is no hold that would show that the key
// was revoked or the account blocked. Both are therefore read from the database.
import type { IncomingHttpHeaders } from 'node:http'
import type { ReplyHeaders } from '../../http/http.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Target } from '../../upstreams/upstreams.ts'
import type { CountRequest } from '../../wire/draft.ts'
import { readErrorBody, withRequestId } from '../../wire/errors.ts'
import { isAboutOurAccount, verdictOf } from '../../wire/verdict.ts'
import { expectJson } from '../1-accept.ts'
import { authenticate } from '../2-authenticate.ts'
import { parseCount } from '../3-parse.ts'
import { withCabinetUrl } from '../4-reserve.ts'
import { relay, upstreamCountBody } from '../5-relay.ts'
import type { Exchange, Parsed } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { gatewayRefusal } from '../refusals.ts'
import { errorBodyOf } from '../reply/plain.ts'
import { conversationOf } from '../upstream-call.ts'

const OPEN_OBJECT = 0x7b

export async function postCountTokens(exchange: Exchange, modules: Modules): Promise<void> {
  expectJson(exchange)
  const caller = await authenticate(exchange, modules.keys, modules.settings.slug)
  const parsed = await parseCount(exchange, caller, modules)
  try {
    // After the body has arrived, so that a client that sends slowly does not occupy a slot.
    await modules.admission.inFreeSlot(exchange, caller.book, async () => {
      await Promise.all([modules.keys.recheck(caller), expectActive(caller.book, modules)])
      await forwardCount(exchange, caller.book, parsed, modules)
    })
  } finally {
    parsed.releaseBody()
  }
}

async function expectActive(book: BookId, { ledger, settings }: Modules): Promise<void> {
  await ledger.expectActive(book).catch((error: unknown) => {
    throw withCabinetUrl(error, settings.cabinetUrl)
  })
}

async function forwardCount(
  exchange: Exchange,
  book: BookId,
  parsed: Parsed<CountRequest>,
  modules: Modules,
): Promise<void> {
  const relayRequest = {
    book,
    path: '/v1/messages/count_tokens' as const,
    model: parsed.model.id,
    conversation: conversationOf(exchange, book, parsed, modules.upstreams),
    isStream: false,
    bodyFor: (target: Target) => upstreamCountBody(parsed, target),
  }
  const reply = await relay(exchange, relayRequest, modules)
  const { status } = reply
  const body = await errorBodyOf(reply).catch((error: unknown) => {
    throw gatewayRefusal('upstream_failed', 'The upstream failed.', { status }, error)
  })
  const upstreamError = readErrorBody(body)
  if (isAboutOurAccount(verdictOf(status, upstreamError))) {
    throw gatewayRefusal('upstream_misconfigured', 'The upstream is not available.', { status })
  }
  // As with messages: never forward HTML or an empty body.
  const type = reply.headers['content-type'] ?? ''
  const isReadable = status < 300 ? body[0] === OPEN_OBJECT : upstreamError !== undefined
  if (!type.startsWith('application/json') || !isReadable) {
    throw gatewayRefusal('upstream_failed', 'The upstream failed.', { status })
  }
  const clean = modules.upstreams.withoutSecrets(body.toString('latin1'), reply.headers)
  const text = status < 300 ? clean : withRequestId(clean, exchange.requestId)
  exchange.clientReply.begin(status, {
    'content-type': 'application/json',
    'content-length': text.length,
    'request-id': exchange.requestId,
    ...retryHeaders(reply.headers),
  })
  exchange.clientReply.end(Buffer.from(text, 'latin1'))
}

/** When the upstream wants to be asked again. */
function retryHeaders(headers: IncomingHttpHeaders): ReplyHeaders {
  const names = ['retry-after', 'retry-after-ms', 'x-should-retry']
  return Object.fromEntries(names.map((name) => [name, headers[name]?.toString()]))
}
