// The SQL that adds entries up into sums and spans. One function per statement.
import type { Executor, Tx } from '../../../platform/db/db.ts'
import type { BookId } from '../../../platform/ids.ts'
import type { MarkTable } from '../queries.ts'

/** The next entries of a book to add: above `seq`, up to `until`. */
export type RollupRange = {
  readonly book: BookId
  readonly seq: bigint
  readonly until: bigint
  /** The first day on which these entries can lie. */
  readonly day: string
}

export type DueBook = { readonly book: BookId; readonly seq: bigint }

/** Books that have entries beyond their mark, with their newest number. Reads without a lock. */
export async function bookListDue(
  db: Executor,
  p: { readonly marks: MarkTable; readonly limit: number },
): Promise<DueBook[]> {
  const { rows } = await db.query(
    `select b.id as book, b.seq from books b left join ${p.marks} m on m.book_id = b.id
     where b.seq > coalesce(m.seq, 0)
     limit $1`,
    [p.limit],
  )
  return rows as DueBook[]
}

/** Inserts the marks of books that have none. Two workers may insert the same. */
export async function markEnsure(db: Executor, books: readonly BookId[]): Promise<void> {
  await db.query(
    `insert into usage_marks (book_id)
     select book from unnest($1::int8[]) as book order by book
     on conflict do nothing`,
    [books.map(String)],
  )
}

/**
 * Locks the marks that no other worker has locked, until the transaction ends; the owner of the
 * lock adds the entries. At most `entriesMax` of each book, and none above the number that was read
 * before, so that all of them are committed.
 */
export async function markLock(
  tx: Tx,
  p: {
    readonly marks: MarkTable
    readonly due: readonly DueBook[]
    readonly entriesMax: number
  },
): Promise<RollupRange[]> {
  const { rows } = await tx.query(
    `select m.book_id as book, m.seq, m.day::text as day,
       least(d.seq, m.seq + $3::int8) as until
     from ${p.marks} m
     join unnest($1::int8[], $2::int8[]) as d (book_id, seq) on d.book_id = m.book_id
     order by m.book_id
     for update of m skip locked`,
    [p.due.map(({ book }) => String(book)), p.due.map(({ seq }) => String(seq)), p.entriesMax],
  )
  return rows as RollupRange[]
}

/**
 * Adds the ranges and moves their marks, in one statement; needs the marks locked. A book with a
 * missing entry number is left unchanged. Returns the books that moved. The first of all days is a
 * parameter of its own, so that PostgreSQL prunes older partitions when it plans.
 */
export async function usageAdd(tx: Tx, ranges: readonly RollupRange[]): Promise<BookId[]> {
  if (ranges.length === 0) return []
  const days = ranges.map(({ day }) => day)
  const { rows } = await tx.query(
    `with ranges as materialized (
       select * from unnest($1::int8[], $2::int8[], $3::int8[], $4::date[])
         as d (book_id, seq, until, day)
     ), fresh as materialized (
       select e.book_id, e.seq, e.at, e.day, e.kind, e.ending, e.amount, e.input, e.output,
         e.cache_read, e.cache_write_5m, e.cache_write_1h, t.model
       from ranges d
       join entries e on e.book_id = d.book_id and e.seq > d.seq and e.seq <= d.until
         and e.day >= d.day and e.day >= $5::date
       left join tariffs t on t.id = e.tariff
     ), whole as materialized (
       select d.book_id, d.until, max(f.day) as day
       from ranges d join fresh f on f.book_id = d.book_id
       group by d.book_id, d.seq, d.until
       having count(*) = d.until - d.seq
     ), used as materialized (
       select f.* from fresh f join whole using (book_id) where f.kind in ('charge', 'void')
     ), summed as (
       insert into usage_sums (book_id, at, minutes, model, requests, free, input, output,
         cache_read, cache_write_5m, cache_write_1h, spent, first_seq, last_seq)
       select book_id, date_bin(make_interval(mins => minutes), at, 'epoch'), minutes, model,
         count(*), count(*) filter (where kind = 'void'), coalesce(sum(input), 0),
         coalesce(sum(output), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write_5m), 0),
         coalesce(sum(cache_write_1h), 0), -sum(amount), min(seq), max(seq)
       from used, (values (15), (60), (180), (1440)) as step (minutes)
       group by 1, 2, 3, 4
       on conflict (book_id, minutes, at, model) do update set
         requests = usage_sums.requests + excluded.requests,
         free = usage_sums.free + excluded.free,
         input = usage_sums.input + excluded.input,
         output = usage_sums.output + excluded.output,
         cache_read = usage_sums.cache_read + excluded.cache_read,
         cache_write_5m = usage_sums.cache_write_5m + excluded.cache_write_5m,
         cache_write_1h = usage_sums.cache_write_1h + excluded.cache_write_1h,
         spent = usage_sums.spent + excluded.spent,
         last_seq = excluded.last_seq
     ), spanned as (
       insert into usage_spans (book_id, block, first_seq, last_seq, requests, day, ending, model)
       select book_id, seq >> 10, min(seq), max(seq), count(*), day, ending, model
       from used group by book_id, seq >> 10, day, ending, model
       on conflict (book_id, model, ending, block, day) do update set
         requests = usage_spans.requests + excluded.requests,
         last_seq = excluded.last_seq
     )
     update usage_marks m set seq = w.until, day = greatest(m.day, w.day)
     from whole w where m.book_id = w.book_id
     returning m.book_id as book`,
    [
      ranges.map(({ book }) => String(book)),
      ranges.map(({ seq }) => String(seq)),
      ranges.map(({ until }) => String(until)),
      days,
      // `-infinity` sorts first as text, too.
      days.toSorted()[0],
    ],
  )
  return (rows as { book: BookId }[]).map(({ book }) => book)
}

/** The database's time when a run starts. */
export async function roundBegin(db: Executor): Promise<Date> {
  const { rows } = await db.query('select ledger_now() as now')
  return (rows[0] as { now: Date }).now
}

/** Notes that everything committed before the run began is added. Never moves back. */
export async function roundEnd(db: Executor, began: Date): Promise<void> {
  await db.query('update usage_rounds set until = greatest(until, $1::timestamptz)', [began])
}

/** How far the sums are behind. Reads without a lock. */
export async function roundLag(db: Executor): Promise<number> {
  const { rows } = await db.query(
    `select greatest(0, extract(epoch from ledger_now() - until))::float8 as seconds
     from usage_rounds`,
  )
  return (rows[0] as { seconds: number }).seconds
}
