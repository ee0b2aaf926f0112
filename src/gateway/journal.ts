// What the ledger's entry says about a request besides its charge: times, sizes, the target, and
// the ids that a client sent. The steps note it on the exchange; step 7 and the request log read
// it. Only numbers, ids and words of the protocol: never text of a conversation.
import type { IncomingHttpHeaders } from 'node:http'
import type { RequestDetails } from '../ledger/ledger.ts'
import type { Exchange, Journal } from './exchange.ts'

export function emptyJournal(): Journal {
  return {
    book: undefined,
    keyId: undefined,
    keyCheckedMs: undefined,
    parsedMs: undefined,
    heldMs: undefined,
    model: undefined,
    isStream: undefined,
    bytesIn: undefined,
    sentMs: undefined,
    firstByteMs: undefined,
    attempts: 0,
    target: undefined,
    upstream: undefined,
    reply: undefined,
    errorType: undefined,
    endedMs: undefined,
    settledMs: undefined,
    counts: undefined,
    isEstimated: undefined,
    messageId: undefined,
  }
}

/** Headers in which clients name a session, an agent and its parent, or give a label. */
const clientIds = [
  ['sessionId', 'x-claude-code-session-id'],
  ['agentId', 'x-claude-code-agent-id'],
  ['parentAgentId', 'x-claude-code-parent-agent-id'],
  ['label', 'x-credit-label'],
] as const
/** An id or a label, not a sentence: 64 characters without spaces. */
const CLIENT_ID = /^[\w.:@/+-]{1,64}$/
/** The vendor's ids and words are shorter; a longer one is not kept. */
const WORD = /^[\w.:/-]{1,64}$/

export function detailsOf(
  { clientRequest, startedMs, journal }: Exchange,
  nowMs: number,
  {
    stopReason,
    serviceTier,
  }: { stopReason?: string | undefined; serviceTier?: string | undefined },
): RequestDetails {
  const { reply, sentMs, firstByteMs, isStream, bytesIn } = journal
  const details: Record<string, unknown> = { totalMs: Math.round(nowMs - startedMs) }
  if (isStream !== undefined) details.isStream = isStream
  if (bytesIn !== undefined) details.bytesIn = bytesIn
  if (sentMs !== undefined) details.waitedMs = Math.round(sentMs - startedMs)
  if (firstByteMs !== undefined) details.firstByteMs = Math.round(firstByteMs - startedMs)
  if (journal.attempts > 1) details.retries = journal.attempts - 1
  // The column `target` of entries has the name of the upstream: the vendor bills by upstream.
  if (journal.upstream !== undefined) details.target = journal.upstream
  if (reply !== undefined) {
    details.status = reply.status
    details.bytesOut = reply.bytes
    keepWord(details, 'vendorRequestId', vendorRequestId(journal))
  }
  keepWord(details, 'stopReason', stopReason)
  keepWord(details, 'serviceTier', serviceTier)
  keepWord(details, 'errorType', journal.errorType)
  for (const [name, header] of clientIds) {
    const value = headerOf(clientRequest.headers, header)
    if (value !== undefined && CLIENT_ID.test(value)) details[name] = value
  }
  return details
}

function keepWord(details: Record<string, unknown>, name: string, value: string | undefined): void {
  const word = wordOf(value)
  if (word !== undefined) details[name] = word
}

/** The id that the vendor gave the request. */
export function vendorRequestId({ reply }: Journal): string | undefined {
  return reply === undefined ? undefined : wordOf(headerOf(reply.headers, 'request-id'))
}

/** A word of the upstream, if it is one: undefined for what could be a sentence. */
export function wordOf(value: string | null | undefined): string | undefined {
  return value != null && WORD.test(value) ? value : undefined
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}
