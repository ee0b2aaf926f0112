// One HTTP call to YooKassa and what its end means. 200 with an object is an answer; 4xx with the
// provider's own error says that nothing happened; everything else (202, 5xx, a broken line, HTML,
// silence) leaves the outcome unknown, and whoever asked repeats with the same key and bytes.
import { Agent, request } from 'undici'
import { z } from 'zod'
import type { Masked } from '../../platform/masked.ts'
import type { Answer, Withheld } from '../port.ts'
import type { Limiter } from './limiter.ts'

export type CallOptions = {
  /** Without a slash at the end. */
  readonly url: string
  readonly shopId: string
  readonly secretKey: Masked<string>
  readonly postTimeoutMs: number
  readonly getTimeoutMs: number
  readonly limiter: Limiter
  /** Told of every end, for metrics. */
  readonly onEnd: (call: string, kind: Answer<unknown>['kind']) => void
}

/** A page of a hundred payments is some 300 KiB. */
const ANSWER_BYTES_MAX = 4_194_304
/** What the provider's older clients wait when it does not say. */
const THROTTLED_MS = 1_800
const noTurn = { kind: 'throttled', afterMs: THROTTLED_MS } as const

type Post = { readonly key: string; readonly body: string }

const errorBody = z.looseObject({
  type: z.literal('error'),
  code: z.string(),
  description: z.string().optional(),
  parameter: z.string().optional(),
  retry_after: z.number().optional(),
})

export function createCalls(options: CallOptions) {
  const agent = new Agent({ connections: 16, connect: { timeout: 10_000 } })
  const credential = Buffer.from(`${options.shopId}:${options.secretKey.reveal()}`)
  const headers = { authorization: `Basic ${credential.toString('base64')}` }

  async function send(method: 'GET' | 'POST', path: string, post?: Post): Promise<Answer<unknown>> {
    const limitMs = method === 'POST' ? options.postTimeoutMs : options.getTimeoutMs
    try {
      const { statusCode, body } = await request(`${options.url}${path}`, {
        method,
        dispatcher: agent,
        headers: post
          ? { ...headers, 'content-type': 'application/json', 'idempotence-key': post.key }
          : headers,
        body: post?.body ?? null,
        headersTimeout: limitMs,
        bodyTimeout: limitMs,
        // The other two limit silence; this one the whole, also when bytes trickle.
        signal: AbortSignal.timeout(limitMs),
      })
      return meaning(method, statusCode, await textOf(body))
    } catch (error) {
      const { name, code, message } = error as { name?: string; code?: string; message?: string }
      return { kind: 'unknown', why: `${code ?? name}: ${message}`.slice(0, 200) }
    }
  }

  function end(name: string, answer: Answer<unknown>): Answer<unknown> {
    if (answer.kind === 'throttled') options.limiter.holdOff(answer.afterMs)
    options.onEnd(name, answer.kind)
    return answer
  }

  async function call(name: string, ...what: Parameters<typeof send>): Promise<Answer<unknown>> {
    return end(name, (await options.limiter.enter()) ? await send(...what) : noTurn)
  }

  /** The wait for a turn may take 10 s, so `mayLeave` is asked after it; then nothing waits. */
  async function postIf(
    mayLeave: () => Promise<boolean>,
    name: string,
    path: string,
    post: Post,
  ): Promise<Answer<unknown> | Withheld> {
    if (!(await options.limiter.enter())) return end(name, noTurn)
    return (await mayLeave()) ? end(name, await send('POST', path, post)) : { kind: 'withheld' }
  }

  return {
    get: (name: string, path: string) => call(name, 'GET', path),
    post: (name: string, path: string, key: string, body: string) =>
      call(name, 'POST', path, { key, body }),
    postIf,
    close: () => agent.destroy(),
  }
}

export type Calls = ReturnType<typeof createCalls>

/** Undefined when there is more than an answer ever has. */
async function textOf(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** What a status and a body say about whether the thing happened. */
export function meaning(
  method: 'GET' | 'POST',
  status: number,
  text: string | undefined,
): Answer<unknown> {
  const value = jsonOf(text)
  if (status === 200) {
    if (typeof value === 'object' && value !== null) return { kind: 'ok', value }
    return { kind: 'unknown', why: '200 without an object' }
  }
  // The two that come without a body; both are bugs of ours.
  if (status === 405 || status === 415) return { kind: 'rejected', why: `${status}`, isOurs: true }
  const error = errorBody.safeParse(value).data
  // A proxy's page, whatever its number, says nothing about what the provider did.
  if (error === undefined) return { kind: 'unknown', why: `${status} without the provider’s error` }
  if (status === 429) return { kind: 'throttled', afterMs: error.retry_after ?? THROTTLED_MS }
  if (status === 404 && method === 'GET') return { kind: 'absent' }
  const why = [status, error.code, error.parameter, error.description].filter(Boolean).join(' ')
  if (status >= 400 && status < 500 && status !== 408) {
    return { kind: 'rejected', why: why.slice(0, 300), isOurs: status === 401 || status === 403 }
  }
  return { kind: 'unknown', why: why.slice(0, 300) }
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined // not JSON: an edge's page, or an answer cut short
  }
}
