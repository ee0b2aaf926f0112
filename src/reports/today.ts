// Today, from midnight in the accountant's time zone to now: money, credits, margin, requests and
// upstreams. Every figure says what it is made of, so that a page can link to it. README.md says
// what each question costs.
import type { HourSum, Ledger, RequestSum } from '../ledger/ledger.ts'
import type { Payments } from '../payments/payments.ts'
import { type Clock, dateAt } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { UpstreamLine, Upstreams } from '../upstreams/upstreams.ts'
import type { VendorBill } from '../vendor-bill/vendor-bill.ts'
import { ceil, sumUp } from './cost.ts'
import { type Liability, liabilityOf } from './liability.ts'
import { type Money, moneyOf } from './money.ts'
import { marginOf } from './month.ts'
import { todayFind } from './queries.ts'

/** What a figure is made of: rows of this kind that the filter selects. */
export type FigureSource = {
  readonly kind:
    | 'orders'
    | 'refunds'
    | 'disputes'
    | 'reviews'
    | 'postings'
    | 'requests'
    | 'refused'
    | 'books'
    | 'upstreams'
  readonly filter: Readonly<Record<string, string>>
}

export type TodayFigureName =
  | 'taken'
  | 'sold'
  | 'refunded'
  | 'disputesLost'
  | 'inReview'
  | 'credited'
  | 'spent'
  | 'creditsRefunded'
  | 'creditsDisputed'
  | 'creditsAdjusted'
  | 'liability'
  | 'available'
  | 'held'
  | 'debt'
  | 'revenue'
  | 'cost'
  | 'margin'
  | 'marginShare'
  | 'requests'
  | 'errors'
  | 'refused'
  | 'inputTokens'
  | 'outputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'firstByteMedian'
  | 'firstByteSlow'
  | 'totalMedian'
  | 'totalSlow'

export type TodayFigure = {
  readonly name: TodayFigureName
  readonly unit: 'kopecks' | 'microcredits' | 'count' | 'milliseconds' | 'tenths of a percent'
  /** Null: not known, or there was nothing to measure. */
  readonly value: bigint | null
  readonly of: FigureSource
}

export type UpstreamToday = Pick<
  UpstreamLine,
  'target' | 'upstream' | 'state' | 'out' | 'isDrained' | 'underWay' | 'succeeded' | 'failed'
>

export type UpstreamCostToday = {
  /** Null: not recorded. */
  readonly upstream: string | null
  readonly requests: number
  readonly unreported: number
  readonly costKopecks: bigint | null
}

/** `before`: requests in the same hour a day earlier. */
export type HourToday = {
  readonly at: Date
  readonly requests: bigint
  readonly errors: bigint
  readonly spent: bigint
  readonly before: bigint
}

export type Today = {
  /** `2026-11-18`, in the time zone. */
  readonly day: string
  readonly timeZone: string
  readonly from: Date
  readonly now: Date
  readonly figures: readonly TodayFigure[]
  readonly models: readonly RequestSum[]
  readonly endings: readonly RequestSum[]
  /** From midnight to now; an hour without requests has zeros. */
  readonly hours: readonly HourToday[]
  readonly refused: readonly { readonly reason: string; readonly requests: bigint }[]
  readonly upstreams: readonly UpstreamToday[]
  /** Null without the vendor's prices. Counted at `costsAt`, at most a minute ago. */
  readonly costs: readonly UpstreamCostToday[] | null
  readonly costsAt: Date | null
}

export type TodayOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'totals'>
  readonly payments: Pick<Payments, 'takings'>
  readonly vendorBill: Pick<VendorBill, 'periodCosts' | 'vendorPrices'>
  readonly upstreams: Pick<Upstreams, 'overview'>
  readonly timeZone: string
  readonly vatCode: number
}

/** Costs read every entry of the day, 11 s per million: not more often than once a minute. */
const COSTS_MS = 60_000

type Costs = { readonly lines: readonly UpstreamCostToday[]; readonly sum: bigint | null }

export function createToday(options: TodayOptions) {
  const { db, ledger, payments, timeZone } = options
  const costs = rememberCosts(options)

  async function read(tx: Tx) {
    const time = await todayFind(tx, timeZone)
    // The end of the snapshot is now: a row may be a moment younger than its clock.
    const period = { from: time.from, to: LATER, vatCode: options.vatCode }
    const moments = { from: time.from, to: null }
    return {
      time,
      balances: await ledger.totals.balances(tx),
      moved: await liabilityOf(tx, options, moments, { isActiveOnly: true }),
      money: await moneyOf(tx, payments, period),
      reviews: await payments.takings.reviews(tx),
      requests: await ledger.totals.requests(tx, time.from),
      hours: await ledger.totals.hours(tx, dateAt(time.from.getTime() - DAY_MS)),
    }
  }

  /** One snapshot of the primary; costs may be a minute older and come from the standby. */
  return async function today(): Promise<Today> {
    const found = await db.snapshot(read)
    const { from, now, day } = found.time
    const known = await costs({ from, to: now })
    const { sums, refused } = found.requests
    const of = (split: RequestSum['split']) => sums.filter((one) => one.split === split)
    return {
      ...{ day, timeZone, from, now },
      figures: figuresOf(found, known?.costs.sum ?? null),
      ...{ models: of('model'), endings: of('ending'), refused },
      hours: hoursOf(found.hours, { from, now }),
      upstreams: (await options.upstreams.overview()).map(upstreamOf),
      costs: known?.costs.lines ?? null,
      costsAt: known?.at ?? null,
    }
  }
}

/** No row is from later; PostgreSQL's own `infinity` is no Date. */
const LATER = dateAt(Date.UTC(2200, 0))

const HOUR_MS = 3_600_000
const HOURS_OF_DAY = 24
const DAY_MS = HOURS_OF_DAY * HOUR_MS

/** Hours of the sums are counted from a day before `from`. */
function hoursOf(
  sums: readonly HourSum[],
  { from, now }: { readonly from: Date; readonly now: Date },
): HourToday[] {
  const known = new Map(sums.map((sum) => [sum.hour, sum]))
  const count = Math.ceil((now.getTime() - from.getTime()) / HOUR_MS)
  return Array.from({ length: count }, (_, hour) => {
    const sum = known.get(hour + HOURS_OF_DAY)
    return {
      at: dateAt(from.getTime() + hour * HOUR_MS),
      ...{ requests: sum?.requests ?? 0n, errors: sum?.errors ?? 0n, spent: sum?.spent ?? 0n },
      before: known.get(hour)?.requests ?? 0n,
    }
  })
}

function upstreamOf(line: UpstreamLine): UpstreamToday {
  const { target, upstream, state, out, isDrained, underWay, succeeded, failed } = line
  return { target, upstream, state, out, isDrained, underWay, succeeded, failed }
}

/** Costs of the day so far, at most once a minute; undefined without the vendor's prices. */
function rememberCosts({ vendorBill, clock }: TodayOptions) {
  type Known = { readonly at: Date; readonly costs: Costs } | undefined
  const kept: { day: number; untilMs: number; found: Promise<Known> | undefined } = {
    ...{ day: 0, untilMs: 0, found: undefined },
  }

  async function count(period: { readonly from: Date; readonly to: Date }): Promise<Known> {
    const vendor = await vendorBill.vendorPrices()
    if (vendor === undefined) return undefined
    const costs = await vendorBill.periodCosts(period, vendor)
    const lines = costs.map(({ upstream, requests, unreported, cost }) => ({
      ...{ upstream, requests, unreported },
      costKopecks: cost === undefined ? null : ceil(cost),
    }))
    return { at: period.to, costs: { lines, sum: sumUp(costs) ?? null } }
  }

  return (period: { readonly from: Date; readonly to: Date }): Promise<Known> => {
    const day = period.from.getTime()
    const isFresh = kept.day === day && clock.spanMs() < kept.untilMs
    if (kept.found !== undefined && isFresh) return kept.found
    const found = count(period)
    Object.assign(kept, { day, untilMs: clock.spanMs() + COSTS_MS, found })
    // A failed count must not be the answer for a minute.
    found.catch(() => Object.assign(kept, { found: undefined }))
    return found
  }
}

type Found = {
  readonly time: { readonly from: Date; readonly now: Date }
  readonly balances: {
    readonly available: bigint
    readonly held: bigint
    readonly debt: bigint
  }
  readonly moved: Liability
  readonly money: Money
  readonly reviews: { readonly kopecks: bigint }
  readonly requests: Awaited<ReturnType<Ledger['totals']['requests']>>
}

function figuresOf(found: Found, cost: bigint | null): TodayFigure[] {
  return [...moneyFigures(found, cost), ...creditFigures(found), ...requestFigures(found)]
}

function moneyFigures({ time, money, moved, reviews }: Found, cost: bigint | null): TodayFigure[] {
  const from = time.from.toISOString()
  const { revenue } = moved.kopecks
  const margin = marginOf(revenue, cost)
  const used: FigureSource = { kind: 'requests', filter: { from } }
  const kopecks = (name: TodayFigureName, value: bigint | null, of: FigureSource): TodayFigure => ({
    name,
    unit: 'kopecks',
    value,
    of,
  })
  return [
    kopecks('taken', money.taken, { kind: 'orders', filter: { capturedFrom: from } }),
    kopecks('sold', money.sold, { kind: 'orders', filter: { creditedFrom: from } }),
    kopecks('refunded', money.refunded, {
      kind: 'refunds',
      filter: { state: 'succeeded', endedFrom: from },
    }),
    kopecks('disputesLost', money.disputesLostKopecks, {
      kind: 'disputes',
      filter: { state: 'lost', closedFrom: from },
    }),
    kopecks('inReview', reviews.kopecks, { kind: 'reviews', filter: { state: 'open' } }),
    kopecks('revenue', revenue, used),
    kopecks('cost', cost, { kind: 'upstreams', filter: { from } }),
    kopecks('margin', margin.kopecks, used),
    { name: 'marginShare', unit: 'tenths of a percent', value: margin.tenths, of: used },
  ]
}

function creditFigures({ time, moved, balances }: Found): TodayFigure[] {
  const from = time.from.toISOString()
  const { total } = moved
  const posted = (kind: string): FigureSource => ({ kind: 'postings', filter: { kind, from } })
  const books: FigureSource = { kind: 'books', filter: {} }
  const { available, held, debt } = balances
  const figures: readonly (readonly [TodayFigureName, bigint, FigureSource])[] = [
    ['credited', total.credited, posted('purchase,promo,adjust,transfer')],
    ['spent', total.used, { kind: 'requests', filter: { from, kind: 'charge' } }],
    ['creditsRefunded', total.refunded, posted('refund,refund_reversal,forced_debit')],
    ['creditsDisputed', total.disputed, posted('refund,refund_reversal,forced_debit')],
    ['creditsAdjusted', total.adjusted, posted('adjust')],
    ['liability', available + held - debt, books],
    ['available', available, books],
    ['held', held, { kind: 'books', filter: { held: 'some' } }],
    ['debt', debt, { kind: 'books', filter: { debt: 'some' } }],
  ]
  return figures.map(([name, value, of]) => ({ name, unit: 'microcredits', value, of }))
}

function requestFigures({ time, requests }: Found): TodayFigure[] {
  const from = time.from.toISOString()
  const day = from.slice(0, 10)
  const { sums, refused, firstByte, total: whole } = requests
  const models = sums.filter(({ split }) => split === 'model')
  const add = (of: (one: RequestSum) => bigint) => models.reduce((sum, one) => sum + of(one), 0n)
  const all: FigureSource = { kind: 'requests', filter: { from } }
  const counts: readonly (readonly [TodayFigureName, bigint, FigureSource])[] = [
    ['requests', add((one) => one.requests), all],
    ['errors', add((one) => one.errors), { kind: 'requests', filter: { from, ending: 'error' } }],
    [
      'refused',
      refused.reduce((sum, one) => sum + one.requests, 0n),
      { kind: 'refused', filter: { fromDay: day } },
    ],
    ['inputTokens', add((one) => one.input), all],
    ['outputTokens', add((one) => one.output), all],
    ['cacheReadTokens', add((one) => one.cacheRead), all],
    ['cacheWriteTokens', add((one) => one.cacheWrite5m + one.cacheWrite1h), all],
  ]
  const times: readonly (readonly [TodayFigureName, number | undefined])[] = [
    ['firstByteMedian', firstByte?.p50],
    ['firstByteSlow', firstByte?.p95],
    ['totalMedian', whole?.p50],
    ['totalSlow', whole?.p95],
  ]
  return [
    ...counts.map(([name, value, of]) => ({ name, unit: 'count' as const, value, of })),
    ...times.map(([name, ms]) => ({
      ...{ name, unit: 'milliseconds' as const, of: all },
      value: ms === undefined ? null : BigInt(ms),
    })),
  ]
}
