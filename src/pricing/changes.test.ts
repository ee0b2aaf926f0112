// Changes of single fields of a catalogue: what they set, add and remove, and what is refused.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type Catalogue, formatCatalogue, parseCatalogue } from './catalogue.ts'
import { changeCatalogue } from './changes.ts'

const text = readFileSync(join(import.meta.dirname, '../../catalogue.full.example.yaml'), 'utf8')
const read = parseCatalogue(text)
assert.ok('catalogue' in read)
const { catalogue } = read

function changed(...changes: string[]): Catalogue {
  const result = changeCatalogue(catalogue, changes)
  assert.ok('catalogue' in result, inspect(result))
  return result.catalogue
}

function fields(...changes: string[]): string[] {
  const result = changeCatalogue(catalogue, changes)
  assert.ok('problems' in result, 'it is refused')
  return result.problems.map(({ field, sentence }) => `${field}: ${sentence}`)
}

const modelOf = (id: string, all: Catalogue) => all.models.find((one) => one.id === id)
const packOf = (id: string, all: Catalogue) => all.packs.find((one) => one.id === id)
const [first, second] = catalogue.packs
assert.ok(first && second)

test('sets prices of models and packs, and nothing else', () => {
  const next = changed(
    'models.model-writer.coefficient=8.5',
    'models.model-writer.weights.cacheRead = 0.2',
    `packs.${first.id}.priceKopecks=139000`,
  )
  assert.equal(modelOf('model-writer', next)?.price.coefficient, 8_500_000n)
  assert.equal(modelOf('model-writer', next)?.price.cacheRead, 200_000n)
  assert.equal(packOf(first.id, next)?.priceKopecks, 139_000n)
  const undone = changeCatalogue(next, [
    'models.model-writer.coefficient=9',
    'models.model-writer.weights.cacheRead=0.15',
    `packs.${first.id}.priceKopecks=${first.priceKopecks}`,
  ])
  assert.ok('catalogue' in undone)
  assert.equal(formatCatalogue(undone.catalogue), formatCatalogue(catalogue))
})

test('without a change the catalogue stays the same', () => {
  assert.equal(formatCatalogue(changed()), formatCatalogue(catalogue))
})

test('adds and removes packs and models as a whole', () => {
  const next = changed(
    'packs.pack-new={ name: New, credits: 5000000, priceKopecks: 50000 }',
    `packs.${second.id}=`,
    'models.writer.v2={ like: model-writer, displayName: Writer 2 }',
  )
  assert.equal(packOf('pack-new', next)?.credits, 5_000_000_000_000n)
  assert.equal(packOf(second.id, next), undefined)
  const model = modelOf('writer.v2', next)
  assert.equal(model?.price.coefficient, modelOf('model-writer', catalogue)?.price.coefficient)
  // An id with a dot is found again.
  const again = changeCatalogue(next, ['models.writer.v2.coefficient=3'])
  assert.ok('catalogue' in again)
  assert.equal(modelOf('writer.v2', again.catalogue)?.price.coefficient, 3_000_000n)
})

test('names the field of every problem', () => {
  assert.deepEqual(
    fields('models.model-writer.coefficient=1,5', `packs.${first.id}.priceKopecks=-5`),
    [
      'models.model-writer.coefficient: expected a number such as 1.25, above 0 and up to 1000, ' +
        'at most 6 decimals',
      `packs.${first.id}.priceKopecks: expected a whole number, 1 to 10000000000`,
    ],
  )
  assert.deepEqual(fields('models.model-writer.coefficient='), [
    'models.model-writer.coefficient: is missing',
  ])
  assert.match(fields('models.model-writer.coeficient=5')[0] ?? '', /nearest known one is coeff/)
  assert.match(fields('models.model-writer.features.serch.iterationsMax=2')[0] ?? '', /no such fea/)
})

test('refuses what it does not know', () => {
  assert.deepEqual(fields('models.nobody.coefficient=5'), [
    'models.nobody.coefficient: there is no such model',
  ])
  for (const wrong of ['version=7', 'models=', 'models.model-writer.coefficient', 'x.y.z=1']) {
    assert.match(fields(wrong)[0] ?? '', /expected models\.<id>/, wrong)
  }
  assert.equal(fields('packs.a={ b').length, 1, 'broken YAML')
})

test('a path cannot reach what every object inherits', () => {
  assert.equal(fields('models.model-writer.__proto__.polluted=yes').length, 1)
  assert.equal(fields('models.model-writer.constructor.prototype.polluted=yes').length, 1)
  assert.equal((Object.create(null) as { polluted?: string }).polluted, undefined)
  assert.equal(({} as { polluted?: string }).polluted, undefined)
})
