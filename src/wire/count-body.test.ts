// The body of a count: the members of that endpoint, with the client's own bytes, and no others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundByCount, isCountable } from './bound.ts'
import { countBody } from './count-body.ts'
import type { MessageRequest } from './draft.ts'
import { readMessageRequest } from './request.ts'
import { emptyShape } from './shape.ts'

function counted(body: string): string {
  const bytes = Buffer.from(body)
  return Buffer.concat(countBody(bytes, readOf(bytes).counted, 'their-model')).toString()
}

function readOf(body: Buffer): MessageRequest {
  const read = readMessageRequest(body)
  assert.ok(read.ok)
  return read.request
}

test('keeps what the endpoint knows, byte for byte, and leaves out the rest', () => {
  const body = `{ "mod\\u0065l" : "ours", "max_tokens":5,"messages" : [ {"role":"user",
    "content":"Привет \\ud83d\\ude00" } ] , "stream":true,"system":"s", "tools":[],
    "tool_choice":{"type":"auto"},"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},
    "cache_control":{"type":"ephemeral"},"speed":"fast","metadata":{},"temperature":1e0,
    "context_management":{"edits":[]},"service_tier":"auto","stop_sequences":["x"]}`
  assert.equal(
    counted(body),
    `{"model":"their-model","messages":[ {"role":"user",
    "content":"Привет \\ud83d\\ude00" } ],"system":"s","tools":[],"tool_choice":{"type":"auto"},` +
      '"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},' +
      '"cache_control":{"type":"ephemeral"},"speed":"fast","context_management":{"edits":[]}}',
  )
})

test('recognises a member whose name is written with escapes', () => {
  assert.equal(
    counted('{"model":"ours","max_tokens":1,"\\u006dessages":[{"role":"user","content":"a"}]}'),
    '{"model":"their-model","messages":[{"role":"user","content":"a"}]}',
  )
})

test('keeps members that make the input longer: kept thinking, and the schema of the reply', () => {
  const messages = '"messages":[{"role":"user","content":"a"}]'
  const longer =
    '"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},' +
    '"output_format":{"type":"json_schema","schema":{"type":"object"}}'
  assert.equal(
    counted(`{"model":"ours","max_tokens":5,${messages},${longer}}`),
    `{"model":"their-model",${messages},${longer}}`,
  )
})

test('a member that the endpoint may not know counts by its bytes', () => {
  const uncounted = (body: string) => readOf(Buffer.from(body)).uncountedBytes
  const plain = '"stream":true,"metadata":{"user_id":"u"},"stop_sequences":["x"],"top_p":1'
  const start = '{"model":"ours","max_tokens":5,"messages":[{"role":"user","content":"a"}],'
  assert.equal(uncounted(`${start}${plain}}`), 0)
  assert.equal(uncounted(`${start}"briefing" : "12345"}`), 7)
})

test('a bound by count is the count, 5 % and fixed additions, at most that by bytes', () => {
  const plain = emptyShape(1_000)
  assert.equal(boundByCount(plain, 100, 1_000n as never), 105n)
  assert.equal(boundByCount(plain, 101, 1_000n as never), 107n, 'rounded up')
  assert.equal(boundByCount(plain, 990, 1_000n as never), 1_000n)
  assert.equal(boundByCount({ ...plain, tools: 2 }, 100, 5_000n as never), 1_129n)
})

test('what the endpoint cannot see is not counted', () => {
  const plain = emptyShape(1_000)
  assert.equal(isCountable(plain), true)
  assert.equal(isCountable({ ...plain, isOpaque: true }), false)
  assert.equal(isCountable({ ...plain, linkedImages: 1 }), false)
  assert.equal(isCountable({ ...plain, unbounded: ['web_search'] }), false)
})
