// Conversations of client libraries over four credentials: all turns go to one of them, so that the
// vendor's prompt cache, which it keeps per credential, is read instead of written again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { createTestGateway, type TestGateway } from '../../../stages/gateway.ts'
import { createCaller } from '../caller.ts'

const KEYS = ['one', 'two', 'three', 'four'].map((name) => `upstream-key-of-account-${name}`)
const CONVERSATIONS = 25
const TURNS = 6

const at = { gateway: undefined as unknown as TestGateway }
before(async () => {
  at.gateway = await createTestGateway({ upstreams: [{ name: 'only', keys: KEYS }] })
})
after(() => at.gateway.end())

type Members = Record<string, unknown>
type Message = { readonly role: string; readonly content: unknown }

const mark = { cache_control: { type: 'ephemeral' } }

/** Like that of a coding agent, which describes the folder that it works in. */
function markedSystem(folder: string) {
  return [{ type: 'text', text: `You are careful, and work in ${folder}. `.repeat(60), ...mark }]
}

/** The latest message has the cache mark; earlier ones are as the client keeps them. */
function markLast(messages: readonly Message[]): Message[] {
  const last = messages.at(-1) as Message
  const content = [{ type: 'text', text: last.content, ...mark }]
  return [...messages.slice(0, -1), { ...last, content }]
}

/**
 * How clients write a turn. A JavaScript library sends the members in the caller's order. The
 * Python library (1.13) has an order of its own, with `messages` before `system` and `tools`.
 */
const clients: Readonly<Record<string, (messages: readonly Message[], folder: string) => Members>> =
  {
    'JavaScript, the system prompt first': (messages, folder) => ({
      model: 'model-large',
      max_tokens: 64,
      system: markedSystem(folder),
      messages: markLast(messages),
    }),
    'JavaScript, the messages first': (messages, folder) => ({
      model: 'model-large',
      messages: markLast(messages),
      system: markedSystem(folder),
      max_tokens: 64,
    }),
    Python: (messages, folder) => ({
      max_tokens: 64,
      messages: markLast(messages),
      model: 'model-large',
      stream: false,
      system: markedSystem(folder),
    }),
  }

const questionOf = (turn: number) => `Question ${turn}. ${'And its details. '.repeat(20)}`

type Usage = Readonly<Record<string, number>>

/** Sends all conversations; returns how many turns stayed, and how much of the input was cached. */
async function converse(
  name: string,
  write: (messages: readonly Message[], folder: string) => Members,
) {
  const caller = await createCaller(at.gateway, 10n ** 9n)
  const sums = { stayed: 0, turns: 0, cached: 0, input: 0 }
  for (let conversation = 0; conversation < CONVERSATIONS; conversation += 1) {
    const messages: Message[] = []
    const folder = `${name}, folder ${conversation}`
    let before: string | undefined
    for (let turn = 0; turn < TURNS; turn += 1) {
      messages.push({ role: 'user', content: questionOf(turn) })
      const answer = await caller.ask({ body: JSON.stringify(write(messages, folder)) })
      assert.equal(answer.status, 200)
      const reply = JSON.parse(answer.bytes.toString()) as { content: Message[]; usage: Usage }
      messages.push({ role: 'assistant', content: reply.content })
      const used = credentialOf(caller.last().rawHeaders)
      if (before !== undefined) {
        sums.turns += 1
        if (used === before) sums.stayed += 1
      }
      before = used
      const { usage } = reply
      sums.cached += usage.cache_read_input_tokens ?? 0
      sums.input += Object.entries(usage)
        .filter(([key]) => key.endsWith('input_tokens'))
        .reduce((sum, [, tokens]) => sum + tokens, 0)
    }
  }
  return { stayed: sums.stayed / sums.turns, cacheRead: sums.cached / sums.input }
}

function credentialOf(rawHeaders: readonly string[]): string | undefined {
  return rawHeaders[rawHeaders.findIndex((one) => one.toLowerCase() === 'x-api-key') + 1]
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

for (const [name, write] of Object.entries(clients)) {
  test(`turns stay with one of four credentials: ${name}`, async (t) => {
    const now = await converse(name, write)
    t.diagnostic(`${percent(now.stayed)} of turns stay, ${percent(now.cacheRead)} of input cached`)
    assert.ok(now.stayed >= 0.99, percent(now.stayed))

    // For comparison, what was hashed until November 2026: the first bytes of the body.
    const { upstreams } = at.gateway
    const { conversationOf } = upstreams
    upstreams.conversationOf = (book, { body }) => crc32(body.subarray(0, 1_024), Number(book))
    const former = await converse(`${name}, as before`, write)
    upstreams.conversationOf = conversationOf
    const { stayed, cacheRead } = former
    t.diagnostic(`by the first 1,024 bytes: ${percent(stayed)} stay, ${percent(cacheRead)} cached`)
    if (stayed < 0.9) assert.ok(now.cacheRead > cacheRead + 0.05, 'more of the input is cached')
  })
}

test('conversations are spread over all credentials', async () => {
  const used = new Set(at.gateway.vendor.requests.map((one) => credentialOf(one.rawHeaders)))
  assert.deepEqual(used, new Set(KEYS))
})
