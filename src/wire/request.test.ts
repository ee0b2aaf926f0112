// The reader finds what limits and prices need, and reports problems in the vendor's words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MessageRequest, RequestProblem } from './draft.ts'
import { readCountRequest, readMessageRequest } from './request.ts'
import type { UnboundedFeature } from './shape.ts'

const minimal = { model: 'm', max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] }

function read(body: string | object): MessageRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const result = readMessageRequest(Buffer.from(text))
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  return result.request
}

function problemOf(body: string | Buffer | object): RequestProblem {
  const bytes = Buffer.isBuffer(body) ? body : undefined
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const result = readMessageRequest(bytes ?? Buffer.from(text))
  assert.ok(!result.ok, 'the request was accepted')
  return result.problem
}

// Messages observed from the vendor on 2026-08-31, except for the two limits that are ours.
const refused: readonly [problem: string, change: object][] = [
  ['model: Field required', { model: undefined }],
  ['model: Input should be a valid string', { model: null }],
  ['model: String should have at least 1 character', { model: '' }],
  ['model: String should have at most 256 characters', { model: 'm'.repeat(257) }],
  ['messages: Field required', { messages: undefined }],
  ['messages: Input should be a valid array', { messages: 'x' }],
  ['messages: at least one message is required', { messages: [] }],
  ['messages.0: Input should be an object', { messages: [7, 8] }],
  ['messages.0.role: Field required', { messages: [{ content: 'x' }] }],
  ['messages.0.role: Input should be a valid string', { messages: [{ role: 7, content: 'x' }] }],
  [
    'messages: Unexpected role "developer". Allowed roles are "user" or "assistant"',
    { messages: [{ role: 'developer', content: 'x' }] },
  ],
  ['messages.1.content: Field required', { messages: [...minimal.messages, { role: 'user' }] }],
  [
    'messages.0.content: Input should be a valid array',
    { messages: [{ role: 'user', content: {} }] },
  ],
  ['max_tokens: Field required', { max_tokens: undefined }],
  ['max_tokens: Input should be a valid integer', { max_tokens: '16' }],
  ['max_tokens: Input should be a valid integer', { max_tokens: null }],
  ['max_tokens: Input should be a valid integer', { max_tokens: 1.5 }],
  ['max_tokens: Input should be a valid integer', { max_tokens: 2 ** 53 }],
  ['max_tokens: must be greater than or equal to 0', { max_tokens: -1 }],
  ['system: Input should be a valid array', { system: 7 }],
  ['system: Input should be a valid array', { system: null }],
  ['tools: Input should be a valid array', { tools: {} }],
  ['thinking: Input should be an object', { thinking: 'x' }],
  ['stream: Input should be a valid boolean', { stream: 'yes' }],
  ['stream: Input should be a valid boolean', { stream: null }],
  ['temperature: Input should be a valid number', { temperature: 'x' }],
  ['temperature: range: 0..2', { temperature: 2.01 }],
  ['temperature: range: 0..2', { temperature: -0.01 }],
  ['stop_sequences: Input should be a valid array', { stop_sequences: 'ZZ' }],
  ['stop_sequences.1: Input should be a valid string', { stop_sequences: ['a', 1] }],
  [
    'stop_sequences: List should have at most 4 items after validation, not 5',
    { stop_sequences: ['a', 'b', 'c', 'd', 'e'] },
  ],
]

for (const [message, change] of refused) {
  test(`refused: ${message} (${JSON.stringify(change).slice(0, 60)})`, () => {
    const problem = problemOf({ ...minimal, ...change })
    assert.equal(problem.message, message)
    assert.equal(problem.field, message.slice(0, message.indexOf(':')))
  })
}

test('the last accepted value of each limit is accepted', () => {
  assert.equal(read({ ...minimal, max_tokens: 0 }).maxTokens, 0)
  assert.equal(read({ ...minimal, max_tokens: 2 ** 53 - 1 }).maxTokens, 2 ** 53 - 1)
  assert.equal(read({ ...minimal, temperature: 0 }).temperature, 0)
  assert.equal(read({ ...minimal, temperature: 2 }).temperature, 2)
  assert.equal(read({ ...minimal, model: 'm'.repeat(256) }).model.length, 256)
  read({ ...minimal, stop_sequences: ['a', 'b', 'c', 'd'] })
  read({ ...minimal, stop_sequences: [] })
})

test('treats as absent what the vendor treats as absent', () => {
  const nulls = { stop_sequences: null, cache_control: null, container: null, inference_geo: null }
  const given = read({ ...minimal, ...nulls, thread: null, fallbacks: null, mcp_servers: [] })
  assert.deepEqual(given, { ...read(minimal), maxTokensAt: given.maxTokensAt, shape: given.shape })
  assert.deepEqual(given.shape.unbounded, [])
  assert.equal(given.shape.isOpaque, false)
  assert.equal(given.shape.cacheMark, 'none')
})

test('accepts a system message between the turns, as the vendor does', () => {
  const turn = { role: 'system', content: [{ type: 'text', text: 'be brief' }] }
  read({ ...minimal, messages: [...minimal.messages, turn] })
})

test('reports the problem that the vendor would report first', () => {
  const wrong = { stream: 1, temperature: 9, max_tokens: 'x', system: 7, messages: [], tools: 0 }
  const order = ['tools', 'messages', 'system', 'max_tokens', 'temperature', 'stream']
  let body: Record<string, unknown> = { ...minimal, ...wrong }
  for (const field of order) {
    assert.equal(problemOf(body).field, field)
    body = { ...body, [field]: (minimal as Record<string, unknown>)[field] }
  }
})

test('rejects a thread with the code that makes libraries send the full history', () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' }
  const problem = problemOf({ thread, messages: [], max_tokens: 'x' })
  assert.equal(problem.errorCode, 'thread_unsupported_request')
  assert.equal(problem.field, 'thread')
  assert.equal(problemOf({ ...minimal, thread: { type: 'create' } }).field, 'thread')
})

test('rejects a body that is not a JSON object and says where', () => {
  const prefix = 'The request body is not valid JSON: '
  const valid = JSON.stringify(minimal)
  const cases: readonly [string | Buffer, string][] = [
    ['', `${prefix}Input is a zero-length, empty document: line 1 column 1 (char 0)`],
    [`\ufeff${valid}`, `${prefix}unexpected character: line 1 column 1 (char 0)`],
    [`${valid}x`, `${prefix}unexpected content after document: line 1 column 74 (char 73)`],
    ['{\n "model": }', `${prefix}unexpected character: line 2 column 11 (char 12)`],
    [valid.slice(0, -1), `${prefix}unexpected end of data: line 1 column 73 (char 72)`],
    [Buffer.from([0x22, 0xff, 0x22]), `${prefix}str is not valid UTF-8: line 1 column 1 (char 0)`],
    ['{"mod\\qel":1}', `${prefix}invalid string: line 1 column 3 (char 2)`],
    ['[]', 'Input should be an object'],
    ['"x"', 'Input should be an object'],
  ]
  for (const [body, message] of cases) {
    assert.deepEqual(problemOf(body), { field: '', message })
  }
})

test('rejects a duplicate field, however its name is escaped', () => {
  const twice = (second: string): string => `${JSON.stringify(minimal).slice(0, -1)},${second}}`
  const cases = {
    model: '"model":"dear"',
    max_tokens: '"max\\u005ftokens":1',
    tool_choice: '"tool_choice":{},"tool_choice":{}',
    messages: '"\\u006d\\u0065\\u0073\\u0073\\u0061\\u0067\\u0065\\u0073":[]',
  }
  for (const [field, member] of Object.entries(cases)) {
    const message = `${field}: Field given twice`
    assert.deepEqual(problemOf(twice(member)), { field, message })
  }
  read(twice('"metadata":{},"metadata":{}'))
})

test('rejects a duplicate member that prices depend on inside a message or tool', () => {
  const source = '{"type":"base64","type":"text","data":""}'
  const message = (content: string): string =>
    `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":${content}}]}`
  assert.equal(problemOf(message('"a","content":"b"')).field, 'messages.0.content')
  assert.equal(problemOf(message('"a","role":"user"')).field, 'messages.0.role')
  assert.equal(problemOf(message('[{"type":"text","type":"image"}]')).field, 'content.type')
  assert.equal(problemOf(message(`[{"source":{},"source":{}}]`)).field, 'content.source')
  assert.equal(problemOf(message(`[{"type":"image","source":${source}}]`)).field, 'source.type')
  const tools = '"tools":[{"type":"web_search_20250305","type":"custom"}]'
  assert.equal(problemOf(`{"model":"m",${tools}}`).field, 'tools.type')
})

test('unknown fields, spacing and member order do not change the result', () => {
  const spacing = fc.constantFrom(undefined, 1, '\t', '\r\n ')
  const known = new Set(Object.keys(minimal))
  const unknown = fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
    .map((extra) => Object.entries(extra).map(([name, value]) => [`x_${name}`, value]))
  fc.assert(
    fc.property(
      unknown,
      spacing,
      fc.shuffledSubarray([...known], { minLength: known.size }),
      fc.record({ n: fc.nat(), stream: fc.boolean(), temperature: fc.constantFrom(0, 0.5, 1, 2) }),
      (extra, space, order, { n, stream, temperature }) => {
        const fields: Record<string, unknown> = { ...minimal, max_tokens: n }
        const ordered = order.map((name): [string, unknown] => [name, fields[name]])
        const all = [...extra, ...ordered, ['stream', stream], ['temperature', temperature]]
        const text = JSON.stringify(Object.fromEntries(all), null, space)
        const request = read(text)
        assert.equal(request.model, 'm')
        assert.equal(request.stream, stream)
        assert.equal(request.maxTokens, n)
        assert.equal(request.temperature, temperature)
        const { start, end } = request.maxTokensAt
        assert.equal(Buffer.from(text).toString('utf8', start, end), String(n))
      },
    ),
  )
})

test('accepts whole numbers in any notation, with their byte ranges', () => {
  for (const [token, value] of Object.entries({
    '1e3': 1000,
    '1000.0': 1000,
    '-0': 0,
    '1E+2': 100,
  })) {
    const turns = '"messages":[{"role":"user","content":""}]'
    const text = `{"системный":"é","max_tokens" : ${token} ,"model":"m",${turns}}`
    const body = Buffer.from(text)
    const result = readMessageRequest(body)
    assert.ok(result.ok)
    assert.equal(result.request.maxTokens, value)
    const { start, end } = result.request.maxTokensAt
    assert.equal(body.toString('utf8', start, end), token)
  }
})

test('accepts lone surrogates, huge integers and deep nesting', () => {
  const deep = '['.repeat(500) + ']'.repeat(500)
  read(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":${deep}}]}`)
  read(
    `${JSON.stringify(minimal).slice(0, -1)},"x":{"a":"\\ud83d","b":9007199254740993,"c":${deep}}}`,
  )
})

test('reads what prices depend on', () => {
  const request = read({
    ...minimal,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    speed: 'fast',
    inference_geo: 'us',
    output_config: { format: {} },
    container: { skills: [] },
    tools: [
      { name: 'a', input_schema: { type: 'object' } },
      { type: 'custom', name: 'b' },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'computer_toolset_20260801' },
    ],
  })
  assert.equal(request.thinkingBudget, 2048)
  assert.equal(request.speed, 'fast')
  assert.equal(request.inferenceGeo, 'us')
  const { shape } = request
  assert.equal(shape.hasOutputFormat, true)
  assert.equal(shape.isOpaque, true)
  assert.deepEqual([shape.tools, shape.typedTools, shape.hiddenTools], [4, 1, 1])
  assert.deepEqual(shape.unbounded, [])
})

test('lists features that run more than one pass', () => {
  const cases: readonly [feature: UnboundedFeature, fields: object][] = [
    ['web_search', { tools: [{ type: 'web_search_20260318', name: 'web_search' }] }],
    ['web_fetch', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
    ['code_execution', { tools: [{ type: 'code_execution_20250825' }] }],
    ['tool_search', { tools: [{ type: 'tool_search_tool_regex_20251119' }] }],
    ['server_tools', { tools: [{ type: 'tool_of_tomorrow_20270101' }] }],
    ['advisor', { tools: [{ type: 'advisor_20260301' }] }],
    ['mcp', { tools: [{ type: 'mcp_toolset' }] }],
    ['mcp', { mcp_servers: [{ type: 'url', url: 'https://x' }] }],
    ['fallbacks', { fallbacks: [{ model: 'other' }] }],
    ['fallbacks', { fallbacks: 'default' }],
    ['compaction', { compaction: { type: 'summarize' } }],
    ['compaction', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
  ]
  for (const [feature, fields] of cases) {
    assert.deepEqual(read({ ...minimal, ...fields }).shape.unbounded, [feature])
  }
  const { origins } = read({
    ...minimal,
    tools: [{ name: 'a' }, { type: 'advisor_20260301' }, { type: 'advisor_20260402' }],
    context_management: { edits: [{ type: 'compact_20260112' }] },
    mcp_servers: [{ type: 'url', url: 'https://x' }],
    fallbacks: 'default',
  }).shape
  assert.deepEqual(origins, {
    advisor: { field: 'tools.1', toolType: 'advisor_20260301' },
    compaction: { field: 'context_management' },
    mcp: { field: 'mcp_servers' },
    fallbacks: { field: 'fallbacks' },
  })
  const clearing = { edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses' } }] }
  assert.deepEqual(read({ ...minimal, context_management: clearing }).shape.unbounded, [])
})

test('finds a tool that a message defines in the middle of a conversation', () => {
  const adding = (definition: object) => ({
    type: 'tool_addition',
    tool: { type: 'tool_definition', definition },
  })
  const search = { type: 'web_search_20260318', cache_control: { type: 'ephemeral', ttl: '1h' } }
  const compacted = { type: 'compaction', content: 'x', tool_changes: [adding(search)] }
  for (const block of [adding(search), compacted]) {
    const { shape } = read({ ...minimal, messages: [{ role: 'user', content: [block] }] })
    assert.deepEqual(shape.unbounded, ['web_search'])
    assert.deepEqual([shape.tools, shape.hiddenTools, shape.cacheMark], [1, 1, '1h'])
  }
  const own = adding({ name: 'add', input_schema: { type: 'object' } })
  const { shape } = read({ ...minimal, messages: [{ role: 'system', content: [own] }] })
  assert.deepEqual([shape.tools, shape.unbounded], [1, []])
})

test('finds the longest cache mark at any position', () => {
  const short = { cache_control: { type: 'ephemeral' } }
  const long = { cache_control: { type: 'ephemeral', ttl: '1h' } }
  const turn = (block: object) => ({ messages: [{ role: 'user', content: [block] }] })
  const places: readonly ((mark: object) => object)[] = [
    (mark) => mark,
    (mark) => ({ system: [{ type: 'text', text: '', ...mark }] }),
    (mark) => ({ tools: [{ name: 'a', ...mark }] }),
    (mark) => turn({ type: 'text', text: '', ...mark }),
    (mark) => turn({ type: 'tool_result', content: [{ type: 'text', text: '', ...mark }] }),
  ]
  for (const place of places) {
    assert.equal(read({ ...minimal, ...place(short) }).shape.cacheMark, '5m')
    assert.equal(read({ ...minimal, ...place(long) }).shape.cacheMark, '1h')
  }
  const both = { ...long, system: [{ type: 'text', text: '', ...short }] }
  assert.equal(read({ ...minimal, ...both }).shape.cacheMark, '1h')
  const input = { type: 'tool_use', id: 'x', name: 'y', input: long }
  assert.equal(read({ ...minimal, ...turn(input) }).shape.cacheMark, 'none')
})

test('reads only the beginning of overlong words and numbers', () => {
  const long = 'Ж'.repeat(3_000)
  assert.match(problemOf({ ...minimal, model: long }).message, /at most 256 characters$/)
  const role = problemOf({ ...minimal, messages: [{ role: long, content: '' }] })
  assert.equal(role.message.match(/Ж+/)?.[0].length, 64)
  assert.equal(read({ ...minimal, tools: [{ type: `bash_${long}` }] }).shape.hiddenTools, 1)
  const warm = (zeros: number) =>
    `${JSON.stringify(minimal).slice(0, -1)},"temperature":0.${'0'.repeat(zeros)}}`
  assert.equal(read(warm(1_500)).temperature, 0)
  assert.equal(problemOf(warm(3_000)).field, 'temperature')
})

test('a count request needs no max_tokens; all other rules apply', () => {
  const { max_tokens: _, ...counted } = minimal
  const result = readCountRequest(Buffer.from(JSON.stringify(counted)))
  assert.ok(result.ok)
  assert.equal(result.request.model, 'm')
  const empty = readCountRequest(Buffer.from('{"model":"m"}'))
  assert.deepEqual(empty, {
    ok: false,
    problem: { field: 'messages', message: 'messages: Field required' },
  })
})

test('never throws, whatever the bytes', () => {
  const blocks = [{ type: 'image', source: { type: 'base64', data: 'AA' }, cache_control: {} }]
  const turn = { role: 'user', content: blocks }
  const full = { ...minimal, messages: [turn], tools: [{ type: 'x' }], thinking: {}, stream: true }
  const valid = Buffer.from(JSON.stringify(full))
  const places = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 3 })
  fc.assert(
    fc.property(places, fc.nat(valid.length), (changes, length) => {
      const body = Buffer.from(valid.subarray(0, changes.length === 0 ? length : valid.length))
      for (const [at, byte] of changes) body[at] = byte
      const result = readMessageRequest(body)
      assert.equal(typeof (result.ok ? result.request.model : result.problem.message), 'string')
    }),
    { numRuns: 2_000 },
  )
})
