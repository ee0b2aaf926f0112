// The arithmetic of the chart: which models have a look of their own, where the lines of the scale
// are, and how high each piece of a bar stands. Amounts stay bigint up to the pixel.
import type { ModelUse, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { MILLION, millionthsOf } from '../../format/decimal.ts'

/** More looks than these could not be told apart; the models beyond share the last one. */
export const LOOKS = 6
const OWN_LOOKS = LOOKS - 1

/** A line of the legend; `model` is null for all models that have no look of their own. */
export type Series = { readonly model: string | null; readonly models: readonly string[] }

/** Most credits first, as the totals come. */
export function seriesOf(totals: readonly Pick<ModelUse, 'model'>[]): readonly Series[] {
  const models = totals.map(({ model }) => model)
  const alone = models.length <= LOOKS ? LOOKS : OWN_LOOKS
  const own = models.slice(0, alone).map((model) => ({ model, models: [model] }))
  const rest = models.slice(alone)
  return rest.length === 0 ? own : [...own, { model: null, models: rest }]
}

/** Microcredits of each line of the legend in one step of time. */
export function amountsOf(bucket: UsageBucket, series: readonly Series[]): readonly bigint[] {
  const spent = new Map(bucket.models.map((use) => [use.model, millionthsOf(use.credits.exact)]))
  return series.map(({ models }) => sumOf(models.map((model) => spent.get(model) ?? 0n)))
}

export function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n)
}

/** Lines that a reader can add in the head, from 0 to the first that no bar is above. */
export function scaleOf(most: bigint): readonly bigint[] {
  const LINES = 4n
  let step = MILLION
  for (let unit = MILLION; step * LINES < most; unit *= 10n) {
    step = [unit, 2n * unit, 5n * unit].find((one) => one * LINES >= most) ?? unit * 10n
  }
  const count = most <= 0n ? 1 : Number((most + step - 1n) / step)
  return Array.from({ length: count + 1 }, (_, line) => BigInt(line) * step)
}

/** A piece of a bar, measured from the ground up. */
export type Piece = { readonly series: number; readonly from: number; readonly to: number }

/** What was used at all is seen: a bar is never lower than this. */
const HEIGHT_MIN = 2

/**
 * The pieces of one bar, from the ground up. Edges are those of running sums, so that rounding adds
 * up to nothing and pieces have no gaps.
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

/** Which steps of time are named below the chart: evenly, at most so many, the first among them. */
export function namedOf(count: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, most)))
  return Array.from({ length: Math.ceil(count / every) }, (_, at) => at * every)
}
