// The calculator's arithmetic: exact, by the right price list, rounded so that it never promises
// too much. test/contract/calculator.test.ts compares it with the charges of the server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelPrice, PriceList } from '../../../src/cabinet/contract/prices.ts'
import { calculatorSearchOf, countOf, daysOf, listFor, requestCost } from './estimate.ts'

const none = { speed: {}, inference_geo: {}, service_tier: {} }
const plain = {
  lists: [list('', '0', {}, '1 5 0.1 1.25 2')],
  multipliers: none,
  tools: [],
} as const
/** Two lengths of a prompt, fast ×2 and US ×1.1, which stack, and a tool. */
const priced = {
  lists: [
    list('', '0', {}, '1 5 0.1 1.25 2'),
    list('us', '0', { inference_geo: 'us' }, '1.1 5.5 0.11 1.375 2.2'),
    list('fast', '0', { speed: 'fast' }, '2 10 0.2 2.5 4'),
    list('fast us', '0', { speed: 'fast', inference_geo: 'us' }, '2.2 11 0.22 2.75 0'),
    list('long', '100000', {}, '2 7.5 0.2 2.5 4'),
    list('long us', '100000', { inference_geo: 'us' }, '2.2 8.25 0.22 2.75 4.4'),
    list('long fast', '100000', { speed: 'fast' }, '4 15 0.4 5 8'),
    list('long fast us', '100000', { speed: 'fast', inference_geo: 'us' }, '4.4 16.5 0 0 0'),
  ],
  multipliers: { ...none, speed: { fast: '2' }, inference_geo: { us: '1.1' } },
  tools: [{ feature: 'web_search', perUse: '2500', usesMax: 10 }],
} as const satisfies Pick<ModelPrice, 'lists' | 'multipliers' | 'tools'>
const pack = {
  id: 'pack',
  name: { ru: 'Пакет', en: 'A pack' },
  credits: { whole: '35000000', exact: '35000000' },
  priceKopecks: '130000',
  kopecksPerMillion: '3715',
  savingPercent: 0,
  methods: [],
}
const load = (input: number, output = 0, cacheRead = 0, cacheWrite = 0) => ({
  input: BigInt(input),
  output: BigInt(output),
  cacheRead: BigInt(cacheRead),
  cacheWrite: BigInt(cacheWrite),
})

test('computes the cost of a request to the microcredit', () => {
  // 2000 + 500 × 5 + 7 × 0.1 + 3 × 1.25
  assert.equal(requestCost(plain, load(2_000, 500, 7, 3)), 4_504_450_000n)
  assert.equal(requestCost(plain, load(0)), 0n)
})

test('chooses the list by all input tokens, cached ones included', () => {
  // 100,000 is not above 100,000; the second list applies to the whole request.
  assert.equal(requestCost(priced, load(100_000, 10)), 100_050_000_000n)
  assert.equal(requestCost(priced, load(100_001, 10)), 200_077_000_000n)
  // Of the prompt 1 token is new, 60,000 are read and 40,000 written.
  assert.equal(requestCost(priced, load(1, 10, 60_000, 40_000)), 112_077_000_000n)
  assert.equal(requestCost(priced, load(0, 10, 60_000, 40_000)), 56_050_000_000n)
  // Output does not lengthen the prompt.
  assert.equal(listFor(priced, load(100_000, 900_000)).name, '')
})

test('multiplies by each value alone and by both together, in every length', () => {
  const of = (tokens: number, choice: object) => requestCost(priced, load(tokens, 10), choice)
  assert.equal(of(1_000, { inference_geo: 'us' }), 1_155_000_000n)
  assert.equal(of(1_000, { speed: 'fast' }), 2_100_000_000n)
  assert.equal(of(1_000, { speed: 'fast', inference_geo: 'us' }), 2_310_000_000n)
  assert.equal(of(200_000, { inference_geo: 'us' }), 440_082_500_000n)
  assert.equal(of(200_000, { speed: 'fast' }), 800_150_000_000n)
  assert.equal(of(200_000, { speed: 'fast', inference_geo: 'us' }), 880_165_000_000n)
})

test('a value that the model does not sell changes nothing, in every length', () => {
  const choice = { speed: 'slow', service_tier: 'priority' }
  assert.equal(listFor(priced, load(1), choice).name, '')
  assert.equal(listFor(priced, load(100_001), choice).name, 'long')
  assert.equal(requestCost(plain, load(1), { speed: 'fast' }), 1_000_000n)
})

test('adds the uses of tools, which no multiplier changes', () => {
  const uses = { web_search: 3n, code_execution: 9n }
  assert.equal(requestCost(priced, load(10), { speed: 'fast' }, uses), 7_520_000_000n)
  assert.equal(requestCost(plain, load(10), {}, uses), 10_000_000n)
})

test('rounds roubles up and days down', () => {
  assert.equal(daysOf(pack, 35_000_000_000_000n), 1n)
  assert.equal(daysOf(pack, 35_000_000_000_001n), 0n)
  assert.equal(daysOf(pack, 0n), null)
})

test('keeps numbers beyond the precision of a float exact', () => {
  const most = 999_999_999
  const cost = requestCost(plain, load(most, most, most, most))
  assert.equal(cost * BigInt(most), 7_349_999_985_300_000_007_350_000n)
})

test('reads a whole number with or without spaces, and nothing else', () => {
  assert.equal(countOf('2 000'), 2_000n)
  assert.equal(countOf('2\u00a0000'), 2_000n)
  assert.equal(countOf(''), 0n)
  for (const text of ['-1', '1.5', '1e3', 'x', '1000000000']) assert.equal(countOf(text), undefined)
  assert.deepEqual([countOf('10', 10n), countOf('11', 10n)], [10n, undefined])
})

test('reads the search from the address and drops invalid values', () => {
  const raw = { model: 'large', input: 10, output: -1, requests: 1.5, cacheRead: 'x', other: 1 }
  assert.deepEqual(calculatorSearchOf(raw), { model: 'large', input: 10 })
  const more = { speed: 'fast', inference_geo: 7, web_search: 3, code_execution: '4', price: 'x' }
  assert.deepEqual(calculatorSearchOf(more), { speed: 'fast', web_search: 3 })
})

function list(name: string, above: string, values: PriceList['values'], prices: string): PriceList {
  const [input = '', output = '', cacheRead = '', cacheWrite5m = '', cacheWrite1h = ''] =
    prices.split(' ')
  return { name, above, values, input, output, cacheRead, cacheWrite5m, cacheWrite1h }
}
