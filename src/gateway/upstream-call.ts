// What every call of an upstream needs, messages and token counts alike: the headers that are sent,
// and what a status says about the target.
import type { BookId } from '../platform/ids.ts'
import { isRefusal, type Refusal } from '../platform/refusal.ts'
import type { Outcome, Upstreams } from '../upstreams/upstreams.ts'
import type { CountRequest } from '../wire/draft.ts'
import { readErrorBody } from '../wire/errors.ts'
import { isLostByProxy, needsBody, type Verdict, verdictOf } from '../wire/verdict.ts'
import type { Exchange, Parsed } from './exchange.ts'
import { gatewayRefusal } from './refusals.ts'
import { collect } from './reply/plain.ts'
import type { UpstreamReply } from './reply/reply.ts'

/** Headers of the request that are forwarded, besides most `anthropic-*` ones. */
const forwarded = new Set(['accept', 'user-agent', 'traceparent', 'tracestate', 'x-app'])
/**
 * `anthropic-*` headers that are not forwarded: the version, which the exchange has, and names of
 * an account at the upstream, because the account there is ours, not the customer's.
 */
const replaced = new Set([
  'anthropic-version',
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-user-profile-id',
])

const NO_BYTES = Buffer.alloc(0)
/** By which a proxy says that it waited for too long; 522 and 524 are Cloudflare's. */
const PROXY_TIMEOUTS = [504, 522, 524]

/**
 * What the upstream's answer says about the target, which it also reports to the target. Reads the
 * body of an error where only its words tell; the body is then in `reply.errorBody`. Refuses
 * upstream_failed and upstream_overdue if a proxy in front of the upstream lost its reply.
 */
export async function judge(reply: UpstreamReply, outcome: Outcome): Promise<Verdict> {
  const { status, headers } = reply
  if (needsBody(status)) {
    reply.errorBody = await collect(reply).catch((error: unknown) => {
      if (isRefusal(error)) throw error // another account needed the connection
      return NO_BYTES // it broke off, but its status is known
    })
  }
  const error = reply.errorBody === undefined ? undefined : readErrorBody(reply.errorBody)
  const verdict = verdictOf(status, error)
  outcome.answer(verdict, headers)
  if (isLostByProxy(status, error)) throw lostReply(status)
  return verdict
}

/** The same refusals as for a reply that we lost ourselves. */
function lostReply(status: number): Refusal {
  return PROXY_TIMEOUTS.includes(status)
    ? gatewayRefusal('upstream_overdue', 'The upstream did not answer in time.', { status })
    : gatewayRefusal('upstream_failed', 'The upstream gave no answer.', { status })
}

function isForwarded(name: string): boolean {
  return forwarded.has(name) || (name.startsWith('anthropic-') && !replaced.has(name))
}

/** A hash that all turns of the request's conversation have; for Upstreams.route. */
export function conversationOf(
  { clientRequest: { headers } }: Exchange,
  book: BookId,
  { body, request }: Parsed<CountRequest>,
  upstreams: Upstreams,
): number {
  return upstreams.conversationOf(book, { headers, body, request })
}

export function headersOf({ clientRequest, version }: Exchange): string[] {
  const given = clientRequest.headers
  // `identity`, because a compressed reply would have to be decompressed to be metered.
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity']
  headers.push('anthropic-version', version)
  for (const name in given) {
    if (isForwarded(name)) headers.push(name, given[name] as string)
  }
  return headers
}
