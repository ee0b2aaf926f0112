// A figure of Today and the statement round the same movement to the same number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wholeOfFigure } from './figure-amounts.ts'

test('what left a balance is shown as the statement shows it', () => {
  // The statement shows -269 230.769231 as -269 231: the server rounds down.
  const shown = [
    [269_230_769_231n, 269_231n],
    [269_231_000_000n, 269_231n],
    [1n, 1n],
    [0n, 0n],
    [-2_500_000n, -2n],
  ] as const
  for (const [amount, whole] of shown) {
    for (const name of ['creditsRefunded', 'spent', 'creditsDisputed', 'debt']) {
      assert.equal(wholeOfFigure(name, amount), whole, `${name} ${amount}`)
    }
  }
})

test('what a book has is never shown as more than it is', () => {
  assert.equal(wholeOfFigure('available', 1_999_999n), 1n)
  assert.equal(wholeOfFigure('credited', 35_000_000_000_000n), 35_000_000n)
  assert.equal(wholeOfFigure('liability', -1n), -1n)
})
