// Tests of the vendor's price list: exact numbers, what models share, and all problems with lines.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { parseVendorPrices } from './vendor-prices.ts'

test('reads exact decimals, and what all models share', () => {
  const read = parseVendorPrices(`
currency: USD
kopecksPerUnit: 9631.123457
multipliers: { inference_geo: { us: 1.1 } }
tools: { web_search: 0.01, web_fetch: 0 }
models:
  - { name: one, input: 0.1, output: 0.000001, tools: { web_search: 0.02 } }
  - name: two
    input: 3
    output: 15
    cacheRead: 0.3
    tiers: [{ above: 100000, input: 6, output: 22.5 }]
    multipliers: { speed: { fast: 2 } }
`)
  assert.ok('prices' in read, inspect(read))
  const [one, two] = read.prices.models
  assert.equal(read.prices.kopecksPerUnit, 9_631_123_457n)
  assert.deepEqual(one?.price, { input: 100_000n, output: 1n })
  assert.deepEqual(one.tools, { web_search: 20_000n, web_fetch: 0n })
  assert.deepEqual(one.multipliers.inference_geo, { us: 1_100_000n })
  assert.deepEqual(two?.tiers, [
    { above: 100_000n, price: { input: 6_000_000n, output: 22_500_000n } },
  ])
  assert.deepEqual(
    [two.multipliers.speed, two.multipliers.inference_geo],
    [{ fast: 2_000_000n }, {}],
  )
})

test('reports all problems at once, each with its line', () => {
  const read = parseVendorPrices(`currency: dollars
kopecksPerUnit: 0
models:
  - name: one
    input: 1e3
    outptu: 15
    output: -1
    multipliers: { speed: { fast: 0 } }
    tools: { web_serch: 0.01 }
`)
  assert.ok('problems' in read)
  assert.deepEqual(
    read.problems.map((one) => one.replace(/: .*/, '')),
    [
      'line 1, currency',
      'line 2, kopecksPerUnit',
      'line 5, models.0.input',
      'line 6, models.0.outptu',
      'line 7, models.0.output',
      'line 8, models.0.multipliers.speed.fast',
      'line 9, models.0.tools.web_serch',
    ],
  )
  assert.match(read.problems.at(-1) ?? '', /no such name; the nearest known one is web_search$/)
})

test('refuses a name that is there twice, and tiers out of order', () => {
  const read = parseVendorPrices(`currency: RUB
kopecksPerUnit: 100
models:
  - { name: one, input: 1, output: 5 }
  - name: one
    input: 1
    output: 5
    tiers:
      - { above: 200000, input: 2, output: 10 }
      - { above: 100000, input: 3, output: 15 }
`)
  assert.deepEqual(read, {
    problems: [
      'line 5, models.1.name: one is there twice',
      'line 10, models.1.tiers.1.above: is not above 200000',
    ],
  })
  assert.deepEqual(Object.keys(parseVendorPrices('models: [')), ['problems'])
})
