// The arithmetic of prices: exact charges, and holds that no reply can exceed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { credits, micro } from '../units/credits.ts'
import { millionths, millionthsFromText } from '../units/price.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import {
  affordableMaxTokens,
  charge,
  floorCase,
  iterationsMax,
  type Model,
  upstreamName,
  worstCase,
} from './pricing.ts'

const millionthsOf = (text: string) => millionthsFromText(text) ?? millionths(0)
const model: Model = {
  id: 'model-large',
  displayName: 'Large',
  createdAt: '2026-01-15',
  upstreamNames: { north: 'north-large' },
  contextWindow: tokens(200_000),
  outputCeiling: tokens(64_000),
  price: {
    coefficient: millionthsOf('5'),
    cacheRead: millionthsOf('0.1'),
    cacheWrite5m: millionthsOf('1.25'),
    cacheWrite1h: millionthsOf('2'),
  },
  features: { web_search: { iterationsMax: 5 } },
}

const weight = fc.bigInt(0n, 1_000_000_000n).map(millionths)
const anyModel = fc
  .record({
    outputCeiling: fc.bigInt(1n, 10_000_000n).map(tokens),
    price: fc.record({
      coefficient: fc.bigInt(1n, 1_000_000_000n).map(millionths),
      cacheRead: weight,
      cacheWrite5m: weight,
      cacheWrite1h: weight,
    }),
  })
  .map((prices): Model => ({ ...model, ...prices }))
const cacheControl = fc.constantFrom('none', '5m', '1h')
const count = fc.bigInt(0n, 20_000_000n).map(tokens)
const share = fc.nat({ max: 1_000 }).map(BigInt)

test('a charge is input + output × coefficient when nothing is cached', () => {
  const counts = { ...noTokens, input: tokens(1_200), output: tokens(340) }
  assert.equal(charge(model.price, counts), credits(1_200 + 340 * 5))
  const odd = { ...model.price, coefficient: millionthsOf('1.000001') }
  assert.equal(charge(odd, { ...noTokens, output: tokens(3) }), 3_000_003n)
})

test('cached tokens are charged by their weights', () => {
  const cached = { cacheRead: tokens(1_001), cacheWrite5m: tokens(3), cacheWrite1h: tokens(7) }
  assert.equal(charge(model.price, { ...noTokens, ...cached }), micro(117_850_000n))
})

test('a weight of zero leaves the plain formula to the letter', () => {
  const none = millionths(0)
  const price = { ...model.price, cacheRead: none, cacheWrite5m: none, cacheWrite1h: none }
  const counts = { ...noTokens, input: tokens(5), output: tokens(2), cacheRead: tokens(90_000) }
  assert.equal(charge(price, counts), credits(15))
})

test('the worst case holds the bound of the input and the asked output', () => {
  const ask = { model, inputBound: tokens(1_000), maxTokens: tokens(100) }
  assert.equal(worstCase({ ...ask, cacheControl: 'none' }), credits(1_500))
  assert.equal(worstCase({ ...ask, cacheControl: '5m' }), credits(1_750))
  assert.equal(worstCase({ ...ask, cacheControl: '1h' }), credits(2_500))
})

test('output above the ceiling of the model is not held, since it cannot be written', () => {
  const ask = { model, inputBound: tokens(0), cacheControl: 'none' } as const
  assert.equal(worstCase({ ...ask, maxTokens: tokens(1_000_000) }), credits(64_000 * 5))
})

test('no reply within the bounds costs more than its worst case', () => {
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
        assert.ok(charge(sold.price, counts) <= held)
      },
    ),
  )
})

test('the worst case is reached: an all-input or all-written reply costs what is held', () => {
  const ask = { model, inputBound: tokens(1_000), maxTokens: tokens(10) }
  const output = tokens(10)
  assert.equal(
    charge(model.price, { ...noTokens, output, input: tokens(1_000) }),
    worstCase({ ...ask, cacheControl: 'none' }),
  )
  assert.equal(
    charge(model.price, { ...noTokens, output, cacheWrite1h: tokens(1_000) }),
    worstCase({ ...ask, cacheControl: '1h' }),
  )
})

test('the floor is a small reply: 4096 tokens, or 1024 beyond the thinking budget', () => {
  const ask = { model, inputBound: tokens(100), cacheControl: 'none' } as const
  const floor = (maxTokens: number, thinkingBudget?: number) =>
    floorCase({
      ...ask,
      maxTokens: tokens(maxTokens),
      thinkingBudget: thinkingBudget === undefined ? undefined : tokens(thinkingBudget),
    })
  assert.equal(floor(50_000), credits(100 + 4_096 * 5))
  assert.equal(floor(1_000), credits(100 + 1_000 * 5))
  assert.equal(floor(50_000, 1_024), credits(100 + 4_096 * 5))
  assert.equal(floor(50_000, 10_000), credits(100 + 11_024 * 5))
  assert.equal(floor(10_500, 10_000), credits(100 + 10_500 * 5))
})

test('the floor is never above the worst case', () => {
  fc.assert(
    fc.property(anyModel, cacheControl, count, count, count, (sold, cache, bound, max, budget) => {
      const ask = { model: sold, inputBound: bound, maxTokens: max, cacheControl: cache }
      assert.ok(floorCase({ ...ask, thinkingBudget: budget }) <= worstCase(ask))
    }),
  )
})

test('a lowered max_tokens fits into what was granted, and one token more would not', () => {
  const beyond = fc.bigInt(0n, 10n ** 16n)
  fc.assert(
    fc.property(anyModel, cacheControl, count, beyond, (sold, cache, inputBound, extra) => {
      const ask = { model: sold, inputBound, cacheControl: cache }
      const granted = micro(worstCase({ ...ask, maxTokens: tokens(0) }) + extra)
      const most = affordableMaxTokens({ ...ask, granted })
      assert.ok(most !== undefined && most <= sold.outputCeiling)
      assert.ok(worstCase({ ...ask, maxTokens: most }) <= granted)
      if (most < sold.outputCeiling) {
        assert.ok(granted < worstCase({ ...ask, maxTokens: tokens(most + 1n) }))
      }
    }),
  )
})

test('when not even the input fits, nothing is affordable, which is not an empty reply', () => {
  const ask = { model, inputBound: tokens(1_000), cacheControl: 'none' } as const
  assert.equal(affordableMaxTokens({ ...ask, granted: micro(999_999_999n) }), undefined)
  assert.equal(affordableMaxTokens({ ...ask, granted: credits(1_000) }), 0n)
  assert.equal(affordableMaxTokens({ ...ask, granted: micro(1_004_999_999n) }), 0n)
  assert.equal(affordableMaxTokens({ ...ask, granted: credits(1_005) }), 1n)
})

test('an upstream is sent its own name for a model, or the id where it has none', () => {
  assert.equal(upstreamName(model, 'north'), 'north-large')
  assert.equal(upstreamName(model, 'south'), 'model-large')
  assert.equal(upstreamName(model, 'constructor'), 'model-large')
  assert.equal(upstreamName({ ...model, upstreamNames: 'large' }, 'north'), 'large')
})

test('only a feature with a priced number of passes has one', () => {
  assert.equal(iterationsMax(model, 'web_search'), 5)
  assert.equal(iterationsMax(model, 'web_fetch'), undefined)
  assert.equal(iterationsMax(model, 'constructor'), undefined)
})
