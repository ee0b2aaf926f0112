// The vendor's error shape, and what client libraries read from it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorBody, errorRecord, isRetryable, readErrorBody, retryAfterMs } from './errors.ts'
import { createStreamMeter } from './sse.ts'

test('an error body has the shape that every client library reads', () => {
  const error = { type: 'billing_error', message: 'too low', requestId: 'req_1' } as const
  assert.equal(
    errorBody(error),
    '{"type":"error","error":{"type":"billing_error","message":"too low"},"request_id":"req_1"}',
  )
  const details = { error_code: 'thread_unsupported_request' }
  assert.deepEqual(JSON.parse(errorBody({ ...error, details })).error.details, details)
})

test('an error record is one that a stream reader takes for an error', () => {
  const meter = createStreamMeter()
  meter.push(Buffer.from(errorRecord({ type: 'api_error', message: 'a\nb', requestId: 'req_1' })))
  assert.deepEqual(meter.facts.error, { type: 'api_error', message: 'a\nb' })
  assert.equal(meter.isBetweenRecords, true)
})

test("an upstream's error body is understood, and anything else is not", () => {
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

test("the upstream's word on repeating wins over its status", () => {
  assert.equal(isRetryable(400, 'true'), true)
  assert.equal(isRetryable(529, 'false'), false)
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    assert.equal(isRetryable(status), true)
  }
  for (const status of [400, 401, 402, 403, 404, 413, 422]) assert.equal(isRetryable(status), false)
})

test('the time to wait is read from each of its spellings', () => {
  const now = Date.parse('2026-11-15T00:00:00Z')
  const wait = (retryAfter: string, ms?: string) =>
    retryAfterMs({ retryAfter, retryAfterMs: ms }, now)
  assert.equal(wait('7'), 7_000)
  assert.equal(wait('1.5'), 1_500)
  assert.equal(wait('7', '250'), 250)
  assert.equal(wait('Sun, 15 Nov 2026 00:00:30 GMT'), 30_000)
  assert.equal(wait('Sat, 14 Nov 2026 00:00:30 GMT'), 0)
  assert.equal(wait('soon'), undefined)
  assert.equal(wait('-1'), undefined)
  assert.equal(retryAfterMs({}, now), undefined)
})
