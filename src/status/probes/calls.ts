// HTTP requests of the probes: a new connection each time, because customers' programs open theirs
// too, and a bounded answer.
import { Agent, request } from 'undici'

export type Call = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** A POST with this body; without one a GET. */
  readonly body?: string
  readonly signal: AbortSignal
}

/** An answer to a probe is about 1 KiB; the list in /v1/me grows with the models. */
const BYTES_MAX = 262_144

/** Throws when no whole answer comes. `isOurs`: it has the request id that only we set. */
export async function call({ url, headers, body, signal }: Call) {
  const dispatcher = new Agent({ connections: 1, pipelining: 0 })
  try {
    const answer = await request(url, {
      ...{ headers: { ...headers, 'user-agent': 'tollgate-probe' }, signal, dispatcher },
      ...(body === undefined ? { method: 'GET' as const } : { method: 'POST' as const, body }),
    })
    let bytes = 0
    for await (const chunk of answer.body) {
      bytes += (chunk as Buffer).length
      if (bytes > BYTES_MAX) throw new Error('the answer is too long')
    }
    return { status: answer.statusCode, isOurs: answer.headers['request-id'] !== undefined }
  } finally {
    await dispatcher.destroy()
  }
}

/** The code of an error: its message would name hosts. */
export function failureOf(error: unknown): string {
  const {
    code,
    name = 'unknown',
    cause,
  } = (error ?? {}) as {
    readonly code?: unknown
    readonly name?: string
    readonly cause?: unknown
  }
  if (typeof code === 'string') return code
  const inner = (cause as { readonly code?: unknown } | undefined)?.code
  if (typeof inner === 'string') return inner
  return name === 'TimeoutError' || name === 'AbortError' ? 'no answer in time' : name
}
