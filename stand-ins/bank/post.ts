// One POST of JSON to a receiver: its answer, or why there was none. Connections are kept alive,
// because hundreds of notices may go out together.
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'

export type Posted = {
  status: number | null
  answer: string
  error: string | null
  tookMs: number
}

// The provider ignores the answer's body; the record shows this much of it for debugging a
// receiver.
const answerCharactersMax = 500
// More at once would only queue in the receiver.
const socketsMax = 256

export function createPost() {
  const plain = new Agent({ keepAlive: true, maxSockets: socketsMax })
  // The provider accepts a receiver's self-signed certificate.
  const secure = new SecureAgent({
    keepAlive: true,
    maxSockets: socketsMax,
    rejectUnauthorized: false,
  })

  function open(url: URL, options: { headers: Record<string, string>; signal: AbortSignal }) {
    const isSecure = url.protocol === 'https:'
    const all = { ...options, method: 'POST' }
    return isSecure
      ? requestHttps(url, { ...all, agent: secure })
      : requestHttp(url, { ...all, agent: plain })
  }

  async function post(
    url: string,
    body: string,
    { timeoutMs, headers }: { timeoutMs: number; headers: Record<string, string> },
  ): Promise<Posted> {
    const startedMs = performance.now()
    const took = () => Math.round(performance.now() - startedMs)
    try {
      const request = open(new URL(url), {
        headers: {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          'user-agent': 'bank-stand-in',
          ...headers,
        },
        signal: AbortSignal.timeout(timeoutMs),
      })
      const response = await answerTo(request, body)
      const answer = await textOf(response)
      return { status: response.statusCode ?? null, answer, error: null, tookMs: took() }
    } catch (error) {
      // Any error at the receiver is a failed attempt, and must not end the stand-in.
      const why = error instanceof Error ? error.message : String(error)
      return { status: null, answer: '', error: why, tookMs: took() }
    }
  }

  return Object.assign(post, {
    close(): void {
      plain.destroy()
      secure.destroy()
    },
  })
}

function answerTo(request: ClientRequest, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.once('response', resolve)
  // Keep the error listener: the connection may break again while the body is read.
  request.on('error', reject)
  request.end(body)
  return promise
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  for await (const chunk of response) {
    if (text.length < answerCharactersMax) text += chunk
  }
  return text.slice(0, answerCharactersMax)
}
