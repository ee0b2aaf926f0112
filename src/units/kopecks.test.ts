// Kopecks and their text in rubles.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { kopecks, kopecksFromRubles, rublesText } from './kopecks.ts'

test('1300.00 RUB is 130000 kopecks, in both directions', () => {
  assert.equal(rublesText(kopecks(130_000)), '1300.00')
  for (const text of ['1300', '1300.0', '1300.00']) {
    assert.equal(kopecksFromRubles(text), 130_000n, text)
  }
  assert.equal(kopecksFromRubles('0.05'), 5n)
  assert.equal(rublesText(kopecks(5)), '0.05')
})

test('every amount is printed so that it reads back as itself', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 15n - 1n), (amount) => {
      assert.equal(kopecksFromRubles(rublesText(kopecks(amount))), amount)
    }),
  )
})

test('money is never negative and never a fraction of a kopeck', () => {
  assert.throws(() => kopecks(-1), RangeError)
  assert.throws(() => kopecks(0.5), RangeError)
  for (const text of ['', '-1', '1.005', '1,5', '1e3', '.5', '5.', '1 300', '12345678901234']) {
    assert.equal(kopecksFromRubles(text), undefined, text)
  }
})
