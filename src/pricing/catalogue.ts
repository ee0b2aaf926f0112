// The catalogue as data: models with their prices, and packs. Read from YAML with every complaint
// at once and its line, written back so that it reads as itself. Numbers are read as text: 0.1 is
// exactly a tenth. Which version is in force is the door's affair.
import { Document } from 'yaml'
import { z } from 'zod'
import { type Complaint, complaintsOf, readYaml } from '../platform/yaml.ts'
import { millionthsFromText, millionthsText, type Price } from '../units/price.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import { lineText, type Pack, packFields, packSchema, wholeText } from './packs.ts'

export type Model = {
  /** What clients send. */
  readonly id: string
  readonly displayName: string
  /** A day, `2026-01-15`. */
  readonly createdAt: string
  /** What is sent upstream: one name, or one per upstream. */
  readonly upstreamNames: string | Readonly<Record<string, string>>
  readonly contextWindow: Tokens
  readonly outputCeiling: Tokens
  readonly price: Price
  /** Features that loop over the context, priced up to so many passes. Others are refused. */
  readonly features: Readonly<Record<string, { readonly iterationsMax: number }>>
}

export type Catalogue = {
  /** Assigned when applied; 0 until then. */
  readonly version: number
  readonly models: readonly Model[]
  readonly packs: readonly Pack[]
}

// Together these keep the dearest possible request inside an int8 of microcredits: 10 million
// tokens × 100 passes × a price of 1000 is 10^18, and the limit is 9.2 × 10^18.
const WINDOW_MAX = 10_000_000n
const ITERATIONS_MAX = 100n
const PRICE_MAX = 1_000_000_000n

function priceText(min: bigint) {
  return z.string().transform((text, context) => {
    const value = millionthsFromText(text)
    if (value !== undefined && value >= min && value <= PRICE_MAX) return value
    const range = min === 0n ? '0 to 1000' : 'above 0 and up to 1000'
    const message = `expected a number such as 1.25, ${range}, at most 6 decimals`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.:@/-]{0,127}$/, 'expected 1-128 letters, digits and ._:@/-')

const modelSchema = z
  .strictObject({
    id: modelName,
    displayName: lineText,
    createdAt: z.string().refine(isDay, 'expected a day such as 2026-01-15'),
    upstreamNames: z
      .union([modelName, z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/), modelName)], {
        error: 'expected a name, or a map from upstream to name',
      })
      .optional(),
    contextWindow: wholeText(1n, WINDOW_MAX),
    outputCeiling: wholeText(1n, WINDOW_MAX),
    // Free output is refused: a forgotten number must not give a model away.
    coefficient: priceText(1n),
    // Explicit for every model: 0 means the plain formula, absence would mean nobody decided.
    weights: z.strictObject({
      cacheRead: priceText(0n),
      cacheWrite5m: priceText(0n),
      cacheWrite1h: priceText(0n),
    }),
    features: z
      .record(
        z.string().regex(/^[a-z][a-z0-9_]{0,63}$/),
        z.strictObject({ iterationsMax: wholeText(1n, ITERATIONS_MAX).transform(Number) }),
      )
      .default({}),
  })
  .transform(
    ({ id, upstreamNames = id, coefficient, weights, ...rest }): Model => ({
      ...rest,
      id,
      upstreamNames,
      contextWindow: tokens(rest.contextWindow),
      outputCeiling: tokens(rest.outputCeiling),
      price: { coefficient, ...weights },
    }),
  )

const catalogueSchema = z.strictObject({
  version: wholeText(0n, 2_147_483_647n).transform(Number).default(0),
  models: z.array(modelSchema).min(1, 'expected at least one model'),
  packs: z.array(packSchema),
})

function isDay(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number)
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days
}

/** Reads a catalogue, frozen; or says everything that is wrong with it, line by line. */
export function parseCatalogue(
  text: string,
): { readonly catalogue: Catalogue } | { readonly complaints: readonly string[] } {
  const yaml = readYaml(text, { textOnly: true })
  if (yaml.complaints.length > 0) {
    return { complaints: yaml.complaints.map(({ line, sentence }) => `line ${line}: ${sentence}`) }
  }
  const checked = catalogueSchema.safeParse(yaml.value)
  const complaints = [
    ...(checked.success ? [] : complaintsOf(checked.error, catalogueSchema)),
    ...complaintsBetween(yaml.value),
  ]
  if (checked.success && complaints.length === 0) return { catalogue: deepFrozen(checked.data) }
  return {
    complaints: complaints
      .map(({ path, sentence }) => ({ line: yaml.lineAt(path), path, sentence }))
      .sort((a, b) => a.line - b.line)
      .map(
        ({ line, path, sentence }) => `line ${line}, ${path.join('.') || 'the file'}: ${sentence}`,
      ),
  }
}

/** Rules between fields, on the raw text: a schema would skip them while any one field is wrong. */
function complaintsBetween(raw: unknown): Complaint[] {
  const found: Complaint[] = []
  for (const list of ['models', 'packs']) {
    const seen = new Set<unknown>()
    for (const [index, { id, contextWindow, outputCeiling }] of rawItems(raw, list).entries()) {
      if (id !== undefined && seen.has(id)) {
        found.push({ path: [list, index, 'id'], sentence: `${id} is there twice` })
      }
      seen.add(id)
      if (Number(outputCeiling) > Number(contextWindow)) {
        const sentence = `is above the context window, ${contextWindow}`
        found.push({ path: [list, index, 'outputCeiling'], sentence })
      }
    }
  }
  return found
}

function rawItems(raw: unknown, list: string): Record<string, unknown>[] {
  const items = (raw as Record<string, unknown> | null)?.[list]
  return Array.isArray(items) ? items.map((item) => (typeof item === 'object' ? item : {})) : []
}

/** Writes a catalogue as YAML that reads back as exactly the same one. */
export function formatCatalogue({ version, models, packs }: Catalogue): string {
  const fields = {
    version: version.toString(),
    models: models.map(modelFields),
    packs: packs.map(packFields),
  }
  // In the failsafe schema all is text, so numbers are printed as they stand, without quotes.
  return new Document(fields, { schema: 'failsafe' }).toString({ lineWidth: 0 })
}

function modelFields({ price, features, ...model }: Model) {
  const iterations = Object.entries(features).map(
    ([name, { iterationsMax }]) => [name, { iterationsMax: iterationsMax.toString() }] as const,
  )
  return {
    id: model.id,
    displayName: model.displayName,
    createdAt: model.createdAt,
    ...(model.upstreamNames === model.id ? {} : { upstreamNames: model.upstreamNames }),
    contextWindow: model.contextWindow.toString(),
    outputCeiling: model.outputCeiling.toString(),
    coefficient: millionthsText(price.coefficient),
    weights: {
      cacheRead: millionthsText(price.cacheRead),
      cacheWrite5m: millionthsText(price.cacheWrite5m),
      cacheWrite1h: millionthsText(price.cacheWrite1h),
    },
    ...(iterations.length === 0 ? {} : { features: Object.fromEntries(iterations) }),
  }
}

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFrozen(inner)
  }
  return value
}
