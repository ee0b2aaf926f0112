// Adds up the usage of a chart's buckets: sums up to the mark and entries after it. The whole comes
// from the sums by model, which have every request; what the shown keys of a split lack is `other`.
import { dateAt, dayText } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { type UsageFigures, UsageSums } from './figures.ts'
import type { Bound, Mark, UsageSource } from './queries.ts'
import type { EntryRange } from './request-rows.ts'
import {
  keyListMost,
  keyListMostUnsummed,
  type SumCorrection,
  type SumQuery,
  type SumTable,
  sumList,
  type UsageSplit,
  unsummedList,
} from './sum-queries.ts'

/** Readers cannot tell more series of a chart apart. */
const KEYS_MAX = 12
const MINUTE_MS = 60_000
/** Length in minutes of the sums that a chart is made of. */
const STEP_MINUTES = { week: 1_440, month: 1_440, day: 1_440, hour: 60 } as const
/** Lengths of the sums for the corrections; every bound is a multiple of the last. */
const FINER_MINUTES = [180, 60, 15]

type BucketQuery = {
  readonly book: BookId
  readonly minutes: number
  /** Null: the whole alone. */
  readonly split: UsageSplit | null
  /** Where the buckets begin, and where the last one ends. */
  readonly times: readonly number[]
}

type Part = { readonly sums: UsageSums; readonly totals: UsageFigures }

export type BucketSums = {
  readonly whole: UsageSums
  /** Most credits first, then by name, so that keys keep their colours in the chart. */
  readonly keys: readonly (Part & { readonly key: string })[]
  readonly other: Part | undefined
}

export function boundsOf(step: keyof typeof STEP_MINUTES, bounds: readonly Bound[]) {
  return { minutes: STEP_MINUTES[step], times: bounds.map(({ at }) => at.getTime()) }
}

/** Reads and adds up; the transaction must be the snapshot in which the source was found. */
export async function readBucketSums(
  tx: Tx,
  source: UsageSource | undefined,
  p: BucketQuery,
): Promise<BucketSums> {
  const whole = new UsageSums(p.times.length - 1)
  const keys = new Map<string, UsageSums>()
  if (source === undefined) return { whole, keys: [], other: undefined }
  const table = source.isSplit ? 'usage_split_sums' : 'usage_sums'
  const gridPoints = p.times.map((bound) => nearest(bound, p.minutes * MINUTE_MS))
  const corrections = correctionsOf(p.times, gridPoints)
  const { since } = source
  const query = { book: p.book, minutes: p.minutes, gridPoints, corrections, since }
  const range = unsummedRange(p, source)
  const hasUnsummed = source.seq !== source.bookSeq && range.dayMin <= range.dayMax
  const entries = hasUnsummed ? range : undefined
  const shown =
    p.split === 'session' || p.split === 'label'
      ? await shownKeys(tx, { ...query, table, split: p.split, entries })
      : null
  const of = (key: string) => {
    const known = keys.get(key) ?? new UsageSums(whole.buckets)
    keys.set(key, known)
    return known
  }

  for (const one of await sumList(tx, { ...query, table, split: 'model', keys: null })) {
    const sums = p.split === 'model' ? of(one.key) : whole
    sums.addLines(one.lines, one.sign)
  }
  for (const sums of keys.values()) whole.add(sums)
  if (p.split !== null && p.split !== 'model' && table === 'usage_split_sums') {
    for (const one of await sumList(tx, { ...query, table, split: p.split, keys: shown })) {
      of(one.key).addLines(one.lines, one.sign)
    }
  }
  if (entries !== undefined) {
    // These entries are of the last days: pass only the bounds of those days.
    const near = Math.max(
      0,
      p.times.findLastIndex((bound) => bound <= Date.parse(entries.dayMin)),
    )
    const unsummed = {
      entries,
      split: p.split ?? 'model',
      keys: shown,
      bounds: p.times.slice(near),
    }
    for (const row of await unsummedList(tx, unsummed)) {
      whole.addRow(row, row.bucket + near)
      if (p.split !== null && row.key !== null) of(row.key).addRow(row, row.bucket + near)
    }
  }
  return chosen(whole, p.split === null ? undefined : keys)
}

/**
 * The sessions or labels of a chart. A client may name as many as it sends requests: figures of
 * 6,000 of them on 366 days take 1.5 GB.
 */
async function shownKeys(
  tx: Tx,
  p: SumQuery & { readonly table: SumTable; readonly entries: EntryRange | undefined },
): Promise<string[]> {
  const { table, split, entries } = p
  if (table === 'usage_split_sums') {
    return keyListMost(tx, { ...p, unsummed: entries, limit: KEYS_MAX })
  }
  if (entries === undefined) return []
  return keyListMostUnsummed(tx, { split, entries, limit: KEYS_MAX })
}

function unsummedRange({ book, times }: BucketQuery, mark: Mark): EntryRange {
  const [first = 0, end = first] = [times[0], times.at(-1)]
  return {
    ...{ book, afterSeq: mark.seq },
    dayMin: later(mark.dayMin, dayText(first)),
    dayMax: earlier(mark.dayMax, dayText(end)),
    ...{ from: dateAt(first), to: dateAt(end) },
  }
}

/** The keys with the most credits, and the rest of the whole. */
function chosen(whole: UsageSums, keys: ReadonlyMap<string, UsageSums> | undefined): BucketSums {
  if (keys === undefined) return { whole, keys: [], other: undefined }
  const used = [...keys].flatMap(([key, sums]) => {
    const totals = sums.totals()
    return totals === undefined ? [] : [{ key, sums, totals }]
  })
  const most = used.toSorted(byCredits).slice(0, KEYS_MAX)
  const sums = whole.less(most.map((one) => one.sums))
  const totals = sums.totals()
  return { whole, keys: most, other: totals === undefined ? undefined : { sums, totals } }
}

type Ranked = { readonly key: string; readonly totals: UsageFigures }

function byCredits(a: Ranked, b: Ranked): number {
  const [one, other] = [a.totals.spent, b.totals.spent]
  if (one !== other) return one > other ? -1 : 1
  return a.key < b.key ? -1 : 1
}

/**
 * The sums to add or subtract between each bound and its grid point, the nearest multiple of the
 * length of the chart's sums; coarse sums first. For a bound at 18:30 and a grid point at midnight:
 * subtract two sums of three hours (18:00), then add two of a quarter of an hour.
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

// Days as text sort like days, and `-infinity` sorts before all of them.
function later(a: string, b: string): string {
  return a > b ? a : b
}

function earlier(a: string, b: string): string {
  return a < b ? a : b
}
