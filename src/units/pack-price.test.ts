// Tests for credits in roubles: exact at the price of a pack, rounded up to a kopeck.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credits, micro } from './credits.ts'
import { kopecks } from './kopecks.ts'
import { kopecksFor, kopecksPerMillion } from './pack-price.ts'

const smallest = { credits: credits(35_000_000), priceKopecks: kopecks(130_000) }

test('a whole pack costs exactly its price, and nothing costs nothing', () => {
  assert.equal(kopecksFor(smallest.credits, smallest), 130_000n)
  assert.equal(kopecksFor(credits(0), smallest), 0n)
})

test('a part of a pack is rounded up to a kopeck', () => {
  // 28 of 35 million are 104 000 kopecks exactly; a microcredit more is a kopeck more.
  assert.equal(kopecksFor(credits(28_000_000), smallest), 104_000n)
  assert.equal(kopecksFor(micro(credits(28_000_000) + 1n), smallest), 104_001n)
  assert.equal(kopecksFor(micro(1n), smallest), 1n)
})

test('a negative amount has no price', () => {
  for (const amount of [-1n, -credits(28_000_000)]) {
    assert.throws(() => kopecksFor(micro(amount), smallest), RangeError)
  }
})

test('the price of a million is rounded up: 3714.3 kopecks become 3715', () => {
  assert.equal(kopecksPerMillion(smallest), 3_715n)
  assert.equal(
    kopecksPerMillion({ credits: credits(100_000_000), priceKopecks: kopecks(350_000) }),
    3_500n,
  )
})

test('the largest balance converts without losing a kopeck', () => {
  const pack = { credits: credits(7), priceKopecks: kopecks(10_000_000_000) }
  const most = credits(9_223_372_036_854)
  assert.equal(kopecksFor(most, pack), (most * 10_000_000_000n + 6_999_999n) / 7_000_000n)
})
