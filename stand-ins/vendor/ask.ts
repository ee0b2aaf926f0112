// A bare HTTP client for the stand-in's own tests: sends exactly the given bytes and reports
// exactly the received ones, with the error that ended the connection.
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { isObject, type JsonObject } from './json.ts'
import type { Vendor } from './vendor.ts'

export type Asking = {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonObject | string
  readonly reply?: string
  readonly fault?: string
  /** Disconnects as soon as this many bytes have arrived. */
  readonly leaveAfterBytes?: number
}

export type Asked = {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly chunks: number
  /** The error code, when the answer did not end properly. */
  readonly brokenBy: string | null
}

export const question: JsonObject = {
  model: 'claude-sonnet-4-6',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello' }],
}

export function ask(vendor: Vendor, asking: Asking = {}): Promise<Asked> {
  const { path = '/v1/messages', method = 'POST', body = question } = asking
  const agent = new Agent({ keepAlive: true })
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    const outgoing = request(vendor.url + path, {
      method,
      agent,
      headers: {
        'x-api-key': vendor.keys[0] ?? '',
        'anthropic-version': '2023-06-01',
        ...(asking.reply === undefined ? {} : { 'x-stand-in': asking.reply }),
        ...(asking.fault === undefined ? {} : { 'x-stand-in-fault': asking.fault }),
        ...asking.headers,
      },
    })
    let hasAnswer = false
    // A reset after the answer began is reported twice; then the answer's error counts.
    outgoing.on('error', (error) => {
      if (!hasAnswer) reject(error)
    })
    outgoing.on('response', (incoming) => {
      hasAnswer = true
      const end = (brokenBy: string | null) => {
        agent.destroy()
        const { statusCode: status = 0, headers } = incoming
        resolve({ status, headers, bytes: Buffer.concat(chunks), chunks: chunks.length, brokenBy })
      }
      let bytes = 0
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes >= (asking.leaveAfterBytes ?? Number.POSITIVE_INFINITY)) outgoing.destroy()
      })
      incoming.on('end', () => end(null))
      incoming.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
    })
    outgoing.end(
      method === 'GET' ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    )
  })
}

export function jsonOf(asked: Asked): JsonObject {
  const value: unknown = JSON.parse(asked.bytes.toString())
  return isObject(value) ? value : {}
}

/** The data of every event, in order. */
export function eventsIn(bytes: Buffer): JsonObject[] {
  return bytes
    .toString()
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))
}

/** Reassembles a stream as a client does, and refuses anything outside the grammar. */
export function assemble(bytes: Buffer): JsonObject {
  const events = eventsIn(bytes).filter((event) => event.type !== 'ping')
  const first = events.shift()
  if (first?.type !== 'message_start' || !isObject(first.message)) throw new Error('no start')
  if (events.pop()?.type !== 'message_stop') throw new Error('no stop')
  const content: Array<Record<string, unknown>> = []
  let message: JsonObject = first.message
  let open: Record<string, unknown> | null = null
  let json = ''
  for (const event of events) {
    if (event.type === 'content_block_start' && open === null && event.index === content.length) {
      open = { ...Object(event.content_block) }
      json = ''
    } else if (event.type === 'content_block_delta' && open && event.index === content.length) {
      json += applyDelta(open, Object(event.delta))
    } else if (event.type === 'content_block_stop' && open && event.index === content.length) {
      if (json !== '') open.input = JSON.parse(json)
      content.push(open)
      open = null
    } else if (event.type === 'message_delta' && open === null) {
      const usage = { ...Object(message.usage), ...Object(event.usage) }
      message = { ...message, ...Object(event.delta), usage }
    } else {
      throw new Error(`out of place: ${JSON.stringify(event)}`)
    }
  }
  return { ...message, content }
}

/** Returns the piece of JSON the delta carried, if any. */
function applyDelta(block: Record<string, unknown>, delta: JsonObject): string {
  if (delta.type === 'citations_delta') {
    block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation]
  }
  for (const name of ['text', 'thinking', 'signature', 'novelty']) {
    if (delta[name] !== undefined) block[name] = `${block[name] ?? ''}${delta[name]}`
  }
  return typeof delta.partial_json === 'string' ? delta.partial_json : ''
}
