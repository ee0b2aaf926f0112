// The prices of typical work, computed by hand for simple prices.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'
import { snippets } from '../key/snippets.ts'
import { differenceOf } from './difference.ts'
import { workCost, works } from './work.ts'

const list = (above: string, price: string) => {
  const [input = '', output = '', cacheRead = '', cacheWrite5m = ''] = price.split(' ')
  return { name: above, above, values: {}, ...{ input, output, cacheRead, cacheWrite5m } }
}
const model = {
  lists: [list('0', '1 5 0.1 1.25'), list('50000', '2 10 0.2 2.5')],
  multipliers: { speed: {}, inference_geo: {}, service_tier: {} },
  tools: [],
} as unknown as ModelPrice

test('typical work costs what its tokens cost, each request by the list of its length', () => {
  const costs = Object.fromEntries(works.map((work) => [work.id, workCost(model, work)]))
  const credits = (amount: number) => BigInt(amount) * 1_000_000n
  assert.equal(costs.question, credits(300 + 400 * 5))
  assert.equal(costs.document, credits(16_000 + 800 * 5))
  // Inputs 250 × (1 + … + 10) + 350 × (0 + … + 9), outputs 10 × 350.
  assert.equal(costs.dialogue, credits(13_750 + 15_750 + 3_500 * 5))
  assert.equal(costs.letters, credits(1_000 * (400 + 20 * 5)))
  // Above 50 000 tokens in the prompt: 500 × 2 + 700 × 10 + 60 000 × 0.2 + 2 000 × 2.5.
  assert.equal(costs.agent, credits(60 * (1_000 + 7_000 + 12_000 + 5_000)))
})

test('a client program changes by its address and its key, and by nothing else', () => {
  const now = { base: 'https://our.example', key: 'our-key', model: 'm' }
  for (const id of ['curl', 'typescript', 'python', 'claudeCode'] as const) {
    const text = snippets.find((one) => one.id === id)?.text
    assert.ok(text, id)
    const lines = differenceOf(text, { before: { ...now, base: 'https://old', key: 'old' }, now })
    const added = lines.filter(({ kind }) => kind === 'added').map((line) => line.text)
    assert.equal(added.length, 2, id)
    assert.match(added[0] ?? '', /our\.example/, id)
    assert.match(added[1] ?? '', /our-key/, id)
    assert.equal(lines.filter(({ kind }) => kind === 'removed').length, 2, id)
    // What is left is the example that test/compat/examples.test.ts runs.
    const left = lines.filter(({ kind }) => kind !== 'removed').map((line) => line.text)
    assert.equal(left.join('\n'), text(now), id)
  }
})
