// The requests of the relay benchmark: the headers of a client library, a small body, and one of 46
// KB like a coding agent's first request: a long system prompt, a dozen tools, one question.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const LARGE_BYTES = 46 * 1024
const SENTENCE =
  'The keeper of the gate writes down the hour, the number of the cart and its load. '

export type RequestFiles = { readonly heads: string; readonly body: string }

/** The query for the stub's stream: the number of deltas and the time between two. */
export type Pace = { readonly events: number; readonly paceMs: number }

export function smallBody(isStream: boolean): string {
  return JSON.stringify({
    model: 'model-large',
    max_tokens: 1_024,
    ...(isStream ? { stream: true } : {}),
    system: SENTENCE.repeat(3),
    messages: [{ role: 'user', content: `${SENTENCE.repeat(2)}How many carts passed today?` }],
  })
}

export function largeBody(): string {
  const tools = Array.from({ length: 12 }, (_, i) => ({
    name: `tool_${i}`,
    description: SENTENCE.repeat(8),
    input_schema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 8 }, (_, j) => [
          `field_${j}`,
          { type: 'string', description: `${SENTENCE}"${j}"\n` },
        ]),
      ),
      required: ['field_0'],
    },
  }))
  const bodyWith = (question: string) =>
    JSON.stringify({
      model: 'model-large',
      max_tokens: 32_000,
      temperature: 1,
      system: [{ type: 'text', text: SENTENCE.repeat(150), cache_control: { type: 'ephemeral' } }],
      tools,
      metadata: { user_id: 'user_0123456789abcdef_account__session_0123' },
      messages: [
        { role: 'user', content: [{ type: 'text', text: SENTENCE.repeat(20) }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Twelve.' }] },
        { role: 'user', content: [{ type: 'text', text: question }] },
      ],
    })
  const missing = LARGE_BYTES - bodyWith('').length
  return bodyWith(SENTENCE.repeat(Math.ceil(missing / SENTENCE.length)).slice(0, missing))
}

/** Writes the files that relay-load reads: one head for each key, and the body they share. */
export async function writeRequests(
  folder: string,
  name: string,
  request: {
    readonly body: string
    readonly keys: readonly string[]
    readonly pace?: Pace
    readonly more?: readonly string[]
  },
): Promise<RequestFiles> {
  const { body, keys, pace, more = [] } = request
  const query = pace === undefined ? '' : `?pace_us=${pace.paceMs * 1_000}&events=${pace.events}`
  const head = (key: string) =>
    [
      `POST /v1/messages${query} HTTP/1.1`,
      'host: 127.0.0.1',
      'connection: keep-alive',
      `content-length: ${Buffer.byteLength(body)}`,
      `accept: ${pace === undefined ? 'application/json' : 'text/event-stream'}`,
      'content-type: application/json',
      'user-agent: Library/JS 1.8.0',
      'x-stainless-lang: js',
      'x-stainless-package-version: 1.8.0',
      'x-stainless-os: Linux',
      'x-stainless-arch: x64',
      'x-stainless-runtime: node',
      'x-stainless-runtime-version: v26.10.0',
      'x-stainless-retry-count: 0',
      'x-stainless-timeout: 600',
      'anthropic-version: 2023-06-01',
      `x-api-key: ${key}`,
      'accept-language: *',
      'accept-encoding: gzip, deflate',
      ...more,
      '',
      '',
    ].join('\r\n')
  const files = { heads: join(folder, `${name}.heads`), body: join(folder, `${name}.body`) }
  await writeFile(files.heads, keys.map(head).join(''))
  await writeFile(files.body, body)
  return files
}
