// The catalogue as data: models with their prices, and packs. Reading YAML reports all problems at
// once, each with its line; writing produces YAML that reads back as the same catalogue. Numbers
// are read as text, so 0.1 is exactly a tenth. versions.ts decides which version is in force.
import { Document } from 'yaml'
import { z } from 'zod'
import { nearestName, readYaml, type SchemaProblem, schemaProblems } from '../platform/yaml.ts'
import { wholeCredits } from '../units/credits.ts'
import { millionthsText, ONE, type Price } from '../units/price.ts'
import { dimensions, LISTS_MAX, listCount, type Multipliers, priceLists } from './lists.ts'
import { type Feature, featureNames, type Model, modelSchema, PRICE_MAX } from './model-schema.ts'
import { localizedFields, type Pack, packFields, packSchema, wholeText } from './packs.ts'

export type { Model }

export type Catalogue = {
  /** Assigned when the catalogue is applied; 0 before. */
  readonly version: number
  readonly models: readonly Model[]
  readonly packs: readonly Pack[]
}

// Reading 500 models takes half a second, and 20 models with 2,000 lists 0.2 s. Meanwhile a process
// answers nobody, and all processes read a new version within seconds. A request with an advisor
// looks at every list.
const MODELS_MAX = 500
const LISTS_TOGETHER_MAX = 2_000

const catalogueSchema = z.strictObject({
  version: wholeText(0n, 2_147_483_647n).transform(Number).default(0),
  models: z.array(modelSchema).min(1, 'expected at least one model'),
  packs: z.array(packSchema),
})

/**
 * Returns the frozen catalogue, or all problems of the text with their lines. An applied version
 * may name features that are not known any more: nobody can ask for them.
 */
export function parseCatalogue(
  text: string,
  { isApplied = false } = {},
): { readonly catalogue: Catalogue } | { readonly problems: readonly string[] } {
  const yaml = readYaml(text, { textOnly: true })
  if (yaml.problems.length > 0) {
    return { problems: yaml.problems.map(({ line, sentence }) => `line ${line}: ${sentence}`) }
  }
  const read = readCatalogue(yaml.value, { isApplied })
  if ('catalogue' in read) return read
  return {
    problems: read.problems
      .map(({ path, sentence }) => ({ line: yaml.lineAt(path), path, sentence }))
      .sort((a, b) => a.line - b.line)
      .map(
        ({ line, path, sentence }) => `line ${line}, ${path.join('.') || 'the file'}: ${sentence}`,
      ),
  }
}

/** The same for a value whose scalars are text, with the paths of all problems. */
export function readCatalogue(
  value: unknown,
  { isApplied = false } = {},
): { readonly catalogue: Catalogue } | { readonly problems: readonly SchemaProblem[] } {
  const count = rawItems(value, 'models').length
  if (!isApplied && count > MODELS_MAX) {
    const sentence = `are ${count}; ${MODELS_MAX} are the most`
    return { problems: [{ path: ['models'], sentence }] }
  }
  const { raw, problems: inherited } = withInherited(value)
  const checked = catalogueSchema.safeParse(raw)
  const problems = [
    ...inherited,
    ...(checked.success ? [] : schemaProblems(checked.error, catalogueSchema)),
    ...crossFieldProblems(raw, isApplied),
    ...(checked.success ? checked.data.models.flatMap(priceProblems) : []),
    ...(checked.success && !isApplied ? sizeProblems(checked.data.models) : []),
  ]
  if (checked.success && problems.length === 0) return { catalogue: deepFreeze(checked.data) }
  return { problems }
}

type RawModel = Record<string, unknown>

/** Models with the fields that they take over from the model that `like` names. */
function withInherited(value: unknown): { raw: unknown; problems: SchemaProblem[] } {
  const models = rawItems(value, 'models')
  const problems: SchemaProblem[] = []
  const byId = new Map(models.map((model, index) => [model.id, index]))
  const whole = (index: number, seen: readonly number[]): RawModel => {
    const { like, ...own } = models[index] as RawModel
    if (like === undefined) return own
    const other = byId.get(like)
    const path = ['models', index, 'like']
    if (other === undefined) {
      problems.push({ path, sentence: `there is no model ${String(like)}` })
      return own
    }
    if (seen.includes(other) || other === index) {
      problems.push({ path, sentence: `${String(like)} takes its fields over from this model` })
      return own
    }
    // A name at an upstream belongs to one model.
    const { upstreamNames: _, ...taken } = whole(other, [...seen, index])
    return { ...taken, ...own }
  }
  const filled = models.map((_, index) => whole(index, []))
  const once = new Map(problems.map((one) => [`${one.path.join()} ${one.sentence}`, one]))
  const raw = models.length === 0 ? value : { ...(value as RawModel), models: filled }
  return { raw, problems: [...once.values()] }
}

/** Checks rules between fields on the raw text: the schema skips them if any field is wrong. */
function crossFieldProblems(raw: unknown, isApplied: boolean): SchemaProblem[] {
  const found: SchemaProblem[] = []
  for (const list of ['models', 'packs']) {
    const seen = new Set<unknown>()
    for (const [index, item] of rawItems(raw, list).entries()) {
      const { id, contextWindow, outputCeiling } = item
      if (id !== undefined && seen.has(id)) {
        found.push({ path: [list, index, 'id'], sentence: `${id} is there twice` })
      }
      seen.add(id)
      if (Number(outputCeiling) > Number(contextWindow)) {
        const sentence = `is above the context window, ${contextWindow}`
        found.push({ path: [list, index, 'outputCeiling'], sentence })
      }
      if (!isApplied) found.push(...featureProblems([list, index, 'features'], item.features))
    }
  }
  return found
}

function featureProblems(path: readonly (string | number)[], features: unknown): SchemaProblem[] {
  const known: readonly string[] = featureNames
  return Object.entries(rawObject(features)).flatMap(([name, feature]) => {
    const { perUse, usesMax, contentMax } = rawObject(feature)
    if (!known.includes(name)) {
      const sentence = `no such feature; the nearest known one is ${nearestName(name, known)}`
      return [{ path: [...path, name], sentence }]
    }
    if (usesMax !== undefined || (perUse ?? contentMax) === undefined) return []
    const field = perUse === undefined ? 'contentMax' : 'perUse'
    return [{ path: [...path, name], sentence: `${field} needs usesMax` }]
  })
}

/** Tiers in order, few enough lists, and every product of a price and its multipliers exact. */
function priceProblems(model: Model, index: number): SchemaProblem[] {
  const path = ['models', index]
  const found: SchemaProblem[] = []
  for (const [i, { above }] of model.tiers.entries()) {
    const before = model.tiers[i - 1]?.above ?? 0n
    if (above <= before) {
      found.push({ path: [...path, 'tiers', i, 'above'], sentence: `is not above ${before}` })
    }
  }
  if (listCount(model) > LISTS_MAX) {
    const sentence = `make ${listCount(model)} price lists; ${LISTS_MAX} are the most`
    return [...found, { path: [...path, 'multipliers'], sentence }]
  }
  for (const { tier, kind, sentence } of priceLists(model).problems) {
    const at = tier === undefined ? path : [...path, 'tiers', tier]
    const field = kind === 'input' || kind === 'coefficient' ? [kind] : ['weights', kind]
    found.push({ path: [...at, ...field], sentence })
  }
  const isTooDear = model.lists.some(({ price }) =>
    Object.values(price).some((one) => one > PRICE_MAX),
  )
  if (isTooDear) {
    const sentence = `make a token cost more than ${PRICE_MAX / 1_000_000n} credits`
    found.push({ path: [...path, 'multipliers'], sentence })
  }
  return found
}

function sizeProblems(models: readonly Model[]): SchemaProblem[] {
  const count = models.reduce((sum, { lists }) => sum + lists.length, 0)
  if (count <= LISTS_TOGETHER_MAX) return []
  const sentence = `make ${count} price lists together; ${LISTS_TOGETHER_MAX} are the most`
  return [{ path: ['models'], sentence }]
}

export function rawItems(raw: unknown, list: string): RawModel[] {
  const items = rawObject(raw)[list]
  return Array.isArray(items) ? items.map(rawObject) : []
}

export function rawObject(value: unknown): RawModel {
  return typeof value === 'object' && value !== null ? (value as RawModel) : {}
}

/** Writes a catalogue as YAML that reads back as the same catalogue. */
export function formatCatalogue({ version, models, packs }: Catalogue): string {
  const fields = {
    version: version.toString(),
    models: models.map(modelFields),
    packs: packs.map(packFields),
  }
  // In the failsafe schema every value is text, so numbers are printed without quotes.
  return new Document(fields, { schema: 'failsafe' }).toString({ lineWidth: 0 })
}

function modelFields(model: Model) {
  const { tiers, multipliers } = model
  const features = Object.entries(model.features).map(
    ([name, feature]) => [name, featureFields(feature)] as const,
  )
  return {
    id: model.id,
    displayName: localizedFields(model.displayName),
    createdAt: model.createdAt,
    ...(model.upstreamNames === model.id ? {} : { upstreamNames: model.upstreamNames }),
    contextWindow: model.contextWindow.toString(),
    outputCeiling: model.outputCeiling.toString(),
    ...priceFields(model.price),
    ...(tiers.length === 0
      ? {}
      : {
          tiers: tiers.map(({ above, price }) => ({
            above: above.toString(),
            ...priceFields(price),
          })),
        }),
    ...multiplierFields(multipliers),
    ...(features.length === 0 ? {} : { features: Object.fromEntries(features) }),
  }
}

/** An input token that costs one credit is not written: older programs do not know the field. */
function priceFields({ input, coefficient, ...weights }: Price) {
  return {
    ...(input === ONE ? {} : { input: millionthsText(input) }),
    coefficient: millionthsText(coefficient),
    weights: {
      cacheRead: millionthsText(weights.cacheRead),
      cacheWrite5m: millionthsText(weights.cacheWrite5m),
      cacheWrite1h: millionthsText(weights.cacheWrite1h),
    },
  }
}

function multiplierFields(multipliers: Multipliers) {
  const listed = dimensions.flatMap((dimension) => {
    const values = Object.entries(multipliers[dimension]).map(
      ([value, factor]) => [value, millionthsText(factor)] as const,
    )
    return values.length === 0 ? [] : [[dimension, Object.fromEntries(values)] as const]
  })
  return listed.length === 0 ? {} : { multipliers: Object.fromEntries(listed) }
}

function featureFields({ iterationsMax, perUse, usesMax, contentMax }: Feature) {
  return {
    iterationsMax: iterationsMax.toString(),
    ...(perUse === 0n ? {} : { perUse: wholeCredits(perUse).toString() }),
    ...(usesMax === 0 ? {} : { usesMax: usesMax.toString() }),
    ...(contentMax === 0 ? {} : { contentMax: contentMax.toString() }),
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
