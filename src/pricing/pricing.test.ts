// Tests of the arithmetic: charges are exact, and no reply costs more than its worst case.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { costOfTokens } from '../units/charge.ts'
import { credits, micro } from '../units/credits.ts'
import { millionths, millionthsFromText, type Price } from '../units/price.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import { priceLists } from './lists.ts'
import { featureOf } from './model-schema.ts'
import { affordableMaxTokens, floorCost, type Model, upstreamName, worstCase } from './pricing.ts'

const millionthsOf = (text: string) => millionthsFromText(text) ?? millionths(0)
const noMultipliers = { speed: {}, inference_geo: {}, service_tier: {} }
const withPrice = (model: Model, price: Price): Model => ({
  ...model,
  price,
  lists: priceLists({ price, tiers: [], multipliers: noMultipliers }).lists,
})
const largePrice: Price = {
  input: millionthsOf('1'),
  coefficient: millionthsOf('5'),
  cacheRead: millionthsOf('0.1'),
  cacheWrite5m: millionthsOf('1.25'),
  cacheWrite1h: millionthsOf('2'),
}
const model: Model = {
  id: 'model-large',
  displayName: { ru: 'Большая', en: 'Large' },
  createdAt: '2026-01-15',
  upstreamNames: { north: 'north-large' },
  contextWindow: tokens(200_000),
  outputCeiling: tokens(64_000),
  price: largePrice,
  tiers: [],
  multipliers: noMultipliers,
  lists: priceLists({ price: largePrice, tiers: [], multipliers: noMultipliers }).lists,
  features: { server_tools: { iterationsMax: 5, perUse: credits(0), usesMax: 0, contentMax: 0 } },
}

const weight = fc.bigInt(0n, 1_000_000_000n).map(millionths)
const anyModel = fc
  .record({
    outputCeiling: fc.bigInt(1n, 10_000_000n).map(tokens),
    price: fc.record({
      input: weight,
      coefficient: fc.bigInt(1n, 1_000_000_000n).map(millionths),
      cacheRead: weight,
      cacheWrite5m: weight,
      cacheWrite1h: weight,
    }),
  })
  .map(({ outputCeiling, price }): Model => withPrice({ ...model, outputCeiling }, price))
const cacheControl = fc.constantFrom('none', '5m', '1h')
const count = fc.bigInt(0n, 20_000_000n).map(tokens)
const share = fc.nat({ max: 1_000 }).map(BigInt)

test('charges input + output × coefficient when nothing is cached', () => {
  const counts = { ...noTokens, input: tokens(1_200), output: tokens(340) }
  assert.equal(costOfTokens(counts, model.price), credits(1_200 + 340 * 5))
  const odd = { ...model.price, coefficient: millionthsOf('1.000001') }
  assert.equal(costOfTokens({ ...noTokens, output: tokens(3) }, odd), 3_000_003n)
})

test('charges cached tokens by their weights', () => {
  const cached = { cacheRead: tokens(1_001), cacheWrite5m: tokens(3), cacheWrite1h: tokens(7) }
  assert.equal(costOfTokens({ ...noTokens, ...cached }, model.price), micro(117_850_000n))
})

test('charges nothing for cached tokens with a weight of zero', () => {
  const none = millionths(0)
  const price = { ...model.price, cacheRead: none, cacheWrite5m: none, cacheWrite1h: none }
  const counts = { ...noTokens, input: tokens(5), output: tokens(2), cacheRead: tokens(90_000) }
  assert.equal(costOfTokens(counts, price), credits(15))
})

test('adds the bound of the input and max_tokens in the worst case', () => {
  const request = { model, inputBound: tokens(1_000), maxTokens: tokens(100) }
  assert.equal(worstCase({ ...request, cacheControl: 'none' }), credits(1_500))
  assert.equal(worstCase({ ...request, cacheControl: '5m' }), credits(1_750))
  assert.equal(worstCase({ ...request, cacheControl: '1h' }), credits(2_500))
})

test('limits the worst case to the output ceiling of the model', () => {
  const request = { model, inputBound: tokens(0), cacheControl: 'none' } as const
  assert.equal(worstCase({ ...request, maxTokens: tokens(1_000_000) }), credits(64_000 * 5))
})

test('charges no reply within its bounds more than its worst case', () => {
  fc.assert(
    fc.property(
      anyModel,
      cacheControl,
      count,
      count,
      fc.tuple(share, share, share, share, share),
      (sold, cache, inputBound, maxTokens, [input, read, write5m, write1h, output]) => {
        const isCached = cache !== 'none'
        const parts = [
          input,
          isCached ? read : 0n,
          isCached ? write5m : 0n,
          cache === '1h' ? write1h : 0n,
        ]
        const whole = parts.reduce((sum, part) => sum + part) || 1n
        const part = (index: number) => tokens((inputBound * (parts[index] ?? 0n)) / whole)
        const ceiling = maxTokens < sold.outputCeiling ? maxTokens : sold.outputCeiling
        const counts = {
          input: part(0),
          cacheRead: part(1),
          cacheWrite5m: part(2),
          cacheWrite1h: part(3),
          output: tokens((ceiling * output) / 1_000n),
        }
        const held = worstCase({ model: sold, inputBound, maxTokens, cacheControl: cache })
        assert.ok(costOfTokens(counts, sold.price) <= held)
      },
    ),
  )
})

test('charges the worst case when all input is uncached, or all is written to the cache', () => {
  const request = { model, inputBound: tokens(1_000), maxTokens: tokens(10) }
  const output = tokens(10)
  assert.equal(
    costOfTokens({ ...noTokens, output, input: tokens(1_000) }, model.price),
    worstCase({ ...request, cacheControl: 'none' }),
  )
  assert.equal(
    costOfTokens({ ...noTokens, output, cacheWrite1h: tokens(1_000) }, model.price),
    worstCase({ ...request, cacheControl: '1h' }),
  )
})

test('sets the floor to 4096 output tokens, or 1024 beyond the thinking budget', () => {
  const request = { model, inputBound: tokens(100), cacheControl: 'none' } as const
  const floor = (maxTokens: number, thinkingBudget?: number) =>
    floorCost({
      ...request,
      maxTokens: tokens(maxTokens),
      thinkingBudget: thinkingBudget === undefined ? undefined : tokens(thinkingBudget),
    })
  assert.equal(floor(50_000), credits(100 + 4_096 * 5))
  assert.equal(floor(1_000), credits(100 + 1_000 * 5))
  assert.equal(floor(50_000, 1_024), credits(100 + 4_096 * 5))
  assert.equal(floor(50_000, 10_000), credits(100 + 11_024 * 5))
  assert.equal(floor(10_500, 10_000), credits(100 + 10_500 * 5))
})

test('sets the floor never above the worst case', () => {
  fc.assert(
    fc.property(anyModel, cacheControl, count, count, count, (sold, cache, bound, max, budget) => {
      const request = { model: sold, inputBound: bound, maxTokens: max, cacheControl: cache }
      assert.ok(floorCost({ ...request, thinkingBudget: budget }) <= worstCase(request))
    }),
  )
})

test('lowers max_tokens to the largest number whose worst case fits the grant', () => {
  const beyond = fc.bigInt(0n, 10n ** 16n)
  fc.assert(
    fc.property(anyModel, cacheControl, count, beyond, (sold, cache, inputBound, extra) => {
      const request = { model: sold, inputBound, cacheControl: cache }
      const granted = micro(worstCase({ ...request, maxTokens: tokens(0) }) + extra)
      const most = affordableMaxTokens({ ...request, granted })
      assert.ok(most !== undefined && most <= sold.outputCeiling)
      assert.ok(worstCase({ ...request, maxTokens: most }) <= granted)
      if (most < sold.outputCeiling) {
        assert.ok(granted < worstCase({ ...request, maxTokens: tokens(most + 1n) }))
      }
    }),
  )
})

test('returns undefined, not 0, when the grant does not cover the input', () => {
  const request = { model, inputBound: tokens(1_000), cacheControl: 'none' } as const
  assert.equal(affordableMaxTokens({ ...request, granted: micro(999_999_999n) }), undefined)
  assert.equal(affordableMaxTokens({ ...request, granted: credits(1_000) }), 0n)
  assert.equal(affordableMaxTokens({ ...request, granted: micro(1_004_999_999n) }), 0n)
  assert.equal(affordableMaxTokens({ ...request, granted: credits(1_005) }), 1n)
})

test('uses the name of the model at an upstream, or its id without one', () => {
  assert.equal(upstreamName(model, 'north'), 'north-large')
  assert.equal(upstreamName(model, 'south'), 'model-large')
  assert.equal(upstreamName(model, 'constructor'), 'model-large')
  assert.equal(upstreamName({ ...model, upstreamNames: 'large' }, 'north'), 'large')
})

test('returns the price of a feature; a tool of the server may have the common one', () => {
  assert.equal(featureOf(model, 'web_search')?.iterationsMax, 5)
  assert.equal(featureOf(model, 'advisor'), undefined)
  assert.equal(featureOf(model, 'constructor'), undefined)
  assert.equal(featureOf({ ...model, features: {} }, 'web_search'), undefined)
})

test('holds for a fallback that needs as many passes as the tools allow', () => {
  const fallbacks = { iterationsMax: 1, perUse: credits(0), usesMax: 0, contentMax: 0 }
  const asked = { ...model, features: { ...model.features, fallbacks } }
  const dear = withPrice(model, { ...largePrice, input: millionthsOf('10') })
  const held = worstCase({
    model: asked,
    inputBound: tokens(1_000),
    cacheControl: 'none',
    features: ['web_search', 'fallbacks'],
    others: [asked, dear],
    maxTokens: tokens(100),
  })
  const counts = { ...noTokens, input: tokens(5 * 200_000), output: tokens(5 * 100) }
  assert.ok(held >= costOfTokens(counts, dear.price))
})
