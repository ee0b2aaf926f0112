// Tests of the parts of a charge: what they cost, and that they are stored without loss.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ChargeParts, recompute } from '../units/charge.ts'
import { credits } from '../units/credits.ts'
import { millionths, type Price } from '../units/price.ts'
import { noTokens, type TokenCounts, tokens } from '../units/tokens.ts'
import { partsOf, partsText } from './parts.ts'

const priceOf = ([
  input = 0,
  output = 0,
  read = 0,
  five = 0,
  hour = 0,
]: readonly number[]): Price => ({
  ...{ input: millionths(input), coefficient: millionths(output) },
  ...{
    cacheRead: millionths(read),
    cacheWrite5m: millionths(five),
    cacheWrite1h: millionths(hour),
  },
})
const countsOf = ([input = 0, output = 0, read = 0, five = 0, hour = 0]: readonly number[]) => ({
  ...{ input: tokens(input), output: tokens(output) },
  ...{ cacheRead: tokens(read), cacheWrite5m: tokens(five), cacheWrite1h: tokens(hour) },
})

const price = priceOf([1_000_000, 5_000_000, 100_000, 1_250_000, 2_000_000])
const dear = priceOf([2_000_000, 10_000_000, 200_000, 2_500_000, 4_000_000])
const counts: TokenCounts = countsOf([100, 20, 1_000, 8, 4])

test('an ordinary charge costs its counts at its price', () => {
  assert.equal(recompute({ ...counts, price, parts: null }), credits(100 + 100 + 100 + 10 + 8))
})

test('the counts cost the price of the model that answered', () => {
  const parts = { served: { model: 'other', list: '', price: dear } }
  assert.equal(recompute({ ...counts, price, parts }), credits(2 * 318))
})

test('passes and uses are added at their own prices', () => {
  const parts: ChargeParts = {
    passes: [{ model: 'other', list: 'speed=fast', price: dear, counts }],
    uses: [{ feature: 'web_search', count: 3, each: credits(10_000) }],
    unlisted: ['speed'],
  }
  assert.equal(recompute({ ...counts, price, parts }), credits(318 + 2 * 318 + 30_000))
})

test('an entry without counts or price costs nothing', () => {
  const nothing = { input: null, output: null, cacheRead: null }
  const entry = { ...nothing, cacheWrite5m: null, cacheWrite1h: null, price: null, parts: null }
  assert.equal(recompute(entry), 0n)
})

test('parts are read as they were stored, and cost the same', () => {
  const number = fc.nat({ max: 2_000_000 })
  const five = fc.array(number, { minLength: 5, maxLength: 5 })
  const partPrice = fc.record({
    model: fc.constantFrom('a', 'b'),
    list: fc.constantFrom('', 'above=100000 speed=fast'),
    price: five.map(priceOf),
  })
  const pass = fc
    .record({ one: partPrice, counts: five.map(countsOf) })
    .map(({ one, counts: own }) => ({ ...one, counts: own }))
  const uses = fc.record({
    feature: fc.constantFrom('web_search', 'code_execution'),
    count: fc.nat({ max: 1_000 }),
    each: number.map((n) => credits(n)),
  })
  const any = fc.record({
    own: five.map(countsOf),
    price: five.map(priceOf),
    served: partPrice,
    passes: fc.array(pass, { minLength: 1, maxLength: 20 }),
    uses: fc.array(uses, { minLength: 1, maxLength: 3 }),
  })
  fc.assert(
    fc.property(any, ({ own, price: base, served, passes, uses: used }) => {
      const parts: ChargeParts = { served, passes, uses: used }
      const entry = { ...own, price: base, parts }
      const stored = partsOf(JSON.parse(partsText(parts) as string))
      assert.equal(recompute({ ...entry, parts: stored }), recompute(entry))
      assert.deepEqual(stored?.served, { ...served })
      assert.deepEqual(partsOf(JSON.parse(partsText(stored) as string)), stored)
    }),
    { numRuns: 300 },
  )
})

test('passes at one price are stored as one', () => {
  const one = { model: 'other', list: '', price: dear }
  const passes = Array.from({ length: 256 }, () => ({ ...one, counts }))
  const stored = partsOf(JSON.parse(partsText({ passes }) as string))
  assert.deepEqual(stored, {
    passes: [{ ...one, counts: countsOf([25_600, 5_120, 256_000, 2_048, 1_024]) }],
  })
  const two = [...passes, { ...one, list: 'speed=fast', counts: noTokens }]
  assert.equal(partsOf(JSON.parse(partsText({ passes: two }) as string))?.passes?.length, 2)
})

test('names from a reply are cut, printable and few', () => {
  const unlisted = ['a\u0000b', 'ё"\\', 'x'.repeat(100), ...Array.from('abcdefghijklmnopqrs')]
  const text = partsText({ unlisted }) as string
  assert.match(text, /^[ -~]+$/)
  const stored = partsOf(JSON.parse(text))?.unlisted ?? []
  assert.deepEqual(stored.slice(0, 3), ['a?b', '?"\\', 'x'.repeat(64)])
  assert.equal(stored.length, 16)
  assert.equal(partsText(null), undefined)
})
