// The arithmetic of the chart: which models are a series of their own, where the lines of the scale
// are, and how high each piece of a bar is. Amounts stay bigint until they become pixels.
import type { ModelUsage, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { MILLION, millionthsOf } from '../../format/decimal.ts'

/** Readers cannot tell more colours and patterns apart; further models share the last series. */
export const SERIES_MAX = 6
const OWN_SERIES_MAX = SERIES_MAX - 1

/** A line of the legend; `model` is null for the series that joins the remaining models. */
export type Series = { readonly model: string | null; readonly models: readonly string[] }

/** In the order of the totals: most credits first. */
export function seriesOf(totals: readonly Pick<ModelUsage, 'model'>[]): readonly Series[] {
  const models = totals.map(({ model }) => model)
  const alone = models.length <= SERIES_MAX ? SERIES_MAX : OWN_SERIES_MAX
  const own = models.slice(0, alone).map((model) => ({ model, models: [model] }))
  const rest = models.slice(alone)
  return rest.length === 0 ? own : [...own, { model: null, models: rest }]
}

/** The microcredits of each series in one bucket. */
export function amountsOf(bucket: UsageBucket, series: readonly Series[]): readonly bigint[] {
  const spent = new Map(bucket.models.map((use) => [use.model, millionthsOf(use.credits.exact)]))
  return series.map(({ models }) => sumOf(models.map((model) => spent.get(model) ?? 0n)))
}

export function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n)
}

/** Lines at round amounts (steps of 1, 2 or 5), from 0 to the first that no bar exceeds. */
export function scaleOf(most: bigint): readonly bigint[] {
  const LINES = 4n
  let step = MILLION
  for (let unit = MILLION; step * LINES < most; unit *= 10n) {
    step = [unit, 2n * unit, 5n * unit].find((one) => one * LINES >= most) ?? unit * 10n
  }
  const count = most <= 0n ? 1 : Number((most + step - 1n) / step)
  return Array.from({ length: count + 1 }, (_, line) => BigInt(line) * step)
}

/** A piece of a bar; `from` and `to` are pixels above the zero line. */
export type Piece = { readonly series: number; readonly from: number; readonly to: number }

/** In pixels: any used amount must be visible. */
const HEIGHT_MIN = 2

/**
 * The pieces of one bar, from the bottom up. Edges come from running sums, so that rounding errors
 * do not add up and leave no gaps.
 */
export function piecesOf(amounts: readonly bigint[], top: bigint, height: number): Piece[] {
  const total = sumOf(amounts)
  const isLow = total * BigInt(height) < top * BigInt(HEIGHT_MIN)
  const [whole, high] = isLow ? [total, HEIGHT_MIN] : [top, height]
  const edge = (sum: bigint) => Number((sum * BigInt(high) * 100n) / whole) / 100
  let below = 0n
  return amounts.flatMap((amount, series) => {
    if (amount === 0n) return []
    const from = edge(below)
    below += amount
    const to = edge(below)
    return to > from ? [{ series, from, to }] : []
  })
}

/** The indexes of the bars that get a label: evenly spaced, at most `most`, the first included. */
export function labelledOf(count: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, most)))
  return Array.from({ length: Math.ceil(count / every) }, (_, at) => at * every)
}
