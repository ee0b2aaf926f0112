// Turns of a conversation have one opening, in every order and form in which clients write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openingOf } from './opening.ts'
import { readMessageRequest } from './request.ts'

function opening(body: unknown): string {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const read = readMessageRequest(bytes)
  if (!read.ok) throw new Error(read.problem.message)
  return openingOf(bytes, read.request)
}

const mark = { cache_control: { type: 'ephemeral' } }
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const tool = (name: string, more: object = {}) => ({
  name,
  description: `${name} does what its name says`,
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  ...more,
})
const first = { role: 'user', content: [text('Read the file "a\\b".')] }
const turn = {
  model: 'm',
  max_tokens: 1_024,
  system: [text('You are careful.', mark), text('You work in a terminal.')],
  tools: [tool('Read'), tool('Write')],
  messages: [first],
}

test('later turns have the opening of the first', () => {
  const reply = { role: 'assistant', content: 'I have read it.' }
  const next = { role: 'user', content: [text('And now?', mark)] }
  const later = { ...turn, max_tokens: 5, stream: true, messages: [first, reply, next] }
  assert.equal(opening(later), opening(turn))
})

test('the order of the members and the white space between them do not matter', () => {
  const { model, max_tokens, system, tools, messages } = turn
  const sorted = { max_tokens, messages, model, stream: true, system, tools }
  assert.equal(opening(sorted), opening(turn))
  assert.equal(opening(JSON.stringify(turn, null, 2)), opening(turn))
  const contentFirst = { content: first.content, role: 'user' }
  assert.equal(opening({ ...turn, messages: [contentFirst] }), opening(turn))
})

test('cache marks may come, go and move on', () => {
  const marked = {
    ...turn,
    system: [text('You are careful.'), text('You work in a terminal.', mark)],
    tools: [tool('Read'), tool('Write', { cache_control: { type: 'ephemeral', ttl: '1h' } })],
    messages: [{ role: 'user', content: [{ ...mark, ...first.content[0] }] }],
  }
  assert.equal(opening(marked), opening(turn))
})

test('a string and a block with the same text are alike', () => {
  const one = { ...turn, system: 'You are careful.', messages: [{ role: 'user', content: 'Go' }] }
  const other = { ...one, system: [text('You are careful.')] }
  assert.equal(opening(other), opening(one))
  const asBlock = { role: 'user', content: [text('Go', mark)] }
  assert.equal(opening({ ...one, messages: [asBlock] }), opening(one))
})

test('another system prompt, tool or first message is another opening', () => {
  const others = [
    { ...turn, system: 'You are reckless.' },
    { ...turn, system: undefined },
    { ...turn, tools: [tool('Read')] },
    { ...turn, tools: undefined },
    { ...turn, messages: [{ role: 'user', content: 'Write the file "a\\b".' }] },
    { ...turn, system: 'Read the file "a\\b".', messages: [{ role: 'user', content: 'x' }] },
  ]
  assert.equal(new Set([turn, ...others].map(opening)).size, others.length + 1)
})

test('an image is part of the opening', () => {
  const image = (data: string) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data },
  })
  const asked = (data: string) => ({
    ...turn,
    messages: [{ role: 'user', content: [image(data), text('What is this?')] }],
  })
  assert.equal(opening(asked('aaaa')), opening(asked('aaaa')))
  assert.notEqual(opening(asked('aaaa')), opening(asked('bbbb')))
})

test('of each part the first KiB counts', () => {
  const long = 'ж'.repeat(10_000)
  const asked = (words: string) => ({ ...turn, messages: [{ role: 'user', content: words }] })
  assert.equal(opening(asked(`${long}one`)), opening(asked(`${long}two`)))
  assert.notEqual(opening(asked(`one${long}`)), opening(asked(`two${long}`)))
  const quotes = '"\\'.repeat(4_000)
  assert.equal(opening(asked(`${quotes}one`)), opening(asked(`${quotes}two`)))
  const system = [text(long), text('not reached')]
  assert.equal(opening({ ...turn, system }), opening({ ...turn, system: long }))
})

test('the session that an agent names decides alone', () => {
  const session = (id: string) => JSON.stringify({ device_id: 'd', session_id: id })
  const asked = (userId: unknown, more: object = {}) => ({
    ...turn,
    metadata: { user_id: userId },
    ...more,
  })
  const one = opening(asked(session('one')))
  assert.equal(opening(asked(session('one'), { system: 'compacted', tools: undefined })), one)
  assert.notEqual(opening(asked(session('two'))), one)
  const older = opening(asked('user_0f_account__session_one'))
  assert.notEqual(opening(asked('user_0f_account__session_two')), older)
  // Without a session, the id says nothing about the conversation.
  for (const userId of ['customer 7', null, 7]) assert.equal(opening(asked(userId)), opening(turn))
  assert.equal(opening({ ...turn, metadata: null }), opening(turn))
})

for (const [what, content] of Object.entries({
  numbers: `[{"type":"x","a":[${'1,'.repeat(2_000_000)}1]}]`,
  'empty strings': `[${'"",'.repeat(1_000_000)}""]`,
  'escaped quotes': JSON.stringify('"'.repeat(2_000_000)),
  'one number': `[{"type":"x","a":${'1'.repeat(2_000_000)}}]`,
  'one name': `[{"type":"x","${'a'.repeat(2_000_000)}":1}]`,
  'one name with escapes': `[{"type":"x","${'\\"'.repeat(1_000_000)}":1}]`,
  'white space': `[{"type":"x",${' '.repeat(2_000_000)}"a":1}]`,
  'white space after a name': `[{"type":"x","a"${' '.repeat(2_000_000)}:1}]`,
})) {
  test(`megabytes of ${what} are not read a second time`, () => {
    const head = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":'
    const body = Buffer.from(`${head}${content}}]}`)
    const read = readMessageRequest(body)
    assert.ok(read.ok)
    const expected = openingOf(body, read.request)
    // Whatever would be read here is not JSON, and a search for the end of a string finds none.
    body.fill('e', head.length + 8_192)
    assert.equal(openingOf(body, read.request), expected)
  })
}
