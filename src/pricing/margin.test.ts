// Tests of the margin: the shipped full example sells nothing below cost, every kind of planted
// loss is found, and what the vendor's list does not price is never a profit.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { type Catalogue, parseCatalogue } from './catalogue.ts'
import { type MarginLine, marginLines, marginTenths, worstLines } from './margin.ts'
import { roublesDown, roublesUp } from './money.ts'
import { parseVendorPrices, type VendorPrices } from './vendor-prices.ts'

const root = join(import.meta.dirname, '../..')
const fullText = readFileSync(join(root, 'catalogue.full.example.yaml'), 'utf8')
const vendorText = readFileSync(join(root, 'vendor-prices.example.yaml'), 'utf8')

function catalogueOf(text: string): Catalogue {
  const read = parseCatalogue(text)
  assert.ok('catalogue' in read, inspect(read))
  return read.catalogue
}

function vendorOf(text: string): VendorPrices {
  const read = parseVendorPrices(text)
  assert.ok('prices' in read, inspect(read))
  return read.prices
}

function linesOf(catalogueText: string, billText = vendorText): MarginLine[] {
  return marginLines(catalogueOf(catalogueText), vendorOf(billText))
}

/** `model, what is sold, price list` of the lines with a verdict. */
function found(lines: readonly MarginLine[], verdict: MarginLine['verdict']): string[] {
  return lines
    .filter((line) => line.verdict === verdict)
    .map(({ model, sold, list }) => [model, sold, list].filter((part) => part !== '').join(', '))
}

/** A model that costs a dollar per million input tokens, at 96 roubles, sold in one pack. */
function small({ model = '', bill = '', file = '', input = '1' } = {}) {
  const catalogue = `
models:
  - id: one
    displayName: One
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 64000
    input: ${input}
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
${model}
packs:
  - { id: dear, name: Dear, credits: 1000000, priceKopecks: 20000 }
  - { id: cheap, name: Cheap, credits: 3000000, priceKopecks: 28800 }
`
  const vendor = `
currency: USD
kopecksPerUnit: 9600
${file}
models:
  - name: one
    input: 1
    output: 5
    cacheRead: 0.1
    cacheWrite5m: 1.25
    cacheWrite1h: 2
${bill}
`
  return linesOf(catalogue, vendor)
}

test('the full example sells nothing below cost, and the cost of everything is known', () => {
  const { models } = catalogueOf(fullText)
  const lines = linesOf(fullText)
  assert.deepEqual([found(lines, 'loss'), found(lines, 'unknown')], [[], []])
  assert.ok(models.length >= 12)
  const inputs = models.map(({ price }) => price.input).toSorted((a, b) => Number(a - b))
  assert.equal((inputs.at(-1) ?? 0n) / (inputs[0] ?? 1n), 100n)
  assert.ok(models.some(({ tiers }) => tiers.some(({ above }) => above === 100_000n)))
  assert.ok(models.every(({ displayName: { ru, en } }) => ru !== en))
  assert.ok(lines.length > 400, `${lines.length} prices are compared`)
})

const LONG = / {4}tiers:\n(?: {6}.*\n)+/

for (const [kind, change, loss] of [
  ['weight of input', (text) => text.replace('input: 10\n', 'input: 7\n'), 'model-grand, input'],
  [
    'coefficient',
    (text) => text.replace('coefficient: 50', 'coefficient: 37'),
    'model-grand, output',
  ],
  [
    'cache read',
    (text) => text.replace('cacheRead: 1,', 'cacheRead: 0.7,'),
    'model-grand, cache read',
  ],
  [
    'cache write for 5 minutes',
    (text) => text.replace('cacheWrite5m: 12.5', 'cacheWrite5m: 9'),
    'model-grand, cache write 5m',
  ],
  [
    'cache write for an hour',
    (text) => text.replace('cacheWrite1h: 20', 'cacheWrite1h: 14'),
    'model-grand, cache write 1h',
  ],
  [
    'price above 100000 tokens',
    (text) => text.replace('coefficient: 37.5', 'coefficient: 27'),
    'model-large, output, above=100000',
  ],
  ['missing tier', (text) => text.replace(LONG, ''), 'model-large, input, above=100000'],
  ['multiplier', (text) => text.replace('fast: 2', 'fast: 1.4'), 'model-grand, input, speed=fast'],
  [
    'product of multipliers',
    (text) => text.replace('us: 1.1', 'us: 1').replace('priority: 1.5', 'priority: 1.2'),
    'model-base, input, inference_geo=us service_tier=priority',
  ],
  [
    'missing multiplier of a service tier',
    (text) => text.replace('      service_tier: { priority: 1.5 }\n', ''),
    'model-base, input, service_tier=priority',
  ],
  [
    'use of a tool',
    (text) => text.replace('perUse: 10000', 'perUse: 7000'),
    'model-base, web_search use',
  ],
  [
    'tool sold without a price',
    (text) => text.replace(', perUse: 10000', ''),
    'model-base, web_search use',
  ],
  [
    'pack',
    (text) => text.replace('priceKopecks: 2590000', 'priceKopecks: 1910000'),
    'model-nano, input',
  ],
] as const satisfies readonly (readonly [string, (text: string) => string, string])[]) {
  test(`finds a planted loss: ${kind}`, () => {
    const changed = change(fullText)
    assert.notEqual(changed, fullText)
    const losses = found(linesOf(changed), 'loss')
    assert.ok(losses.includes(loss), losses.join('\n'))
  })
}

test('compares at the cheapest pack; equal to the cost is no loss, a millionth less is one', () => {
  assert.deepEqual(found(small(), 'loss'), [])
  assert.deepEqual(found(small({ input: '0.999999' }), 'loss'), ['one, input'])
  const [input] = small()
  assert.deepEqual(input && [marginTenths(input), roublesDown(input.revenue)], [0n, '96.00'])
})

test('a cost that the vendor’s list does not have is unknown, never a profit', () => {
  const unnamed = linesOf(fullText, vendorText.replace('name: model-code', 'name: model-other'))
  assert.deepEqual(
    [...new Set(unnamed.filter(({ model }) => model === 'model-code').map((one) => one.verdict))],
    ['unknown'],
  )
  const value = small({ model: '    multipliers: { speed: { fast: 2 } }' })
  assert.ok(found(value, 'unknown').includes('one, input, speed=fast'))
  assert.equal(found(value, 'profit').length, 5)
  const ordinary = small({ model: '    multipliers: { inference_geo: { global: 1 } }' })
  assert.deepEqual(found(ordinary, 'unknown'), [])
  const tool = small({ model: '    features: { web_fetch: { iterationsMax: 2 } }' })
  assert.deepEqual(found(tool, 'unknown'), ['one, web_fetch use'])
  const cached = linesOf(fullText, vendorText.replace(/, cacheRead: 1, /, ', '))
  assert.ok(found(cached, 'unknown').includes('model-grand, cache read'))
})

test('a speed that only the vendor bills is no loss: requests for it are refused', () => {
  const speed = small({ bill: '    multipliers: { speed: { fast: 2 } }' })
  assert.deepEqual(found(speed, 'loss'), [])
  // A geography may come unasked: an account of the upstream can have one.
  const place = small({ bill: '    multipliers: { inference_geo: { us: 1.1 } }' })
  assert.ok(found(place, 'loss').includes('one, input, inference_geo=us'))
})

test('a longer prompt than the model reads makes no loss', () => {
  const dear = 'input: 9, output: 9, cacheRead: 9, cacheWrite5m: 9, cacheWrite1h: 9'
  const tier = (above: number) => small({ bill: `    tiers: [{ above: ${above}, ${dear} }]` })
  assert.deepEqual(found(tier(200_000), 'loss'), [])
  assert.equal(found(tier(199_999), 'loss').length, 5)
})

test('of several upstreams the dearest counts; one without a price makes a cost unknown', () => {
  const names = '    upstreamNames: { east: one, west: two }'
  const west = (input: number) => `
  - { name: two, input: ${input}, output: 5, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }`
  assert.deepEqual(found(small({ model: names, bill: west(2) }), 'loss'), ['one, input'])
  assert.deepEqual(found(small({ model: names, bill: west(1) }), 'loss'), [])
  const other = '    upstreamNames: { east: uno, west: two }'
  assert.equal(found(small({ model: other, bill: west(1) }), 'unknown').length, 0)
  const strange = vendorText.replace('name: model-base,', 'name: base-of-east,')
  const spread = fullText.replace(
    'id: model-base\n',
    'id: model-base\n    upstreamNames: { east: base-of-east, west: base-of-west }\n',
  )
  assert.ok(found(linesOf(spread, strange), 'unknown').includes('model-base, input'))
})

test('shows the worst price list of everything that is sold', () => {
  const planted = fullText.replace('fast: 2', 'fast: 1.4').replace('fast: 2', 'fast: 1.3')
  const worst = worstLines(linesOf(planted)).filter(({ verdict }) => verdict === 'loss')
  assert.deepEqual(
    worst.filter(({ sold }) => sold === 'output').map(({ model }) => model),
    ['model-grand', 'model-grand-20260901', 'model-large', 'model-large-20260115', 'model-code'],
  )
  assert.ok(worst.every(({ list }) => list.includes('speed=fast')))
})

test('rounds against us: revenue and margin down, cost up', () => {
  const amount = fc.record({ top: fc.bigInt(1n, 10n ** 15n), bottom: fc.bigInt(1n, 10n ** 9n) })
  fc.assert(
    fc.property(amount, amount, (revenue, cost) => {
      const line = { model: '', sold: '', list: '', verdict: 'profit', revenue, cost } as const
      const tenths = marginTenths(line) ?? 0n
      // 1 - cost ÷ revenue, in thousandths.
      const [left, whole] = [
        1_000n * (revenue.top * cost.bottom - cost.top * revenue.bottom),
        revenue.top * cost.bottom,
      ]
      assert.ok(tenths * whole <= left && left < (tenths + 1n) * whole)
      const kopecks = (text: string) => BigInt(text.replace('.', ''))
      assert.ok(kopecks(roublesDown(revenue)) * revenue.bottom <= revenue.top)
      assert.ok(kopecks(roublesUp(cost)) * cost.bottom >= cost.top)
    }),
  )
})

test('a catalogue without packs sells nothing', () => {
  const { models } = catalogueOf(fullText)
  assert.deepEqual(marginLines({ version: 0, models, packs: [] }, vendorOf(vendorText)), [])
})
