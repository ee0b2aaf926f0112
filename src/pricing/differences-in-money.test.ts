// Tests of the differences of two catalogues in roubles.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type Catalogue, parseCatalogue } from './catalogue.ts'
import { differencesInMoney } from './differences-in-money.ts'

const root = join(import.meta.dirname, '../..')
const text = readFileSync(join(root, 'catalogue.full.example.yaml'), 'utf8')

function read(changed: string): Catalogue {
  const result = parseCatalogue(changed)
  assert.ok('catalogue' in result, inspect(result))
  return result.catalogue
}

const inMoney = (change: (text: string) => string) =>
  differencesInMoney(read(text), read(change(text)))

test('the same prices differ in nothing', () => {
  assert.deepEqual(
    inMoney((same) => same.replace('en: Base', 'en: Basic')),
    [],
  )
})

test('a pack changes the price of a million credits, at the cheapest and the dearest pack', () => {
  assert.deepEqual(
    inMoney((old) => old.replace('priceKopecks: 149000', 'priceKopecks: 139000')).slice(0, 2),
    [
      'a million credits: 129.50-149.00 RUB → 129.50-139.00 RUB',
      // Prices in credits stay; the same credits cost other roubles.
      'model model-base: a typical request 13750 credits, 1.78-2.04 RUB → ' +
        '13750 credits, 1.78-1.91 RUB',
    ],
  )
})

test('a coefficient changes a million tokens, a typical request and the dearest one', () => {
  assert.deepEqual(
    inMoney((old) => old.replace('coefficient: 9\n', 'coefficient: 8\n')),
    [
      'model model-writer: a million output tokens 1165.50-1341.00 RUB → 1036.00-1192.00 RUB',
      // 2,000 × 1.5 + 40,000 × 0.15 + 3,000 × 1.875 + 800 × 9 = 21,825 credits; 800 × 8: 21,025.
      'model model-writer: a typical request 21825 credits, 2.82-3.25 RUB → ' +
        '21025 credits, 2.72-3.13 RUB',
      // With us and priority: (200,000 × 3 + 64,000 × 9) × 1.65 = 1,940,400; × 8: 1,834,800.
      'model model-writer: the dearest request 251.28-289.11 RUB → 237.60-273.38 RUB',
    ],
  )
})

test('a tool, a tier and a multiplier change their own lines', () => {
  const tool = inMoney((old) => old.replace('perUse: 5000', 'perUse: 6000'))
  assert.deepEqual(tool, [
    'model model-code: a thousand uses of code_execution 647.50-745.00 RUB → 777.00-894.00 RUB',
  ])
  const tier = inMoney((old) => old.replace('coefficient: 37.5', 'coefficient: 40'))
  assert.ok(tier.some((one) => one.includes('a million output tokens (above=100000) 4856.25-')))
  assert.ok(!tier.some((one) => one.includes('typical')))
  const speed = inMoney((old) => old.replace('fast: 2', 'fast: 3'))
  assert.ok(speed.some((one) => one.includes('a million input tokens (speed=fast) 2590.00-')))
  assert.ok(!speed.some((one) => one.includes('inference_geo')))
  const gone = inMoney((old) => old.replace('      speed: { fast: 2 }\n', ''))
  assert.ok(
    gone.some((one) => /a million input tokens \(speed=fast\) 2590\.00.* → none$/.test(one)),
  )
  const short = inMoney((old) => old.replace(/ {4}tiers:\n(?: {6}.*\n)+/, ''))
  assert.ok(
    short.some((one) => /a million input tokens \(above=100000\) 1295\.00-.* → 647\.50-/.test(one)),
  )
})
