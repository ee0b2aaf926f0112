// Asks the upstream how many input tokens a request has, when what is left of the balance does not
// cover a small reply by the bound of bytes. count_tokens is free, and is the only call that may go
// upstream before a hold. It is made once for a body of an account, by one target, within 2 s;
// without an answer the bound of bytes stays.
import { hash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics/metrics.ts'
import { upstreamName } from '../pricing/pricing.ts'
import type { Target, Upstreams } from '../upstreams/upstreams.ts'
import { countBody } from '../wire/count-body.ts'
import type { MessageRequest } from '../wire/draft.ts'
import type { Authenticated, Exchange, Parsed } from './exchange.ts'
import { errorBodyOf } from './reply/plain.ts'
import { createReplyReceiver } from './reply/reply.ts'
import { conversationOf, headersOf, judge } from './upstream-call.ts'

/** The vendor answers in about 0.3 s; the client is waiting for its message. */
const WAIT_MS_MAX = 2_000
/** Counts of bodies, 250 bytes each: an agent sends a body again within minutes. */
const REMEMBERED_MAX = 4_096
/**
 * Larger bodies are not remembered: without the processor's own SHA-256, 1 MiB takes 5 ms, in which
 * every stream stands still, and 32 MiB took 170 ms.
 */
const REMEMBERED_BYTES_MAX = 1_048_576
/**
 * Calls under way in this process, and for one account. The bodies are in memory anyway; the limit
 * keeps an account whose requests are all refused from sending each of them upstream.
 */
const CALLS_MAX = 16
const CALLS_PER_ACCOUNT_MAX = 4

const PATH = '/v1/messages/count_tokens'

type Needs = {
  readonly upstreams: Upstreams
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'countInputCount'>
}

/** How a count ended; `capped`: too many were under way, and the upstream was not asked. */
export type CountOutcome = 'counted' | 'refused' | 'failed' | 'capped'

export type InputCounts = ReturnType<typeof createInputCounts>

export function createInputCounts() {
  /** By `digestOf`; null: the upstream refuses to count it. */
  const remembered = new Map<string, number | null>()
  const underWay = new Map<string, Promise<number | null | undefined>>()
  const callsByBook = new Map<bigint, number>()

  /** Undefined when the upstream did not say. */
  async function count(
    exchange: Exchange,
    { book }: Authenticated,
    parsed: Parsed<MessageRequest>,
    modules: Needs,
  ): Promise<number | undefined> {
    const digest = digestOf(exchange, book, parsed)
    const known = remembered.get(digest)
    if (known !== undefined) return known ?? undefined
    const running = underWay.get(digest)
    if (running !== undefined) return (await running) ?? undefined
    const calls = callsByBook.get(book) ?? 0
    if (underWay.size >= CALLS_MAX || calls >= CALLS_PER_ACCOUNT_MAX) {
      modules.metrics.countInputCount('capped')
      return undefined
    }
    callsByBook.set(book, calls + 1)
    const asked = ask(exchange, book, parsed, modules)
    underWay.set(digest, asked)
    try {
      const answer = await asked
      modules.metrics.countInputCount(outcomeOf(answer))
      if (answer !== undefined) remember(digest, answer)
      return answer ?? undefined
    } finally {
      underWay.delete(digest)
      const left = (callsByBook.get(book) ?? 1) - 1
      if (left === 0) callsByBook.delete(book)
      else callsByBook.set(book, left)
    }
  }

  function remember(digest: string, answer: number | null): void {
    if (remembered.size >= REMEMBERED_MAX) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    remembered.set(digest, answer)
  }

  return { count }
}

function outcomeOf(answer: number | null | undefined): CountOutcome {
  if (answer === undefined) return 'failed'
  return answer === null ? 'refused' : 'counted'
}

/**
 * Of what is sent upstream. The book is part of it, because the time to an answer would tell
 * whether another account has sent the same body; the query, the betas and the version are, because
 * they change what a model reads, or make the upstream refuse; the catalogue is, because it has the
 * model's names upstream.
 */
function digestOf(
  { id, query, version, clientRequest: { headers } }: Exchange,
  book: bigint,
  { body, model, catalogue }: Parsed<MessageRequest>,
): string {
  if (body.length > REMEMBERED_BYTES_MAX) return id
  const options = `${query} ${headers['anthropic-beta']} ${version}`
  const parts = [options, body].map((one) => hash('sha256', one, 'base64'))
  return [book, catalogue.version, model.id, ...parts].join(' ')
}

/** Null when the upstream refuses to count this body; undefined when it did not answer in time. */
async function ask(
  exchange: Exchange,
  book: BookId,
  parsed: Parsed<MessageRequest>,
  { upstreams, clock }: Needs,
): Promise<number | null | undefined> {
  const { body, model, request } = parsed
  const conversation = conversationOf(exchange, book, parsed, upstreams)
  const route = upstreams.route(PATH, book, model.id, conversation)
  const target: Target | undefined = route.next()
  if (target === undefined) return undefined
  const receiver = createReplyReceiver()
  const started = target.send(
    {
      book,
      holder: exchange,
      model: model.id,
      path: PATH + exchange.query,
      headers: headersOf(exchange),
      body: countBody(body, request.counted, upstreamName(model, target.upstream)),
      isStream: false,
      untilMs: clock.spanMs() + WAIT_MS_MAX,
    },
    receiver,
  )
  receiver.started = started
  const timer = setTimeout(() => {
    receiver.abort()
    receiver.started = undefined // so that the failure is not counted against the target
    receiver.fail(new Error('the count took too long'))
  }, WAIT_MS_MAX)
  try {
    const reply = await receiver.reply
    const verdict = await judge(reply, started.outcome)
    const answer = await errorBodyOf(reply)
    if (reply.status === 200) {
      const count = readCount(answer)
      return count === undefined ? undefined : count + request.uncountedBytes
    }
    const isRefused = verdict === 'refused' && (reply.status === 400 || reply.status === 413)
    return isRefused ? null : undefined
  } catch {
    return undefined // the upstream could not be reached, or broke off; the bound of bytes stays
  } finally {
    clearTimeout(timer)
  }
}

/** Before clearing, if the request asks to clear something: it may turn out to be too little. */
function readCount(answer: Buffer): number | undefined {
  try {
    const { input_tokens: count, context_management: clearing } = JSON.parse(answer.toString())
    const before: unknown = clearing?.original_input_tokens
    if (!isCount(count)) return undefined
    return isCount(before) ? Math.max(count, before) : count
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
