// Price lists: what a token of a model costs in each combination of prompt length, speed, geography
// and service tier. All lists of a model are computed when its catalogue is read, in whole
// millionths, so that a charge is a product of whole numbers and nothing is ever rounded.
import { MICRO } from '../units/credits.ts'
import { type Millionths, millionths, millionthsText, type Price } from '../units/price.ts'
import type { Tokens } from '../units/tokens.ts'

/** Fields of a request, and members of a reply's usage, that multiply every price of a token. */
export const dimensions = ['speed', 'inference_geo', 'service_tier'] as const
export type Dimension = (typeof dimensions)[number]

/** The multiplier of each value that is sold. Other values are not part of the catalogue. */
export type Multipliers = Readonly<Record<Dimension, Readonly<Record<string, Millionths>>>>

/** One value per dimension, as a request asks or a reply reports it. */
export type DimensionValues = Readonly<Partial<Record<Dimension, string | undefined>>>

/** A whole second price list, for prompts of more than so many tokens, cached ones included. */
export type Tier = { readonly above: Tokens; readonly price: Price }

export type PriceList = {
  /** `above=100000 speed=fast`; empty for the list that applies by default. */
  readonly name: string
  readonly above: Tokens
  /** The values that this list multiplies by; absent where a dimension counts as 1. */
  readonly values: DimensionValues
  readonly price: Price
}

export type PricedModel = {
  readonly price: Price
  readonly tiers: readonly Tier[]
  readonly multipliers: Multipliers
}

/**
 * With more, an operator could no longer check them. A default list and two tiers, with 4 speeds
 * and 4 geographies besides the ordinary ones, are 3 × 5 × 5 = 75.
 */
export const LISTS_MAX = 100

/** How many lists a model has. They are computed only if they are not too many. */
export function listCount({ tiers, multipliers }: Omit<PricedModel, 'price'>): number {
  return dimensions.reduce(
    (count, dimension) => count * (1 + Object.keys(multipliers[dimension]).length),
    1 + tiers.length,
  )
}

/** Values that count as 1 unless the catalogue lists them. */
const ORDINARY = new Set(['standard', 'global', 'not_available'])

export function isOrdinary(value: string): boolean {
  return ORDINARY.has(value)
}

const priceKinds = ['input', 'coefficient', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const
export type PriceKind = (typeof priceKinds)[number]

export type InexactProduct = {
  readonly tier: number | undefined
  readonly kind: PriceKind
  readonly sentence: string
}

type Combination = { readonly values: DimensionValues; readonly factors: readonly Millionths[] }

/** Every list of a model, none if they are too many, or the products that are not whole. */
export function priceLists(model: PricedModel): {
  readonly lists: readonly PriceList[]
  readonly problems: readonly InexactProduct[]
} {
  const lists: PriceList[] = []
  const problems: InexactProduct[] = []
  if (listCount(model) > LISTS_MAX) return { lists, problems }
  const tiers = [{ above: 0n as Tokens, price: model.price }, ...model.tiers]
  const combined = combinations(model.multipliers)
  for (const [index, { above, price }] of tiers.entries()) {
    const tier = index === 0 ? undefined : index - 1
    for (const { values, factors } of combined) {
      const product: Partial<Record<PriceKind, Millionths>> = {}
      for (const kind of priceKinds) {
        const exact = multiplied(price[kind], factors)
        if (exact === undefined) {
          problems.push({ tier, kind, sentence: inexact(price[kind], factors) })
        } else product[kind] = exact
      }
      lists.push({ name: listName(above, values), above, values, price: product as Price })
    }
  }
  return { lists, problems }
}

function combinations(multipliers: Multipliers): Combination[] {
  let found: Combination[] = [{ values: {}, factors: [] }]
  for (const dimension of dimensions) {
    const listed = Object.entries(multipliers[dimension])
    found = found.flatMap((one) => [
      one,
      ...listed.map(([value, factor]) => ({
        values: { ...one.values, [dimension]: value },
        factors: [...one.factors, factor],
      })),
    ])
  }
  return found
}

export function listName(above: Tokens, values: DimensionValues): string {
  const words = above === 0n ? [] : [`above=${above}`]
  for (const dimension of dimensions) {
    const value = values[dimension]
    if (value !== undefined) words.push(`${dimension}=${value}`)
  }
  return words.join(' ')
}

/** The values that multiply a price, without those that count as 1: `speed=fast`, or empty. */
export function rateOf(values: DimensionValues): string {
  const priced = Object.entries(values).filter(([, value]) => value && !isOrdinary(value))
  return listName(0n as Tokens, Object.fromEntries(priced))
}

/** Reads what `listName` wrote. */
export function listOfName(name: string): Pick<PriceList, 'above' | 'values'> {
  const words = name === '' ? [] : name.split(' ').map((word) => word.split('='))
  const { above = '0', ...values } = Object.fromEntries(words) as Record<string, string>
  return { above: BigInt(above) as Tokens, values }
}

function multiplied(price: Millionths, factors: readonly Millionths[]): Millionths | undefined {
  const { product, divisor } = fractionOf(price, factors)
  return product % divisor === 0n ? millionths(product / divisor) : undefined
}

function fractionOf(price: bigint, factors: readonly Millionths[]) {
  let product = price
  let divisor = 1n
  for (const factor of factors) {
    product *= factor
    divisor *= MICRO
  }
  return { product, divisor }
}

/** Names the nearest prices whose product is whole: the multiples of divisor / gcd. */
function inexact(price: Millionths, factors: readonly Millionths[]): string {
  const { product, divisor } = fractionOf(1n, factors)
  const step = divisor / gcd(product, divisor)
  const below = (price / step) * step
  const times = factors.map((factor) => ` × ${millionthsText(factor)}`).join('')
  const nearest = (below === 0n ? [step] : [below, below + step])
    .map((one) => millionthsText(millionths(one)))
    .join(' or ')
  return `${millionthsText(price)}${times} has more than 6 decimals; exact are ${nearest}`
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b)
}

/** The list by which a reply is charged, and the values of it that the catalogue does not list. */
export function listOfReply(
  lists: readonly PriceList[],
  prompt: Tokens,
  reported: DimensionValues,
): { readonly list: PriceList; readonly unlisted: readonly Dimension[] } {
  const [first] = lists as [PriceList, ...PriceList[]]
  const unlisted: Dimension[] = []
  const values: Partial<Record<Dimension, string>> = {}
  for (const dimension of dimensions) {
    const value = reported[dimension]
    if (value === undefined) continue
    if (lists.some((list) => list.values[dimension] === value)) values[dimension] = value
    else if (!ORDINARY.has(value)) {
      unlisted.push(dimension)
      const dearest = dearestValue(lists, dimension)
      if (dearest !== undefined) values[dimension] = dearest
    }
  }
  let found = first
  for (const list of lists) {
    if (list.above < found.above || (list.above > 0n && prompt <= list.above)) continue
    if (dimensions.every((dimension) => list.values[dimension] === values[dimension])) found = list
  }
  return { list: found, unlisted }
}

/** Undefined when no value of the dimension is listed, or none costs more than the default. */
function dearestValue(lists: readonly PriceList[], dimension: Dimension): string | undefined {
  const alone = lists.filter(
    ({ above, values }) =>
      above === 0n && dimensions.every((one) => one === dimension || values[one] === undefined),
  )
  const dearest = alone.reduce((most, list) =>
    list.price.coefficient > most.price.coefficient ? list : most,
  )
  return dearest.values[dimension]
}

/** The lists by which a reply to this request may be charged. */
export function reachableLists(
  lists: readonly PriceList[],
  promptBound: Tokens,
  asked: DimensionValues,
): readonly PriceList[] {
  if (lists.length === 1) return lists
  return lists.filter(
    ({ above, values }) =>
      (above === 0n || promptBound > above) &&
      dimensions.every((dimension) => isReachable(dimension, values[dimension], asked[dimension])),
  )
}

// Only a request that asks for a speed gets it. An upstream account may have a geography of its own
// that applies when the request names none, and decides about its service tier itself. An ordinary
// value comes whatever was asked for.
function isReachable(
  dimension: Dimension,
  value: string | undefined,
  asked: string | undefined,
): boolean {
  if (value === undefined || ORDINARY.has(value)) return true
  if (dimension === 'service_tier') return asked !== 'standard_only'
  return asked === value || (dimension === 'inference_geo' && asked === undefined)
}

/** The first field whose value changes the vendor's bill and has no price; undefined if none. */
export function unpricedField(
  multipliers: Multipliers,
  asked: DimensionValues,
): Dimension | undefined {
  // What a service tier costs is decided by the upstream's account, not by the request.
  return (['speed', 'inference_geo'] as const).find((dimension) => {
    const value = asked[dimension]
    return (
      value !== undefined && !ORDINARY.has(value) && !Object.hasOwn(multipliers[dimension], value)
    )
  })
}
