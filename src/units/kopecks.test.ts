// Tests of kopecks and of their text in rubles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { kopecks, kopecksFromRubles, rublesText } from './kopecks.ts'

test('converts 1300.00 RUB to 130000 kopecks and back', () => {
  assert.equal(rublesText(kopecks(130_000)), '1300.00')
  for (const text of ['1300', '1300.0', '1300.00']) {
    assert.equal(kopecksFromRubles(text), 130_000n, text)
  }
  assert.equal(kopecksFromRubles('0.05'), 5n)
  assert.equal(rublesText(kopecks(5)), '0.05')
})

test('reads every printed amount back as the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n - 1n), (amount) => {
      assert.equal(kopecksFromRubles(rublesText(kopecks(amount))), amount)
    }),
  )
})

test('refuses negative amounts and fractions of a kopeck', () => {
  assert.throws(() => kopecks(-1), RangeError)
  assert.throws(() => kopecks(0.5), RangeError)
  for (const text of ['', '-1', '1.005', '1,5', '1e3', '.5', '5.', '1 300', '12345678901234']) {
    assert.equal(kopecksFromRubles(text), undefined, text)
  }
})
