// Step 5: sends the request upstream, as the client sent it except for our credential, the version
// and a few values: the upstream's name of the model, a lowered max_tokens, a temperature that is
// lowered or removed, and the limits of server tools.
// Resolves when the upstream's status is known; until then the client has received nothing, so a
// failure can still be answered with a status.
import type { Clock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { isRefusal, type Refusal } from '../platform/refusal.ts'
import { upstreamName } from '../pricing/pricing.ts'
import type { Route, Target, UpstreamPath } from '../upstreams/upstreams.ts'
import type { CountRequest, MessageRequest } from '../wire/draft.ts'
import { type Edit, editBody } from '../wire/edit.ts'
import { isRetryable } from '../wire/errors.ts'
import { isAboutOurAccount, type Verdict } from '../wire/verdict.ts'
import { type Admission, requestShed } from './admission.ts'
import { ourCause } from './ending.ts'
import type { Exchange, Parsed, Reserved } from './exchange.ts'
import type { Modules } from './modules.ts'
import { type GatewayRefusalCode, gatewayRefusal } from './refusals.ts'
import { LEFT_EARLY_WAIT_MS } from './reply/context.ts'
import { createReplyReceiver, type UpstreamReply } from './reply/reply.ts'
import { headersOf, judge } from './upstream-call.ts'

export type RelayRequest = {
  readonly book: BookId
  /** Appended to the upstream's URL; without the query. */
  readonly path: UpstreamPath
  readonly model: string
  readonly conversation: number
  readonly isStream: boolean
  /** The body with the changes that this target needs. */
  bodyFor(target: Target): readonly Buffer[]
}

/**
 * Sends the request to the best target, then to the next ones until one gives an answer worth
 * forwarding. When no target is left, it waits a moment for one that is full or cools down.
 * Refuses: upstream_unreachable, upstream_unavailable, upstream_limited, upstream_failed,
 * upstream_overdue, request_overdue, waiting_exhausted, request_shed; the caller then voids the
 * hold.
 */
export async function relay(
  exchange: Exchange,
  request: RelayRequest,
  modules: Pick<Modules, 'admission' | 'upstreams' | 'clock' | 'metrics' | 'settings'>,
): Promise<UpstreamReply> {
  const { admission, upstreams, clock, metrics, settings } = modules
  const sending = {
    headers: headersOf(exchange),
    untilMs: exchange.startedMs + settings.requestSecondsMax * 1_000,
  }
  const { path, book, model, conversation } = request
  const route = upstreams.route(path, book, model, conversation)
  let tried: Attempt | undefined
  for (;;) {
    const target = await nextTarget(exchange, request, { admission, route, tried })
    if (target === undefined) break
    // A retry within the deadline of the whole request.
    if (tried !== undefined && clock.spanMs() >= sending.untilMs) break
    if (tried !== undefined && 'reply' in tried) tried.reply.abort()
    const [fromMs, isRetry] = [clock.spanMs(), tried !== undefined]
    tried = await attempt(exchange, request, target, sending, clock)
    const outcome = 'verdict' in tried ? tried.verdict : 'unanswered'
    const seconds = (clock.spanMs() - fromMs) / 1_000
    metrics.observeUpstream({ target: target.label, outcome, seconds, isRetry })
  }
  if (tried === undefined) throw unavailable(route)
  if (!('reply' in tried)) {
    if (clock.spanMs() >= sending.untilMs) throw requestOverdue(tried.error)
    throw tried.error
  }
  if (tried.verdict !== 'limited') return tried.reply
  // The upstream's words are about the limits of our account, not of the customer's.
  tried.reply.abort()
  throw limited(route.retryAfterMs())
}

function requestOverdue(cause: unknown): Refusal {
  return gatewayRefusal('request_overdue', 'The request took too long.', {}, cause)
}

/**
 * Undefined when no further target is tried: the last attempt, if there was one, is the answer.
 * Without one it refuses if the request may not wait: waiting_exhausted, request_shed.
 */
async function nextTarget(
  exchange: Exchange,
  { path, book }: RelayRequest,
  { admission, route, tried }: { admission: Admission; route: Route; tried: Attempt | undefined },
): Promise<Target | undefined> {
  // The client left: start no generation, or no further one.
  if (exchange.isDisconnected) return undefined
  if (tried !== undefined && !mayTryAnother(tried, path)) return undefined
  const ready = route.next()
  if (ready !== undefined) return ready
  if (tried !== undefined && !isTargetAtFault(tried)) return undefined
  const wait = route.wait()
  exchange.onDisconnect = wait.abandon
  let found: Target | undefined
  try {
    found = await admission.waitFor(exchange, book, () => wait.found, wait.abandon)
  } catch (error) {
    if (tried === undefined) throw error
    return undefined
  } finally {
    wait.abandon()
    exchange.onDisconnect = undefined
  }
  if (exchange.isDisconnected) return undefined
  // During the wait a target may have become sick, which is no reason to refuse.
  return found ?? route.next()
}

/** No target was tried: all of them asked for a pause, or are drained. */
function unavailable(route: Route): Refusal {
  const pauseMs = route.retryAfterMs()
  if (pauseMs !== undefined) return limited(pauseMs)
  return gatewayRefusal('upstream_unavailable', 'No upstream is available right now.')
}

function limited(pauseMs: number | undefined): Refusal {
  const sentence = 'This model is overloaded right now; try again after the time in retry-after.'
  const refusal = gatewayRefusal('upstream_limited', sentence)
  if (pauseMs !== undefined) refusal.retryAfterMs = pauseMs
  return refusal
}

type ReplyReceiver = ReturnType<typeof createReplyReceiver>
type Attempt =
  | { readonly reply: UpstreamReply; readonly verdict: Verdict }
  | { readonly error: unknown }

/** The whole request was sent and no status of the upstream came: it may generate the reply. */
const POSSIBLY_ACCEPTED = ['upstream_failed', 'upstream_overdue'] as const

/**
 * Whether another target may do better. An error status of the upstream means that this one did not
 * accept the request; one of a proxy in front of it is no status of the upstream. Without a status
 * it must be known that the request was not sent completely: a second generation would be billed
 * too. Counting tokens generates nothing.
 */
function mayTryAnother(tried: Attempt, path: UpstreamPath): boolean {
  if (!('reply' in tried)) {
    const { error } = tried
    if (isRefusal<GatewayRefusalCode>(error, 'request_shed')) return false
    const isFree = path === '/v1/messages/count_tokens'
    return isFree || !isRefusal<GatewayRefusalCode>(error, ...POSSIBLY_ACCEPTED)
  }
  if (isAboutOurAccount(tried.verdict)) return true
  const { status, headers } = tried.reply
  return isRetryable(status, headers['x-should-retry'] as string | undefined)
}

/** 408 and 409 are retried elsewhere but say nothing about the target. */
function isTargetAtFault(tried: Attempt): boolean {
  return !('reply' in tried) || tried.verdict !== 'retry'
}

async function attempt(
  exchange: Exchange,
  { book, path, model, isStream, bodyFor }: RelayRequest,
  target: Target,
  sending: { readonly headers: readonly string[]; readonly untilMs: number },
  clock: Clock,
): Promise<Attempt> {
  const receiver = createReplyReceiver()
  const body = bodyFor(target)
  const whose = { book, holder: exchange }
  const asked = { model, path: path + exchange.query, body, isStream }
  const { journal } = exchange
  journal.sentMs ??= clock.spanMs()
  journal.attempts += 1
  journal.target = target.label
  journal.upstream = target.upstream
  const started = target.send({ ...whose, ...asked, ...sending }, receiver)
  receiver.started = started
  const stopWatching = abortOnDisconnect(exchange, receiver, isStream)
  exchange.onShed = () => abortAttempt(receiver, requestShed())
  try {
    const reply = await receiver.reply
    journal.firstByteMs = clock.spanMs()
    journal.reply = reply
    return { reply, verdict: await judge(reply, started.outcome) }
  } catch (error) {
    return { error }
  } finally {
    stopWatching()
  }
}

/**
 * Aborts the attempt when the gateway closes the client's connection. When the client leaves, it
 * aborts one of which nothing was sent at once and a stream LEFT_EARLY_WAIT_MS later; a plain reply
 * is still read to its end. The returned function stops watching.
 */
function abortOnDisconnect(
  exchange: Exchange,
  receiver: ReplyReceiver,
  isStream: boolean,
): () => void {
  let timer: NodeJS.Timeout | undefined
  exchange.onDisconnect = () => {
    // Not outside: the stack of an error would cost every request 13 µs (2026-11-17).
    const left = new Error('the client left before the upstream answered')
    const isSent = receiver.started?.call.isSent
    if (ourCause(exchange) !== undefined || !isSent) abortAttempt(receiver, left)
    else if (isStream) timer = setTimeout(abortAttempt, LEFT_EARLY_WAIT_MS, receiver, left)
  }
  return () => {
    exchange.onDisconnect = undefined
    exchange.onShed = undefined
    clearTimeout(timer)
  }
}

function abortAttempt(receiver: ReplyReceiver, reason: Error): void {
  receiver.abort()
  receiver.started = undefined // so that the failure is not counted against the target
  receiver.fail(reason)
}

/** The body for the upstream: the client's bytes, or those bytes with single values replaced. */
export function upstreamBody(
  { body, request, model }: Parsed<MessageRequest>,
  { loweredMaxTokens, loweredTools, isTemperatureRemoved }: Reserved,
  { upstream, temperatureMax }: Target,
): readonly Buffer[] {
  const edits = [...nameEdits({ request, model }, upstream), ...loweredTools.edits]
  if (loweredMaxTokens !== undefined) {
    edits.push({ range: request.maxTokensAt, value: loweredMaxTokens })
  }
  const { temperature = 0, temperatureAt } = request
  if (temperatureAt !== undefined) {
    if (isTemperatureRemoved) edits.push({ range: temperatureAt, isRemoved: true })
    else if (temperature > temperatureMax) {
      edits.push({ range: temperatureAt, value: temperatureMax })
    }
  }
  return edits.length === 0 ? [body] : editBody(body, edits)
}

/** The same for count_tokens, where only the model's name may differ. */
export function upstreamCountBody(parsed: Parsed<CountRequest>, { upstream }: Target) {
  return editBody(parsed.body, nameEdits(parsed, upstream))
}

function nameEdits(
  { request, model }: Pick<Parsed<CountRequest>, 'request' | 'model'>,
  upstream: string,
): Edit[] {
  const value = upstreamName(model, upstream)
  return value === request.model ? [] : [{ range: request.modelAt, value }]
}
