// One HTTP call to YooKassa and the interpretation of its response. 200 with an object is an
// answer; 4xx with the provider's own error means that the call had no effect; after anything else
// (202, 5xx, a broken connection, HTML, a timeout) the outcome is unknown, and the caller repeats
// the call with the same key and bytes.
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
  /** Called at the end of every call, for metrics. */
  readonly onEnd: (call: string, kind: Answer<unknown>['kind']) => void
}

/** A page of a hundred payments takes about 300 KiB. */
const ANSWER_BYTES_MAX = 4_194_304
/** How long the provider's own clients wait when the response does not say. */
const THROTTLED_MS = 1_800
const NO_SLOT = { kind: 'throttled', afterMs: THROTTLED_MS } as const

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
        // The other two limit the time without bytes; this one limits the whole call.
        signal: AbortSignal.timeout(limitMs),
      })
      return interpretResponse(method, statusCode, await textOf(body))
    } catch (error) {
      const { name, code, message } = error as { name?: string; code?: string; message?: string }
      return { kind: 'unknown', why: `${code ?? name}: ${message}`.slice(0, 200) }
    }
  }

  function report(name: string, answer: Answer<unknown>): Answer<unknown> {
    if (answer.kind === 'throttled') options.limiter.holdOff(answer.afterMs)
    options.onEnd(name, answer.kind)
    return answer
  }

  async function call(name: string, ...args: Parameters<typeof send>): Promise<Answer<unknown>> {
    return report(name, (await options.limiter.acquire()) ? await send(...args) : NO_SLOT)
  }

  /** Calls `confirmSend` after the limiter's wait of up to 10 s, immediately before sending. */
  async function postIfConfirmed(
    confirmSend: () => Promise<boolean>,
    name: string,
    path: string,
    post: Post,
  ): Promise<Answer<unknown> | Withheld> {
    if (!(await options.limiter.acquire())) return report(name, NO_SLOT)
    return (await confirmSend())
      ? report(name, await send('POST', path, post))
      : { kind: 'withheld' }
  }

  return {
    get: (name: string, path: string) => call(name, 'GET', path),
    post: (name: string, path: string, key: string, body: string) =>
      call(name, 'POST', path, { key, body }),
    postIfConfirmed,
    close: () => agent.destroy(),
  }
}

export type Calls = ReturnType<typeof createCalls>

/** Undefined when the body is longer than any valid answer. */
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

/** Decides from status and body whether the call had its effect. */
export function interpretResponse(
  method: 'GET' | 'POST',
  status: number,
  text: string | undefined,
): Answer<unknown> {
  const value = jsonOf(text)
  if (status === 200) {
    if (typeof value === 'object' && value !== null) return { kind: 'ok', value }
    return { kind: 'unknown', why: '200 without an object' }
  }
  // YooKassa sends these two without a body; each means a bug of ours.
  if (status === 405 || status === 415)
    return { kind: 'rejected', why: `${status}`, isOurFault: true }
  const error = errorBody.safeParse(value).data
  // A proxy's error page does not tell what the provider did.
  if (error === undefined) return { kind: 'unknown', why: `${status} without the provider’s error` }
  if (status === 429) return { kind: 'throttled', afterMs: error.retry_after ?? THROTTLED_MS }
  if (status === 404 && method === 'GET') return { kind: 'absent' }
  const why = [status, error.code, error.parameter, error.description].filter(Boolean).join(' ')
  if (status >= 400 && status < 500 && status !== 408) {
    return {
      kind: 'rejected',
      why: why.slice(0, 300),
      isOurFault: status === 401 || status === 403,
    }
  }
  return { kind: 'unknown', why: why.slice(0, 300) }
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined // not JSON: a proxy's page, or a truncated answer
  }
}
