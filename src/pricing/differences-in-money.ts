// What a new catalogue changes in money: the price of a million credits, a typical request of each
// model in credits and roubles, and for each model with new prices a million tokens and the dearest
// request. For an operator who is about to apply it; differences.ts says what changes in the file.
import { costOfTokens } from '../units/charge.ts'
import { type Credits, credits, creditsText, micro } from '../units/credits.ts'
import { costOf, type Price } from '../units/price.ts'
import { type TokenCounts, tokens } from '../units/tokens.ts'
import type { Catalogue, Model } from './catalogue.ts'
import { type Dimension, listOfReply, type PriceList } from './lists.ts'
import { type Fraction, kopecksOf, packsByPrice, roublesDown } from './money.ts'
import type { Pack } from './packs.ts'

const MILLION = tokens(1_000_000)
const THOUSAND = 1_000n

/** A turn of a coding agent: nearly the whole conversation is in the cache. */
const TYPICAL: TokenCounts = {
  input: tokens(2_000),
  output: tokens(800),
  cacheRead: tokens(40_000),
  cacheWrite5m: tokens(3_000),
  cacheWrite1h: tokens(0),
}

const kinds = {
  input: 'input tokens',
  coefficient: 'output tokens',
  cacheRead: 'tokens read from the cache',
  cacheWrite5m: 'tokens written to the cache for 5 minutes',
  cacheWrite1h: 'tokens written to the cache for an hour',
} as const satisfies Record<keyof Price, string>

/** One sentence per price that changed; amounts are those of the cheapest and the dearest pack. */
export function differencesInMoney(before: Catalogue, after: Catalogue): string[] {
  if (before.packs.length === 0 || after.packs.length === 0) return []
  const say = (what: string, old: Credits | undefined, now: Credits | undefined) => {
    const [was, is] = [roubles(old, before), roubles(now, after)]
    return was === is ? [] : [`${what} ${was} → ${is}`]
  }
  const million = credits(1_000_000)
  return [
    ...say('a million credits:', million, million),
    ...after.models.flatMap((model) => {
      const old = before.models.find(({ id }) => id === model.id)
      const isRepriced = old !== undefined && pricesOf(old) !== pricesOf(model)
      const what = (text: string) => `model ${model.id}: ${text}`
      const [was, is] = [typicalText(old, before), typicalText(model, after)]
      return [
        ...(isRepriced
          ? changedPrices(old, model).flatMap((one) => say(what(one.what), one.was, one.is))
          : []),
        // Also when only the packs changed: then it costs other roubles.
        ...(was === is ? [] : [what(`a typical request ${was} → ${is}`)]),
        ...(isRepriced ? say(what('the dearest request'), dearest(old), dearest(model)) : []),
      ]
    }),
  ]
}

/** `21825 credits, 2.82-3.25 RUB`. */
function typicalText(model: Model | undefined, catalogue: Catalogue): string {
  if (model === undefined) return 'none'
  const amount = typicalCost(model)
  return `${creditsText(amount)} credits, ${roubles(amount, catalogue)}`
}

/** What credits cost at the cheapest pack and at the dearest; undefined without packs. */
export function kopecksRange(
  amount: Credits,
  packs: readonly Pack[],
): { readonly least: Fraction; readonly most: Fraction } | undefined {
  const sorted = packsByPrice(packs)
  const [cheapest, dearest] = [sorted.at(0), sorted.at(-1)]
  if (cheapest === undefined || dearest === undefined) return undefined
  return { least: kopecksOf(amount, cheapest), most: kopecksOf(amount, dearest) }
}

/** `33.00-37.14 RUB`: at the cheapest pack and at the dearest, rounded down. */
function roubles(amount: Credits | undefined, { packs }: Catalogue): string {
  const range = amount === undefined ? undefined : kopecksRange(amount, packs)
  if (range === undefined) return 'none'
  const ends = [roublesDown(range.least), roublesDown(range.most)]
  return `${[...new Set(ends)].join('-')} RUB`
}

function pricesOf({ lists, features }: Model): string {
  return JSON.stringify([lists, features], (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

type Change = {
  readonly what: string
  /** Undefined where the catalogue has no such multiplier. */
  readonly was: Credits | undefined
  readonly is: Credits | undefined
}

/** Lists without multipliers, and with one changed multiplier: the others follow from them. */
function changedPrices(old: Model, now: Model): Change[] {
  const isShown = ({ values }: PriceList) => {
    const [only, ...others] = Object.entries(values) as [Dimension, string][]
    if (only === undefined) return true
    const [dimension, value] = only
    const factors = [old, now].map(({ multipliers }) => multipliers[dimension][value])
    return others.length === 0 && factors[0] !== factors[1]
  }
  const all = new Map([...old.lists, ...now.lists].map((list) => [list.name, list]))
  const ofTokens = [...all.values()].filter(isShown).flatMap((list) => {
    const [was, is] = [priceAt(old, list), priceAt(now, list)]
    return (Object.keys(kinds) as (keyof Price)[]).map((kind) => ({
      what: `a million ${kinds[kind]}${list.name === '' ? '' : ` (${list.name})`}`,
      was: was && costOf(MILLION, was[kind]),
      is: is && costOf(MILLION, is[kind]),
    }))
  })
  const useOf = ({ features }: Model, name: string) => features[name]?.perUse ?? 0n
  const tools = new Set([...Object.keys(old.features), ...Object.keys(now.features)])
  const ofTools = [...tools].map((name) => ({
    what: `a thousand uses of ${name}`,
    was: micro(useOf(old, name) * THOUSAND),
    is: micro(useOf(now, name) * THOUSAND),
  }))
  return [...ofTokens, ...ofTools].filter(({ was, is }) => was !== is)
}

/** What a model charges where this list applies; undefined without one of its multipliers. */
function priceAt(model: Model, { above, values }: PriceList): Price | undefined {
  const isSold = (Object.entries(values) as [Dimension, string][]).every(([dimension, value]) =>
    Object.hasOwn(model.multipliers[dimension], value),
  )
  return isSold ? listOfReply(model.lists, tokens(above + 1n), values).list.price : undefined
}

/** What a turn of a coding agent costs. */
export function typicalCost({ price }: Pick<Model, 'price'>): Credits {
  return costOfTokens(TYPICAL, price)
}

/** The whole window at the dearest price of an input token, and as much output as possible. */
function dearest({ lists, contextWindow, outputCeiling }: Model): Credits {
  const costs = lists.map(({ price: { coefficient, ...input } }) => {
    const each = Object.values(input).reduce((most, one) => (one > most ? one : most))
    return costOf(contextWindow, each) + costOf(outputCeiling, coefficient)
  })
  return micro(costs.reduce((most, cost) => (cost > most ? cost : most)))
}
