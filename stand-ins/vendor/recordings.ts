// The recordings that stream tests replay: the bytes this stand-in sends in twelve scenes, each
// with a sidecar that says what a reader must find. The same code gives the same bytes, so a test
// can compare them with the stored files. record-streams.ts writes the files.
import { isObject, type JsonObject } from './json.ts'
import { startVendor, type Vendor } from './vendor.ts'

export type Recording = { readonly name: string; readonly stream: Buffer; readonly sidecar: string }

type Scene = {
  readonly name: string
  readonly about: string
  readonly reply: string
  readonly fault?: string
  readonly members?: JsonObject
}

const longPast = { type: 'text', text: 'Everything that was said before. '.repeat(40) }
const cached = (block: JsonObject, ttl: string) => ({
  ...block,
  cache_control: { type: 'ephemeral', ttl },
})
const cachedPast = { system: [cached(longPast, '1h')] }

const scenes: readonly Scene[] = [
  { name: 'text', about: 'one block of text', reply: 'text 40' },
  {
    name: 'tools',
    about: 'text, then two tool uses, the second without input',
    reply:
      'text 8 tool get_weather {"city":"Oslo","days":[1,2,3],"note":"{\\"a\\":\\"b\\"}"} tool now',
  },
  {
    name: 'thinking',
    about: 'thinking with its signature, then text',
    reply: 'thinking 60 text 20',
  },
  { name: 'citations', about: 'a cited sentence between two plain ones', reply: 'citations' },
  { name: 'redacted', about: 'redacted thinking, then text', reply: 'redacted text 20' },
  { name: 'server-tool', about: 'a web search and its cited result', reply: 'server_tool' },
  {
    name: 'pings-comments',
    about: 'a comment before every event, a ping before every delta',
    reply: 'text 30',
    fault: 'comments pings',
  },
  { name: 'crlf', about: 'lines that end in CR LF', reply: 'thinking 10 text 20', fault: 'crlf' },
  {
    name: 'unicode',
    about: 'letters of two to four bytes and joined emojis',
    reply: 'thinking 5 unicode 60 tool name {"имя":"Ёж 🦔"}',
  },
  {
    name: 'cache',
    about: 'cached tokens: read, written for five minutes and written for an hour',
    reply: 'text 20',
    members: {
      ...cachedPast,
      messages: [
        {
          role: 'user',
          content: [cached({ type: 'text', text: 'Hour by hour. '.repeat(20) }, '1h')],
        },
        { role: 'assistant', content: 'Yes.' },
        { role: 'user', content: [cached({ type: 'text', text: 'Now. '.repeat(30) }, '5m')] },
        { role: 'assistant', content: 'And then?' },
        { role: 'user', content: 'Go on.' },
      ],
    },
  },
  { name: 'long', about: 'three hundred deltas', reply: 'text 300' },
  {
    name: 'double-delta',
    about: 'two message_delta events, an unknown event and an unknown block',
    reply: 'text 10 unknown',
    fault: 'double-delta unknown-event',
  },
]

/** All recordings, in order, from a new stand-in. */
export async function recordStreams(): Promise<Recording[]> {
  const vendor = await startVendor({ seed: 'recordings' })
  try {
    // The cache scene reads what this request writes.
    await post(vendor, { name: 'prime', about: '', reply: 'text 1', members: cachedPast })
    const recordings: Recording[] = []
    for (const scene of scenes) {
      const stream = await post(vendor, scene)
      const sidecar = JSON.stringify(
        describe(scene, stream, vendor.requests.at(-1)?.usage),
        null,
        2,
      )
      recordings.push({ name: scene.name, stream, sidecar: `${sidecar}\n` })
    }
    return recordings
  } finally {
    await vendor.close()
  }
}

async function post(vendor: Vendor, scene: Scene): Promise<Buffer> {
  const response = await fetch(`${vendor.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': vendor.keys[0] ?? '',
      'anthropic-version': '2023-06-01',
      // Headers carry Latin-1; instructions with other characters go into the body.
      'x-stand-in-fault': scene.fault ?? '',
    },
    body: JSON.stringify({
      model: 'claude-sonnet-4-6',
      max_tokens: 1000,
      stream: true,
      ...withReply(scene),
    }),
  })
  return Buffer.from(await response.arrayBuffer())
}

function withReply({ reply, members = {} }: Scene): JsonObject {
  const earlier = Array.isArray(members.messages) ? members.messages : []
  const last = { role: 'user', content: `[[reply: ${reply}]]` }
  return { ...members, messages: [...earlier, last] }
}

function describe(scene: Scene, stream: Buffer, usage: unknown): JsonObject {
  const lines = stream.toString().split(/\r?\n/)
  const events = lines.flatMap((line): JsonObject[] => {
    const data: unknown = line.startsWith('data: ') ? JSON.parse(line.slice(6)) : null
    return isObject(data) ? [data] : []
  })
  const payloads = events.map(payloadOf)
  const start = events.find((event) => event.type === 'message_start')?.message
  return {
    about: scene.about,
    bytes: stream.length,
    events: events.length,
    messageId: isObject(start) ? start.id : null,
    usage,
    payload: bytesOf(payloads.join('')),
    // The same as written in the stream, between its quotes and with its escapes.
    payloadEscaped: bytesOf(payloads.map((text) => JSON.stringify(text).slice(1, -1)).join('')),
  }
}

function bytesOf(text: string): JsonObject {
  const bytes = Buffer.from(text)
  const asciiBytes = bytes.filter((byte) => byte < 128).length
  return { asciiBytes, otherBytes: bytes.length - asciiBytes }
}

/** What a client sees generated: the text, thinking, partial_json or signature of a delta. */
function payloadOf(event: JsonObject): string {
  if (event.type !== 'content_block_delta' || !isObject(event.delta)) return ''
  const { text, thinking, partial_json, signature } = event.delta
  return [text, thinking, partial_json, signature].filter((part) => part !== undefined).join('')
}
