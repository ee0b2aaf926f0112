// The fields of one model in the catalogue file: which are allowed, their limits, and how they
// become a Model. catalogue.ts reads the file around them.
import { z } from 'zod'
import { type Credits, credits } from '../units/credits.ts'
import { millionthsFromText, ONE, type Price } from '../units/price.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import { type Multipliers, type PriceList, priceLists, type Tier } from './lists.ts'
import { type Localized, localizedText, wholeText } from './packs.ts'

/**
 * Features that run more than one pass, or another model. `server_tools` stands for every tool of
 * the server that is not listed by its own name.
 */
export const featureNames = [
  'web_search',
  'web_fetch',
  'code_execution',
  'tool_search',
  'server_tools',
  'mcp',
  'advisor',
  'fallbacks',
  'compaction',
] as const
export type FeatureName = (typeof featureNames)[number]

export type Feature = {
  /** Passes of the model for one request, up to this number. */
  readonly iterationsMax: number
  /** What one use costs besides its tokens; 0 for most features. */
  readonly perUse: Credits
  /** Uses in one request, up to this number; 0: not limited, and a use costs nothing. */
  readonly usesMax: number
  /** Tokens that one use returns for the model to read, up to this number; 0: not limited. */
  readonly contentMax: number
}

export type Model = {
  /** The name that clients send. */
  readonly id: string
  readonly displayName: Localized
  /** A day, `2026-01-15`. */
  readonly createdAt: string
  /** The name that we send upstream: one for all upstreams, or one per upstream. */
  readonly upstreamNames: string | Readonly<Record<string, string>>
  readonly contextWindow: Tokens
  readonly outputCeiling: Tokens
  /** The price list by default. */
  readonly price: Price
  /** From the shortest prompt to the longest. */
  readonly tiers: readonly Tier[]
  readonly multipliers: Multipliers
  /** Every combination of tiers and multipliers; the first is the one by default. */
  readonly lists: readonly PriceList[]
  /** Features that are not listed are refused. */
  readonly features: Readonly<Record<string, Feature>>
}

// With these limits the most expensive request fits an int8 of microcredits: 10 million
// tokens × 100 passes × a price of 1000 is 10^18 each for the input, the output and the passes of
// three features, twice; the limit is 9.2 × 10^18.
const WINDOW_MAX = 10_000_000n
const ITERATIONS_MAX = 100n
export const PRICE_MAX = 1_000_000_000n
const MULTIPLIER_MAX = 100_000_000n
// A thousand uses at a million credits each are 10^15 microcredits.
export const USES_MAX = 1_000
const USE_CREDITS_MAX = 1_000_000n

function priceText(min: bigint, max = PRICE_MAX) {
  return z.string().transform((text, context) => {
    const value = millionthsFromText(text)
    if (value !== undefined && value >= min && value <= max) return value
    const upTo = max / 1_000_000n
    const range = min === 0n ? `0 to ${upTo}` : `above 0 and up to ${upTo}`
    const message = `expected a number such as 1.25, ${range}, at most 6 decimals`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

const modelName = z
  .string()
  .regex(/^[A-Za-z0-9][\w.:@/-]{0,127}$/, 'expected 1-128 letters, digits and ._:@/-')

const priceFields = {
  input: priceText(0n).optional(),
  // Free output is refused: a forgotten number must not make a model free.
  coefficient: priceText(1n),
  // Required for every list: 0 is a decision, a missing weight is an oversight.
  weights: z.strictObject({
    cacheRead: priceText(0n),
    cacheWrite5m: priceText(0n),
    cacheWrite1h: priceText(0n),
  }),
}

const tierSchema = z
  .strictObject({ above: wholeText(1n, WINDOW_MAX), ...priceFields })
  .transform(({ above, ...price }): Tier => ({ above: tokens(above), price: priceOf(price) }))

const multiplierValues = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/, 'expected 1-32 of a-z, 0-9, _ and -'),
    priceText(1n, MULTIPLIER_MAX),
  )
  .default({})

const featureSchema = z
  .strictObject({
    iterationsMax: wholeText(1n, ITERATIONS_MAX).transform(Number),
    perUse: wholeText(1n, USE_CREDITS_MAX).optional(),
    usesMax: wholeText(1n, BigInt(USES_MAX)).transform(Number).optional(),
    contentMax: wholeText(1n, WINDOW_MAX).transform(Number).optional(),
  })
  .transform(
    ({ iterationsMax, perUse = 0n, usesMax = 0, contentMax = 0 }): Feature => ({
      iterationsMax,
      perUse: credits(perUse),
      usesMax,
      contentMax,
    }),
  )

export const modelSchema = z
  .strictObject({
    id: modelName,
    like: z.string().optional(),
    displayName: localizedText,
    createdAt: z.string().refine(isDay, 'expected a day such as 2026-01-15'),
    upstreamNames: z
      .union([modelName, z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/), modelName)], {
        error: 'expected a name, or a map from upstream to name',
      })
      .optional(),
    contextWindow: wholeText(1n, WINDOW_MAX),
    outputCeiling: wholeText(1n, WINDOW_MAX),
    ...priceFields,
    tiers: z.array(tierSchema).default([]),
    multipliers: z
      .strictObject({
        speed: multiplierValues,
        inference_geo: multiplierValues,
        service_tier: multiplierValues,
      })
      .default({ speed: {}, inference_geo: {}, service_tier: {} }),
    features: z.record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), featureSchema).default({}),
  })
  .transform(({ id, like: _, upstreamNames = id, input, coefficient, weights, ...rest }): Model => {
    const price = priceOf({ input, coefficient, weights })
    const { tiers, multipliers } = rest
    return {
      ...rest,
      id,
      upstreamNames,
      contextWindow: tokens(rest.contextWindow),
      outputCeiling: tokens(rest.outputCeiling),
      price,
      lists: priceLists({ price, tiers, multipliers }).lists,
    }
  })

type PriceFields = {
  readonly input?: Price['input'] | undefined
  readonly coefficient: Price['coefficient']
  readonly weights: Omit<Price, 'input' | 'coefficient'>
}

function priceOf({ input = ONE, coefficient, weights }: PriceFields): Price {
  return { input, coefficient, ...weights }
}

function isDay(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number)
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days
}

/** The price of a feature; a tool of the server without its own counts as `server_tools`. */
export function featureOf({ features }: Model, name: string): Feature | undefined {
  if (Object.hasOwn(features, name)) return features[name]
  if (!toolFeatures.has(name) || !Object.hasOwn(features, 'server_tools')) return undefined
  return features.server_tools
}

const toolFeatures = new Set(['web_search', 'web_fetch', 'code_execution', 'tool_search'])
