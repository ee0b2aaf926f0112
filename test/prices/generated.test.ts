// Ten thousand generated catalogues, requests and replies: the charge is never negative and never
// above the hold, equals the independent calculation, and its stored parts recompute to it. Where a
// reply has a value that the catalogue does not list, the hold may limit the charge.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { priceReply, toolLimits, worstCase } from '../../src/pricing/pricing.ts'
import { snapshotOf } from '../../src/pricing/versions.ts'
import { recompute } from '../../src/units/charge.ts'
import { tokens } from '../../src/units/tokens.ts'
import {
  type PlainCounts,
  type PlainModel,
  type PlainRequest,
  type PlainTool,
  type PlainUsage,
  plainCharge,
  plainHold,
  plainModels,
  plainPasses,
} from '../support/plain-prices.ts'
import { meterReply, usageJson } from './reply.ts'

const CATALOGUES = 250
const REPLIES_OF_EACH = 40

// One decimal for prices, one for each of three multipliers: every product has at most four.
const tenth = (max: number) => fc.nat({ max: max * 10 }).map((n) => (n / 10).toFixed(1))
const prices = fc.record({
  input: tenth(10),
  coefficient: tenth(10).map((text) => (text === '0.0' ? '0.1' : text)),
  weights: fc.record({ cacheRead: tenth(10), cacheWrite5m: tenth(10), cacheWrite1h: tenth(10) }),
})
const factor = fc.integer({ min: 1, max: 40 }).map((n) => (n / 10).toFixed(1))
const feature = fc.integer({ min: 1, max: 4 }).map((n) => ({ iterationsMax: String(n) }))
const soldTool = fc.record({
  iterationsMax: fc.integer({ min: 1, max: 4 }).map(String),
  perUse: fc.integer({ min: 1, max: 9_000 }).map(String),
  usesMax: fc.integer({ min: 1, max: 9 }).map(String),
})
const limitedTool = fc.record(
  {
    iterationsMax: fc.integer({ min: 1, max: 6 }).map(String),
    perUse: fc.integer({ min: 1, max: 9_000 }).map(String),
    usesMax: fc.integer({ min: 1, max: 5 }).map(String),
    contentMax: fc.integer({ min: 1, max: 20_000 }).map(String),
  },
  { requiredKeys: ['iterationsMax', 'usesMax'] },
)
const model = fc.record({
  prices,
  tiers: fc.uniqueArray(fc.record({ above: fc.integer({ min: 1, max: 90_000 }), prices }), {
    maxLength: 2,
    selector: ({ above }) => above,
  }),
  speed: fc.dictionary(fc.constantFrom('fast', 'faster'), factor),
  inference_geo: fc.dictionary(fc.constantFrom('us', 'eu'), factor),
  service_tier: fc.dictionary(fc.constantFrom('priority', 'batch'), factor),
  features: fc.record(
    {
      web_search: limitedTool,
      web_fetch: limitedTool,
      code_execution: soldTool,
      server_tools: feature,
      compaction: feature,
      advisor: feature,
    },
    { requiredKeys: [] },
  ),
})
type Drawn = typeof model extends fc.Arbitrary<infer T> ? T : never

function yamlOf(models: readonly Drawn[]): string {
  const written = models.map((one, i) => ({
    id: `model-${i}`,
    displayName: `Model ${i}`,
    createdAt: '2026-01-15',
    upstreamNames: `vendor-${i}`,
    contextWindow: 100_000,
    outputCeiling: 8_000,
    ...one.prices,
    tiers: one.tiers
      .toSorted((a, b) => a.above - b.above)
      .map(({ above, prices: list }) => ({ above, ...list })),
    multipliers: {
      speed: one.speed,
      inference_geo: one.inference_geo,
      service_tier: one.service_tier,
    },
    features: one.features,
  }))
  // JSON is YAML, and the catalogue reads every value as text.
  return JSON.stringify({ models: written, packs: [] })
}

const share = fc.nat({ max: 1_000 })
const draw = fc.record({
  model: fc.nat(),
  bound: fc.nat({ max: 100_000 }),
  maxTokens: fc.nat({ max: 10_000 }),
  cache: fc.constantFrom('none' as const, '5m' as const, '1h' as const),
  picks: fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
  shares: fc.array(share, { minLength: 5, maxLength: 5 }),
  isHonest: fc.boolean(),
})

/** A request that the model has a price for. */
function requestOf(sold: PlainModel, { bound, maxTokens, cache, picks }: Drawing): PlainRequest {
  const pick = (i: number, from: readonly string[]) => from[(picks[i] ?? 0) % (from.length + 1)]
  const speed = pick(0, Object.keys(sold.multipliers?.speed ?? {}))
  const geo = pick(1, [...Object.keys(sold.multipliers?.inference_geo ?? {}), 'global'])
  const tier = pick(2, ['auto', 'standard_only'])
  const features = Object.keys(sold.features ?? {}).filter((_, i) => (picks[3 + i] ?? 0) % 2 === 0)
  return {
    inputBound: bound,
    maxTokens,
    cache,
    asked: {
      ...(speed === undefined ? {} : { speed }),
      ...(geo === undefined ? {} : { inference_geo: geo }),
      ...(tier === undefined ? {} : { service_tier: tier }),
    },
    features,
    tools: toolsOf(features, picks),
  }
}

/** Limits of the tools, for most of the requests: without them all passes may read the window. */
function toolsOf(features: readonly string[], picks: readonly number[]): PlainTool[] {
  return (['web_search', 'web_fetch'] as const)
    .filter((name) => features.includes(name) && (picks[13] ?? 0) % 4 !== 0)
    .map((feature) => ({
      feature,
      maxUses: [undefined, 0, 1, 3][(picks[14] ?? 0) % 4],
      maxContentTokens: [undefined, 500, 50_000][(picks[15] ?? 0) % 3],
    }))
}
type Drawing = typeof draw extends fc.Arbitrary<infer T> ? T : never

function countsWithin(input: number, output: number, request: PlainRequest, shares: number[]) {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = shares
  const parts = [
    a,
    request.cache === 'none' ? 0 : b,
    request.cache === 'none' ? 0 : c,
    request.cache === '1h' ? d : 0,
  ]
  const whole = parts.reduce((sum, one) => sum + one, 0) || 1
  const part = (i: number) => Math.floor((input * (parts[i] ?? 0)) / whole)
  const counts: PlainCounts = [part(0), Math.floor((output * e) / 1_000), part(1), part(2), part(3)]
  return counts
}

function usesMaxOf(sold: PlainModel, { tools = [] }: PlainRequest, name: string): number {
  const asked = tools.find(({ feature }) => feature === name)?.maxUses
  return Math.min(Number(sold.features?.[name]?.usesMax), asked ?? Number.POSITIVE_INFINITY)
}

/** A reply that keeps to the request, or one that reports what the request cannot reach. */
function usageOf(sold: PlainModel, request: PlainRequest, drawing: Drawing): PlainUsage {
  const { picks, shares, isHonest } = drawing
  const pick = (i: number, from: readonly string[]) => from[(picks[i] ?? 0) % (from.length + 1)]
  const { asked, features } = request
  const own = features.filter((name) => name !== 'compaction' && name !== 'advisor')
  const passesOf = (name: string) => Number(sold.features?.[name]?.iterationsMax ?? 1)
  const { input, output } = plainPasses(sold, request)
  const tiers = Object.keys(sold.multipliers?.service_tier ?? {})
  const geos = Object.keys(sold.multipliers?.inference_geo ?? {})
  const speed = isHonest ? pick(8, asked.speed === undefined ? [] : [asked.speed]) : 'warp'
  const geo = pick(9, asked.inference_geo === undefined ? geos : [asked.inference_geo])
  const tier = pick(10, asked.service_tier === 'standard_only' ? [] : tiers)
  const uses = own
    .filter((name) => sold.features?.[name]?.usesMax !== undefined)
    .map((name) => [name, (picks[11] ?? 0) % (usesMaxOf(sold, request, name) + 1)])
  const hidden = features
    .filter((name) => name === 'compaction')
    .flatMap((name) => Array.from({ length: (picks[12] ?? 0) % (passesOf(name) + 1) }, () => name))
    .map(() => ({
      model: sold.id,
      counts: countsWithin(100_000, 8_000, { ...request, cache: '1h' }, shares),
    }))
  return {
    counts: countsWithin(input, output, request, shares),
    values: {
      ...(speed === undefined ? {} : { speed }),
      ...(geo === undefined ? {} : { inference_geo: geo }),
      ...(tier === undefined ? {} : { service_tier: tier }),
    },
    uses: Object.fromEntries(uses),
    hidden,
  }
}

test('charges ten thousand generated replies exactly, within their holds', () => {
  const seen = { replies: 0, limited: 0, tiers: 0, stacked: 0, hidden: 0, uses: 0 }
  fc.assert(
    fc.property(
      fc.array(model, { minLength: 1, maxLength: 3 }),
      fc.array(draw, { minLength: REPLIES_OF_EACH, maxLength: REPLIES_OF_EACH }),
      (drawn, drawings) => {
        const text = yamlOf(drawn)
        const read = parseCatalogue(text)
        assert.ok('catalogue' in read, 'problems' in read ? read.problems.join('\n') : '')
        const catalogue = snapshotOf(read.catalogue)
        const plain = plainModels(text)
        for (const drawing of drawings) {
          const sold = plain[drawing.model % plain.length] as PlainModel
          const bought = catalogue.modelById.get(sold.id)
          assert.ok(bought !== undefined)
          const request = requestOf(sold, drawing)
          const usage = usageOf(sold, request, drawing)
          const held = worstCase({
            model: bought,
            inputBound: tokens(request.inputBound),
            maxTokens: tokens(request.maxTokens),
            cacheControl: request.cache,
            asked: request.asked,
            features: request.features,
            tools: toolLimits(bought, request.tools ?? [], true),
            others: catalogue.models,
          })
          assert.equal(held, plainHold(plain, sold.id, request))
          const metered = meterReply(catalogue, sold.id, usageJson(usage))
          const { priced, parts } = metered
          assert.equal(priced, plainCharge(plain, sold.id, usage))
          assert.ok(priced >= 0n)
          const list = bought.lists.find(({ name }) => name === metered.list)
          assert.ok(list !== undefined)
          // What the ledger stores explains the charge.
          const stored = recompute({ ...metered.counts, price: list.price, parts })
          assert.equal(stored, priced)
          seen.replies += 1
          if (priced > held) {
            assert.ok(parts?.unlisted !== undefined, 'only a flagged charge may exceed its hold')
            seen.limited += 1
          }
          if (list.above > 0n) seen.tiers += 1
          if (Object.keys(list.values).length > 1) seen.stacked += 1
          if (parts?.passes !== undefined) seen.hidden += 1
          if (parts?.uses !== undefined) seen.uses += 1
        }
      },
    ),
    { numRuns: CATALOGUES, endOnFailure: true },
  )
  assert.ok(seen.replies >= 10_000)
  // The generator reaches what it is there for.
  for (const [name, count] of Object.entries(seen)) assert.ok(count > 100, `${name}: ${count}`)
})

test('never prices below zero or above an int8, whatever an upstream reports', () => {
  const anything = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const counts = fc.tuple(anything, anything, anything, anything, anything)
  fc.assert(
    fc.property(
      model,
      counts,
      fc.array(counts, { maxLength: 5 }),
      anything,
      (drawn, own, more, n) => {
        const read = parseCatalogue(yamlOf([drawn]))
        assert.ok('catalogue' in read)
        const [sold] = read.catalogue.models
        assert.ok(sold !== undefined)
        const of = ([input, output, cacheRead, cacheWrite5m, cacheWrite1h]: PlainCounts) => ({
          input: tokens(input),
          output: tokens(output),
          cacheRead: tokens(cacheRead),
          cacheWrite5m: tokens(cacheWrite5m),
          cacheWrite1h: tokens(cacheWrite1h),
        })
        const { priced } = priceReply(sold, {
          counts: of(own),
          values: {},
          uses: { web_search: n },
          hidden: more.map((pass) => ({ model: undefined, counts: of(pass) })),
        })
        assert.ok(priced >= 0n && priced <= 9_223_372_036_854_775_807n)
      },
    ),
  )
})
