// What a compared day costs and brings: the vendor's bill by the operator's copy of its price list,
// and the credits sold at the cheapest pack, as `op catalogue margin` counts them.
import type { Catalogue, Fraction, Pricing, VendorPrices } from '../pricing/pricing.ts'
import type { Credits } from '../units/credits.ts'
import type { DayComparison, TieLine } from './compare.ts'
import type { BilledCost } from './costs.ts'

export type ModelMoney = {
  readonly model: string
  readonly sold: Credits
  readonly revenue: Fraction
  /** Undefined without a price of the vendor for something that was billed. */
  readonly cost: Fraction | undefined
}

export type DayMoney = Omit<ModelMoney, 'model'> & {
  readonly models: readonly ModelMoney[]
  /** What the differences cost, up and down. */
  readonly difference: Fraction | undefined
  /** What the vendor's cost report says of the day; undefined without one. */
  readonly invoiced: Fraction | undefined
  /** The difference in millionths of the cost; without prices, in millionths of the counts. */
  readonly differenceMillionths: bigint
}

const NOTHING: Fraction = { top: 0n, bottom: 1n }
const MILLION = 1_000_000n
/** Prices, and the exchange rate, of the vendor's list are millionths. */
const RATE_SCALE = 1_000_000n

/** What our counts cost by the vendor's prices; undefined when one of them is not known. */
export function countedCost(
  comparison: DayComparison,
  p: {
    readonly catalogue: Catalogue
    readonly vendor: VendorPrices | undefined
    readonly pricing: Pick<Pricing, 'bills' | 'money'>
  },
): Fraction | undefined {
  const { bills, money } = p.pricing
  const costs = comparison.lines.flatMap(({ model, parts }) =>
    parts.map(
      ({ thing, amount }) =>
        p.vendor && bills.cost(p.vendor, namesOf(model, p.catalogue), thing, amount),
    ),
  )
  const known = costs.filter((one) => one !== undefined)
  return known.length === costs.length ? money.sumOf(known) : undefined
}

export function moneyOf(
  comparison: DayComparison,
  p: {
    readonly catalogue: Catalogue
    readonly vendor: VendorPrices | undefined
    readonly costs: readonly BilledCost[]
    readonly pricing: Pick<Pricing, 'bills' | 'money'>
  },
): DayMoney {
  const { bills, money } = p.pricing
  const [cheapest] = money.packsByPrice(p.catalogue.packs)
  const revenueOf = (sold: bigint) =>
    cheapest === undefined ? NOTHING : money.kopecksOf(sold as Credits, cheapest)
  const costOf = (model: string, { thing, amount }: TieLine['parts'][number]) =>
    p.vendor && bills.cost(p.vendor, namesOf(model, p.catalogue), thing, amount)
  const add = (all: readonly (Fraction | undefined)[]) =>
    all.some((one) => one === undefined) ? undefined : money.sumOf(all as readonly Fraction[])

  const priced = comparison.lines.map((line) => {
    const own = line.parts.map((part) => costOf(line.model, part))
    const size = line.difference < 0n ? -line.difference : line.difference
    const difference = size === 0n ? NOTHING : costOf(line.model, baseOf(line, size, bills))
    const signed = difference && { ...difference, top: difference.top * signOf(line.difference) }
    return { model: line.model, cost: add([...own, signed]), difference }
  })
  const models = [...new Set([...comparison.sold.keys(), ...priced.map(({ model }) => model)])]
  const difference = add(priced.map((line) => line.difference))
  const cost = add(priced.map((line) => line.cost))
  const sold = [...comparison.sold.values()].reduce<bigint>((sum, one) => sum + one, 0n) as Credits
  return {
    ...{ sold, revenue: revenueOf(sold), cost, difference },
    invoiced: invoicedOf(comparison.day, p.costs, p.vendor, money.sumOf),
    differenceMillionths: shareOf(difference, cost) ?? shareOfCounts(comparison.lines),
    models: models.toSorted().map((model) => {
      const credits = comparison.sold.get(model) ?? (0n as Credits)
      const costs = priced.filter((one) => one.model === model).map((one) => one.cost)
      return { model, sold: credits, revenue: revenueOf(credits), cost: add(costs) }
    }),
  }
}

/** The list may have a model under its name at the vendor, or under its id in the catalogue. */
function namesOf(model: string, { models }: Catalogue): string[] {
  const isNamed = (names: string | Readonly<Record<string, string>>) =>
    typeof names === 'string' ? names === model : Object.values(names).includes(model)
  return [model, ...models.filter((one) => isNamed(one.upstreamNames)).map(({ id }) => id)]
}

/** The report does not say how long prompts were, so a difference is priced as short ones. */
function baseOf(
  { dimension, rate, parts }: TieLine,
  amount: bigint,
  { listOf }: Pricing['bills'],
): TieLine['parts'][number] {
  const [first] = parts
  if (first !== undefined && 'tool' in first.thing) return { thing: first.thing, amount }
  const kind = kindOf[dimension]
  if (kind === undefined) return { thing: { tool: dimension.replace(/ use$/, '') }, amount }
  return { thing: { kind, ...listOf(rate) }, amount }
}

const kindOf: Readonly<
  Record<string, 'input' | 'output' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'>
> = {
  input: 'input',
  output: 'output',
  'cache read': 'cacheRead',
  'cache write 5m': 'cacheWrite5m',
  'cache write 1h': 'cacheWrite1h',
}

function signOf(value: bigint): bigint {
  return value < 0n ? -1n : 1n
}

function invoicedOf(
  day: string,
  costs: readonly BilledCost[],
  vendor: VendorPrices | undefined,
  sumOf: Pricing['money']['sumOf'],
): Fraction | undefined {
  const own = costs.filter((one) => one.day === day && one.currency === vendor?.currency)
  if (own.length === 0 || vendor === undefined) return undefined
  const { top, bottom } = sumOf(own.map(({ amount }) => amount))
  return { top: top * vendor.kopecksPerUnit, bottom: bottom * RATE_SCALE }
}

function shareOf(part: Fraction | undefined, whole: Fraction | undefined): bigint | undefined {
  if (part === undefined || whole === undefined || whole.top <= 0n) return undefined
  return (part.top * whole.bottom * MILLION) / (part.bottom * whole.top)
}

/** The worst of all dimensions, because tokens and uses cannot be added up without prices. */
function shareOfCounts(lines: readonly TieLine[]): bigint {
  const sums = new Map<string, { off: bigint; all: bigint }>()
  for (const { dimension, difference, billed, counted, open } of lines) {
    const { off, all } = sums.get(dimension) ?? { off: 0n, all: 0n }
    const size = difference < 0n ? -difference : difference
    const larger = billed > counted + open ? billed : counted + open
    sums.set(dimension, { off: off + size, all: all + larger })
  }
  let worst = 0n
  for (const { off, all } of sums.values()) {
    const share = all === 0n ? 0n : (off * MILLION) / all
    if (share > worst) worst = share
  }
  return worst
}
