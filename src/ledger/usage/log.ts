// The request log of a book, newest first, and the lookup of one request. A page reads the entries
// after the mark, then the spans that say where matching entries lie, and only those entries: a
// filter for a rare model among five million requests costs as much as one for a common model.
import { dateAt, dayText } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId, timeOfHold } from '../../platform/ids.ts'
import { endings as anyEnding, type Ending } from '../../units/endings.ts'
import type { Entry } from '../queries.ts'
import {
  type ClientId,
  type ClientIds,
  dayFindLast,
  dayFindOf,
  entryFindOfHold,
  entryListOfDay,
  holdFindEnd,
  holdWeekExists,
  modelList,
  modelListUnsummed,
  requestList,
  type SeqRange,
  type Span,
  seqFindBetween,
  spanList,
  type TimeRange,
  tariffListOf,
  useListAfter,
} from './log-queries.ts'
import { type Mark, markFind } from './queries.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** Some spans may contain entries at or above `before`, more if a clock was set back. */
const SPANS_EXTRA = 8
/** How long after the id's time its entry may have been written: normal, spooled, spooled long. */
const SEARCH_WINDOWS_MS = [70 * MINUTE_MS, 2 * DAY_MS, 15 * DAY_MS]

export type LogQuery = TimeRange &
  ClientIds & {
    readonly book: BookId
    readonly model: string | null
    /** Null: all endings. */
    readonly endings: readonly Ending[] | null
    /** Only entries with a lower number. */
    readonly before: bigint | null
    readonly limit: number
  }

export type LogPage = {
  readonly entries: readonly Entry[]
  /** `before` of the next page. */
  readonly next: bigint | null
  /** All models in the entries that are kept. */
  readonly models: readonly string[]
}

export function createRequestLog(db: Db) {
  /** One page, read in one snapshot. */
  function page(query: LogQuery): Promise<LogPage> {
    return db.snapshot(async (tx) => {
      const mark = await markFind(tx, query.book, 'usage_marks')
      if (mark === undefined) return { entries: [], next: null, models: [] }
      const unsummed = unsummedRange(mark)
      const models = new Set([
        ...(await modelList(tx, query.book)),
        ...(unsummed === undefined
          ? []
          : await modelListUnsummed(tx, { book: query.book, ...unsummed })),
      ])
      const found = await collect(tx, query, { mark, models: [...models] })
      const entries = found.slice(0, query.limit)
      return {
        entries,
        next: found.length > query.limit ? (entries.at(-1)?.seq ?? null) : null,
        models: [...models].sort(),
      }
    })
  }

  /** The entry of an old request, whose partition of holds was dropped. */
  async function findOld(book: BookId, id: HoldId): Promise<Entry | undefined> {
    const startedMs = timeOfHold(id)
    const within = async (
      fromMs: number,
      toMs: number,
      kind: 'charge' | null,
      dayMax = dayText(toMs),
    ) => {
      const [from, to] = [dateAt(fromMs), dateAt(toMs)]
      const { first, last } = await seqFindBetween(db, { book, minutes: 15, from, to })
      if (first === null || last === null) return undefined
      const days = { dayMin: dayText(fromMs - DAY_MS), dayMax }
      return entryFindOfHold(db, { book, id, kind, firstSeq: first, lastSeq: last, ...days })
    }
    // The id has our clock's time, the entry the database's; they differ by seconds.
    let fromMs = startedMs - MINUTE_MS
    for (const afterMs of SEARCH_WINDOWS_MS) {
      const found = await within(fromMs, startedMs + afterMs, null)
      if (found !== undefined) {
        const isFinal = found.ending !== 'process_lost' && found.ending !== 'overdue'
        if (found.kind === 'charge' || isFinal) return found
        // The sweep voided it; a late settle may have charged it afterwards.
        const lateMs = startedMs + (SEARCH_WINDOWS_MS.at(-1) ?? 0)
        return (await within(fromMs, lateMs, 'charge')) ?? found
      }
      fromMs = startedMs + afterMs
    }
    // The clock was set back, and the entry is on its book's later day.
    return within(startedMs - MINUTE_MS, fromMs, null, 'infinity')
  }

  /**
   * The entry that ended a request; `running` while its hold is open; undefined when the book has
   * no such request.
   */
  async function look(book: BookId, id: HoldId): Promise<Entry | 'running' | undefined> {
    const day = dayOfHold(id)
    const hold = await holdFindEnd(db, { id, day })
    if (hold === undefined) {
      return (await holdWeekExists(db, day)) ? undefined : findOld(book, id)
    }
    const { entrySeq, closedDay, bookDay } = hold
    if (hold.book !== book) return undefined
    if (closedDay === null) return 'running'
    // Voided before it was held: nothing was reserved, and there is no entry.
    if (entrySeq === null) return undefined
    const range = { firstSeq: entrySeq, lastSeq: entrySeq, dayMin: closedDay, dayMax: bookDay }
    return entryFindOfHold(db, { book, id, kind: null, ...range })
  }

  return {
    page,

    look,

    /** The entry that ended a request; undefined when the book has none. */
    async find(book: BookId, id: HoldId): Promise<Entry | undefined> {
      const found = await look(book, id)
      return found === 'running' ? undefined : found
    },

    /** What requests after an entry used, by day and model; for an operator. */
    after: (p: Parameters<typeof useListAfter>[1]) => useListAfter(db, p),

    lastDay: (p: Period) => db.snapshot((tx) => findLastDay(tx, p)),
    /** A page of the statement: entries of one UTC day, oldest first. */
    entriesOfDay: (p: Parameters<typeof entryListOfDay>[1]) => entryListOfDay(db, p),
  }
}

type Period = {
  readonly book: BookId
  readonly from: Date
  readonly to: Date
  readonly day: string
}

/**
 * The last UTC day on which entries of a period are; at least the given one. It is a later one when
 * the clock stepped back, since a book's day does not. Sums and spans name the day of the period's
 * last entry: a search among the entries of all later days would open every partition.
 */
async function findLastDay(tx: Tx, { book, from, to, day }: Period): Promise<string> {
  const mark = await markFind(tx, book, 'usage_marks')
  if (mark === undefined) return day
  const days = [day]
  const { last } = await seqFindBetween(tx, { book, minutes: 60, from, to })
  if (last !== null) {
    const models = await modelList(tx, book)
    days.push((await dayFindOf(tx, { book, seq: last, models })) ?? day)
  }
  const unsummed = unsummedRange(mark)
  if (unsummed !== undefined) {
    days.push((await dayFindLast(tx, { book, ...unsummed, from, to })) ?? day)
  }
  return days.toSorted().at(-1) ?? day
}

function unsummedRange(mark: Mark): SeqRange | undefined {
  if (mark.seq === mark.bookSeq) return undefined
  const { dayMin, dayMax } = mark
  return { firstSeq: mark.seq + 1n, lastSeq: mark.bookSeq, dayMin, dayMax }
}

/** Matching entries, newest first; one more than the limit when there are more. */
async function collect(
  tx: Tx,
  query: LogQuery,
  known: { mark: Mark; models: readonly string[] },
): Promise<Entry[]> {
  const { book, from, to } = query
  const endings = query.endings ?? anyEnding
  const wanted = query.limit + 1
  const tariffs = query.model === null ? null : await tariffListOf(tx, query.model)
  const ids = { session: query.session, agent: query.agent, label: query.label }
  const found: Entry[] = []
  const read = (ranges: readonly SeqRange[]) =>
    requestList(tx, { book, ranges, endings, tariffs, ...ids, from, to, limit: wanted })
  const of = clientIdOf(ids)
  const models = query.model === null ? known.models : [query.model]
  // Spans by session, agent and label have a mark of their own.
  const mark = of === undefined ? known.mark : await markFind(tx, book, 'usage_split_marks')
  if (mark === undefined) return []
  const unsummed = unsummedRange(mark)
  let before = query.before ?? mark.bookSeq + 1n

  if (unsummed !== undefined && before > unsummed.firstSeq) {
    found.push(...(await read([{ ...unsummed, lastSeq: before - 1n }])))
  }
  const bounds = await spanBounds(tx, query, { summed: known.mark.seq, spanned: mark.seq })
  if (before > bounds.lastSeq) before = bounds.lastSeq + 1n
  const { firstSeq } = bounds
  const limit = wanted + SPANS_EXTRA
  while (found.length < wanted && before > firstSeq) {
    const spans = await spanList(tx, { book, of, endings, models, firstSeq, before, limit })
    const { chosen, horizon } = chooseSpans(spans, wanted - found.length, firstSeq)
    const entries = chosen.length === 0 ? [] : await read(rangesOf(chosen))
    found.push(...entries.filter(({ seq }) => seq > horizon))
    before = horizon + 1n
  }
  return found.slice(0, wanted)
}

/** The rarest of the ids, by which the spans are found. */
function clientIdOf(ids: ClientIds): ClientId | undefined {
  for (const split of ['agent', 'session', 'label'] as const) {
    const key = ids[split]
    if (key !== null) return { split, key }
  }
  return undefined
}

/** The range of entry numbers in which spans are read; all of them without a time range. */
async function spanBounds(
  tx: Tx,
  { book, from, to }: LogQuery,
  { summed, spanned }: { summed: bigint; spanned: bigint },
) {
  if (from === null && to === null) return { firstSeq: 1n, lastSeq: spanned }
  const { first, last } = await seqFindBetween(tx, { book, minutes: 60, from, to })
  // The sums do not know the entries after their own mark.
  return { firstSeq: first ?? 1n, lastSeq: spanned > summed ? spanned : (last ?? 0n) }
}

/**
 * Chooses the newest spans that together have enough requests, and those that overlap them. The
 * horizon is the newest entry of a span that was not chosen, or the end of the search: above it no
 * match is missing.
 */
function chooseSpans(
  spans: readonly Span[],
  wanted: number,
  firstSeq: bigint,
): { chosen: readonly Span[]; horizon: bigint } {
  let count = 0
  let least = spans[0]?.firstSeq ?? 0n
  for (const { requests, firstSeq: first } of spans) {
    if (count >= wanted) break
    count += requests
    if (first < least) least = first
  }
  const end = count < wanted ? -1 : spans.findIndex(({ lastSeq }) => lastSeq < least)
  if (end === -1) return { chosen: spans, horizon: firstSeq - 1n }
  return { chosen: spans.slice(0, end), horizon: spans[end]?.lastSeq ?? 0n }
}

/** Merges overlapping spans, as of several models, so that each entry is read once. */
function rangesOf(spans: readonly Span[]): SeqRange[] {
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
