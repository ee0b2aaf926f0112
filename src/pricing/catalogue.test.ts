// Tests of the catalogue file: reading, the problems that are reported, and writing without loss.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { parseDocument } from 'yaml'
import { credits } from '../units/credits.ts'
import { kopecks, rublesText } from '../units/kopecks.ts'
import { millionths } from '../units/price.ts'
import { tokens } from '../units/tokens.ts'
import { type Catalogue, formatCatalogue, type Model, parseCatalogue } from './catalogue.ts'
import { differences, hasOnlyPricesOf } from './differences.ts'
import { priceLists } from './lists.ts'
import { featureNames } from './model-schema.ts'

const exampleText = readFileSync(join(import.meta.dirname, '../../catalogue.example.yaml'), 'utf8')

function read(text: string): Catalogue {
  const result = parseCatalogue(text)
  assert.ok('catalogue' in result, inspect(result))
  return result.catalogue
}

function problems(text: string): readonly string[] {
  const result = parseCatalogue(text)
  assert.ok('problems' in result, 'the catalogue was accepted')
  return result.problems
}

const name = fc.stringMatching(/^[A-Za-z0-9][\w.:@/-]{0,20}$/)
const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => text.length <= 100 && text === text.trim() && !/[\p{Cc}\p{Cs}]/u.test(text))
const day = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const localized = fc.oneof(
  line.map((text) => ({ ru: text, en: text })),
  fc.record({ ru: line, en: line }, { noNullPrototype: true }),
)
// Two decimals for prices and one for each multiplier: every product has at most five.
const hundredths = (min: number, max: number) =>
  fc.integer({ min, max }).map((n) => millionths(n * 10_000))
const price = fc.record(
  {
    input: hundredths(0, 100),
    coefficient: hundredths(1, 100),
    cacheRead: hundredths(0, 100),
    cacheWrite5m: hundredths(0, 100),
    cacheWrite1h: hundredths(0, 100),
  },
  { noNullPrototype: true },
)
const values = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/),
  fc.integer({ min: 1, max: 50 }).map((n) => millionths(n * 100_000)),
  { maxKeys: 2, noNullPrototype: true },
)
const model: fc.Arbitrary<Model> = fc
  .record({
    id: name,
    displayName: localized,
    createdAt: day,
    upstreamNames: fc.oneof(
      name,
      fc.dictionary(fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,9}$/), name),
    ),
    contextWindow: fc.integer({ min: 200_000, max: 10_000_000 }).map(tokens),
    outputCeiling: fc.integer({ min: 1, max: 200_000 }).map(tokens),
    price,
    tiers: fc
      .uniqueArray(fc.record({ above: fc.integer({ min: 1, max: 1_000_000 }), price }), {
        maxLength: 2,
        selector: ({ above }) => above,
      })
      .map((tiers) =>
        tiers
          .toSorted((a, b) => a.above - b.above)
          .map((tier) => ({ above: tokens(tier.above), price: tier.price })),
      ),
    multipliers: fc.record({ speed: values, inference_geo: values, service_tier: values }),
    features: fc.dictionary(
      fc.constantFrom(...featureNames),
      fc
        .record({
          iterationsMax: fc.integer({ min: 1, max: 100 }),
          perUse: fc.integer({ min: 1, max: 1_000_000 }),
          usesMax: fc.integer({ min: 0, max: 1_000 }),
          contentMax: fc.integer({ min: 0, max: 10_000_000 }),
        })
        .map((drawn) => ({
          ...drawn,
          perUse: credits(drawn.usesMax === 0 ? 0 : drawn.perUse),
          contentMax: drawn.usesMax === 0 ? 0 : drawn.contentMax,
        })),
      { noNullPrototype: true },
    ),
  })
  .map((made) => structuredClone({ ...made, lists: priceLists(made).lists }))
const pack = fc.record({
  id: fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,9}$/),
  name: localized,
  credits: fc.bigInt(1n, 10n ** 12n).map(credits),
  priceKopecks: fc.bigInt(1n, 10n ** 10n).map(kopecks),
})
const catalogue: fc.Arbitrary<Catalogue> = fc.record(
  {
    version: fc.nat({ max: 2_147_483_647 }),
    models: fc.uniqueArray(model, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    packs: fc.uniqueArray(pack, { maxLength: 4, selector: ({ id }) => id }),
  },
  { noNullPrototype: true },
)

test('reads a written catalogue back as the same catalogue', () => {
  fc.assert(
    fc.property(catalogue, (made) => {
      const text = formatCatalogue(made)
      const again = read(text)
      assert.deepEqual(again, structuredClone(made))
      assert.equal(formatCatalogue(again), text)
    }),
    { numRuns: 200 },
  )
})

test('lists differences of two catalogues exactly when they differ', () => {
  fc.assert(
    fc.property(catalogue, catalogue, (a, b) => {
      assert.deepEqual(differences(a, a), [])
      const isSame = formatCatalogue({ ...a, version: 0 }) === formatCatalogue({ ...b, version: 0 })
      assert.equal(differences(a, b).length === 0, isSame)
    }),
  )
})

test('has 35 million credits for 1300.00 RUB as the smallest pack of the shipped example', () => {
  const { models, packs, version } = read(exampleText)
  assert.equal(version, 0)
  const smallest = packs.toSorted((a, b) => Number(a.credits - b.credits))[0]
  assert.equal(smallest?.credits, credits(35_000_000))
  assert.equal(rublesText(smallest.priceKopecks), '1300.00')
  assert.deepEqual(models.find(({ id }) => id === 'model-large')?.price, {
    input: 1_000_000n,
    coefficient: 5_000_000n,
    cacheRead: 100_000n,
    cacheWrite5m: 1_250_000n,
    cacheWrite1h: 2_000_000n,
  })
})

test('keeps every written digit of a number, where a float would lose some', () => {
  const price = read(exampleText.replace('coefficient: 5', 'coefficient: 999.123457')).models[0]
    ?.price
  assert.equal(price?.coefficient, 999_123_457n)
  const text = exampleText.replace('credits: 35000000', 'credits: 999999999999')
  assert.equal(read(text).packs[0]?.credits, 999_999_999_999_000_000n)
})

test('reports a missing weight and accepts a weight of zero', () => {
  const without = exampleText.replace('      cacheWrite5m: 1.25\n', '')
  const line = exampleText.split('\n').indexOf('    weights:') + 1
  assert.deepEqual(problems(without), [`line ${line}, models.0.weights.cacheWrite5m: is missing`])
  const zero = exampleText.replace('cacheWrite5m: 1.25', 'cacheWrite5m: 0')
  assert.equal(read(zero).models[0]?.price.cacheWrite5m, 0n)
})

test('reports all problems at once, in the order of their lines', () => {
  const text = `
version: 1.5
models:
  - id: one
    displayName: " padded"
    createdAt: 2025-02-29
    contextWindow: 1e6
    outputCeiling: 64000
    coefficient: 0
    wieghts: {}
    weights: { cacheRead: .1, cacheWrite5m: -1, cacheWrite1h: 1000.000001 }
    features: { web_search: { iterationsMax: 0 } }
  - id: one
    displayName: Two
    createdAt: 2026-01-01
    upstreamNames: [a]
    contextWindow: 1000
    outputCeiling: 1001
    coefficient: 0.0000001
    weights: { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
packs:
  - { id: small, name: Small, credits: 1.5, priceKopecks: 1300.00 }
  - { id: small, name: Small, credits: 1, priceKopecks: 0 }
`
  const expected = [
    /^line 2, version: expected a whole number, 0 to/,
    /^line 5, models\.0\.displayName: expected one line/,
    /^line 6, models\.0\.createdAt: expected a day/,
    /^line 7, models\.0\.contextWindow: expected a whole number/,
    /^line 9, models\.0\.coefficient: expected a number such as 1\.25, above 0/,
    /^line 10, models\.0\.wieghts: no such name; the nearest known one is weights$/,
    /^line 11, models\.0\.weights\.cacheRead/,
    /^line 11, models\.0\.weights\.cacheWrite5m/,
    /^line 11, models\.0\.weights\.cacheWrite1h/,
    /^line 12, models\.0\.features\.web_search\.iterationsMax/,
    /^line 13, models\.1\.id: one is there twice$/,
    /^line 16, models\.1\.upstreamNames: expected a name, or a map/,
    /^line 18, models\.1\.outputCeiling: is above the context window, 1000$/,
    /^line 19, models\.1\.coefficient/,
    /^line 22, packs\.0\.credits/,
    /^line 22, packs\.0\.priceKopecks/,
    /^line 23, packs\.1\.priceKopecks/,
    /^line 23, packs\.1\.id: small is there twice$/,
  ]
  const found = problems(text)
  assert.equal(found.length, expected.length, inspect(found))
  for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern)
})

test('refuses a file that is not a catalogue, with the reason', () => {
  assert.match(problems('').join(), /the file: expected object/)
  assert.match(problems('- 1').join(), /the file: expected object/)
  assert.match(problems('models: []\npacks: []').join(), /expected at least one model/)
  assert.match(problems('models: 5\npacks: [7, null]').join(), /models: expected array/)
  assert.match(problems('models: [\n').join(), /^line 2: Flow sequence/)
  assert.match(problems('packs: []\npacks: []').join(), /^line 2: Map keys must be unique/)
})

test('freezes a catalogue that was read', () => {
  const { models } = read(exampleText)
  const first = models[0]
  assert.ok(first)
  assert.throws(() => Object.assign(first.price, { coefficient: 1n }), TypeError)
  assert.throws(() => Object.assign(models, { 0: undefined }), TypeError)
})

test('recognises a copy with other titles, limits or fewer models by its prices', () => {
  const example = read(exampleText)
  const isLike = (text: string) => hasOnlyPricesOf(example, read(text))
  assert.ok(isLike(exampleText))
  assert.ok(isLike(exampleText.replace('Large', 'Ours').replaceAll('pack-', 'our-')))
  assert.ok(isLike(exampleText.replace('outputCeiling: 64000', 'outputCeiling: 32000')))
  assert.ok(hasOnlyPricesOf(example, { ...example, models: example.models.slice(0, 1) }))
  for (const [theirs, ours] of [
    ['id: model-large\n', 'id: ours\n    upstreamNames: model-large\n'],
    ['coefficient: 5', 'coefficient: 4.5'],
    ['cacheRead: 0.1', 'cacheRead: 0.2'],
    ['cacheWrite5m: 1.25', 'cacheWrite5m: 1.5'],
    ['cacheWrite1h: 2', 'cacheWrite1h: 3'],
    ['credits: 35000000', 'credits: 30000000'],
    ['priceKopecks: 130000', 'priceKopecks: 140000'],
  ] as const) {
    assert.equal(isLike(exampleText.replace(theirs, ours)), false, ours)
  }
})

test('writes numbers that other YAML readers read as numbers', () => {
  const plain = parseDocument(formatCatalogue(read(exampleText))).toJS()
  assert.equal(plain.models[0].weights.cacheWrite5m, 1.25)
  assert.equal(plain.packs[0].priceKopecks, 130_000)
})

test('describes changes of prices, models and packs in words', () => {
  const before = read(exampleText)
  const after = read(
    exampleText
      .replace('coefficient: 5', 'coefficient: 4.5')
      .replace('priceKopecks: 130000', 'priceKopecks: 149900')
      .replaceAll('model-small-20260115', 'model-tiny'),
  )
  assert.deepEqual(differences(before, after), [
    'model model-large: coefficient 5 → 4.5',
    'model model-small-20260115 is removed',
    'model model-tiny is added: display name Small, 15 January 2026, ' +
      'display name (ru) Малая от 15 января 2026, created 2026-01-15, ' +
      'context window 200000, output ceiling 32000, weight of input 1, coefficient 5, ' +
      'weight of cache reads 0.1, weight of 5-minute cache writes 1.25, ' +
      'weight of 1-hour cache writes 2, ' +
      'upstream name model-small',
    'pack pack-35m: price 1300.00 RUB → 1499.00 RUB',
  ])
})

test('describes a name that gets a Russian text as that alone', () => {
  const nameless = exampleText.replace('{ ru: Большая, en: Large }', 'Large')
  assert.deepEqual(differences(read(nameless), read(exampleText)), [
    'model model-large: display name (ru) none → Большая',
  ])
})

test('the shipped catalogues name every pack and every model in Russian too', () => {
  const fullText = readFileSync(
    join(import.meta.dirname, '../../catalogue.full.example.yaml'),
    'utf8',
  )
  for (const { models, packs } of [read(exampleText), read(fullText)]) {
    const names = [...packs.map(({ name }) => name), ...models.map((model) => model.displayName)]
    for (const { ru, en } of names) assert.match(ru, /[а-я]/i, `${en} has no Russian name`)
  }
})
