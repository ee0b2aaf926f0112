// Tests for credits in roubles: the prices of parts add up to that of the whole.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { creditsOf, MILLION, sumOf } from './decimal.ts'
import { kopecksFor, kopecksForParts } from './roubles.ts'

const rate = { credits: creditsOf(35_000_000n * MILLION), priceKopecks: '130000' }

test('prices of parts add up to the price of all, which is rounded up to a kopeck', () => {
  const parts = [115_334_350_000n, 53_616_950_000n, 49_581_750_000n, 0n]
  const kopecks = kopecksForParts(parts, rate)
  assert.equal(String(sumOf(kopecks)), kopecksFor(sumOf(parts), rate))
  assert.deepEqual(kopecks, [429n, 199n, 184n, 0n])
  const alone = parts.map((part) => BigInt(kopecksFor(part, rate)))
  assert.equal(sumOf(alone), sumOf(kopecks) + 2n, 'rounded one by one they would not')
  assert.deepEqual(kopecksForParts([], rate), [])
})

test('a negative amount is as many kopecks as the positive one', () => {
  for (const amount of [1n, 28_000_000n * MILLION, 28_000_000n * MILLION + 1n]) {
    assert.equal(kopecksFor(-amount, rate), `-${kopecksFor(amount, rate)}`)
  }
})
