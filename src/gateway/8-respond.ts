// Step 8: bytes to the client. An error of the upstream is passed on as it is; a plain reply is
// answered in one write after its settle; a stream is passed on as it comes (reply/stream.ts), and
// its end waits for the settle. Only what a client may know goes out: no header that names our
// account.
import type { IncomingHttpHeaders } from 'node:http'
import type { ReplyHeaders } from '../http/http.ts'
import type { Settled } from '../ledger/ledger.ts'
import { Refusal } from '../platform/refusal.ts'
import { creditsText, wholeCredits } from '../units/credits.ts'
import { readErrorBody } from '../wire/errors.ts'
import type { Exchange, Reserved } from './exchange.ts'
import type { Passing } from './reply/passing.ts'
import { collect, passPlain } from './reply/plain.ts'
import { passStream } from './reply/stream.ts'

/** Headers of the upstream that are meant for the client. */
const passed = ['content-type', 'cache-control', 'retry-after', 'retry-after-ms', 'x-should-retry']

/** Refuses what can still be refused: upstream_failed, upstream_misconfigured, request_overdue. */
export async function respond(passing: Passing): Promise<void> {
  const { reply, exchange } = passing
  if (reply.status >= 300) return respondError(passing)
  const type = reply.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) {
    return passStream(passing, headOf(exchange, passing.reserved, reply.headers))
  }
  if (type.startsWith('application/json')) {
    return passPlain(passing, headOf(exchange, passing.reserved, reply.headers), creditHeaders)
  }
  reply.abort()
  passing.settlement.free('upstream_failed', `status ${reply.status} with ${type || 'no type'}`)
  throw new Refusal('upstream_failed', 'The upstream answered in a form we do not know.', { type })
}

async function respondError(passing: Passing): Promise<void> {
  const { reply, exchange, settlement, upstreams } = passing
  const { status } = reply
  const body = await collect(reply).catch((error: unknown) => {
    settlement.free('upstream_failed', `status ${status}, its body broke off`)
    throw new Refusal('upstream_failed', 'The upstream failed.', { status }, error)
  })
  const said = readErrorBody(body)
  settlement.free('refused', `upstream ${status} ${said?.type ?? ''}`.trim())
  if (isAboutUs(status, said?.message)) {
    // Its words stay here: nobody can tell whether they quote the prompt.
    throw new Refusal('upstream_misconfigured', 'The upstream is not available.', {
      status,
      type: said?.type,
    })
  }
  // Never HTML, never nothing: a client library shows what it cannot read as an empty error.
  if (said === undefined) {
    throw new Refusal('upstream_failed', 'The upstream failed.', { status })
  }
  const text = body.toString('latin1')
  const clean = Buffer.from(upstreams.withoutSecrets(text, reply.headers), 'latin1')
  exchange.outgoing.begin(status, {
    ...headOf(exchange, passing.reserved, reply.headers),
    'content-type': 'application/json',
    'content-length': clean.length,
  })
  exchange.outgoing.end(clean)
}

// The upstream does not take our credential, or wants our money: neither is the customer's doing,
// and a 401 or 402 would tell them that it is.
export function isAboutUs(status: number, message: string | undefined): boolean {
  if (status === 401 || status === 402 || status === 403) return true
  return status === 400 && /credit balance is too low/i.test(message ?? '')
}

function headOf(
  { requestId }: Exchange,
  { loweredMaxTokens }: Reserved,
  upstream: IncomingHttpHeaders,
): ReplyHeaders {
  const head: Record<string, string> = { 'request-id': requestId }
  for (const name of passed) {
    const value = upstream[name]
    if (value !== undefined) head[name] = String(value)
  }
  if (loweredMaxTokens !== undefined) head['x-credit-max-tokens'] = String(loweredMaxTokens)
  return head
}

/** What a plain reply cost and what is left, when the database has said so. */
function creditHeaders(settled: Settled | undefined): ReplyHeaders {
  if (settled === undefined || settled.isSpooled) return {}
  return {
    'x-credit-charged': creditsText(settled.amount),
    'x-credit-balance': String(wholeCredits(settled.available)),
  }
}
