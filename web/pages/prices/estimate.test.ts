// The calculator's arithmetic: exact, and rounded against us where it must be rounded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calculatorSearchOf, countOf, daysOf, kopecksFor, requestCost } from './estimate.ts'

const price = {
  coefficient: '5',
  weights: { cacheRead: '0.1', cacheWrite5m: '1.25', cacheWrite1h: '2' },
}
const pack = {
  id: 'pack',
  name: 'A pack',
  credits: { whole: '35000000', exact: '35000000' },
  priceKopecks: '130000',
  kopecksPerMillion: '3715',
  savingPercent: 0,
  methods: [],
}

test('a request costs what its tokens cost, to the microcredit', () => {
  const load = { input: 2_000n, output: 500n, cacheRead: 7n, cacheWrite: 3n }
  // 2000 + 500 × 5 + 7 × 0.1 + 3 × 1.25
  assert.equal(requestCost(price, load), 4_504_450_000n)
  const none = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n }
  assert.equal(requestCost(price, none), 0n)
})

test('roubles are rounded up and days down', () => {
  assert.equal(kopecksFor(35_000_000_000_000n, pack), 130_000n)
  assert.equal(kopecksFor(1n, pack), 1n)
  assert.equal(kopecksFor(0n, pack), 0n)
  assert.equal(daysOf(pack, 35_000_000_000_000n), 1n)
  assert.equal(daysOf(pack, 35_000_000_000_001n), 0n)
  assert.equal(daysOf(pack, 0n), null)
})

test('numbers beyond what a float holds stay exact', () => {
  const most = 999_999_999n
  const load = { input: most, output: most, cacheRead: most, cacheWrite: most }
  assert.equal(requestCost(price, load) * most, 7_349_999_985_300_000_007_350_000n)
})

test('a field takes a whole number with or without spaces, and nothing else', () => {
  assert.equal(countOf('2 000'), 2_000n)
  assert.equal(countOf('2\u00a0000'), 2_000n)
  assert.equal(countOf(''), 0n)
  for (const text of ['-1', '1.5', '1e3', 'x', '1000000000']) assert.equal(countOf(text), undefined)
})

test('an address gives the calculator what it can, and nonsense in it is left out', () => {
  const raw = { model: 'large', input: 10, output: -1, requests: 1.5, cacheRead: 'x', other: 1 }
  assert.deepEqual(calculatorSearchOf(raw), { model: 'large', input: 10 })
})
