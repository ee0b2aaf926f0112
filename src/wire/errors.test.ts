// The vendor's error format: writing it for clients and reading it from upstreams.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorBody, errorRecord, isRetryable, readErrorBody, retryAfterMs } from './errors.ts'
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
