// What every call of an upstream needs, messages and token counts alike: the headers that are sent,
// and what a status says about the target.
import type { Clock } from '../platform/clock.ts'
import type { Outcome } from '../upstreams/upstreams.ts'
import { retryAfterMs } from '../wire/errors.ts'
import type { Exchange } from './exchange.ts'
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

export function reportOutcome(outcome: Outcome, reply: UpstreamReply, clock: Clock): void {
  const { status, headers } = reply
  if (!isTargetFailure(status)) {
    outcome.answer()
    return
  }
  const retryHeaders = {
    retryAfterMs: headers['retry-after-ms'] as string | undefined,
    retryAfter: headers['retry-after'],
  }
  const delayMs = retryAfterMs(retryHeaders, clock.nowMs())
  if (status === 429) outcome.coolDown(delayMs)
  else outcome.fail(delayMs)
}

export function isTargetFailure(status: number): boolean {
  return status >= 500 || status === 429 || isAccountStatus(status)
}

/** The upstream refuses our credential or asks us to pay: another target may accept the request. */
export function isAccountStatus(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}

function isForwarded(name: string): boolean {
  return forwarded.has(name) || (name.startsWith('anthropic-') && !replaced.has(name))
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
