// Tests of token counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTokens, tokens } from './tokens.ts'

test('refuses negative and fractional token counts', () => {
  assert.equal(tokens(128_000), 128_000n)
  assert.equal(tokens(0), 0n)
  assert.throws(() => tokens(-1), RangeError)
  assert.throws(() => tokens(1.5), RangeError)
  assert.throws(() => tokens(Number.NaN), RangeError)
})

test('has zero for every kind of token in noTokens', () => {
  assert.deepEqual(new Set(Object.values(noTokens)), new Set([0n]))
})
