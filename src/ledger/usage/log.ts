// The request log of a book, newest first, and one request of it. A page of a filter reads what
// lies behind the mark, then the spans that say where a match is, and then only those entries: a
// rare model in five million requests costs as much as a common one.
import { dateAt, dayText } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId, timeOfHold } from '../../platform/ids.ts'
import { endings as anyEnding, type Ending } from '../calls.ts'
import type { Entry } from '../queries.ts'
import {
  type Between,
  entryFindOfHold,
  entryListOfDay,
  holdFindEnd,
  holdWeekExists,
  modelList,
  modelListFresh,
  type Range,
  requestList,
  type Span,
  seqFindBetween,
  spanList,
  tariffListOf,
} from './log-queries.ts'
import { type Mark, markFind } from './queries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** One span of a model and ending may reach over `before`, or a few if a clock was set back. */
const SPANS_MORE = 8
/** How long after its id a request's entry is looked for: served, spooled, spooled for long. */
const ENDED_WITHIN_MS = [70 * MINUTE_MS, 2 * DAY_MS, 15 * DAY_MS]

export type LogAsk = Between & {
  readonly book: BookId
  readonly model: string | null
  /** Null: however they ended. */
  readonly endings: readonly Ending[] | null
  /** Only older ones than the entry with this number. */
  readonly before: bigint | null
  readonly limit: number
}

export type LogPage = {
  readonly entries: readonly Entry[]
  /** `before` of the next page. */
  readonly next: bigint | null
  /** All that the book ever used, as far as its entries are kept. */
  readonly models: readonly string[]
}

export function createRequestLog(db: Db) {
  /** One page. All of it is of one snapshot. */
  function page(ask: LogAsk): Promise<LogPage> {
    return db.snapshot(async (tx) => {
      const mark = await markFind(tx, ask.book)
      if (mark === undefined) return { entries: [], next: null, models: [] }
      const fresh = freshRange(mark)
      const models = new Set([
        ...(await modelList(tx, ask.book)),
        ...(fresh === undefined ? [] : await modelListFresh(tx, { book: ask.book, ...fresh })),
      ])
      const found = await collect(tx, ask, { mark, fresh, models: [...models] })
      const entries = found.slice(0, ask.limit)
      return {
        entries,
        next: found.length > ask.limit ? (entries.at(-1)?.seq ?? null) : null,
        models: [...models].sort(),
      }
    })
  }

  /** The entry of an old request, whose hold is forgotten. */
  async function findOld(book: BookId, id: HoldId): Promise<Entry | undefined> {
    const startedMs = timeOfHold(id)
    const within = async (fromMs: number, toMs: number, kind: 'charge' | null) => {
      const [from, to] = [dateAt(fromMs), dateAt(toMs)]
      const { first, last } = await seqFindBetween(db, { book, minutes: 15, from, to })
      if (first === null || last === null) return undefined
      const days = { dayMin: dayText(fromMs - DAY_MS), dayMax: dayText(toMs) }
      return entryFindOfHold(db, { book, id, kind, firstSeq: first, lastSeq: last, ...days })
    }
    // Our clock made the id and the database's the entry; they are seconds apart.
    let fromMs = startedMs - MINUTE_MS
    for (const afterMs of ENDED_WITHIN_MS) {
      const found = await within(fromMs, startedMs + afterMs, null)
      if (found !== undefined) {
        const isFinal = found.ending !== 'process_lost' && found.ending !== 'overdue'
        if (found.kind === 'charge' || isFinal) return found
        // Taken for dead and free, and then perhaps charged after all.
        const lateMs = startedMs + (ENDED_WITHIN_MS.at(-1) ?? 0)
        return (await within(fromMs, lateMs, 'charge')) ?? found
      }
      fromMs = startedMs + afterMs
    }
    return undefined
  }

  return {
    page,

    /** The entry that ended a request; undefined when the book has none of it. */
    async find(book: BookId, id: HoldId): Promise<Entry | undefined> {
      const day = dayOfHold(id)
      const hold = await holdFindEnd(db, { id, day })
      if (hold === undefined) {
        return (await holdWeekExists(db, day)) ? undefined : findOld(book, id)
      }
      const { entrySeq, closedDay } = hold
      if (hold.book !== book || entrySeq === null || closedDay === null) return undefined
      const range = { firstSeq: entrySeq, lastSeq: entrySeq, dayMin: closedDay, dayMax: closedDay }
      return entryFindOfHold(db, { book, id, kind: null, ...range })
    },

    /** A page of the statement: entries of one UTC day, oldest first. */
    entriesOfDay: (p: Parameters<typeof entryListOfDay>[1]) => entryListOfDay(db, p),
  }
}

function freshRange(mark: Mark): Range | undefined {
  if (mark.seq === mark.bookSeq) return undefined
  const { dayMin, dayMax } = mark
  return { firstSeq: mark.seq + 1n, lastSeq: mark.bookSeq, dayMin, dayMax }
}

/** Newest first, one more than the limit when there is one. */
async function collect(
  tx: Tx,
  ask: LogAsk,
  known: { mark: Mark; fresh: Range | undefined; models: readonly string[] },
): Promise<Entry[]> {
  const { book, from, to } = ask
  const endings = ask.endings ?? anyEnding
  const wanted = ask.limit + 1
  const tariffs = ask.model === null ? null : await tariffListOf(tx, ask.model)
  const found: Entry[] = []
  const read = (ranges: readonly Range[]) =>
    requestList(tx, { book, ranges, endings, tariffs, from, to, limit: wanted })
  let before = ask.before ?? known.mark.bookSeq + 1n

  if (known.fresh !== undefined && before > known.fresh.firstSeq) {
    found.push(...(await read([{ ...known.fresh, lastSeq: before - 1n }])))
  }
  const bounds = await spanBounds(tx, ask, known.mark)
  if (before > bounds.lastSeq) before = bounds.lastSeq + 1n
  while (found.length < wanted && before > bounds.firstSeq) {
    const spans = await spanList(tx, {
      ...{ book, endings, before, firstSeq: bounds.firstSeq, limit: wanted + SPANS_MORE },
      models: ask.model === null ? known.models : [ask.model],
    })
    const { chosen, horizon } = choose(spans, wanted - found.length)
    if (chosen.length === 0) break
    const entries = await read(rangesOf(chosen))
    found.push(...entries.filter(({ seq }) => seq > horizon))
    before = horizon + 1n
  }
  return found.slice(0, wanted)
}

/** Numbers that spans are worth looking at between; the whole book when no time is asked for. */
async function spanBounds(tx: Tx, { book, from, to }: LogAsk, mark: Mark) {
  if (from === null && to === null) return { firstSeq: 1n, lastSeq: mark.seq }
  const { first, last } = await seqFindBetween(tx, { book, minutes: 60, from, to })
  return { firstSeq: first ?? 1n, lastSeq: last ?? 0n }
}

/**
 * As many of the newest spans as have what is wanted, and those that lie among them. Entries above
 * the horizon, the newest number in a span that was not chosen, are then all known.
 */
function choose(spans: readonly Span[], wanted: number): { chosen: Span[]; horizon: bigint } {
  let count = 0
  let least = spans[0]?.firstSeq ?? 0n
  for (const { requests, firstSeq } of spans) {
    if (count >= wanted) break
    count += requests
    if (firstSeq < least) least = firstSeq
  }
  const end = spans.findIndex(({ lastSeq }) => lastSeq < least)
  if (end === -1 || count < wanted) return { chosen: [...spans], horizon: 0n }
  return { chosen: spans.slice(0, end), horizon: spans[end]?.lastSeq ?? 0n }
}

/** Spans as ranges; those of several models lie in each other, and are read once. */
function rangesOf(spans: readonly Span[]): Range[] {
  const ranges: { firstSeq: bigint; lastSeq: bigint; dayMin: string; dayMax: string }[] = []
  for (const { firstSeq, lastSeq, day } of spans.toSorted(byDayAndSeq)) {
    const last = ranges.at(-1)
    if (last?.dayMin === day && firstSeq <= last.lastSeq) {
      if (lastSeq > last.lastSeq) last.lastSeq = lastSeq
    } else ranges.push({ firstSeq, lastSeq, dayMin: day, dayMax: day })
  }
  return ranges
}

function byDayAndSeq(a: Span, b: Span): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1
  return a.firstSeq < b.firstSeq ? -1 : 1
}
