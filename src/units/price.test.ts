// Tests of prices in millionths: a text is read exactly or refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { costOf, millionths, millionthsFromText, millionthsText, ONE } from './price.ts'
import { tokens } from './tokens.ts'

test('reads a price exactly, to the millionth', () => {
  const read = (text: string) => millionthsFromText(text) as bigint | undefined
  assert.equal(read('5'), 5_000_000n)
  assert.equal(read('0.1'), 100_000n)
  assert.equal(read('1.25'), 1_250_000n)
  assert.equal(read('0.000001'), 1n)
  assert.equal(read('999999.999999'), 999_999_999_999n)
  assert.equal(read('0'), 0n)
})

test('refuses signs, exponents, leading zeros and other ambiguous numbers', () => {
  const wrong = ['', '1.', '.5', '-1', '+1', '1e3', '01', '1,5', ' 1', '1_000', '0x1', '0.0000001']
  for (const text of [...wrong, '1000000', '1.2.3', 'NaN', '1\n']) {
    assert.equal(millionthsFromText(text), undefined, text)
  }
})

test('reads every printed price back as the same price, without trailing zeros', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 999_999_999_999n), (count) => {
      const text = millionthsText(millionths(count))
      assert.equal(millionthsFromText(text), count)
      assert.doesNotMatch(text, /\.$|\..*0$/)
    }),
  )
})

test('refuses a negative price', () => {
  assert.throws(() => millionths(-1n), RangeError)
})

test('multiplies tokens by a price to exact microcredits', () => {
  assert.equal(costOf(tokens(3), millionths(1_250_000)), 3_750_000n)
  assert.equal(costOf(tokens(1), millionths(1)), 1n)
  assert.equal(costOf(tokens(7), ONE), 7_000_000n)
  assert.throws(() => costOf(tokens(10n ** 13n), ONE), /do not fit a balance/)
})
