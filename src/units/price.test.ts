// Prices in millionths: read exactly or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { costOf, millionths, millionthsFromText, millionthsText, ONE } from './price.ts'
import { tokens } from './tokens.ts'

test('a price is read exactly, to the millionth', () => {
  const read = (text: string) => millionthsFromText(text) as bigint | undefined
  assert.equal(read('5'), 5_000_000n)
  assert.equal(read('0.1'), 100_000n)
  assert.equal(read('1.25'), 1_250_000n)
  assert.equal(read('0.000001'), 1n)
  assert.equal(read('999999.999999'), 999_999_999_999n)
  assert.equal(read('0'), 0n)
})

test('a price that does not mean what it looks like is refused', () => {
  const wrong = ['', '1.', '.5', '-1', '+1', '1e3', '01', '1,5', ' 1', '1_000', '0x1', '0.0000001']
  for (const text of [...wrong, '1000000', '1.2.3', 'NaN', '1\n']) {
    assert.equal(millionthsFromText(text), undefined, text)
  }
})

test('every price is printed so that it reads back as itself, without trailing zeros', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 999_999_999_999n), (count) => {
      const text = millionthsText(millionths(count))
      assert.equal(millionthsFromText(text), count)
      assert.doesNotMatch(text, /\.$|\..*0$/)
    }),
  )
})

test('a price is never negative', () => {
  assert.throws(() => millionths(-1n), RangeError)
})

test('tokens times a price are exact microcredits', () => {
  assert.equal(costOf(tokens(3), millionths(1_250_000)), 3_750_000n)
  assert.equal(costOf(tokens(1), millionths(1)), 1n)
  assert.equal(costOf(tokens(7), ONE), 7_000_000n)
  assert.throws(() => costOf(tokens(10n ** 13n), ONE), /do not fit a balance/)
})
