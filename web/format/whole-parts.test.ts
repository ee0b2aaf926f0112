// Tests for parts of a total in whole credits: they add up, and none is off by a credit or more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creditsOf, MILLION, millionthsOf } from './decimal.ts'
import { wholeParts } from './whole-parts.ts'

test('parts in whole credits add up to the total in whole credits', () => {
  const days = ['0.6', '1.6', '0', '2.6', '1234567.25'].map((text) => creditsOf(millionthsOf(text)))
  const { parts, total } = wholeParts(days)
  assert.equal(total.whole, '1234572', 'each rounded down by itself would be 1234570')
  const sum = parts.reduce((all, { whole }) => all + BigInt(whole), 0n)
  assert.equal(String(sum), total.whole)
  for (const part of parts) {
    const difference = BigInt(part.whole) * MILLION - millionthsOf(part.exact)
    assert.ok(difference < MILLION && difference > -MILLION, `${part.whole} of ${part.exact}`)
  }
})

test('no parts are nothing', () => {
  assert.deepEqual(wholeParts([]), { parts: [], total: { whole: '0', exact: '0' } })
})
