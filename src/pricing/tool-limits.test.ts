// Lowering: whatever is granted between the floor and the worst case, what is sent upstream fits
// into it, and the order is max_tokens, then uses, then content.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Credits, credits } from '../units/credits.ts'
import { tokens } from '../units/tokens.ts'
import { parseCatalogue } from './catalogue.ts'
import { floorCost, lowerTo, type Model, toolLimits, worstCase } from './pricing.ts'

const parsed = parseCatalogue(`
models:
  - id: agent
    displayName: Agent
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 32000
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
    tiers:
      - above: 100000
        input: 2
        coefficient: 8
        weights: { cacheRead: 0.2, cacheWrite5m: 2.5, cacheWrite1h: 4 }
    features:
      web_search: { iterationsMax: 10, perUse: 10000, usesMax: 8, contentMax: 10000 }
      web_fetch: { iterationsMax: 10, usesMax: 5, contentMax: 25000 }
      advisor: { iterationsMax: 2 }
      code_execution: { iterationsMax: 4 }
packs: []
`)
assert.ok('catalogue' in parsed, 'problems' in parsed ? parsed.problems.join() : '')
const model = parsed.catalogue.models[0] as Model

const tool = (feature: string, maxUses?: number, maxContentTokens?: number) => ({
  feature,
  maxUses,
  maxContentTokens,
})

test('the catalogue’s limits apply to every request that may be lowered', () => {
  const limits = (asked: ReturnType<typeof tool>, mayLower = true) =>
    toolLimits(model, [asked], mayLower)[0]
  const search = { feature: 'web_search', contentTokens: 10_000 }
  assert.deepEqual(limits(tool('web_search')), { ...search, uses: 8 })
  assert.deepEqual(limits(tool('web_search', 3)), { ...search, uses: 3 })
  assert.deepEqual(limits(tool('web_search', 99)), { ...search, uses: 8 })
  const fetch = { feature: 'web_fetch' }
  assert.deepEqual(limits(tool('web_fetch')), { ...fetch, uses: 5, contentTokens: 25_000 })
  assert.deepEqual(limits(tool('web_fetch', 1, 900)), { ...fetch, uses: 1, contentTokens: 900 })
  assert.equal(limits(tool('advisor'))?.uses, 2, 'a use of an advisor is a pass')
  assert.equal(limits(tool('code_execution', 3))?.uses, undefined, 'it has no such member')
  // Nothing is inserted or lowered, so only what the request says is a limit.
  assert.deepEqual(limits(tool('web_search', 99), false), { ...search, uses: 99 })
  assert.deepEqual(limits(tool('web_search'), false), { ...search, uses: 1_000 }, 'no limit')
  const own = { ...fetch, uses: 1, contentTokens: 90_000 }
  assert.deepEqual(limits(tool('web_fetch', 1, 90_000), false), own)
})

test('what may not be lowered is held for all uses that the request allows', () => {
  const held = (maxUses?: number) => {
    const tools = toolLimits(model, [tool('web_search', maxUses)], false)
    const bounds = { inputBound: tokens(100), cacheControl: 'none' as const, tools }
    return worstCase({ model, ...bounds, features: ['web_search'], maxTokens: tokens(100) })
  }
  assert.ok(held() > held(99), 'no limit allows more than a limit')
  assert.ok(held() >= credits(1_000n * 10_000n))
})

const request = fc
  .record({
    inputBound: fc.integer({ min: 0, max: 200_000 }),
    maxTokens: fc.integer({ min: 0, max: 40_000 }),
    cacheControl: fc.constantFrom('none' as const, '5m' as const, '1h' as const),
    search: fc.option(fc.integer({ min: 1, max: 20 }), { freq: 2 }),
    fetch: fc.option(
      fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 90_000 })),
    ),
    thinkingBudget: fc.constantFrom(0, 0, 8_000),
  })
  .map(({ search, fetch, inputBound, maxTokens, thinkingBudget, cacheControl }) => {
    const asked = [
      ...(search === null ? [] : [tool('web_search', search)]),
      ...(fetch === null ? [] : [tool('web_fetch', ...fetch)]),
    ]
    return {
      model,
      inputBound: tokens(inputBound),
      maxTokens: tokens(maxTokens),
      thinkingBudget: tokens(thinkingBudget),
      cacheControl,
      features: asked.map(({ feature }) => feature),
      tools: toolLimits(model, asked, true),
    }
  })

test('what is sent upstream fits into what was granted, from the floor to the worst case', () => {
  const seen = { uses: 0, content: 0, maxTokens: 0 }
  fc.assert(
    fc.property(request, fc.integer({ min: 0, max: 1_000 }), (asked, share) => {
      const [floor, worst] = [floorCost(asked), worstCase(asked)]
      assert.ok(floor <= worst)
      const granted = (floor + ((worst - floor) * BigInt(share)) / 1_000n) as Credits
      const { maxTokens, tools } = lowerTo(asked, granted)
      const most = maxTokens < asked.maxTokens ? maxTokens : asked.maxTokens
      const sent = { ...asked, tools, maxTokens: most }
      assert.ok(worstCase(sent) <= granted, 'the hold covers it')
      if (granted === worst) assert.equal(worstCase(sent), worst, 'nothing is lowered in vain')
      for (const [i, { uses = 0, contentTokens = 0 }] of tools.entries()) {
        const before = asked.tools[i]
        assert.ok(uses >= 1 && uses <= (before?.uses ?? 0))
        assert.ok(contentTokens >= 1 && contentTokens <= (before?.contentTokens ?? 0))
        if (uses < (before?.uses ?? 0)) seen.uses += 1
        if (contentTokens < (before?.contentTokens ?? 0)) {
          seen.content += 1
          assert.ok(
            tools.every((one) => one.uses === 1),
            'content is lowered last',
          )
        }
      }
      if (sent.maxTokens < asked.maxTokens) seen.maxTokens += 1
    }),
    { numRuns: 2_000 },
  )
  for (const [name, count] of Object.entries(seen)) assert.ok(count > 50, `${name}: ${count}`)
})

test('max_tokens is lowered before the uses', () => {
  const asked = {
    model,
    inputBound: tokens(2_000),
    maxTokens: tokens(32_000),
    cacheControl: 'none' as const,
    features: ['web_search'],
    tools: toolLimits(model, [tool('web_search', 3)], true),
  }
  const small = worstCase({ ...asked, maxTokens: tokens(4_096) })
  const atFloor = lowerTo(asked, small)
  assert.deepEqual([atFloor.maxTokens, atFloor.tools[0]?.uses], [4_096n, 3])
  const below = lowerTo(asked, (small - credits(1)) as Credits)
  assert.equal(below.tools[0]?.uses, 2)
  assert.ok(below.maxTokens > 4_096n, 'what a use less leaves goes to the reply')
  const least = lowerTo(asked, floorCost(asked))
  assert.deepEqual([least.maxTokens, least.tools[0]?.uses], [4_096n, 1])
})
