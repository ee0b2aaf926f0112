// The SQL of totals over all books: one function per statement. All only read, in one snapshot, and
// lock nothing.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Contra, EntryKind } from '../queries.ts'
import { REQUEST_COLUMNS } from '../usage/request-rows.ts'
import type { BookPosting } from './lot-states.ts'

/** Sums of one length that begin in a range of time. */
export type SumRange = {
  readonly minutes: number
  readonly from: Date
  /** Null: no end. */
  readonly to: Date | null
}

export type BookRow = {
  readonly book: BookId
  readonly spentTotal: bigint
  /** Charges since the first and since the second moment, as far as they are in the sums. */
  readonly sinceFrom: bigint
  readonly sinceTo: bigint
  readonly isSummed: boolean
  /** The first UTC day that an entry after the mark can have. */
  readonly unsummedDay: string
}

// `offset 0` makes PostgreSQL look each range up by the index.
const spentIn = (first: number) => `(
  select coalesce(sum(s.spent), 0)::int8
  from unnest($${first}::int2[], $${first + 1}::timestamptz[], $${first + 2}::timestamptz[])
    as r (minutes, begins, ends)
  cross join lateral (
    select spent from usage_sums
    where book_id = b.id and minutes = r.minutes and at >= r.begins and at < r.ends offset 0
  ) s)`

/** A page of books by id; with `activeSince`, only those with an entry on that UTC day or later. */
export async function bookPage(
  tx: Tx,
  p: {
    readonly after: bigint
    readonly limit: number
    readonly activeSince: string | null
    readonly sinceFrom: readonly SumRange[]
    readonly sinceTo: readonly SumRange[]
  },
): Promise<BookRow[]> {
  const { rows } = await tx.query(
    `select b.id as book, b.spent_total as "spentTotal", ${spentIn(4)} as "sinceFrom",
       ${spentIn(7)} as "sinceTo", coalesce(m.seq, 0) >= b.seq as "isSummed",
       (coalesce(m.day, '-infinity') - 1)::text as "unsummedDay"
     from books b left join usage_marks m on m.book_id = b.id
     where b.id > $1 and ($3::date is null or b.day >= $3)
     order by b.id limit $2`,
    [p.after, p.limit, p.activeSince, ...rangeValues(p.sinceFrom), ...rangeValues(p.sinceTo)],
  )
  return rows as BookRow[]
}

function rangeValues(ranges: readonly SumRange[]): unknown[] {
  const times = ranges.map(({ to }) => to?.toISOString() ?? 'infinity')
  return [ranges.map((one) => one.minutes), ranges.map((one) => one.from), times]
}

/** Credits of all books together may exceed an int8, so PostgreSQL sends their sums as text. */
function withAmounts<Row>(rows: readonly object[], names: readonly (keyof Row)[]): Row[] {
  return rows.map((row) => {
    const texts = row as Record<keyof Row, string>
    return {
      ...row,
      ...Object.fromEntries(names.map((name) => [name, BigInt(texts[name])])),
    } as Row
  })
}

export type UnsummedSpent = {
  readonly book: BookId
  readonly sinceFrom: bigint
  readonly sinceTo: bigint
}

/** Charges after the marks of these books. */
export async function unsummedSpent(
  tx: Tx,
  p: {
    readonly books: readonly BookId[]
    readonly dayMin: string
    readonly from: Date
    readonly to: Date | null
  },
): Promise<UnsummedSpent[]> {
  const { rows } = await tx.query(
    `select b.id as book, coalesce(-sum(e.amount) filter (where e.at >= $3), 0)::int8
         as "sinceFrom",
       coalesce(-sum(e.amount) filter (where e.at >= $4), 0)::int8 as "sinceTo"
     from books b left join usage_marks m on m.book_id = b.id
     join entries e on e.book_id = b.id and e.seq > coalesce(m.seq, 0)
     where b.id = any ($1::int8[]) and e.day >= $2::date and e.kind = 'charge'
     group by 1`,
    [p.books.map(String), p.dayMin, p.from, p.to?.toISOString() ?? 'infinity'],
  )
  return rows as UnsummedSpent[]
}

/** When the first credits were posted, by the index on kind and time; null: never. */
export async function firstPostingAt(db: Executor): Promise<Date | null> {
  const { rows } = await db.query(
    `select min(p.at) as at from unnest(enum_range(null::entry_kind)) as k (kind)
     cross join lateral (
       select at from postings where kind = k.kind order by at limit 1
     ) p`,
  )
  return (rows[0] as { at: Date | null }).at
}

/** Every posting of these books, by book and number. */
export async function postingsOf(
  tx: Tx,
  books: readonly BookId[],
): Promise<(BookPosting & { readonly book: BookId })[]> {
  const { rows } = await tx.query(
    `select book_id as book, seq, kind, ref, amount, lot, at from postings
     where book_id = any ($1::int8[]) order by book_id, seq`,
    [books.map(String)],
  )
  return rows as (BookPosting & { readonly book: BookId })[]
}

/** The number of a book's newest posting; 0 without one. Reads without a lock. */
export async function lastPosting(db: Executor, book: BookId): Promise<bigint> {
  const { rows } = await db.query(
    'select coalesce(max(seq), 0)::int8 as seq from postings where book_id = $1',
    [book],
  )
  return (rows[0] as { seq: bigint }).seq
}

export type EntrySum = {
  readonly kind: EntryKind
  readonly contra: Contra | 'none'
  readonly entries: bigint
  readonly amount: bigint
  readonly writtenOff: bigint
}

/**
 * The entries of a period by kind and contra side. Reads every entry of it, some seconds per
 * million, so the caller passes a connection for long reads. Days that left the ledger are missing.
 */
export async function entrySums(
  tx: Tx,
  p: { readonly from: Date; readonly to: Date },
): Promise<EntrySum[]> {
  // A book's day is at most a day apart from the entry's time, unless the clock was set back.
  const { rows } = await tx.query(
    `select kind, contra, count(*) as entries, sum(amount)::text as amount,
       coalesce(sum(written_off), 0)::text as "writtenOff"
     from entries
     where day between ($1::timestamptz at time zone 'UTC')::date - 1
         and ($2::timestamptz at time zone 'UTC')::date + 1
       and at >= $1 and at < $2
     group by 1, 2 order by 1, 2`,
    [p.from, p.to],
  )
  return withAmounts<EntrySum>(rows as object[], ['amount', 'writtenOff'])
}

export type PostingSum = {
  readonly kind: EntryKind
  readonly isDispute: boolean
  /** Given by an operator, not by a code. */
  readonly isGift: boolean
  readonly postings: bigint
  /** Upwards and downwards apart: a month may have both. */
  readonly added: bigint
  readonly taken: bigint
}

/** The postings of a period by kind. An index by kind and time finds them. */
export async function postingSums(
  tx: Tx,
  p: { readonly from: Date; readonly to: Date },
): Promise<PostingSum[]> {
  const { rows } = await tx.query(
    `select p.kind, left(p.ref, 4) = 'dsp_' as "isDispute",
       p.kind = 'promo' and p.ref ~ '^(op|trial) ' as "isGift", count(*) as postings,
       coalesce(sum(p.amount) filter (where p.amount > 0), 0)::text as added,
       coalesce(-sum(p.amount) filter (where p.amount < 0), 0)::text as taken
     from unnest(enum_range(null::entry_kind)) as k (kind)
     join postings p on p.kind = k.kind and p.at >= $1 and p.at < $2
     group by 1, 2, 3 order by 1, 2, 3`,
    [p.from, p.to],
  )
  return withAmounts<PostingSum>(rows as object[], ['added', 'taken'])
}

export type BalanceSums = {
  readonly books: bigint
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
}

/** What all books have now. Reads every book: about 0.2 s per million. */
export async function balanceSums(tx: Tx): Promise<BalanceSums> {
  const { rows } = await tx.query(
    `select count(*) as books, coalesce(sum(available), 0)::text as available,
       coalesce(sum(held), 0)::text as held, coalesce(sum(debt), 0)::text as debt
     from books`,
  )
  const sums = withAmounts<BalanceSums>(rows as object[], ['available', 'held', 'debt'])
  return sums[0] as BalanceSums
}

/** Requests since a moment by model and ending; sums by split have both keys, not together. */
export type RequestSum = {
  readonly split: 'model' | 'ending'
  readonly key: string
  readonly requests: bigint
  readonly free: bigint
  readonly errors: bigint
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite5m: bigint
  readonly cacheWrite1h: bigint
  readonly spent: bigint
}

const ADDED = `coalesce(sum(requests), 0)::int8 as requests, coalesce(sum(free), 0)::int8 as free,
  coalesce(sum(errors), 0)::int8 as errors, coalesce(sum(input), 0)::int8 as input,
  coalesce(sum(output), 0)::int8 as output, coalesce(sum(cache_read), 0)::int8 as "cacheRead",
  coalesce(sum(cache_write_5m), 0)::int8 as "cacheWrite5m",
  coalesce(sum(cache_write_1h), 0)::int8 as "cacheWrite1h", coalesce(sum(spent), 0)::text as spent`

/** The sums by split since $1 of books that were active since $2, and the entries after them. */
const SINCE = `
  with active as (
    select b.id, b.seq, coalesce(m.seq, 0) as mark, coalesce(m.day, '-infinity') - 1 as day
    from books b left join usage_split_marks m on m.book_id = b.id where b.day >= $2::date
  ), summed as (
    select s.* from active a
    cross join unnest($3::int2[], $4::timestamptz[], $5::timestamptz[])
      as r (minutes, begins, ends)
    cross join lateral (
      select at, split, key, requests, free, errors, input, output, cache_read, cache_write_5m,
        cache_write_1h, spent, first_byte, total
      from usage_split_sums
      where book_id = a.id and split in ('model', 'ending') and minutes = r.minutes
        and at >= r.begins and at < r.ends offset 0
    ) s
  ), unsummed as (
    select ${REQUEST_COLUMNS}
    from (select * from active where mark < seq offset 0) a
    cross join lateral (
      select * from entries
      where book_id = a.id and seq > a.mark and day >= a.day and kind in ('charge', 'void')
        and at >= $1 offset 0
    ) e
    join tariffs t on t.id = e.tariff
  )`

type Since = { readonly from: Date; readonly day: string; readonly ranges: readonly SumRange[] }

export async function requestSums(tx: Tx, p: Since): Promise<RequestSum[]> {
  const { rows } = await tx.query(
    `${SINCE}, both_kinds as (
       select split::text, key collate "C" as key, requests, free, errors, input, output,
         cache_read, cache_write_5m, cache_write_1h, spent from summed
       union all
       select s.split, s.key collate "C", 1, is_free::int4, is_error::int4, input, output,
         cache_read, cache_write_5m, cache_write_1h, spent
       from unsummed cross join lateral
         (values ('model', model), ('ending', ending::text)) as s (split, key)
     )
     select split, key, ${ADDED} from both_kinds group by 1, 2 order by 1, 2`,
    [p.from, p.day, ...rangeValues(p.ranges)],
  )
  return withAmounts<RequestSum>(rows as object[], ['spent'])
}

/** Requests of one hour; hours are counted from the moment that the caller gave. */
export type HourSum = {
  readonly hour: number
  readonly requests: bigint
  readonly errors: bigint
  readonly spent: bigint
}

/** The ranges must be of sums that are not longer than an hour. */
export async function hourSums(tx: Tx, p: Since): Promise<HourSum[]> {
  const { rows } = await tx.query(
    `${SINCE}, both_kinds as (
       select at, requests, errors, spent from summed where split = 'ending'
       union all select at, 1, is_error::int4, spent from unsummed
     )
     select floor(extract(epoch from at - $1::timestamptz) / 3600)::int4 as hour,
       sum(requests)::int8 as requests, sum(errors)::int8 as errors, sum(spent)::text as spent
     from both_kinds group by 1 order by 1`,
    [p.from, p.day, ...rangeValues(p.ranges)],
  )
  return withAmounts<HourSum>(rows as object[], ['spent'])
}

/** How many requests had their first byte, or their end, in a step of usage_latency_step. */
export type LatencySum = {
  readonly of: 'first_byte' | 'total'
  readonly step: number
  readonly requests: number
}

export async function latencySums(tx: Tx, p: Since): Promise<LatencySum[]> {
  const { rows } = await tx.query(
    `${SINCE}, steps as (
       select h.what, h.element & 63 as step, h.element >> 6 as requests
       from summed cross join lateral (
         select 'first_byte' as what, unnest(first_byte) as element
         union all select 'total', unnest(total)
       ) h where split = 'model'
       union all
       select h.what, h.step, 1 from unsummed cross join lateral
         (values ('first_byte', first_byte), ('total', total)) as h (what, step)
       where h.step is not null
     )
     select what as "of", step, sum(requests)::float8 as requests
     from steps group by 1, 2 order by 1, 2`,
    [p.from, p.day, ...rangeValues(p.ranges)],
  )
  return rows as LatencySum[]
}

/** Refused requests by reason, on the UTC days from this one on; their hour is not recorded. */
export async function refusedSums(
  tx: Tx,
  day: string,
): Promise<{ readonly reason: string; readonly requests: bigint }[]> {
  const { rows } = await tx.query(
    `select reason, sum(requests)::int8 as requests from refused_requests where day >= $1::date
     group by 1 order by 2 desc, 1`,
    [day],
  )
  return rows as { reason: string; requests: bigint }[]
}

/** Those of the lots that are spent or taken back; ledger_lots says how much is left of each. */
export async function lotsUsedUp(
  db: Executor,
  lots: readonly { readonly book: BookId; readonly lot: bigint }[],
): Promise<{ readonly book: BookId; readonly lot: bigint }[]> {
  const { rows } = await db.query(
    `select p.book, p.lot
     from unnest($1::int8[], $2::int8[]) as p (book, lot)
     join books b on b.id = p.book join lots l on l.book_id = p.book and l.seq = p.lot
     where l.credited = l.taken_back or b.spent_total >= (
       select sum(e.credited - e.taken_back) from lots e
       where e.book_id = p.book and e.seq <= p.lot)`,
    [lots.map(({ book }) => book), lots.map(({ lot }) => lot)],
  )
  return rows as { book: BookId; lot: bigint }[]
}
