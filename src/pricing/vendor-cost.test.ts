// Tests of what the vendor bills for counts: tiers, multipliers, tools, and what has no price.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokens } from '../units/tokens.ts'
import { listOfName, rateOf } from './lists.ts'
import { sumOf } from './money.ts'
import { type BilledThing, vendorCost } from './vendor-cost.ts'
import { parseVendorPrices } from './vendor-prices.ts'

const read = parseVendorPrices(`
currency: USD
kopecksPerUnit: 10000
tools: { web_search: 0.01 }
models:
  - name: one
    input: 3
    output: 15
    tiers: [{ above: 100000, input: 6, output: 22.5 }]
    multipliers: { speed: { fast: 2 }, inference_geo: { us: 1.1 } }
`)
assert.ok('prices' in read)
const { prices } = read

/** In kopecks, exactly; undefined without a price. */
function costOf(list: string, thing: object, count: bigint, names = ['other', 'one']) {
  const cost = vendorCost(prices, names, { ...listOfName(list), ...thing } as BilledThing, count)
  if (cost === undefined) return undefined
  return Number((cost.top * 1_000n) / cost.bottom) / 1_000
}

test('multiplies counts by the list of their tier and values', () => {
  assert.equal(costOf('', { kind: 'input' }, 1_000_000n), 30_000)
  assert.equal(costOf('', { kind: 'output' }, 1n), 0.15)
  assert.equal(costOf('above=100000', { kind: 'output' }, 1_000n), 225)
  assert.equal(costOf('speed=fast inference_geo=us', { kind: 'input' }, 1_000n), 66)
  assert.equal(costOf('service_tier=standard', { kind: 'input' }, 1_000n), 30)
})

test('a tool costs the same at every rate', () => {
  assert.equal(vendorCost(prices, ['one'], { tool: 'web_search' }, 3n)?.top, 300_000_000_000_000n)
  assert.equal(vendorCost(prices, ['one'], { tool: 'dreams' }, 3n), undefined)
})

test('what the list does not price is unknown', () => {
  assert.equal(costOf('', { kind: 'cacheRead' }, 1n), undefined)
  assert.equal(costOf('speed=warp', { kind: 'input' }, 1n), undefined)
  assert.equal(costOf('', { kind: 'input' }, 1n, ['nobody']), undefined)
})

test('names of lists are read as they were written, and a rate has no ordinary values', () => {
  assert.deepEqual(listOfName(''), { above: tokens(0), values: {} })
  assert.deepEqual(listOfName('above=100000 speed=fast'), {
    above: tokens(100_000),
    values: { speed: 'fast' },
  })
  assert.equal(rateOf({ service_tier: 'priority', speed: 'standard' }), 'service_tier=priority')
  assert.equal(rateOf({ inference_geo: 'global', speed: undefined }), '')
})

test('adds fractions exactly, also negative ones', () => {
  const sum = sumOf([
    { top: 1n, bottom: 10n },
    { top: 5n, bottom: 100n },
    { top: -1n, bottom: 3n },
  ])
  assert.equal(sum.top * 60n, -11n * sum.bottom)
  assert.deepEqual(sumOf([]), { top: 0n, bottom: 1n })
})
