// A client that reads a streamed reply to its end and classifies the end as a client library would.
import { Agent, type IncomingMessage, request } from 'node:http'
import { type Cut, promptOf } from './cut-upstream.ts'

export type Seen = {
  readonly requestId: string
  /**
   * `whole`: message_stop arrived. `error-event`: an error event arrived instead. `cut`: the
   * connection broke. `refused`: an error instead of a reply. `silent`: none of these.
   */
  readonly kind: 'whole' | 'error-event' | 'cut' | 'refused' | 'silent'
  /** The bytes of the reply, without the error event, as latin1. */
  readonly passed: string
}

const STOP = /event: message_stop(\r?\n)data: ?\{"type":"message_stop"\}\1\1/
const ERROR = /event: error\ndata: (\{.*\})\n\n$/

export function createReader(url: string, sockets: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })

  function ask(key: string, cut: Cut): Promise<Seen> {
    const body = JSON.stringify({
      model: 'model-small',
      max_tokens: 4_096,
      stream: true,
      messages: [{ role: 'user', content: promptOf(cut) }],
    })
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    return new Promise((resolve, reject) => {
      const sending = request(`${url}/v1/messages`, { method: 'POST', agent, headers })
      sending.once('error', reject)
      sending.once('response', (incoming) => resolve(read(incoming)))
      sending.end(body)
    })
  }

  return { ask, close: () => agent.destroy() }
}

async function read(incoming: IncomingMessage): Promise<Seen> {
  const { headers, statusCode } = incoming
  const requestId = String(headers['request-id'])
  const chunks: Buffer[] = []
  let isCut = false
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
  } catch {
    isCut = true
  }
  const text = Buffer.concat(chunks).toString('latin1')
  if (statusCode !== 200) {
    return { requestId, kind: saysError(text) ? 'refused' : 'silent', passed: '' }
  }
  const error = ERROR.exec(text)
  const passed = error === null ? text : text.slice(0, error.index)
  const isErrorEvent = error !== null && saysError(error[1] ?? '')
  if (STOP.test(text))
    return { requestId, kind: isErrorEvent || isCut ? 'silent' : 'whole', passed }
  return { requestId, kind: isErrorEvent ? 'error-event' : isCut ? 'cut' : 'silent', passed }
}

function saysError(text: string): boolean {
  const body = JSON.parse(text) as { type?: unknown; error?: { type?: unknown } }
  return body.type === 'error' && typeof body.error?.type === 'string'
}
