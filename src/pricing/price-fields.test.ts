// Tests of the price fields of a model: input weights, tiers, multipliers, prices per use, what
// `like` takes over, names in two languages, and the problems that are reported.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { millionths, millionthsText } from '../units/price.ts'
import { tokens } from '../units/tokens.ts'
import { type Catalogue, formatCatalogue, type Model, parseCatalogue } from './catalogue.ts'
import { listOfReply, type PriceList, reachableLists } from './lists.ts'

const base = `
  - id: base
    displayName: Base
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 64000
    coefficient: 5
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
`
const FREE = 'weights: { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }'
const tierLine = (above: number, coefficient = '5') =>
  `      - { above: ${above}, coefficient: ${coefficient}, ${FREE} }\n`
const withFields = (fields: string) => `models:${base}${fields}packs: []\n`

function read(text: string, options?: { isApplied: boolean }): Catalogue {
  const result = parseCatalogue(text, options)
  assert.ok('catalogue' in result, inspect(result))
  return result.catalogue
}

function problems(text: string): readonly string[] {
  const result = parseCatalogue(text)
  assert.ok('problems' in result, 'the catalogue was accepted')
  return result.problems
}

function modelOf(fields: string): Model {
  const [model] = read(withFields(fields)).models
  assert.ok(model !== undefined)
  return model
}

test('an input token costs one credit where the catalogue says nothing else', () => {
  assert.equal(modelOf('').price.input, millionths(1_000_000))
  assert.equal(modelOf('    input: 0.1\n').price.input, millionths(100_000))
  assert.equal(modelOf('    input: 0\n').price.input, millionths(0))
  assert.doesNotMatch(formatCatalogue(read(withFields(''))), /input:|tiers|multipliers/)
})

test('makes one price list of each combination of tier and multipliers', () => {
  const { lists } = modelOf(`
    tiers:
      - above: 100000
        coefficient: 10
        weights: { cacheRead: 0.2, cacheWrite5m: 2.5, cacheWrite1h: 4 }
    multipliers:
      speed: { fast: 2 }
      inference_geo: { us: 1.1 }
`)
  assert.deepEqual(
    lists.map(({ name, price }) => `${name}: ${millionthsText(price.coefficient)}`),
    [
      ': 5',
      'inference_geo=us: 5.5',
      'speed=fast: 10',
      'speed=fast inference_geo=us: 11',
      'above=100000: 10',
      'above=100000 inference_geo=us: 11',
      'above=100000 speed=fast: 20',
      'above=100000 speed=fast inference_geo=us: 22',
    ],
  )
})

test('refuses a product that is not exact, and names the nearest exact prices', () => {
  const text = withFields('    multipliers: { inference_geo: { us: 1.1 } }\n').replace(
    'coefficient: 5',
    'coefficient: 5.000001',
  )
  assert.deepEqual(problems(text), [
    'line 7, models.0.coefficient: 5.000001 × 1.1 has more than 6 decimals; ' +
      'exact are 5 or 5.00001',
  ])
  for (const exact of ['5', '5.00001']) {
    read(text.replace('5.000001', exact))
  }
  const tier = `    tiers:
${tierLine(9, '0.000001')}    multipliers: { speed: { fast: 1.5 }, service_tier: { batch: 0.5 } }
`
  assert.deepEqual(problems(withFields(tier)), [
    'line 10, models.0.tiers.0.coefficient: 0.000001 × 0.5 has more than 6 decimals; ' +
      'exact are 0.000002',
    'line 10, models.0.tiers.0.coefficient: 0.000001 × 1.5 has more than 6 decimals; ' +
      'exact are 0.000002',
    'line 10, models.0.tiers.0.coefficient: 0.000001 × 1.5 × 0.5 has more than 6 decimals; ' +
      'exact are 0.000004',
  ])
})

test('refuses tiers out of order, too many lists, and lists that are too dear', () => {
  assert.match(
    problems(withFields(`    tiers:\n${tierLine(200)}${tierLine(100)}`)).join(),
    /tiers\.1\.above: is not above 200$/,
  )
  const many = Array.from({ length: 10 }, (_, i) => `v${i}: 1`).join(', ')
  const multipliers = `    multipliers: { speed: { ${many} }, inference_geo: { ${many} } }\n`
  assert.match(problems(withFields(multipliers)).join(), /make 121 price lists; 100 are the most/)
  assert.match(
    problems(withFields('    input: 900\n    multipliers: { speed: { fast: 2 } }\n')).join(),
    /multipliers: make a token cost more than 1000 credits/,
  )
})

test('refuses a catalogue that would take seconds to read', () => {
  const many = Array.from({ length: 999 }, (_, i) => `v${i}: 1`).join(', ')
  const all = ['speed', 'inference_geo', 'service_tier'].map((name) => `${name}: { ${many} }`)
  // A thousand million lists: they are counted, not computed.
  assert.match(
    problems(withFields(`    multipliers: { ${all.join(', ')} }\n`)).join(),
    /make 1000000000 price lists; 100 are the most$/,
  )
  const speeds = `multipliers: { speed: { ${many.split(', ').slice(0, 99).join(', ')} } }`
  const dear = Array.from({ length: 20 }, (_, i) => `  - { id: m${i}, like: base, ${speeds} }\n`)
  assert.match(
    problems(withFields(dear.join(''))).join(),
    /models: make 2001 price lists together; 2000 are the most$/,
  )
  const chain = Array.from({ length: 500 }, (_, i) => `  - { id: m${i}, like: m${i - 1} }\n`)
  assert.match(problems(withFields(chain.join(''))).join(), /models: are 501; 500 are the most$/)
})

test('refuses a feature that does not exist and a price per use without its limit', () => {
  assert.match(
    problems(withFields('    features: { web_serch: { iterationsMax: 2 } }\n')).join(),
    /features\.web_serch: no such feature; the nearest known one is web_search$/,
  )
  for (const field of ['perUse', 'contentMax']) {
    assert.match(
      problems(
        withFields(`    features: { web_search: { iterationsMax: 2, ${field}: 5 } }\n`),
      ).join(),
      new RegExp(`features\\.web_search: ${field} needs usesMax$`),
    )
  }
})

test('reads an applied version whose features are not known any more', () => {
  const text = withFields('    features: { tool_of_old: { iterationsMax: 2 } }\n')
  assert.match(problems(text).join(), /no such feature/)
  assert.equal(read(text, { isApplied: true }).models.length, 1)
})

test('takes every field over from the model that `like` names, except its name upstream', () => {
  const text = `models:${base}    upstreamNames: vendor-base
    features: { web_search: { iterationsMax: 2 } }
  - { id: second, like: base, displayName: Second }
  - { id: third, like: second, coefficient: 7 }
packs: []
`
  const [, second, third] = read(text).models
  assert.equal(second?.displayName.en, 'Second')
  assert.equal(second?.upstreamNames, 'second')
  assert.equal(second?.features.web_search?.iterationsMax, 2)
  assert.equal(third?.displayName.en, 'Second')
  assert.equal(third?.price.coefficient, millionths(7_000_000))
  assert.equal(third?.contextWindow, tokens(200_000))
  // The written catalogue spells everything out.
  assert.deepEqual(read(formatCatalogue(read(text))).models, read(text).models)
})

test('refuses a model like one that does not exist, or like itself', () => {
  const like = (id: string, other: string) => `  - { id: ${id}, like: ${other} }\n`
  assert.match(
    problems(`models:${base}${like('a', 'nobody')}packs: []`).join(),
    /models\.1\.like: there is no model nobody/,
  )
  const circle = problems(`models:${base}${like('a', 'b')}${like('b', 'a')}packs: []`)
  assert.match(circle.join(), /models\.1\.like: b takes its fields over from this model/)
  assert.match(problems(`models:${base}${like('a', 'a')}packs: []`).join(), /models\.1\.like: a /)
})

test('names models and packs in one text or in two languages', () => {
  const text = withFields('')
    .replace('displayName: Base', 'displayName: { ru: Основная, en: Base }')
    .replace(
      'packs: []',
      'packs:\n  - { id: p, name: { ru: Пакет, en: Pack }, credits: 1, priceKopecks: 1 }',
    )
  const { models, packs } = read(text)
  assert.deepEqual(models[0]?.displayName, { ru: 'Основная', en: 'Base' })
  assert.deepEqual(packs[0]?.name, { ru: 'Пакет', en: 'Pack' })
  assert.match(
    problems(text.replace('{ ru: Основная, en: Base }', '{ ru: Основная }')).join(),
    /displayName: expected one line of 1-100 characters, or \{ ru/,
  )
})

test('chooses the list of a reply by its prompt and its values', () => {
  const { lists } = modelOf(`    tiers:
${tierLine(100, '10')}${tierLine(200, '20')}    multipliers:
      speed: { fast: 2, faster: 3 }
      service_tier: { batch: 0.5 }
`)
  const chosen = (prompt: number, values: PriceList['values']) => {
    const { list, unlisted } = listOfReply(lists, tokens(prompt), values)
    return [list.name, ...unlisted].join('; ')
  }
  assert.equal(chosen(100, {}), '')
  assert.equal(chosen(101, {}), 'above=100')
  assert.equal(chosen(200, {}), 'above=100')
  assert.equal(chosen(201, { speed: 'fast' }), 'above=200 speed=fast')
  for (const ordinary of ['standard', 'global', 'not_available', undefined]) {
    assert.equal(
      chosen(1, { speed: ordinary, inference_geo: ordinary, service_tier: ordinary }),
      '',
    )
  }
  assert.equal(chosen(1, { speed: 'warp' }), 'speed=faster; speed')
  // Nothing is listed for geographies, and the only service tier is cheaper.
  assert.equal(chosen(1, { inference_geo: 'mars' }), '; inference_geo')
  assert.equal(chosen(1, { service_tier: 'flex' }), '; service_tier')
})

test('a listed ordinary value can be reported whatever the request asked for', () => {
  const { lists } = modelOf(`    multipliers:
      speed: { standard: 1.5, fast: 2 }
      inference_geo: { global: 1.2, us: 1.1 }
      service_tier: { standard: 1.25, priority: 2 }
`)
  for (const asked of [
    {},
    { speed: 'fast', inference_geo: 'us', service_tier: 'standard_only' },
    { speed: 'standard', inference_geo: 'not_available', service_tier: 'auto' },
  ]) {
    const values = { speed: 'standard', inference_geo: 'global', service_tier: 'standard' }
    const { list } = listOfReply(lists, tokens(1), values)
    assert.ok(reachableLists(lists, tokens(1), asked).includes(list), inspect(asked))
  }
})
