// The form of prices: which changes it sends, and where the server's sentences belong.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf, isRoubles, problemsOf } from './fields.ts'

const COEFFICIENT = 'models.m.coefficient'
const PRICE = 'packs.p.priceKopecks'
const initial = { [COEFFICIENT]: '5', [PRICE]: '1300', more: '', note: '', below: false }

test('sends only what was changed, with prices in kopecks', () => {
  assert.deepEqual(changesOf(initial, initial), [])
  assert.deepEqual(changesOf(initial, { ...initial, [COEFFICIENT]: ' 6,5 ', note: 'why' }), [
    `${COEFFICIENT}=6.5`,
  ])
  for (const [roubles, kopecks] of [
    ['1499', '149900'],
    ['1 499,5', '149950'],
    ['1499.05', '149905'],
    ['0.50', '50'],
  ] as const) {
    assert.ok(isRoubles(roubles), roubles)
    assert.deepEqual(changesOf(initial, { ...initial, [PRICE]: roubles }), [`${PRICE}=${kopecks}`])
  }
  for (const wrong of ['', 'a', '1.999', '1,2,3', '-5', '1e3']) assert.ok(!isRoubles(wrong), wrong)
})

test('sends each line of other changes as it is', () => {
  const more = 'packs.q={ name: Q, credits: 5, priceKopecks: 7 }\n\n models.m.tiers= '
  assert.deepEqual(changesOf(initial, { ...initial, more }), [
    ...['packs.q={ name: Q, credits: 5, priceKopecks: 7 }', 'models.m.tiers='],
  ])
})

test('a sentence of the server stands beside its field, or above the button', () => {
  const text = `${COEFFICIENT}: expected a number\nmodels.other.x: is missing\nrefused: a loss`
  assert.deepEqual(problemsOf(text, initial), {
    byField: { [COEFFICIENT]: 'expected a number' },
    others: ['models.other.x: is missing', 'refused: a loss'],
  })
})
