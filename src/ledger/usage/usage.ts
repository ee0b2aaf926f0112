// The usage of a book by hours, days, weeks or months of its owner's time zone, split by model,
// ending, session or label: the sums up to the mark plus the entries after it, read in one
// snapshot. So a chart reads few rows and still agrees with the statement to the microcredit at
// every moment.
import { dayText } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import { type BucketSums, boundsOf, readBucketSums } from './buckets.ts'
import { eraseNames } from './erase-names.ts'
import { NO_USAGE, type UsageFigures } from './figures.ts'
import {
  type Bound,
  type DayRange,
  dayList,
  hourList,
  periodFind,
  purchaseFindLast,
  sourceFind,
  todayFind,
  type UsageSource,
} from './queries.ts'
import type { UsageSplit } from './sum-queries.ts'

const DAY_MS = 86_400_000
const WEEK_DAYS = 7
/** Days are numbered from 1970-01-01, which was a Thursday. */
const FIRST_MONDAY = 4

export type UsageStep = 'hour' | 'day' | 'week' | 'month'

export type UsageSeries = UsageFigures & {
  /** Null: requests without a session or label, or `isOther`. */
  readonly key: string | null
  /** All keys beyond those that are shown, and usage whose key is no longer known. */
  readonly isOther: boolean
}

export type UsageBucket = Bound & {
  readonly whole: UsageFigures
  /** Most credits of the period first, `isOther` last; only those with requests in the bucket. */
  readonly series: readonly UsageSeries[]
}

export type UsagePeriod = {
  readonly buckets: readonly UsageBucket[]
  readonly totals: readonly UsageSeries[]
  readonly whole: UsageFigures
}

export type UsageQuery = DayRange & {
  readonly book: BookId
  readonly step: UsageStep
  readonly split: UsageSplit
  /** Also reads as many days directly before the period, as a whole. */
  readonly withPrevious?: boolean
}

export type UsageOptions = { readonly db: Db; readonly sessionsKeptDays: number }

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

export function createUsage({ db, sessionsKeptDays }: UsageOptions) {
  /** The beginnings of the steps of a period; the last element is its end. */
  function boundList(p: DayRange & { step: UsageStep }, shiftDays: number): Promise<Bound[]> {
    const days = daysOf(p).map((day) => dayText(Date.parse(day) + shiftDays * DAY_MS))
    const [from = p.from, to = p.to] = [days[0], days.at(-1)]
    if (p.step !== 'hour') return dayList(db, { zone: p.zone, days })
    return hourList(db, { zone: p.zone, from, to: dayText(Date.parse(to) - DAY_MS) })
  }

  /** Reads a period, and the one before it if asked, in one snapshot. */
  async function explore(
    p: UsageQuery,
  ): Promise<UsagePeriod & { previous: (UsagePeriod & { from: string; to: string }) | null }> {
    const days = (Date.parse(p.to) - Date.parse(p.from)) / DAY_MS + 1
    const [bounds, before] = await Promise.all([
      boundList(p, 0),
      p.withPrevious ? boundList(p, -days) : undefined,
    ])
    return db.snapshot(async (tx) => {
      const source = await sourceFind(tx, { book: p.book, sessionsKeptDays })
      const own = await read(tx, source, { ...p, bounds })
      if (before === undefined) return { ...own, previous: null }
      const [from, to] = [-days, -1].map((by) => dayText(Date.parse(p.from) + by * DAY_MS))
      const previous = await read(tx, source, { ...p, split: null, bounds: before })
      return { ...own, previous: { ...previous, from: from as string, to: to as string } }
    })
  }

  return {
    /** Today in a time zone. PostgreSQL raises 22023 for a zone that it does not know. */
    today: (zone: string) => todayFind(db, zone),

    /** When the first of these days begins and the last one ends in a time zone. */
    period: (p: Parameters<typeof periodFind>[1]) => periodFind(db, p),

    /** Every step of a period, oldest first, empty ones too, and the whole period by key. */
    explore,

    /** Charges of the last days in a time zone, today last, empty days too. */
    async days(p: { book: BookId; zone: string; days: number }): Promise<UsageDay[]> {
      const to = await todayFind(db, p.zone)
      const from = dayText(Date.parse(to) - (p.days - 1) * DAY_MS)
      const bounds = await boundList({ zone: p.zone, from, to, step: 'day' }, 0)
      const query = { book: p.book, step: 'day', split: null, bounds } as const
      const used = await db.snapshot(async (tx) =>
        read(tx, await sourceFind(tx, { book: p.book, sessionsKeptDays }), query),
      )
      return used.buckets.map(({ local, whole }) => ({ day: local, ...chargesOf(whole) }))
    },

    /** Erases what a client called its sessions, agents and requests. May be repeated. */
    eraseNames: (book: BookId) => eraseNames(db, book),

    /** Recent activity of a book; days are in UTC, as for the daily limit. */
    async recent(book: BookId): Promise<RecentUsage> {
      const today = Date.parse(await todayFind(db, 'UTC'))
      const times = [today - 29 * DAY_MS, today, today + DAY_MS]
      const sums = await db.snapshot(async (tx) => {
        const source = await sourceFind(tx, { book, sessionsKeptDays })
        return readBucketSums(tx, source, { book, minutes: 1_440, split: null, times })
      })
      return {
        requestsToday: chargesOf(sums.whole.figuresOf(2) ?? NO_USAGE).requests,
        spent30Days: (sums.whole.totals() ?? NO_USAGE).spent,
        lastTopUpAt: await purchaseFindLast(db, book),
      }
    },
  }
}

/** Usage between the bounds: of all requests, and of each key of the split, if there is one. */
async function read(
  tx: Tx,
  source: UsageSource | undefined,
  p: {
    readonly book: BookId
    readonly step: UsageStep
    readonly split: UsageSplit | null
    readonly bounds: readonly Bound[]
  },
): Promise<UsagePeriod> {
  const sums = await readBucketSums(tx, source, { ...p, ...boundsOf(p.step, p.bounds) })
  return {
    buckets: p.bounds.slice(0, -1).map((bound, i) => ({
      ...bound,
      whole: sums.whole.figuresOf(i + 1) ?? NO_USAGE,
      series: seriesOf(sums, (part) => part.sums.figuresOf(i + 1)),
    })),
    totals: seriesOf(sums, (part) => part.totals),
    whole: sums.whole.totals() ?? NO_USAGE,
  }
}

function seriesOf(
  { keys, other }: BucketSums,
  figuresOf: (part: NonNullable<BucketSums['other']>) => UsageFigures | undefined,
): UsageSeries[] {
  const series = keys.flatMap((part): UsageSeries[] => {
    const figures = figuresOf(part)
    if (figures === undefined) return []
    return [{ key: part.key === '' ? null : part.key, isOther: false, ...figures }]
  })
  const rest = other && figuresOf(other)
  return rest === undefined ? series : [...series, { key: null, isOther: true, ...rest }]
}

/** The first days of the steps of a period, and the day after its end. */
function daysOf({ from, to, step }: DayRange & { step: UsageStep }): string[] {
  const [first, last] = [Date.parse(from) / DAY_MS, Date.parse(to) / DAY_MS]
  const days: string[] = []
  for (let day = first; day <= last; day++) {
    const text = dayText(day * DAY_MS)
    const isWithin =
      (step === 'week' && (day - FIRST_MONDAY) % WEEK_DAYS !== 0) ||
      (step === 'month' && !text.endsWith('-01'))
    if (!isWithin || day === first) days.push(text)
  }
  return [...days, dayText((last + 1) * DAY_MS)]
}

function chargesOf({ requests, free, spent }: UsageFigures) {
  return { requests: requests - free, spent }
}
