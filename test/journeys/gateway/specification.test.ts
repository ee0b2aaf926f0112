// The service's specification, row by row: the fields of a message request with the last value that
// is accepted and the first that is refused, the fields of a reply, headers, limits and versions.
// Keys and /v1/me are in specification-account.test.ts.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'
import { question, refusalOf } from './client.ts'
import { eventsOf, priceOf, text } from './expected-charges.ts'

let gateway: TestGateway
let caller: Caller
before(async () => {
  gateway = await createTestGateway()
  caller = await createCaller(gateway, 100_000_000)
})
after(async () => {
  caller.end()
  await gateway.end()
})

/** The values of `anthropic-version` in the newest request at the upstream. */
function versionsSent(sender: Caller): string[] {
  const { rawHeaders } = sender.last()
  return rawHeaders.filter((_, i) => rawHeaders[i - 1]?.toLowerCase() === 'anthropic-version')
}

type Members = Readonly<Record<string, unknown>>

function accepts(what: string, members: Members): void {
  test(`${what} is accepted`, async () => {
    const answer = await caller.ask({ body: question('Hello', members) })
    assert.equal(answer.status, 200, answer.bytes.toString())
  })
}

function refuses(what: string, members: Members, message: string): void {
  test(`${what} is refused`, async () => {
    const before = await caller.requestCount()
    const answer = await caller.ask({ body: question('Hello', members) })
    assert.equal(answer.status, 400)
    assert.equal(refusalOf(answer).error.type, 'invalid_request_error')
    assert.equal(refusalOf(answer).error.message, message)
    assert.equal(await caller.requestCount(), before, 'a refused request is not counted')
  })
}

const absent = undefined
const tool = {
  name: 'weather',
  description: 'Tells the weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

describe('request: model', () => {
  accepts('a name in the catalogue', { model: 'model-large' })
  refuses('a missing model', { model: absent }, 'model: Field required')
  refuses('a number', { model: 1 }, 'model: Input should be a valid string')
  refuses('an empty string', { model: '' }, 'model: String should have at least 1 character')
  const long = 'm'.repeat(257)
  refuses('257 characters', { model: long }, 'model: String should have at most 256 characters')
  test('256 characters are valid, but no model has that name', async () => {
    const answer = await caller.ask({ body: question('Hello', { model: 'm'.repeat(256) }) })
    assert.equal(answer.status, 404)
    assert.equal(refusalOf(answer).error.type, 'not_found_error')
  })
  for (const [given, message] of [
    ['model-smal', 'model: model-smal. Did you mean model-small?'],
    ['Model-Lrage', 'model: Model-Lrage. Did you mean model-large?'],
    ['something-else', 'model: something-else'],
  ] as const) {
    test(`the 404 of ${given} says: ${message}`, async () => {
      const path = '/v1/messages/count_tokens'
      for (const asking of [
        { body: question('Hello', { model: given }) },
        { path, body: question('Hello', { model: given }) },
        { path: `/v1/models/${given}`, method: 'GET' },
      ]) {
        const answer = await caller.ask(asking)
        assert.equal(answer.status, 404)
        assert.equal(refusalOf(answer).error.message, message)
      }
    })
  }
})

describe('request: messages', () => {
  const withMessages = (...messages: unknown[]) => ({ messages })
  accepts('one user message', withMessages({ role: 'user', content: 'Hello' }))
  accepts(
    'a conversation',
    withMessages(
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'Go on' },
    ),
  )
  accepts(
    'content in blocks',
    withMessages({ role: 'user', content: [{ type: 'text', text: 'Hello' }] }),
  )
  refuses('a missing array', { messages: absent }, 'messages: Field required')
  refuses('an object', { messages: {} }, 'messages: Input should be a valid array')
  refuses('an empty array', withMessages(), 'messages: at least one message is required')
  refuses('an array of strings', withMessages('Hello'), 'messages.0: Input should be an object')
  refuses(
    'a message without a role',
    withMessages({ content: 'x' }),
    'messages.0.role: Field required',
  )
  refuses(
    'a message without content',
    withMessages({ role: 'user' }),
    'messages.0.content: Field required',
  )
  refuses(
    'content that is a number',
    withMessages({ role: 'user', content: 5 }),
    'messages.0.content: Input should be a valid array',
  )
  refuses(
    'an unknown role',
    withMessages({ role: 'tool', content: 'x' }),
    'messages: Unexpected role "tool". Allowed roles are "user" or "assistant"',
  )
})

describe('request: max_tokens', () => {
  accepts('0', { max_tokens: 0 })
  accepts('1', { max_tokens: 1 })
  accepts('the maximum of the model', { max_tokens: 32_000 })
  refuses('a missing value', { max_tokens: absent }, 'max_tokens: Field required')
  refuses('-1', { max_tokens: -1 }, 'max_tokens: must be greater than or equal to 0')
  refuses('1.5', { max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer')
  refuses('a string', { max_tokens: '10' }, 'max_tokens: Input should be a valid integer')
  refuses('null', { max_tokens: null }, 'max_tokens: Input should be a valid integer')
  refuses('2^53', { max_tokens: 2 ** 53 }, 'max_tokens: Input should be a valid integer')
  test("a value above the model's maximum is lowered to it, and a header says so", async () => {
    const other = await createCaller(gateway)
    const answer = await other.ask({ body: question('Hello', { max_tokens: 32_001 }) })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['x-credit-max-tokens'], '32000')
    other.end()
  })

  test('the upstream refuses it when the client forbids that, and nothing is charged', async () => {
    const other = await createCaller(gateway)
    const headers = { 'x-credit-clamp': 'off' }
    const answer = await other.ask({ body: question('Hello', { max_tokens: 32_001 }), headers })
    assert.equal(answer.status, 400)
    assert.match(refusalOf(answer).error.message, /^max_tokens: 32001 > 32000/)
    assert.deepEqual(await other.statement(), ['void refused 0 upstream 400 invalid_request_error'])
    other.end()
  })
})

describe('request: system', () => {
  accepts('a missing system', { system: absent })
  accepts('a string', { system: 'Be brief.' })
  accepts('blocks', { system: [{ type: 'text', text: 'Be brief.' }] })
  accepts('a block with cache_control', {
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  })
  refuses('a number', { system: 1 }, 'system: Input should be a valid array')
  refuses('an object', { system: {} }, 'system: Input should be a valid array')
})

describe('request: stream', () => {
  for (const [what, stream, type] of [
    ['a missing stream', absent, 'application/json'],
    ['false', false, 'application/json'],
    ['true', true, 'text/event-stream; charset=utf-8'],
  ] as const) {
    test(`${what} is answered with ${type}`, async () => {
      const answer = await caller.ask({ body: question('Hello', { stream }) })
      assert.equal(answer.status, 200)
      assert.equal(answer.headers['content-type'], type)
    })
  }
  refuses('a string', { stream: 'true' }, 'stream: Input should be a valid boolean')
  refuses('a number', { stream: 1 }, 'stream: Input should be a valid boolean')
})

describe('request: temperature', () => {
  for (const value of [absent, 0, 0.5, 1, 1.000_001, 2]) {
    accepts(`${value}`, { temperature: value })
  }
  refuses('-0.000001', { temperature: -0.000_001 }, 'temperature: range: 0..2')
  refuses('2.000001', { temperature: 2.000_001 }, 'temperature: range: 0..2')
  refuses('a string', { temperature: '1' }, 'temperature: Input should be a valid number')
})

describe('request: tools', () => {
  accepts('a missing array', { tools: absent })
  accepts('an empty array', { tools: [] })
  accepts('name, description and schema', { tools: [tool] })
  accepts('two tools', { tools: [tool, { ...tool, name: 'time' }] })
  refuses('an object', { tools: tool }, 'tools: Input should be a valid array')
})

describe('request: stop_sequences', () => {
  accepts('a missing array', { stop_sequences: absent })
  accepts('an empty array', { stop_sequences: [] })
  accepts('four sequences', { stop_sequences: ['a1', 'b2', 'c3', 'd4'] })
  refuses(
    'five sequences',
    { stop_sequences: ['a1', 'b2', 'c3', 'd4', 'e5'] },
    'stop_sequences: List should have at most 4 items after validation, not 5',
  )
  refuses('a string', { stop_sequences: 'a' }, 'stop_sequences: Input should be a valid array')
  refuses(
    'an array with a number',
    { stop_sequences: ['a', 2] },
    'stop_sequences.1: Input should be a valid string',
  )
})

describe('reply', () => {
  const reply = async (words: string, more: Members = {}) => {
    const answer = await caller.ask({ body: question(words, more) })
    assert.equal(answer.status, 200)
    return JSON.parse(answer.bytes.toString())
  }

  test('has an id, a type, a role and the model', async () => {
    const { id, type, role, model } = await reply('Hello')
    assert.match(id, /^msg_\w+$/)
    assert.deepEqual([type, role, model], ['message', 'assistant', 'model-small'])
  })

  test('content is usually one block of text', async () => {
    const { content } = await reply('[[reply: say "Good day"]]')
    assert.deepEqual(content, [{ type: 'text', text: 'Good day' }])
  })

  test('content has a tool_use block when the model uses a tool', async () => {
    const { content } = await reply('[[reply: tool weather {"city":"Омск"}]]', { tools: [tool] })
    const [{ type, name, input }] = content
    assert.deepEqual([type, name, input], ['tool_use', 'weather', { city: 'Омск' }])
  })

  for (const [reason, words, more] of [
    ['end_turn', '[[reply: text 5]]', {}],
    ['max_tokens', '[[reply: text 5]]', { max_tokens: 3 }],
    ['stop_sequence', '[[reply: say "one two three"]]', { stop_sequences: ['two'] }],
    ['tool_use', '[[reply: tool weather {"city":"x"}]]', { tools: [tool] }],
  ] as const) {
    test(`stop_reason can be ${reason}`, async () => {
      assert.equal((await reply(words, more)).stop_reason, reason)
    })
  }

  test('usage has input and output tokens, and the charge matches it', async () => {
    const answer = await caller.ask({ body: question('[[reply: text 17]]') })
    const { usage } = JSON.parse(answer.bytes.toString())
    assert.ok(Number.isInteger(usage.input_tokens) && usage.input_tokens > 0)
    assert.equal(usage.output_tokens, 17)
    assert.equal(answer.headers['x-credit-charged'], text(priceOf(usage)))
  })
})

describe('headers', () => {
  const body = question()
  for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
    test(`content-type ${type} is accepted`, async () => {
      const answer = await caller.ask({ body, headers: { 'content-type': type } })
      assert.equal(answer.status, 200)
    })
  }
  for (const type of [undefined, 'text/plain', 'application/jsonx', 'multipart/form-data']) {
    test(`content-type ${type} is refused`, async () => {
      const answer = await caller.ask({ body, headers: { 'content-type': type } })
      assert.equal(answer.status, 415)
    })
  }
  for (const version of [undefined, '', 'anything', '1999-01-01', '\u00fc'.repeat(500)]) {
    test(`vendor-version ${version?.slice(0, 12)} is accepted and not checked`, async () => {
      const answer = await caller.ask({ body, headers: { 'vendor-version': version } })
      assert.equal(answer.status, 200)
      assert.ok(!caller.last().rawHeaders.includes('vendor-version'))
    })
  }

  for (const [what, given, sent] of [
    ['a missing anthropic-version', undefined, '2023-06-01'],
    ['an empty anthropic-version', '', '2023-06-01'],
    ['an unknown anthropic-version', '1999-01-01', '2023-06-01'],
    ['an anthropic-version given twice', ['2026-10-21', '2026-10-21'], '2023-06-01'],
    ['anthropic-version 2023-06-01', '2023-06-01', '2023-06-01'],
    ['anthropic-version 2026-10-21', '2026-10-21', '2026-10-21'],
  ] as const) {
    test(`${what} reaches the upstream as ${sent}`, async () => {
      const answer = await caller.ask({ body, headers: { 'anthropic-version': given } })
      assert.equal(answer.status, 200, answer.bytes.toString())
      assert.deepEqual(versionsSent(caller), [sent])
    })
  }

  test('a known version is sent whichever of its three headers names it', async (t) => {
    const own = await createTestGateway({ limits: { slug: 'acme' } })
    t.after(() => own.end())
    const other = await createCaller(own)
    t.after(() => other.end())
    for (const name of ['anthropic-version', 'acme-version', 'vendor-version']) {
      const headers = { 'anthropic-version': 'unknown', [name]: '2026-10-21' }
      const answer = await other.ask({ body, headers })
      assert.equal(answer.status, 200, answer.bytes.toString())
      assert.deepEqual(versionsSent(other), ['2026-10-21'], name)
    }
  })

  test('under a version without temperature it is removed, and a header says so', async () => {
    const headers = { 'anthropic-version': '2026-10-21' }
    for (const temperature of [0, 1, 2]) {
      const answer = await caller.ask({ body: question('Hello', { temperature }), headers })
      assert.equal(answer.status, 200, answer.bytes.toString())
      assert.equal(answer.headers['x-credit-temperature'], 'removed')
      assert.equal(String(caller.last().body), question('Hello'))
    }
    const without = await caller.ask({ body, headers })
    assert.equal(without.headers['x-credit-temperature'], undefined)
  })
})

describe('events', () => {
  test('the text_delta fragments join into the whole reply', async () => {
    const said = 'Привет, "world"\n and \\ more'
    const words = `[[reply: say ${JSON.stringify(said)}]]`
    const answer = await caller.ask({ body: question(words, { stream: true }) })
    const deltas = eventsOf(answer.bytes).filter(({ type }) => type === 'content_block_delta')
    assert.ok(deltas.length > 1)
    assert.ok(deltas.every(({ delta }) => delta?.type === 'text_delta'))
    assert.equal(deltas.map(({ delta }) => delta?.text).join(''), said)
  })

  test('the event line of each record equals the type in its data', async () => {
    const answer = await caller.ask({ body: question('Hello', { stream: true }) })
    for (const record of answer.bytes.toString().trimEnd().split('\n\n')) {
      const [event = '', data = ''] = record.split('\n')
      assert.equal(event, `event: ${JSON.parse(data.slice('data: '.length)).type}`)
    }
  })
})

describe('limits and versions', () => {
  for (const name of ['after_id', 'before_id']) {
    test(`GET /v1/models refuses an unknown ${name}`, async () => {
      for (const id of ['nobody', '']) {
        const path = `/v1/models?${name}=${id}`
        const answer = await caller.ask({ path, method: 'GET' })
        assert.equal(answer.status, 400)
        const { type, message } = refusalOf(answer).error
        assert.deepEqual(
          [type, message],
          ['invalid_request_error', `${name}: Input should be the id of a model`],
        )
      }
      const known = await caller.ask({ path: `/v1/models?${name}=model-small`, method: 'GET' })
      assert.equal(known.status, 200)
    })
  }

  test('answers 300 requests at once', async () => {
    const asked = Array.from({ length: 300 }, () => caller.ask({ body: question() }))
    const statuses = new Set((await Promise.all(asked)).map(({ status }) => status))
    assert.deepEqual([...statuses], [200])
  })

  for (const path of ['/v1/messages', '/messages', '/v1/v1/messages', '/v1/messages?beta=true']) {
    test(`POST ${path} is served as /v1/messages`, async () => {
      const answer = await caller.ask({ path, body: question() })
      assert.equal(answer.status, 200)
      const query = path.includes('?') ? '?beta=true' : ''
      assert.equal(caller.last().url, `/v1/messages${query}`)
    })
  }

  for (const path of ['/v2/messages', '/v1/v1/v1/messages', '/v1/complete', '/']) {
    test(`POST ${path} is answered with 404`, async () => {
      assert.equal((await caller.ask({ path, body: question() })).status, 404)
    })
  }
})
