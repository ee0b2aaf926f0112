// The rule for a low balance, as a customer sees it: a request that the balance covers is never
// lowered, one that it does not cover gets half of what is left but at least a small reply, and
// GET /v1/me shows the number that a request then gets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { credits } from '../../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'
import { question } from './client.ts'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

test('a lone client is not lowered while its worst case fits the balance', async () => {
  const body = question('Hi', { max_tokens: 32_000 })
  const worst = Buffer.byteLength(body) + 32_000 * 5
  assert.equal(worst, 160_086)
  const caller = await createCaller(gateway, 199_930)
  const { limits } = await caller.me()
  const affordable = limits?.max_tokens_affordable as Record<string, number>
  assert.equal(affordable['model-small'], 32_000)
  const answer = await caller.ask({ body })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-credit-max-tokens'], undefined)
  assert.equal(caller.last().body?.toString(), body)
  caller.end()
})

test('a worst case above what is left gets half, and at least a small reply', async () => {
  const body = question('Hi', { max_tokens: 32_000 })
  const input = Buffer.byteLength(body)
  const lowered = async (balance: number) => {
    const caller = await createCaller(gateway, balance)
    const answer = await caller.ask({ body })
    caller.end()
    return answer.status === 200 ? Number(answer.headers['x-credit-max-tokens']) : answer.status
  }
  const worst = input + 32_000 * 5
  const floor = input + 4_096 * 5
  assert.equal(await lowered(worst - 1), Math.floor((Math.floor((worst - 1) / 2) - input) / 5))
  assert.equal(await lowered(floor + 1), 4_096)
  assert.equal(await lowered(floor), 4_096)
  // Below that, the upstream counts the input; a small reply to nothing is the least that is sold.
  assert.equal(await lowered(floor - 1), 4_096)
  assert.equal(await lowered(4_096 * 5), 402)
})

const MODELS = ['model-large', 'model-medium', 'model-small'] as const
const COEFFICIENTS = { 'model-large': 5, 'model-medium': 4, 'model-small': 5 }

/** What a request with this limit gets: the limit itself, a lower one, or a refusal. */
async function granted(caller: Caller, model: string, maxTokens: number): Promise<number> {
  const body = question('[[reply: text 1]]', { model, max_tokens: maxTokens })
  const answer = await caller.ask({ body })
  if (answer.status === 402) return 0
  assert.equal(answer.status, 200)
  return Number(answer.headers['x-credit-max-tokens'] ?? maxTokens)
}

test('GET /v1/me shows the longest reply that a request then gets in full', async () => {
  const cases = fc.record({
    balance: fc.integer({ min: 0, max: 900_000 }),
    dayLimit: fc.option(fc.integer({ min: 0, max: 900_000 }), { freq: 2 }),
    isSpending: fc.boolean(),
    model: fc.constantFrom(...MODELS),
  })
  for (const { balance, dayLimit, isSpending, model } of fc.sample(cases, {
    seed: 20_261_116,
    numRuns: 40,
  })) {
    const caller = await createCaller(gateway, balance)
    if (isSpending) await granted(caller, 'model-small', 100)
    if (dayLimit !== null) {
      const limits = { dayLimit: credits(dayLimit), velocityLimit: null, velocitySeconds: 60 }
      await gateway.ledger.setLimits(gateway.database.db, caller.book, limits)
    }
    await gateway.settled(caller.book)
    const { limits } = await caller.me()
    const affordable = limits?.max_tokens_affordable as Record<string, number> | undefined
    const shown = affordable?.[model] ?? 0
    // The figure is for a question without input: the question's own bytes cost one credit each.
    const bytes = Buffer.byteLength(question('[[reply: text 1]]', { model, max_tokens: shown }))
    const input = Math.ceil(bytes / COEFFICIENTS[model])
    const label = JSON.stringify({ balance, dayLimit, isSpending, model, shown })
    const inFull = Math.max(0, shown - input)
    if (inFull > 0) assert.equal(await granted(caller, model, inFull), inFull, label)
    const tooMany = shown + 1
    assert.ok((await granted(caller, model, tooMany)) < tooMany, label)
    caller.end()
  }
})
