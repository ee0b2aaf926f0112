// What the chart draws and says for one measure: series, the amounts of each bar, and their texts.
// Sums are stacked by key. Times have the median and above it the slow ones; the share has one
// series.
import type { Usage, UsageBucket } from '../../../../src/cabinet/contract/usage.ts'
import { sumOf } from '../../../format/decimal.ts'
import { amountsOf, type Series, scaleOf, seriesOf, shownAmounts } from './chart.ts'
import { type Measure, slowOf } from './metrics.ts'
import { REST_SLOT } from './slots.ts'

export type PlotSeries = Series & { readonly name: string; readonly isHidden: boolean }

export type Plot = {
  readonly series: readonly PlotSeries[]
  /** For each bucket the amounts that are stacked, from the bottom up; 0 for a hidden series. */
  readonly amounts: readonly (readonly bigint[])[]
  /** The same for the whole of the previous period's buckets; undefined: not asked for. */
  readonly previous: readonly bigint[] | undefined
  readonly scale: readonly bigint[]
  /** The whole units of a series in a bucket; undefined is the whole period. */
  unitsOf(series: number, bucket: number | undefined): bigint
  /** Of all series that are not hidden. */
  totalOf(bucket: number | undefined): bigint
  /** Of the previous period. */
  previousOf(bucket: number | undefined): bigint | undefined
}

type Names = {
  readonly nameOf: (id: string) => string
  readonly times: readonly [string, string]
  readonly share: string
}

export function plotOf(
  usage: Usage,
  measure: Measure,
  options: { readonly order: readonly string[]; readonly hidden: readonly string[] } & Names,
): Plot {
  const draw = measure.kind === 'sum' ? sums : figures
  const plot = draw(usage, measure, options)
  const heights = [...plot.amounts.map(sumOf), ...(plot.previous ?? [])]
  const most = heights.reduce((max, one) => (one > max ? one : max), 0n)
  const HUNDRED_PERCENT = 1_000n
  const scale =
    measure.kind === 'share'
      ? [0n, 1n, 2n, 3n, 4n].map((quarter) => (quarter * HUNDRED_PERCENT) / 4n)
      : scaleOf(most, measure.unit)
  return { ...plot, scale }
}

type Options = Parameters<typeof plotOf>[2]

function sums(usage: Usage, measure: Measure, { order, hidden, nameOf }: Options) {
  const { unit, isUp, amountOf } = measure
  const series = seriesOf(usage.totals, order).map((one) => ({
    ...one,
    name: nameOf(one.id),
    isHidden: hidden.includes(one.id),
  }))
  const all = usage.buckets.map((bucket) => amountsOf(bucket.series, series, amountOf))
  const shown = shownAmounts(all, unit, isUp)
  const unitsIn = (bucket: number | undefined) =>
    (bucket === undefined ? shown.totals : shown.buckets[bucket]) ?? []
  const round = (amount: bigint) => (amount + (isUp ? unit - 1n : 0n)) / unit
  return {
    series,
    amounts: all.map((bar) => bar.map((amount, line) => (series[line]?.isHidden ? 0n : amount))),
    ...previousOf(usage, amountOf, round),
    unitsOf: (line: number, bucket: number | undefined) => unitsIn(bucket)[line] ?? 0n,
    totalOf: (bucket: number | undefined) =>
      sumOf(unitsIn(bucket).filter((_, line) => series[line]?.isHidden === false)),
  }
}

/** Times and the share: of all requests of a bucket, whatever their key. */
function figures(usage: Usage, measure: Measure, { hidden, times, share }: Options) {
  const { metric, amountOf } = measure
  const lines =
    measure.kind === 'share'
      ? [{ id: metric, name: share, slot: 0, of: amountOf }]
      : [
          { id: 'p50', name: times[0], slot: 0, of: amountOf },
          {
            id: 'p95',
            name: times[1],
            slot: REST_SLOT,
            of: (f: UsageBucket['whole']) => slowOf(metric, f),
          },
        ]
  const series = lines.map((one) => ({ ...one, ids: [one.id], isHidden: hidden.includes(one.id) }))
  const wholeOf = (bucket: number | undefined) =>
    bucket === undefined ? usage.whole : (usage.buckets[bucket]?.whole ?? usage.whole)
  return {
    series,
    // Each piece ends at its own value, so the upper one is what it exceeds the lower one by.
    amounts: usage.buckets.map(({ whole }) => {
      let below = 0n
      return series.map(({ isHidden, of }) => {
        const piece = isHidden ? 0n : of(whole) - below
        if (!isHidden) below = of(whole)
        return piece > 0n ? piece : 0n
      })
    }),
    ...previousOf(usage, amountOf, (amount) => amount),
    unitsOf: (line: number, bucket: number | undefined) => series[line]?.of(wholeOf(bucket)) ?? 0n,
    totalOf: (bucket: number | undefined) => amountOf(wholeOf(bucket)),
  }
}

function previousOf(usage: Usage, amountOf: Measure['amountOf'], round: (one: bigint) => bigint) {
  const { previous } = usage
  // Hours of clock changes apart, both periods have as many steps.
  const amounts = previous?.buckets
    .slice(0, usage.buckets.length)
    .map(({ whole }) => amountOf(whole))
  const whole = previous === null ? undefined : amountOf(previous.whole)
  return {
    previous: amounts,
    previousOf: (bucket: number | undefined) => {
      const amount = bucket === undefined ? whole : amounts?.[bucket]
      return amount === undefined ? undefined : round(amount)
    },
  }
}
