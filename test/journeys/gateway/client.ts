// A bare HTTP client for journeys: sends exactly the given bytes, reports exactly the received ones
// and how the connection ended, and can disconnect at any moment.
import { Agent, type IncomingHttpHeaders, request } from 'node:http'

export type RequestOptions = {
  readonly path?: string
  readonly method?: string
  /** Names and values; a value of undefined leaves the header out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body?: string | Buffer
}

export type Head = { readonly status: number; readonly headers: IncomingHttpHeaders }

export type Answer = Head & {
  readonly bytes: Buffer
  /** Why the answer did not end properly; null when it did. */
  readonly brokenBy: string | null
}

/** A request that has been sent. */
export type SentRequest = {
  readonly head: Promise<Head>
  /** The whole answer; rejects when the connection broke before it began. */
  readonly answer: Promise<Answer>
  /** Resolves once the bytes received so far satisfy the check. */
  until(check: (bytes: Buffer) => boolean): Promise<void>
  /** Calls back with every chunk from now on. */
  each(listen: (chunk: Buffer) => void): void
  /** Closes the connection. */
  disconnect(): void
}

export type Client = ReturnType<typeof createClient>

/** Uses one key and its own headers; connections are kept alive until `end`. */
export function createClient(url: string, key: string, own: Readonly<Record<string, string>> = {}) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 1_024 })

  function send({
    path = '/v1/messages',
    method = 'POST',
    headers,
    body,
  }: RequestOptions): SentRequest {
    const head = Promise.withResolvers<Head>()
    const answer = Promise.withResolvers<Answer>()
    const chunks: Buffer[] = []
    const checks = new Set<(chunk: Buffer) => void>()
    const given = { 'x-api-key': key, 'content-type': 'application/json', ...own, ...headers }
    const outgoing = request(url + path, {
      method,
      agent,
      headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    })
    outgoing.on('error', (error) => {
      head.reject(error)
      answer.reject(error)
    })
    outgoing.on('response', (incoming) => {
      const { statusCode: status = 0, headers: received } = incoming
      head.resolve({ status, headers: received })
      const end = (brokenBy: string | null) =>
        answer.resolve({ status, headers: received, bytes: Buffer.concat(chunks), brokenBy })
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        for (const check of checks) check(chunk)
      })
      incoming.on('end', () => end(null))
      incoming.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
    })
    // After a disconnect no caller awaits this answer.
    head.promise.catch(() => undefined)
    answer.promise.catch(() => undefined)
    outgoing.end(body)
    return {
      head: head.promise,
      answer: answer.promise,
      until: (check) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (!check(Buffer.concat(chunks))) return
            checks.delete(look)
            resolve()
          }
          const tooLate = () => reject(new Error('the answer ended without it'))
          answer.promise.then(tooLate, reject)
          checks.add(look)
          look()
        }),
      each: (listen) => void checks.add(listen),
      disconnect: () => void outgoing.destroy(),
    }
  }

  return {
    send,
    ask: (asking: RequestOptions): Promise<Answer> => send(asking).answer,
    /** The parsed answer of GET /v1/me. */
    async me(): Promise<Record<string, Record<string, unknown>>> {
      const answer = await send({ path: '/v1/me', method: 'GET' }).answer
      return JSON.parse(answer.bytes.toString())
    },
    end: () => agent.destroy(),
  }
}

/** The body of a short message request; `more` adds or replaces members. */
export function question(text = 'Hello', more: Readonly<Record<string, unknown>> = {}): string {
  const messages = [{ role: 'user', content: text }]
  return JSON.stringify({ model: 'model-small', max_tokens: 1_000, messages, ...more })
}

export type ErrorBody = {
  readonly type: string
  readonly error: {
    readonly type: string
    readonly message: string
    readonly details?: { readonly error_code: string }
  }
  readonly request_id: string
}

/** The parsed body of an error. */
export function refusalOf({ bytes }: Answer): ErrorBody {
  return JSON.parse(bytes.toString())
}
