// Totals over all books, for reports: what every lot had at two moments, what moved in between, and
// today's requests. Everything is read in the snapshot that the caller passes.
import { dateAt, dayText } from '../../platform/clock.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { createLongReads, type LongReadOptions } from '../upkeep/standby.ts'
import { LATENCY_STEPS, type Latency, latencyOf } from '../usage/latency.ts'
import { type BookState, stateOf } from './lot-states.ts'
import * as queries from './queries.ts'
import { bookRows, requestRows } from './row-queries.ts'

/** `to` null: now. Both are multiples of 15 minutes, as midnights of all time zones are. */
export type Moments = { readonly from: Date; readonly to: Date | null }

/** A book at both moments; lots that were added in between are in `to` only. */
export type BookMovement = {
  readonly book: BookId
  readonly from: BookState
  readonly to: BookState
}

/** Books that one round of queries reads: about 10,000 postings, some MB. */
const PAGE = 1_000
const MINUTE_MS = 60_000
/** The lengths of sums, in minutes; the last has no end. */
const STEPS = [15, 60, 180, 1_440] as const

/** The sums that together contain everything since a moment. */
export function rangesSince(moment: Date): queries.SumRange[] {
  let atMs = moment.getTime()
  if (atMs % (STEPS[0] * MINUTE_MS) !== 0) throw new RangeError('not a multiple of 15 minutes')
  return STEPS.flatMap((minutes, i): queries.SumRange[] => {
    const next = STEPS[i + 1]
    const from = dateAt(atMs)
    if (next === undefined) return [{ minutes, from, to: null }]
    const stepMs = next * MINUTE_MS
    atMs = Math.ceil(atMs / stepMs) * stepMs
    return atMs === from.getTime() ? [] : [{ minutes, from, to: dateAt(atMs) }]
  })
}

/**
 * Every book with its state at both moments, in pages. `isActiveOnly`: only books with an entry
 * since the UTC day of `from`; no other book has moved.
 */
async function* walk(
  tx: Tx,
  moments: Moments,
  p: { readonly isActiveOnly: boolean },
): AsyncGenerator<BookMovement[]> {
  const activeSince = p.isActiveOnly ? dayText(moments.from.getTime()) : null
  const sinceFrom = rangesSince(moments.from)
  const sinceTo = moments.to === null ? [] : rangesSince(moments.to)
  for (let after = -1n; ; ) {
    const page = { after, limit: PAGE, activeSince, sinceFrom, sinceTo }
    const rows = await queries.bookPage(tx, page)
    yield await movementsOf(tx, moments, rows)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = last.book
  }
}

/** One book with its state at a moment and now; the caller passes a snapshot. */
async function movement(tx: Tx, book: BookId, from: Date): Promise<BookMovement | undefined> {
  const page = { after: book - 1n, limit: 1, activeSince: null, sinceTo: [] }
  const rows = await queries.bookPage(tx, { ...page, sinceFrom: rangesSince(from) })
  const own = rows.filter((row) => row.book === book)
  return (await movementsOf(tx, { from, to: null }, own))[0]
}

async function movementsOf(
  tx: Tx,
  { from, to }: Moments,
  rows: readonly queries.BookRow[],
): Promise<BookMovement[]> {
  const behind = rows.filter(({ isSummed }) => !isSummed)
  const unsummed = new Map<BookId, queries.UnsummedSpent>()
  if (behind.length > 0) {
    const books = behind.map(({ book }) => book)
    const dayMin = behind.map((one) => one.unsummedDay).reduce((a, b) => (a < b ? a : b))
    const spent = await queries.unsummedSpent(tx, { books, dayMin, from, to })
    for (const one of spent) unsummed.set(one.book, one)
  }
  const postings = Map.groupBy(
    await queries.postingsOf(
      tx,
      rows.map(({ book }) => book),
    ),
    ({ book }) => book,
  )
  return rows.map(({ book, spentTotal, sinceFrom, sinceTo }) => {
    const own = postings.get(book) ?? []
    const more = unsummed.get(book)
    const spentFrom = spentTotal - sinceFrom - (more?.sinceFrom ?? 0n)
    const spentTo = to === null ? spentTotal : spentTotal - sinceTo - (more?.sinceTo ?? 0n)
    const before = (moment: Date) => own.filter(({ at }) => at < moment)
    return {
      book,
      from: stateOf(before(from), spentFrom),
      to: stateOf(to === null ? own : before(to), spentTo),
    }
  })
}

export type RequestTotals = {
  readonly sums: readonly queries.RequestSum[]
  readonly firstByte: Latency | null
  readonly total: Latency | null
  readonly refused: readonly { readonly reason: string; readonly requests: bigint }[]
}

/** Requests since a moment: from the sums of the books that were active, and what follows them. */
async function requests(tx: Tx, from: Date): Promise<RequestTotals> {
  const day = dayText(from.getTime())
  const since = { from, day, ranges: rangesSince(from) }
  const sums = await queries.requestSums(tx, since)
  const steps = await queries.latencySums(tx, since)
  const latency = (of: queries.LatencySum['of']) => {
    const counts = new Float64Array(LATENCY_STEPS)
    for (const one of steps) if (one.of === of) counts[one.step] = one.requests
    return latencyOf(counts, 0)
  }
  const refused = await queries.refusedSums(tx, day)
  return { sums, firstByte: latency('first_byte'), total: latency('total'), refused }
}

/**
 * Requests by hour since a moment, which begins hour 0. An hour without requests is left out.
 * Some time zones are half an hour apart from UTC: there quarters of an hour are added up.
 */
async function hours(tx: Tx, from: Date): Promise<queries.HourSum[]> {
  const minutes = from.getTime() % (STEPS[1] * MINUTE_MS) === 0 ? STEPS[1] : STEPS[0]
  const ranges = [{ minutes, from, to: null }]
  return queries.hourSums(tx, { from, day: dayText(from.getTime()), ranges })
}

export function createTotals(options: LongReadOptions) {
  const longReads = createLongReads(options)
  return {
    walk,
    movement,
    requests,
    hours,
    /** Which of these lots have nothing left to use, as `<book> <seq>`. */
    async usedUp(
      db: Executor,
      lots: readonly { readonly book: BookId; readonly lot: bigint }[],
    ): Promise<Set<string>> {
      const found = await queries.lotsUsedUp(db, lots)
      return new Set(found.map(({ book, lot }) => `${book} ${lot}`))
    },
    /** What all books have now. */
    balances: queries.balanceSums,
    postings: queries.postingSums,
    /** Charges apart, nothing happened to a book while this stays the same. */
    lastPosting: queries.lastPosting,
    /** Null: nothing was ever posted. */
    firstPostingAt: queries.firstPostingAt,
    /** A page of the requests, or of the books, that a figure is made of. */
    ...{ requestRows, bookRows },
    /** Reads every entry of the period. */
    entries: queries.entrySums,
    /** A snapshot for reads of minutes; on the standby, if there is one and it may be behind. */
    async longSnapshot<T>(
      work: (tx: Tx) => Promise<T>,
      { mayBeBehind } = { mayBeBehind: true },
    ): Promise<T> {
      const read = mayBeBehind ? (await longReads()).read : options.longReads
      return read((reader) => reader.snapshot(work))
    },
  }
}
