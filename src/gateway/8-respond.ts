// Step 8: sends the reply to the client. An upstream error is forwarded without our secrets and
// with our request id; the ledger's entry keeps the upstream's; a
// plain reply is sent in one write after its settle; a stream is forwarded as it arrives
// (reply/stream.ts) and its end waits for the settle. Headers that name our account at the upstream
// are dropped.
import type { IncomingHttpHeaders } from 'node:http'
import type { ReplyHeaders } from '../http/http.ts'
import type { Settled } from '../ledger/ledger.ts'
import { creditsText, wholeCredits } from '../units/credits.ts'
import { readErrorBody, withRequestId } from '../wire/errors.ts'
import { isAboutOurAccount, verdictOf } from '../wire/verdict.ts'
import type { Exchange, Reserved } from './exchange.ts'
import { gatewayRefusal } from './refusals.ts'
import type { ReplyContext } from './reply/context.ts'
import { errorBodyOf, forwardPlain } from './reply/plain.ts'
import { forwardStream } from './reply/stream.ts'

/** Headers of the upstream that the client receives. */
const forwardedHeaders = [
  'content-type',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
]

/**
 * Refuses, while no byte has been sent: upstream_failed, upstream_misconfigured, request_overdue.
 */
export async function respond(context: ReplyContext): Promise<void> {
  const { reply, exchange } = context
  if (reply.status >= 300) return respondError(context)
  const type = reply.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) {
    return forwardStream(context, headOf(exchange, context.reserved, reply.headers))
  }
  if (type.startsWith('application/json')) {
    return forwardPlain(context, headOf(exchange, context.reserved, reply.headers), creditHeaders)
  }
  reply.abort()
  context.settlement.void('upstream_failed', `status ${reply.status} with ${type || 'no type'}`)
  throw gatewayRefusal('upstream_failed', 'The upstream answered in a form we do not know.', {
    type,
  })
}

async function respondError(context: ReplyContext): Promise<void> {
  const { reply, exchange, settlement, upstreams } = context
  const { status } = reply
  const body = await errorBodyOf(reply).catch((error: unknown) => {
    settlement.void('upstream_failed', `status ${status}, its body broke off`)
    throw gatewayRefusal('upstream_failed', 'The upstream failed.', { status }, error)
  })
  const upstreamError = readErrorBody(body)
  exchange.journal.errorType = upstreamError?.type
  settlement.void('refused', `upstream ${status} ${upstreamError?.type ?? ''}`.trim())
  if (isAboutOurAccount(verdictOf(status, upstreamError))) {
    // Customers would take a 401 or 402 for an answer about their own key or balance. The
    // upstream's message is not logged: it may quote the prompt.
    throw gatewayRefusal('upstream_misconfigured', 'The upstream is not available.', {
      status,
      type: upstreamError?.type,
    })
  }
  // Never forward HTML or an empty body: client libraries show what they cannot parse as an empty
  // error.
  if (upstreamError === undefined) {
    throw gatewayRefusal('upstream_failed', 'The upstream failed.', { status })
  }
  const text = upstreams.withoutSecrets(body.toString('latin1'), reply.headers)
  const clean = Buffer.from(withRequestId(text, exchange.requestId), 'latin1')
  exchange.clientReply.begin(status, {
    ...headOf(exchange, context.reserved, reply.headers),
    'content-type': 'application/json',
    'content-length': clean.length,
  })
  exchange.clientReply.end(clean)
}

function headOf(
  { requestId }: Exchange,
  { loweredMaxTokens, loweredTools, isTemperatureRemoved }: Reserved,
  upstream: IncomingHttpHeaders,
): ReplyHeaders {
  const head: Record<string, string> = { 'request-id': requestId, ...loweredTools.headers }
  for (const name of forwardedHeaders) {
    const value = upstream[name]
    if (value !== undefined) head[name] = String(value)
  }
  if (loweredMaxTokens !== undefined) head['x-credit-max-tokens'] = String(loweredMaxTokens)
  if (isTemperatureRemoved) head['x-credit-temperature'] = 'removed'
  return head
}

/** The charge and the balance after it, when the database has confirmed them. */
function creditHeaders(settled: Settled | undefined): ReplyHeaders {
  if (settled === undefined || settled.isSpooled) return {}
  return {
    'x-credit-charged': creditsText(settled.amount),
    'x-credit-balance': String(wholeCredits(settled.available)),
  }
}
