// The entry file of vendor-bill: compares the vendor's bill with our counts, day by day, and keeps
// the result. Bills come from a file (`op vendor-bill import`) or from the vendor's reporting API,
// daily. It changes no balance and no price.
import { readFile } from 'node:fs/promises'
import type { Ledger } from '../ledger/ledger.ts'
import { Fault } from '../platform/assert.ts'
import { type Clock, dayText } from '../platform/clock.ts'
import type { Executor, Tx } from '../platform/db/db.ts'
import type { Masked } from '../platform/masked.ts'
import type { Pricing, VendorPrices } from '../pricing/pricing.ts'
import { compareDay, type DayComparison } from './compare.ts'
import { type BilledCost, readCosts } from './costs.ts'
import { fetchReport } from './fetch.ts'
import { type DayMoney, moneyOf } from './money.ts'
import { type StoredTie, tieList, tieListDays, tieStore } from './queries.ts'
import { type BilledRow, type ReadReport, readReport } from './report.ts'
import { type UpstreamCost, upstreamCosts } from './upstream-costs.ts'

export type { DayComparison, OpenRequests, TieLine, Verdict } from './compare.ts'
export type { BilledCost } from './costs.ts'
export type { DayMoney } from './money.ts'
export type { StoredTie } from './queries.ts'
export type { BilledRow } from './report.ts'
export type { UpstreamCost } from './upstream-costs.ts'

export type VendorBillOptions = {
  readonly db: Executor
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'dayCounts' | 'periodCounts'>
  readonly pricing: Pricing
  /** Where the vendor's reporting API is, and its credential; `none` without one. */
  readonly url: string
  readonly key: Masked<string>
  /** Names of the upstreams that this bill is for, with commas; `all` for every one. */
  readonly upstreams: string
  /** A larger difference, in percent of the day's cost, raises the alarm. */
  readonly alarmPercent: number
  /** The operator's copy of the vendor's prices, or `none`. */
  readonly vendorPricesFile: string
}

export type Tie = DayComparison & { readonly money: DayMoney }

const DAY_MS = 86_400_000
/**
 * Days that the daily job compares again: the vendor completes a day within hours, and a job that
 * failed for two nights still leaves no day out.
 */
const DAYS = 3
/** Millionths in a percent. */
const PERCENT = 10_000n
/** Days whose differences the metric and the alarm look at. */
const WATCHED_DAYS = 3

export function createVendorBill(options: VendorBillOptions) {
  const { db, clock, ledger, pricing } = options
  const isConfigured = options.url !== 'none' && options.key.reveal() !== 'none'
  const upstreams = options.upstreams === 'all' ? undefined : options.upstreams.split(/\s*,\s*/)
  const startedMs = clock.nowMs()

  /** Refuses days that have not begun: the alarm looks at the newest days only. */
  function read(report: string): ReadReport {
    const result = readReport(report)
    if ('problems' in result) return result
    const today = dayText(clock.nowMs())
    const late = result.days.find((day) => day > today)
    return late === undefined ? result : { problems: [`${late}: this day has not begun`] }
  }

  async function compare(p: {
    readonly rows: readonly BilledRow[]
    readonly costs?: readonly BilledCost[]
    readonly vendor: VendorPrices | undefined
    /** Days to compare besides those of the rows: the vendor may have billed nothing. */
    readonly days?: readonly string[]
  }): Promise<Tie[]> {
    const catalogue = await pricing.refresh()
    if (catalogue === undefined) throw new Fault('no catalogue has been applied')
    const days = [...new Set([...p.rows.map(({ day }) => day), ...(p.days ?? [])])].toSorted()
    const ties: Tie[] = []
    for (const day of days) {
      const counts = await ledger.dayCounts(day)
      const billed = p.rows.filter((row) => row.day === day)
      const lists = pricing.bills
      const comparison = compareDay({ ...{ billed, counts, catalogue, lists, upstreams } })
      const costs = p.costs ?? []
      const money = moneyOf(comparison, { ...{ catalogue, vendor: p.vendor, costs, pricing } })
      ties.push({ ...comparison, money })
    }
    return ties
  }

  /** Compares the last whole days with the vendor's report. */
  async function fetchAndCompare(vendor: VendorPrices | undefined): Promise<Tie[]> {
    const toMs = clock.nowMs() - (clock.nowMs() % DAY_MS)
    const days = Array.from({ length: DAYS }, (_, i) => dayText(toMs - (DAYS - i) * DAY_MS))
    const { url, key } = options
    const report = await fetchReport({ url, key }, { from: days[0] ?? '', to: dayText(toMs) })
    const result = read(report)
    if ('problems' in result) throw new Fault(`the vendor's report: ${result.problems.join('; ')}`)
    // Only the days that were asked for: each one is read from the database.
    const rows = result.rows.filter(({ day }) => days.includes(day))
    return compare({ rows, vendor, days })
  }

  async function store(executor: Executor, ties: readonly Tie[], source: string): Promise<void> {
    for (const tie of ties) {
      const { differenceMillionths } = tie.money
      await tieStore(executor, { day: tie.day, source, tie: shownTie(tie), differenceMillionths })
    }
  }

  const isAlarm = (millionths: bigint) => millionths > BigInt(options.alarmPercent) * PERCENT

  return {
    /** Read reports, without the database. */
    read,
    readCosts,
    compare,
    store,
    isConfigured,
    fetchAndCompare,
    /** What a day costs at each upstream; in the caller's snapshot, if there is one. */
    async upstreamCosts(
      day: string,
      vendor: VendorPrices | undefined,
      tx?: Tx,
    ): Promise<UpstreamCost[]> {
      const catalogue = await pricing.refresh()
      if (catalogue === undefined) throw new Fault('no catalogue has been applied')
      const counts = await ledger.dayCounts(day, tx)
      return upstreamCosts({ counts, catalogue, vendor, pricing })
    },
    /** The same of a period, by the times of our entries. */
    async periodCosts(
      period: { readonly from: Date; readonly to: Date },
      vendor: VendorPrices | undefined,
    ): Promise<UpstreamCost[]> {
      const catalogue = await pricing.refresh()
      if (catalogue === undefined) throw new Fault('no catalogue has been applied')
      const counts = await ledger.periodCounts(period)
      return upstreamCosts({ counts, catalogue, vendor, pricing })
    },
    /** The operator's copy of the vendor's prices by `catalogue.vendorPricesFile`. */
    vendorPrices: () => vendorPrices(options),
    /** Stored comparisons of the days from `from` to `to`, both included, oldest first. */
    listDays: (p: { readonly from: string; readonly to: string }, executor: Executor = db) =>
      tieListDays(executor, p),
    /** Whether a difference, in millionths of a day's cost, is above the threshold. */
    isAlarm,
    /** A comparison as it is stored and printed for scripts. */
    shown: shownTie,
    list: (limit: number): Promise<StoredTie[]> => tieList(db, limit),

    /** The daily job: compares, stores, and returns the days above the threshold. */
    async compareLately(): Promise<Tie[]> {
      if (!isConfigured) return []
      const ties = await fetchAndCompare(await vendorPrices(options))
      await store(db, ties, 'report')
      return ties.filter(({ money }) => isAlarm(money.differenceMillionths))
    },

    /** For metrics; nothing before the first comparison when no report is configured. */
    async status(): Promise<Readonly<Record<string, number>>> {
      const ties = await tieList(db, WATCHED_DAYS)
      const [newest] = ties
      const sinceMs = newest?.comparedAt.getTime() ?? startedMs
      const age = isConfigured ? { age_seconds: (clock.nowMs() - sinceMs) / 1_000 } : {}
      if (newest === undefined) return age
      const worst = Math.max(...ties.map((one) => Number(one.differenceMillionths)))
      return { ...age, difference: worst / 1e6, alarm: Number(isAlarm(BigInt(worst))) }
    },
  }
}

export type VendorBill = ReturnType<typeof createVendorBill>

async function vendorPrices({ pricing, vendorPricesFile: file }: VendorBillOptions) {
  if (file === 'none') return undefined
  const read = pricing.parseVendorPrices(await readFile(file, 'utf8'))
  if ('problems' in read) throw new Fault(`${file}: ${read.problems.join('; ')}`)
  return read.prices
}

/** Numbers as texts: JSON numbers are not exact. Kopecks are rounded against us. */
function shownTie(tie: Tie) {
  const { money } = tie
  const up = (one: DayMoney['cost']) => (one === undefined ? null : String(ceil(one)))
  const down = ({ top, bottom }: DayMoney['revenue']) => String(top / bottom)
  return {
    day: tie.day,
    lines: tie.lines.map(({ parts: _, billed, counted, open, difference, ...line }) => ({
      ...line,
      ...{ billed: String(billed), counted: String(counted), open: String(open) },
      difference: String(difference),
    })),
    open: tie.open,
    notInReport: tie.notInReport,
    writtenOffMicrocredits: String(tie.writtenOff),
    soldMicrocredits: String(money.sold),
    bringsKopecks: down(money.revenue),
    costsKopecks: up(money.cost),
    differenceKopecks: up(money.difference),
    invoicedKopecks: up(money.invoiced),
    models: money.models.map(({ model, sold, revenue, cost }) => ({
      ...{ model, soldMicrocredits: String(sold) },
      ...{ bringsKopecks: down(revenue), costsKopecks: up(cost) },
    })),
  }
}

function ceil({ top, bottom }: { top: bigint; bottom: bigint }): bigint {
  return top > 0n ? (top + bottom - 1n) / bottom : top / bottom
}
