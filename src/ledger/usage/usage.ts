// The usage of a book by days or hours of its owner's time zone: the sums up to the mark plus the
// entries after it, read in one snapshot. So a chart reads few rows and still agrees with the
// statement to the microcredit at every moment.
import { dayText } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
import { createUsageBuckets, type ModelUsage, type UsageBuckets } from './buckets.ts'
import {
  type Bound,
  type ChartStep,
  type DayRange,
  dayList,
  hourList,
  markFind,
  periodFind,
  purchaseFindLast,
  type SumCorrection,
  sumList,
  todayFind,
  type UsageTotals,
  unsummedList,
} from './queries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Length in minutes of the sums that a chart of days, or of hours, is made of. */
const STEP_MINUTES = { day: 1_440, hour: 60 } as const
/** Lengths of the sums for the corrections; every bound is a multiple of the last. */
const FINER_MINUTES = [180, 60, 15]

/** The usage of one day or hour by model; empty without requests. */
export type UsageStep = Bound & { readonly models: readonly ModelUsage[] }

export type UsageDay = {
  /** `2026-11-15`, in the requested time zone. */
  readonly day: string
  /** Charged requests only. */
  readonly requests: bigint
  readonly spent: Credits
}

export type RecentUsage = {
  readonly requestsToday: bigint
  readonly spent30Days: Credits
  readonly lastTopUpAt: Date | null
}

export function createUsage(db: Db) {
  /** Usage between the bounds by bucket and model: sums and later entries, in one snapshot. */
  function readBuckets(
    book: BookId,
    step: ChartStep,
    bounds: readonly number[],
  ): Promise<UsageBuckets> {
    const [first = 0, end = first] = [bounds[0], bounds.at(-1)]
    return db.snapshot(async (tx) => {
      const buckets = createUsageBuckets(bounds.length - 1)
      const mark = await markFind(tx, book)
      if (mark === undefined) return buckets
      const minutes = STEP_MINUTES[step]
      const gridPoints = bounds.map((bound) => nearest(bound, minutes * MINUTE_MS))
      const corrections = correctionsOf(bounds, gridPoints)
      const sums = await sumList(tx, { book, minutes, gridPoints, corrections })
      for (const packed of sums) buckets.addPacked(packed)
      if (mark.seq === mark.bookSeq) return buckets
      const dayMin = later(mark.dayMin, dayText(first))
      const dayMax = earlier(mark.dayMax, dayText(end))
      // These entries are of the last days: pass only the bounds of those days.
      const firstNear = Math.max(
        0,
        bounds.findLastIndex((bound) => bound <= Date.parse(dayMin)),
      )
      const near = bounds.slice(firstNear)
      const unsummed = { book, afterSeq: mark.seq, dayMin, dayMax, bounds: near }
      for (const row of await unsummedList(tx, unsummed))
        buckets.addRow(row, row.bucket + firstNear)
      return buckets
    })
  }

  /** Every day or hour of a period, oldest first, empty ones too; and the totals by model. */
  async function steps(
    p: DayRange & { book: BookId; step: ChartStep },
  ): Promise<{ steps: UsageStep[]; totals: ModelUsage[] }> {
    const bounds = await (p.step === 'day' ? dayList : hourList)(db, p)
    const times = bounds.map(({ at }) => at.getTime())
    const buckets = await readBuckets(p.book, p.step, times)
    return {
      steps: buckets.byBucket().map((models, i) => ({ ...(bounds[i] as Bound), models })),
      totals: buckets.totals(),
    }
  }

  return {
    /** Today in a time zone. PostgreSQL raises 22023 for a zone that it does not know. */
    today: (zone: string) => todayFind(db, zone),

    /** When the first of these days begins and the last one ends in a time zone. */
    period: (p: Parameters<typeof periodFind>[1]) => periodFind(db, p),

    steps,

    /** Charges of the last days in a time zone, today last, empty days too. */
    async days(p: { book: BookId; zone: string; days: number }): Promise<UsageDay[]> {
      const to = await todayFind(db, p.zone)
      const from = dayText(Date.parse(to) - (p.days - 1) * DAY_MS)
      const used = await steps({ book: p.book, zone: p.zone, from, to, step: 'day' })
      return used.steps.map(({ local, models }) => ({ day: local, ...chargesOf(models) }))
    },

    /** Recent activity of a book; days are in UTC, as for the daily limit. */
    async recent(book: BookId): Promise<RecentUsage> {
      const today = Date.parse(await todayFind(db, 'UTC'))
      const bounds = [today - 29 * DAY_MS, today, today + DAY_MS]
      const [before = [], ofToday = []] = (await readBuckets(book, 'day', bounds)).byBucket()
      return {
        requestsToday: chargesOf(ofToday).requests,
        spent30Days: chargesOf([...before, ...ofToday]).spent,
        lastTopUpAt: await purchaseFindLast(db, book),
      }
    },
  }
}

/**
 * The sums to add or subtract between each bound and its grid point, the nearest multiple of the
 * chart's step; coarse sums first. For a bound at 18:30 and a grid point at midnight: subtract two
 * sums of three hours (18:00), then add two of a quarter of an hour.
 */
function correctionsOf(bounds: readonly number[], gridPoints: readonly number[]): SumCorrection[] {
  const [first = 0] = gridPoints
  return bounds.flatMap((boundMs, bound) => {
    let atMs = gridPoints[bound] ?? boundMs
    return FINER_MINUTES.flatMap((minutes): SumCorrection[] => {
      const distanceMs = nearest(boundMs - atMs, minutes * MINUTE_MS)
      if (distanceMs === 0) return []
      const before = (atMs - first) / MINUTE_MS
      const after = before + distanceMs / MINUTE_MS
      atMs += distanceMs
      const range = { bound, minutes, from: Math.min(before, after), to: Math.max(before, after) }
      return [{ ...range, sign: distanceMs > 0 ? 1 : -1 }]
    })
  })
}

/** The nearest multiple of a step; halfway between two, the one nearer to zero. */
function nearest(ms: number, stepMs: number): number {
  return Math.sign(ms) * Math.ceil(Math.abs(ms) / stepMs - 0.5) * stepMs
}

function chargesOf(used: readonly UsageTotals[]): { requests: bigint; spent: Credits } {
  const requests = used.reduce((sum, one) => sum + one.requests - one.free, 0n)
  return { requests, spent: micro(used.reduce((sum, one) => sum + one.spent, 0n)) }
}

// Days as text sort like days, and `-infinity` sorts before all of them.
function later(a: string, b: string): string {
  return a > b ? a : b
}

function earlier(a: string, b: string): string {
  return a < b ? a : b
}
