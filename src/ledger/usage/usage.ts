// What a book used, by days or hours of its owner's time zone: the sums up to the mark, and the
// entries behind it, in one snapshot. So a chart reads little and still agrees with the statement
// to the last microcredit, at every moment.
import { dayText } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
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
} from './queries.ts'
import { createTally, type ModelUsed, type Tally } from './tally.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Minutes of the steps that are read whole for a chart of days, and of hours. */
const WHOLE = { day: 1_440, hour: 60 } as const
/** And of those that lead from there to a bound; no bound is finer than the last. */
const FINER = [180, 60, 15]

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
  /** By bucket and model: sums and younger entries between the bounds, in one snapshot. */
  function between(book: BookId, step: Step, bounds: readonly number[]): Promise<Tally> {
    const [first = 0, end = first] = [bounds[0], bounds.at(-1)]
    return db.snapshot(async (tx) => {
      const tally = createTally(bounds.length - 1)
      const mark = await markFind(tx, book)
      if (mark === undefined) return tally
      const minutes = WHOLE[step]
      const mids = bounds.map((bound) => nearest(bound, minutes * MINUTE_MS))
      const pieces = piecesOf(bounds, mids)
      const sums = await sumList(tx, { book, minutes, mids, pieces })
      for (const packed of sums) tally.addPacked(packed)
      if (mark.seq === mark.bookSeq) return tally
      const dayMin = later(mark.dayMin, dayText(first))
      const dayMax = earlier(mark.dayMax, dayText(end))
      // Of a year's bounds only those of the last days can be between such entries.
      const past = Math.max(
        0,
        bounds.findLastIndex((bound) => bound <= Date.parse(dayMin)),
      )
      const near = bounds.slice(past)
      const fresh = { book, afterSeq: mark.seq, dayMin, dayMax, bounds: near }
      for (const row of await freshList(tx, fresh)) tally.addRow(row, row.bucket + past)
      return tally
    })
  }

  /** Every day or hour of a period, oldest first, none left out; and the whole of it by model. */
  async function steps(
    p: Days & { book: BookId; step: Step },
  ): Promise<{ steps: UsedStep[]; totals: ModelUsed[] }> {
    const bounds = await (p.step === 'day' ? dayList : hourList)(db, p)
    const times = bounds.map(({ at }) => at.getTime())
    const tally = await between(p.book, p.step, times)
    return {
      steps: tally.byBucket().map((models, i) => ({ ...(bounds[i] as Bound), models })),
      totals: tally.whole(),
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
      const bounds = [today - 29 * DAY_MS, today, today + DAY_MS]
      const [before = [], ofToday = []] = (await between(book, 'day', bounds)).byBucket()
      return {
        requestsToday: chargesOf(ofToday).requests,
        spent30Days: chargesOf([...before, ...ofToday]).spent,
        lastTopUpAt: await purchaseFindLast(db, book),
      }
    },
  }
}

/**
 * The way from the mid of each bound to the bound itself: in each step as far as it leads nearer,
 * with what is gone back taken away. So 18:30 is two times three hours back from midnight, and two
 * quarters on.
 */
function piecesOf(bounds: readonly number[], mids: readonly number[]): Piece[] {
  const [first = 0] = mids
  return bounds.flatMap((boundMs, bound) => {
    let atMs = mids[bound] ?? boundMs
    return FINER.flatMap((minutes): Piece[] => {
      const way = nearest(boundMs - atMs, minutes * MINUTE_MS)
      if (way === 0) return []
      const before = (atMs - first) / MINUTE_MS
      const after = before + way / MINUTE_MS
      atMs += way
      const piece = { bound, minutes, from: Math.min(before, after), to: Math.max(before, after) }
      return [{ ...piece, sign: way > 0 ? 1 : -1 }]
    })
  })
}

/** The nearest multiple of a step, and of two that are as near the one nearer to nothing. */
function nearest(ms: number, stepMs: number): number {
  return Math.sign(ms) * Math.ceil(Math.abs(ms) / stepMs - 0.5) * stepMs
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
