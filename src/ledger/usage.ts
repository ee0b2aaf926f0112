// What a book used, by days or hours of its owner's time zone: the sums up to the mark, and the
// entries behind it, in one snapshot. So a chart reads little and still agrees with the statement
// to the last microcredit, at every moment.
import { dateAt, dayText } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { BookId } from '../platform/ids.ts'
import { type Credits, micro } from '../units/credits.ts'
import { snapshotTake } from './upkeep.ts'
import {
  type Bound,
  type Days,
  dayList,
  freshList,
  hourList,
  markFind,
  type Piece,
  periodFind,
  purchaseFindLast,
  type Step,
  sumList,
  todayFind,
  type Used,
  type UsedRow,
} from './usage-queries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Minutes of the steps that sums are kept in, besides days; no bound is finer than the finest. */
const STEPS = [180, 60, 15]
const DAY_MINUTES = 1_440

export type ModelUsed = Used & { readonly model: string }

/** What was used in one day or hour, by model; empty when nothing was. */
export type UsedStep = Bound & { readonly models: readonly ModelUsed[] }

export type UsedDay = {
  /** `2026-11-15`, of the asked time zone. */
  readonly day: string
  /** Those that were charged. */
  readonly requests: bigint
  readonly spent: Credits
}

export type Recent = {
  readonly requestsToday: bigint
  readonly spent30Days: Credits
  readonly lastTopUpAt: Date | null
}

export function createUsage(db: Db) {
  /** Sums and younger entries between the bounds, in one snapshot. */
  function between(book: BookId, bounds: readonly Date[]): Promise<UsedRow[]> {
    const [first = dateAt(0), end = first] = [bounds[0], bounds.at(-1)]
    return db.transaction(async (tx) => {
      await snapshotTake(tx)
      const mark = await markFind(tx, book)
      if (mark === undefined) return []
      const sums = await sumList(tx, { book, pieces: piecesOf(bounds) })
      if (mark.seq === mark.bookSeq) return sums
      const dayMin = later(mark.dayMin, dayText(first.getTime()))
      const dayMax = earlier(mark.dayMax, dayText(end.getTime()))
      return [
        ...sums,
        ...(await freshList(tx, { book, afterSeq: mark.seq, dayMin, dayMax, bounds })),
      ]
    })
  }

  /** Every day or hour of a period, oldest first, none left out; and the whole of it by model. */
  async function steps(
    p: Days & { book: BookId; step: Step },
  ): Promise<{ steps: UsedStep[]; totals: ModelUsed[] }> {
    const bounds = await (p.step === 'day' ? dayList : hourList)(db, p)
    const rows = await between(
      p.book,
      bounds.map(({ at }) => at),
    )
    const byBucket = Map.groupBy(rows, ({ bucket }) => bucket)
    return {
      steps: bounds
        .slice(0, -1)
        .map((bound, i) => ({ ...bound, models: byModel(byBucket.get(i + 1) ?? []) })),
      totals: byModel(rows),
    }
  }

  return {
    /** The day it is now in a time zone. PostgreSQL raises 22023 for a zone that it has not. */
    today: (zone: string) => todayFind(db, zone),

    /** The moments that days of a time zone begin and end with. */
    period: (p: Parameters<typeof periodFind>[1]) => periodFind(db, p),

    steps,

    /** Charges of the last days of a time zone, today last, none left out. */
    async days(p: { book: BookId; zone: string; days: number }): Promise<UsedDay[]> {
      const to = await todayFind(db, p.zone)
      const from = dayText(Date.parse(to) - (p.days - 1) * DAY_MS)
      const used = await steps({ book: p.book, zone: p.zone, from, to, step: 'day' })
      return used.steps.map(({ local, models }) => ({ day: local, ...chargesOf(models) }))
    },

    /** What a book did lately; days are of UTC, as its daily limit is. */
    async recent(book: BookId): Promise<Recent> {
      const today = Date.parse(await todayFind(db, 'UTC'))
      const bounds = [today - 29 * DAY_MS, today, today + DAY_MS].map(dateAt)
      const rows = await between(book, bounds)
      return {
        requestsToday: chargesOf(rows.filter(({ bucket }) => bucket === 2)).requests,
        spent30Days: chargesOf(rows).spent,
        lastTopUpAt: await purchaseFindLast(db, book),
      }
    },
  }
}

/**
 * The way from each bound to the next: to the nearest midnight of UTC, on by whole days, and from
 * the last midnight to the end. What is gone back is taken away.
 */
function piecesOf(bounds: readonly Date[]): Piece[] {
  return bounds.slice(1).flatMap((end, i) => {
    const [fromMs, toMs] = [(bounds[i] ?? end).getTime(), end.getTime()]
    const [first, last] = [fromMs, toMs].map((ms) => Math.round(ms / DAY_MS) * DAY_MS)
    const isLong = first !== undefined && last !== undefined && first < last
    const way = isLong
      ? [...go(fromMs, first), ...cut(first, last, [DAY_MINUTES]), ...go(last, toMs)]
      : go(fromMs, toMs)
    return way.map((piece) => ({ bucket: i + 1, ...piece }))
  })
}

type Part = Omit<Piece, 'bucket'>

function go(fromMs: number, toMs: number): Part[] {
  if (fromMs <= toMs) return cut(fromMs, toMs, STEPS)
  return cut(toMs, fromMs, STEPS).map((part) => ({ ...part, sign: -1 }))
}

/** The largest steps in the middle, and finer ones at an end that they do not reach. */
function cut(fromMs: number, toMs: number, steps: readonly number[]): Part[] {
  const [minutes, ...finer] = steps
  if (minutes === undefined || fromMs >= toMs) return []
  const stepMs = minutes * MINUTE_MS
  const first = Math.ceil(fromMs / stepMs) * stepMs
  const last = Math.floor(toMs / stepMs) * stepMs
  if (first >= last) return cut(fromMs, toMs, finer)
  const middle = { sign: 1, minutes, from: dateAt(first), to: dateAt(last) } as const
  return [...cut(fromMs, first, finer), middle, ...cut(last, toMs, finer)]
}

function byModel(rows: readonly UsedRow[]): ModelUsed[] {
  const models = new Map<string, ModelUsed>()
  for (const { bucket: _, model, ...used } of rows) {
    const known = models.get(model)
    models.set(model, { model, ...(known === undefined ? used : sumOf(known, used)) })
  }
  return [...models.values()]
}

function sumOf(a: Used, b: Used): Used {
  return {
    requests: a.requests + b.requests,
    free: a.free + b.free,
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    spent: micro(a.spent + b.spent),
  }
}

function chargesOf(used: readonly Used[]): { requests: bigint; spent: Credits } {
  const requests = used.reduce((sum, one) => sum + one.requests - one.free, 0n)
  return { requests, spent: micro(used.reduce((sum, one) => sum + one.spent, 0n)) }
}

// Days as text compare as days do, and `-infinity` comes before all of them.
function later(a: string, b: string): string {
  return a > b ? a : b
}

function earlier(a: string, b: string): string {
  return a < b ? a : b
}
