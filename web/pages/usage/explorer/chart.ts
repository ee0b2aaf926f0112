// The arithmetic of the chart: which keys are a series of their own, which whole units are shown,
// where the lines of the scale are, which bars have a label, and how high each piece of a bar is.
// Amounts stay bigint until they become pixels.
import type { UsageSeries } from '../../../../src/cabinet/contract/usage.ts'
import { roundedParts, sumOf } from '../../../format/decimal.ts'
import { REST_SLOT, slotsOf } from './slots.ts'

/** Readers cannot tell more colours and patterns apart; further keys share the last series. */
const SERIES_MAX = 8
const OWN_SERIES_MAX = SERIES_MAX - 1

/** The id of the series that joins the remaining keys; no key has such a character. */
export const REST_ID = '…'

/** A line of the legend. */
export type Series = {
  /** The key; empty for requests without one. */
  readonly id: string
  /** The ids of the totals that it joins. */
  readonly ids: readonly string[]
  /** Its colour and pattern. */
  readonly slot: number
}

export function idOf({ key, isOther }: Pick<UsageSeries, 'key' | 'isOther'>): string {
  return isOther === true ? REST_ID : (key ?? '')
}

/** In the order of the totals: most credits first. Colours follow `order`, which is fixed. */
export function seriesOf(
  totals: readonly Pick<UsageSeries, 'key' | 'isOther'>[],
  order: readonly string[],
): readonly Series[] {
  const ids = totals.map(idOf)
  const known = ids.filter((id) => id !== REST_ID)
  const slots = slotsOf(known, order)
  const alone = ids.length <= SERIES_MAX ? SERIES_MAX : OWN_SERIES_MAX
  const own = known
    .slice(0, alone)
    .map((id) => ({ id, ids: [id], slot: slots.get(id) ?? REST_SLOT }))
  const rest = ids.slice(own.length)
  return rest.length === 0 ? own : [...own, { id: REST_ID, ids: rest, slot: REST_SLOT }]
}

/** The amount of each series in one bucket. */
export function amountsOf<Use extends Pick<UsageSeries, 'key' | 'isOther'>>(
  uses: readonly Use[],
  series: readonly Series[],
  amountOf: (use: Use) => bigint,
): readonly bigint[] {
  const amounts = new Map(uses.map((use) => [idOf(use), amountOf(use)]))
  return series.map(({ ids }) => sumOf(ids.map((id) => amounts.get(id) ?? 0n)))
}

/** What is shown of amounts by bucket and series, in whole units. */
export type ShownAmounts = {
  /** Of each series in the whole period; they add up to the rounded total. */
  readonly totals: readonly bigint[]
  /** Of each series in each bucket; a series adds up to its total. */
  readonly buckets: readonly (readonly bigint[])[]
}

/**
 * Rounds all amounts so that every sum on the screen is the sum of its parts. `isUp`: the total is
 * rounded up, as prices in roubles are.
 */
export function shownAmounts(
  amounts: readonly (readonly bigint[])[],
  unit: bigint,
  isUp = false,
): ShownAmounts {
  const bySeries = (amounts[0] ?? []).map((_, series) => amounts.map((one) => one[series] ?? 0n))
  const sums = bySeries.map(sumOf)
  const total = (sumOf(sums) + (isUp ? unit - 1n : 0n)) / unit
  const totals = roundedParts(sums, unit, total)
  const columns = bySeries.map((parts, series) => roundedParts(parts, unit, totals[series]))
  return { totals, buckets: amounts.map((_, at) => columns.map((column) => column[at] ?? 0n)) }
}

/** Lines at round amounts (1, 2 or 5 units and tens of them), to the first that no bar exceeds. */
export function scaleOf(most: bigint, unit: bigint): readonly bigint[] {
  const LINES = 4n
  let step = unit
  for (let ten = unit; step * LINES < most; ten *= 10n) {
    step = [ten, 2n * ten, 5n * ten].find((one) => one * LINES >= most) ?? ten * 10n
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

/** Hours between two labels, so that every day, or every so many days, begins with one. */
const LABEL_HOURS = [1, 2, 3, 4, 6, 12, 24, 48, 72, 96, 168]
const DAY_HOURS = 24

/** The same for bars of hours, `2026-11-15T13:00`: the first hour of a day names the day. */
export function labelledHours(hours: readonly string[], most: number): readonly number[] {
  const isRoom = (step: number) => Math.ceil(hours.length / step) <= Math.max(1, most)
  const step = LABEL_HOURS.find(isRoom) ?? hours.length
  let day = -1
  return hours.flatMap((hour, index) => {
    const isFirst = isFirstOfDay(hours, index)
    if (isFirst) day += 1
    if (step >= DAY_HOURS) return isFirst && day % (step / DAY_HOURS) === 0 ? [index] : []
    return isFirst || Number(hour.slice(11, 13)) % step === 0 ? [index] : []
  })
}

/** Usually 00:00; where summer time begins at midnight, 01:00. */
export function isFirstOfDay(hours: readonly string[], index: number): boolean {
  return hours[index]?.slice(0, 10) !== hours[index - 1]?.slice(0, 10)
}

/** The indexes of the bars that get a label: evenly spaced, at most `most`, the first included. */
export function labelledOf(count: number, most: number): readonly number[] {
  const every = Math.max(1, Math.ceil(count / Math.max(1, most)))
  return Array.from({ length: Math.ceil(count / every) }, (_, at) => at * every)
}
