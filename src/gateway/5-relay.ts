// Step 5: the request goes upstream, as the client sent it but for our credential and at most
// three values: the model's name there, a lowered max_tokens, a lowered temperature. Resolves when
// the upstream's status is known; until then nothing has been sent to the client, so a failure is
// still a plain answer.
import type { Clock } from '../platform/clock.ts'
import { Refusal } from '../platform/refusal.ts'
import { upstreamName } from '../pricing/pricing.ts'
import type { Outcome, Path, Route, Target } from '../upstreams/upstreams.ts'
import type { CountRequest, MessageRequest } from '../wire/draft.ts'
import { type Edit, editBody } from '../wire/edit.ts'
import { isRetryable, retryAfterMs } from '../wire/errors.ts'
import type { Exchange, Parsed, Reserved } from './exchange.ts'
import { createIncoming, type Reply } from './reply/reply.ts'
import type { Rooms } from './rooms.ts'

/** Headers of the request that must reach the upstream, besides all `anthropic-*` ones. */
const forwarded = new Set(['accept', 'user-agent', 'traceparent', 'tracestate', 'x-app'])
/** Of `anthropic-*`, these would name an account of the upstream; ours is not the customer's. */
const ours = new Set([
  'anthropic-workspace-id',
  'anthropic-organization-id',
  'anthropic-user-profile-id',
])
/** What the upstream is told when the client names no version: the oldest every client knows. */
const VERSION_DEFAULT = '2023-06-01'

/** A client that left before the upstream answered is waited for so long; its input may be owed. */
const LEFT_MS = 10_000

export type Relayed = {
  /** Path under the upstream's address, without the query. */
  readonly path: Path
  readonly model: string
  readonly conversation: number
  readonly isStream: boolean
  /** The body as this target is to get it. */
  bodyFor(target: Target): readonly Buffer[]
}

/** Told to a client when nothing but the operator's word can help; a person needs that long. */
const OPERATOR_MS = 30_000

/**
 * Sends the request to the best target and, as long as nothing has come that could be passed on, to
 * the next, waiting a moment for a sick one when there is no other. Refuses: upstream_unreachable,
 * upstream_unavailable. The hold is then the caller's to void.
 */
export async function relay(
  exchange: Exchange,
  request: Relayed,
  { upstreams, clock }: Pick<Rooms, 'upstreams' | 'clock'>,
): Promise<Reply> {
  const headers = headersOf(exchange)
  const route = upstreams.route(request.path, request.model, request.conversation)
  let tried: Tried | undefined
  for (;;) {
    const target = await nextTarget(exchange, route, tried)
    if (target === undefined) break
    if (tried !== undefined && 'reply' in tried) tried.reply.abort()
    tried = await attempt(exchange, request, target, headers, clock)
  }
  if (tried === undefined) throw unavailable(route)
  if ('reply' in tried) return tried.reply
  throw tried.error
}

/** Undefined when what there is, if anything, is the answer. */
async function nextTarget(
  exchange: Exchange,
  route: Route,
  tried: Tried | undefined,
): Promise<Target | undefined> {
  // A client that left while its hold waited for the database has ordered nothing yet.
  if (exchange.isGone || exchange.isStopped) return undefined
  if (tried !== undefined && !isWorthAnother(tried)) return undefined
  const ready = route.next()
  if (ready !== undefined) return ready
  if (tried !== undefined && !isTargetsFault(tried)) return undefined
  const wait = route.wait()
  exchange.onGone = wait.abandon
  if (exchange.isGone) wait.abandon()
  const found = await wait.found
  exchange.onGone = undefined
  return exchange.isGone ? undefined : found
}

function unavailable(route: Route): Refusal {
  const refusal = new Refusal('upstream_unavailable', 'No upstream is available right now.')
  refusal.retryAfterMs = route.retryAfterMs() ?? OPERATOR_MS
  return refusal
}

type Incoming = ReturnType<typeof createIncoming>
type Tried = { readonly reply: Reply } | { readonly error: unknown }

/** What another target might answer better: no status at all, or one that passes. */
function isWorthAnother(tried: Tried): boolean {
  if (!('reply' in tried)) return true
  const { status, headers } = tried.reply
  const shouldRetry = headers['x-should-retry']
  return isOurFault(status) || isRetryable(status, shouldRetry as string | undefined)
}

/** 408 and 409 may be tried elsewhere, but say nothing against the target. */
function isTargetsFault(tried: Tried): boolean {
  if (!('reply' in tried)) return true
  return isFault(tried.reply.status)
}

function isFault(status: number): boolean {
  return status >= 500 || status === 429 || isOurFault(status)
}

/** Our credential is refused there, or our money is wanted: another target may be in order. */
function isOurFault(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}

async function attempt(
  exchange: Exchange,
  { path, model, isStream, bodyFor }: Relayed,
  target: Target,
  headers: readonly string[],
  clock: Clock,
): Promise<Tried> {
  const incoming = createIncoming()
  const body = bodyFor(target)
  const sending = { model, path: path + exchange.query, headers, body, isStream }
  const started = target.send(sending, incoming)
  incoming.started = started
  const stay = leaveWith(exchange, incoming, isStream)
  try {
    const reply = await incoming.reply
    tell(started.outcome, reply, clock)
    return { reply }
  } catch (error) {
    return { error }
  } finally {
    stay()
  }
}

/**
 * Gives the request up when we close its connection, and a stream also some time after its client
 * left: a plain reply is read to its end without one. The returned function forgets about it.
 */
function leaveWith(exchange: Exchange, incoming: Incoming, isStream: boolean): () => void {
  let timer: NodeJS.Timeout | undefined
  exchange.onGone = () => {
    if (exchange.isStopped) giveUp(incoming)
    else if (isStream) timer = setTimeout(giveUp, LEFT_MS, incoming)
  }
  if (exchange.isGone) exchange.onGone()
  return () => {
    exchange.onGone = undefined
    clearTimeout(timer)
  }
}

function giveUp(incoming: Incoming): void {
  incoming.abort()
  incoming.started = undefined // that it came to nothing is not the target's doing
  incoming.fail(new Error('the client left before the upstream answered'))
}

function tell(outcome: Outcome, reply: Reply, clock: Clock): void {
  const { status, headers } = reply
  if (!isFault(status)) {
    outcome.answer()
    return
  }
  const asked = {
    retryAfterMs: headers['retry-after-ms'] as string | undefined,
    retryAfter: headers['retry-after'],
  }
  const askedMs = retryAfterMs(asked, clock.nowMs())
  if (status === 429) outcome.coolDown(askedMs)
  else outcome.fail(askedMs)
}

/** The body as it goes upstream: as it came, or with single values changed where they stand. */
export function upstreamBody(
  { body, request, model }: Parsed<MessageRequest>,
  { loweredMaxTokens }: Reserved,
  { upstream, temperatureMax }: Target,
): readonly Buffer[] {
  const edits = nameEdits({ request, model }, upstream)
  if (loweredMaxTokens !== undefined) {
    edits.push({ place: request.maxTokensAt, value: loweredMaxTokens })
  }
  const { temperature, temperatureAt } = request
  if (temperatureAt !== undefined && temperature !== undefined && temperature > temperatureMax) {
    edits.push({ place: temperatureAt, value: temperatureMax })
  }
  return edits.length === 0 ? [body] : editBody(body, edits)
}

/** The same for count_tokens, which only may name another model. */
export function upstreamCountBody(parsed: Parsed<CountRequest>, { upstream }: Target) {
  return editBody(parsed.body, nameEdits(parsed, upstream))
}

function nameEdits(
  { request, model }: Pick<Parsed<CountRequest>, 'request' | 'model'>,
  upstream: string,
): Edit[] {
  const value = upstreamName(model, upstream)
  return value === request.model ? [] : [{ place: request.modelAt, value }]
}

function isForwarded(name: string): boolean {
  return forwarded.has(name) || (name.startsWith('anthropic-') && !ours.has(name))
}

function headersOf({ incoming }: Exchange): string[] {
  const given = incoming.headers
  // Identity: a compressed reply would have to be decompressed to be metered.
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity']
  for (const name in given) {
    if (isForwarded(name)) headers.push(name, given[name] as string)
  }
  if (given['anthropic-version'] === undefined) headers.push('anthropic-version', VERSION_DEFAULT)
  return headers
}
