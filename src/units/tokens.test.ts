// Token counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTokens, tokens } from './tokens.ts'

test('a token count is a whole number and never negative', () => {
  assert.equal(tokens(128_000), 128_000n)
  assert.equal(tokens(0), 0n)
  assert.throws(() => tokens(-1), RangeError)
  assert.throws(() => tokens(1.5), RangeError)
  assert.throws(() => tokens(Number.NaN), RangeError)
})

test('no tokens are none of any kind', () => {
  assert.deepEqual(new Set(Object.values(noTokens)), new Set([0n]))
})
