// What each price of the catalogue leaves after the vendor's bill. Compares, for every model and
// every situation in which the vendor or the catalogue has another price, what a unit brings at the
// cheapest pack with what it costs at the vendor. Exact; nothing is charged here.
import { micro } from '../units/credits.ts'
import { costOf } from '../units/price.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { Catalogue, Model } from './catalogue.ts'
import {
  type Dimension,
  type DimensionValues,
  dimensions,
  isOrdinary,
  listName,
  listOfReply,
} from './lists.ts'
import { featureOf } from './model-schema.ts'
import { type Fraction, isLess, kopecksOf, packsByPrice } from './money.ts'
import type { Pack } from './packs.ts'
import { factorsOf, kopecksAt, priceAt } from './vendor-cost.ts'
import { countedTools, type VendorModel, type VendorPrices } from './vendor-prices.ts'

/** What is sold, in the words of the table. */
export type MarginLine = {
  readonly model: string
  /** A kind of token, for a million tokens, or a tool, for a thousand uses. */
  readonly sold: string
  /** The tier and the values for which this line holds, as in the name of a price list. */
  readonly list: string
  readonly revenue: Fraction
  /** Undefined when the vendor's list has no price for it. */
  readonly cost: Fraction | undefined
  readonly verdict: 'profit' | 'loss' | 'unknown'
}

const kinds = [
  { sold: 'input', ours: 'input', theirs: 'input' },
  { sold: 'output', ours: 'coefficient', theirs: 'output' },
  { sold: 'cache read', ours: 'cacheRead', theirs: 'cacheRead' },
  { sold: 'cache write 5m', ours: 'cacheWrite5m', theirs: 'cacheWrite5m' },
  { sold: 'cache write 1h', ours: 'cacheWrite1h', theirs: 'cacheWrite1h' },
] as const

const TOKENS = tokens(1_000_000)
const USES = 1_000n
/** Every line of every model; none without packs, because then nothing is sold. */
export function marginLines(catalogue: Catalogue, vendor: VendorPrices): MarginLine[] {
  const [cheapest] = packsByPrice(catalogue.packs)
  if (cheapest === undefined) return []
  return catalogue.models.flatMap((model) => {
    const bills = billsOf(model, vendor)
    return [
      ...tokenLines(model, cheapest, bills, vendor.kopecksPerUnit),
      ...toolLines(model, cheapest, bills, vendor.kopecksPerUnit),
    ]
  })
}

/** The vendor's prices for a model under each of its names; undefined for a name without any. */
function billsOf(
  { id, upstreamNames: names }: Model,
  { models }: VendorPrices,
): readonly (VendorModel | undefined)[] {
  const find = (name: string) => models.find((one) => one.name === name)
  const own = find(id)
  const upstream = typeof names === 'string' ? [names] : Object.values(names)
  const bills = (upstream.length === 0 ? [id] : upstream).map((name) => find(name) ?? own)
  return own === undefined ? bills : [own, ...bills]
}

function tokenLines(
  model: Model,
  pack: Pack,
  bills: readonly (VendorModel | undefined)[],
  rate: bigint,
): MarginLine[] {
  return situationsOf(model, bills).flatMap(({ above, values }) => {
    const prompt = tokens(above + 1n)
    const { price } = listOfReply(model.lists, prompt, values).list
    const list = listName(above, values)
    return kinds.map(({ sold, ours, theirs }) => {
      const revenue = kopecksOf(costOf(TOKENS, price[ours]), pack)
      const costs = bills.map((bill) => {
        const each = bill && priceAt(bill, prompt)[theirs]
        const factors = bill && factorsOf(bill, values)
        if (each === undefined || factors === undefined) return undefined
        return kopecksAt([each, ...factors], rate)
      })
      return lineOf({ model: model.id, sold, list, revenue }, costs)
    })
  })
}

// A tool is sold when the catalogue lists it, also at no price of its own. Speed and geography
// multiply tokens only.
function toolLines(
  model: Model,
  pack: Pack,
  bills: readonly (VendorModel | undefined)[],
  rate: bigint,
): MarginLine[] {
  return countedTools.flatMap((tool) => {
    const feature = featureOf(model, tool)
    if (feature === undefined) return []
    const revenue = kopecksOf(micro(feature.perUse * USES), pack)
    const costs = bills.map((bill) => {
      const each = bill?.tools[tool]
      return each === undefined ? undefined : kopecksAt([each * USES], rate)
    })
    return [lineOf({ model: model.id, sold: `${tool} use`, list: '', revenue }, costs)]
  })
}

/** The dearest cost counts: which upstream will serve a request is not known before. */
function lineOf(
  line: Omit<MarginLine, 'cost' | 'verdict'>,
  costs: readonly (Fraction | undefined)[],
): MarginLine {
  const known = costs.filter((cost) => cost !== undefined)
  const [first, ...others] = known
  const dearest = first && others.reduce((most, cost) => (isLess(most, cost) ? cost : most), first)
  if (dearest !== undefined && isLess(line.revenue, dearest)) {
    return { ...line, cost: dearest, verdict: 'loss' }
  }
  if (known.length < costs.length) return { ...line, cost: undefined, verdict: 'unknown' }
  return { ...line, cost: dearest, verdict: 'profit' }
}

type Situation = { readonly above: Tokens; readonly values: DimensionValues }

/** Every combination of a tier and values that changes the price here or at the vendor. */
function situationsOf(model: Model, bills: readonly (VendorModel | undefined)[]): Situation[] {
  const vendors = bills.filter((bill) => bill !== undefined)
  const tiers = [model, ...vendors].flatMap((one) => one.tiers.map(({ above }) => above))
  // The counts of a reply are the sum of its passes, each of which reads up to the window.
  const passes = Object.values(model.features).map(({ iterationsMax }) => iterationsMax)
  const promptMax = model.contextWindow * BigInt(Math.max(1, ...passes))
  const bands = [...new Set([tokens(0), ...tiers.filter((above) => above < promptMax)])]
  let combined: DimensionValues[] = [{}]
  for (const dimension of dimensions) {
    const values = valuesOf(dimension, model, vendors)
    combined = combined.flatMap((one) => [
      one,
      ...values.map((value) => ({ ...one, [dimension]: value })),
    ])
  }
  return bands
    .toSorted((a, b) => Number(a - b))
    .flatMap((above) => combined.map((values) => ({ above, values })))
}

/**
 * The values with a price here, and those that only the vendor bills. A request for a speed without
 * a price is refused, so no reply has it; a geography and a service tier also come unasked.
 */
function valuesOf(dimension: Dimension, model: Model, vendors: readonly VendorModel[]): string[] {
  const sold = Object.keys(model.multipliers[dimension])
  const billed = vendors.flatMap(({ multipliers }) => Object.keys(multipliers[dimension]))
  const unasked = billed.filter((value) => dimension !== 'speed' || isOrdinary(value))
  return [...new Set([...sold, ...unasked])]
}

/**
 * The margin in tenths of a percent of the revenue, rounded down; undefined without a revenue or
 * with an unknown cost.
 */
export function marginTenths({
  revenue,
  cost,
}: Pick<MarginLine, 'revenue' | 'cost'>): bigint | undefined {
  if (cost === undefined || revenue.top === 0n) return undefined
  const whole = revenue.top * cost.bottom
  const left = (whole - cost.top * revenue.bottom) * 1_000n
  const rounded = left / whole
  return left < 0n && rounded * whole !== left ? rounded - 1n : rounded
}

/** For each model and each thing sold the worst line: losses first, then unknown costs. */
export function worstLines(lines: readonly MarginLine[]): MarginLine[] {
  const worst = new Map<string, MarginLine>()
  for (const line of lines) {
    const key = `${line.model} ${line.sold}`
    const known = worst.get(key)
    if (known === undefined || isWorse(line, known)) worst.set(key, line)
  }
  return [...worst.values()]
}

const order = ['loss', 'unknown', 'profit']

function isWorse(a: MarginLine, b: MarginLine): boolean {
  if (a.verdict !== b.verdict) return order.indexOf(a.verdict) < order.indexOf(b.verdict)
  if (a.cost === undefined || b.cost === undefined) return false
  // Compares revenue ÷ cost by multiplication.
  return isLess(
    { top: a.revenue.top * b.cost.top, bottom: a.revenue.bottom * b.cost.bottom },
    { top: b.revenue.top * a.cost.top, bottom: b.revenue.bottom * a.cost.bottom },
  )
}
