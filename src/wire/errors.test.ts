// The vendor's error format: writing it for clients and reading it from upstreams.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  errorBody,
  errorRecord,
  isRetryable,
  readErrorBody,
  recordsWithRequestId,
  retryAfterMs,
  withRequestId,
} from './errors.ts'
import { createStreamMeter } from './sse.ts'

test('an error body has the format that every client library reads', () => {
  const error = { type: 'billing_error', message: 'too low', requestId: 'req_1' } as const
  assert.equal(
    errorBody(error),
    '{"type":"error","error":{"type":"billing_error","message":"too low"},"request_id":"req_1"}',
  )
  const details = { error_code: 'thread_unsupported_request' }
  assert.deepEqual(JSON.parse(errorBody({ ...error, details })).error.details, details)
})

test('a stream reader recognises an error record', () => {
  const meter = createStreamMeter()
  meter.push(Buffer.from(errorRecord({ type: 'api_error', message: 'a\nb', requestId: 'req_1' })))
  assert.deepEqual(meter.facts.error, { type: 'api_error', message: 'a\nb' })
  assert.equal(meter.isBetweenRecords, true)
})

test("reads an upstream's error body; any other body gives undefined", () => {
  const body = errorBody({
    type: 'invalid_request_error',
    message: 'no',
    requestId: 'req_1',
    details: { error_code: 'x' },
  })
  const read = { type: 'invalid_request_error', message: 'no', code: 'x' }
  assert.deepEqual(readErrorBody(Buffer.from(body)), read)
  for (const other of ['<html>', '{"error":"no"}', '{"error":{"type":1}}', '[]', '']) {
    assert.equal(readErrorBody(Buffer.from(other)), undefined)
  }
})

const latin1 = (text: string) => Buffer.from(text).toString('latin1')

test('an error body gets our request id in place of its own, and keeps its words', () => {
  for (const [body, expected] of [
    ['{"type":"error","request_id":"req_v","x":1}', '{"type":"error","request_id":"req_1","x":1}'],
    ['{ "error": {} }', '{"error":{},"request_id":"req_1"}'],
    ['{"error":"caf\\u00e9 é 😀 \\u4f60"}', '{"error":"café é 😀 你","request_id":"req_1"}'],
    [
      '{"error":"\\"request_id\\":\\"req_v\\""}',
      '{"error":"\\"request_id\\":\\"req_v\\"","request_id":"req_1"}',
    ],
  ] as const) {
    assert.equal(withRequestId(latin1(body), 'req_1'), latin1(expected))
  }
})

test('of the records of a stream only the error gets our request id', () => {
  const text = 'event: content_block_delta\ndata: {"type":"x", "request_id":"req_v"}\n\n'
  const error = (id: string) =>
    `event: error\r\ndata: {"type":"error","a":"é","request_id":"${id}"}`
  const sent = (id: string) => latin1(`\xe9 tail\n\n${text}${error(id)}\r\n\r\n`)
  assert.equal(recordsWithRequestId(sent('req_v'), 'req_1'), sent('req_1'))
  const broken = 'event: error\ndata: {"type":"error"\n\n'
  assert.equal(recordsWithRequestId(broken, 'req_1'), broken)
})

test('x-should-retry wins over the status', () => {
  assert.equal(isRetryable(400, 'true'), true)
  assert.equal(isRetryable(529, 'false'), false)
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    assert.equal(isRetryable(status), true)
  }
  for (const status of [400, 401, 402, 403, 404, 413, 422]) assert.equal(isRetryable(status), false)
})

test('reads the retry delay in seconds, in milliseconds or as an HTTP date', () => {
  const now = Date.parse('2026-11-15T00:00:00Z')
  const delayOf = (retryAfter: string, ms?: string) =>
    retryAfterMs({ retryAfter, retryAfterMs: ms }, now)
  assert.equal(delayOf('7'), 7_000)
  assert.equal(delayOf('1.5'), 1_500)
  assert.equal(delayOf('7', '250'), 250)
  assert.equal(delayOf('Sun, 15 Nov 2026 00:00:30 GMT'), 30_000)
  assert.equal(delayOf('Sat, 14 Nov 2026 00:00:30 GMT'), 0)
  assert.equal(delayOf('soon'), undefined)
  assert.equal(delayOf('-1'), undefined)
  assert.equal(retryAfterMs({}, now), undefined)
})
