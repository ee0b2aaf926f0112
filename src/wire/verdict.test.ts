// What each status means for the target, with the words that the vendor uses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAboutOurAccount, isLostByProxy, needsBody, type Verdict, verdictOf } from './verdict.ts'

const about = (type: string, message: string, code?: string) =>
  code === undefined ? { type, message } : { type, message, code }

test('a status means one thing, unless the words of its body say otherwise', () => {
  const expected: [number, ReturnType<typeof about> | undefined, Verdict][] = [
    [200, undefined, 'served'],
    [400, about('invalid_request_error', 'max_tokens: Field required'), 'refused'],
    [400, about('invalid_request_error', 'Your credit balance is too low to access …'), 'unpaid'],
    // Repeated from the request.
    [400, about('invalid_request_error', 'tools.0: Your credit balance is too low'), 'refused'],
    [400, about('invalid_request_error', 'Your credit balance is too low: Extra'), 'refused'],
    [400, undefined, 'refused'],
    [401, undefined, 'unauthorised'],
    [402, undefined, 'unpaid'],
    [403, undefined, 'forbidden'],
    [404, undefined, 'refused'],
    [408, undefined, 'retry'],
    [409, undefined, 'retry'],
    [413, undefined, 'refused'],
    [429, about('rate_limit_error', 'This request would exceed …'), 'limited'],
    [429, about('billing_error', 'The spend limit is reached'), 'unpaid'],
    [429, about('rate_limit_error', '…', 'enforced_spend_limit_reached'), 'unpaid'],
    [500, undefined, 'failed'],
    [503, undefined, 'failed'],
    [529, undefined, 'overloaded'],
  ]
  for (const [status, error, verdict] of expected) {
    assert.equal(verdictOf(status, error), verdict, `${status} ${error?.message}`)
    assert.equal(
      isAboutOurAccount(verdict),
      ['unpaid', 'unauthorised', 'forbidden'].includes(verdict),
    )
  }
  assert.deepEqual([200, 400, 401, 429, 500, 503, 529].filter(needsBody), [400, 429])
})

test('a proxy that lost the reply says so with a status, without the vendor’s error', () => {
  for (const status of [502, 504, 520, 521, 522, 523, 524]) {
    assert.deepEqual([needsBody(status), isLostByProxy(status)], [true, true])
    assert.equal(isLostByProxy(status, about('api_error', 'Bad gateway')), false)
  }
  for (const status of [500, 503, 529]) assert.equal(isLostByProxy(status), false)
})
