// The SQL of what a book used when: days of a time zone, sums, and what is younger than them. One
// function per statement; all only read. Those that add up need one snapshot with the mark.
import type { Executor, Tx } from '../platform/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'

/** How far a book is added up, and how far it goes. */
export type Mark = {
  /** In the sums and spans up to this entry; the book's newest one. */
  readonly seq: bigint
  readonly bookSeq: bigint
  /** UTC days that the entries between them can be on. */
  readonly dayMin: string
  readonly dayMax: string
}

/** Reads without a lock. The clock may have been set back over a midnight, hence a day more. */
export async function markFind(tx: Tx, book: BookId): Promise<Mark | undefined> {
  const { rows } = await tx.query(
    `select coalesce(m.seq, 0) as seq, b.seq as "bookSeq",
       (coalesce(m.day, '-infinity') - 1)::text as "dayMin",
       ((ledger_now() at time zone 'UTC')::date + 1)::text as "dayMax"
     from books b left join usage_marks m on m.book_id = b.id
     where b.id = $1`,
    [book],
  )
  return rows[0] as Mark | undefined
}

/** The day it is in a time zone, as the database has it. */
export async function todayFind(db: Executor, zone: string): Promise<string> {
  const { rows } = await db.query(`select (ledger_now() at time zone $1)::date::text as today`, [
    zone,
  ])
  return (rows[0] as { today: string }).today
}

export type Step = 'hour' | 'day'
export type Bound = { readonly at: Date; readonly local: string }
export type Days = { readonly zone: string; readonly from: string; readonly to: string }

/** When each day of a time zone begins, oldest first; the last one is the end of the period. */
export async function dayList(db: Executor, p: Days): Promise<Bound[]> {
  const { rows } = await db.query(
    `select d at time zone $1 as at, to_char(d, 'YYYY-MM-DD') as local
     from generate_series($2::date::timestamp, $3::date + 1, interval '1 day') as d
     order by d`,
    [p.zone, p.from, p.to],
  )
  return rows as Bound[]
}

/** The same for hours, as they pass: a day when clocks are changed has 23 or 25. */
export async function hourList(db: Executor, p: Days): Promise<Bound[]> {
  const { rows } = await db.query(
    `with period as (
       select $2::date::timestamp at time zone $1 as begins,
         ($3::date + 1)::timestamp at time zone $1 as ends
     ), hours as (
       select at from period, generate_series(begins, ends, interval '1 hour') as at
       where at < ends
       union all select ends from period
     )
     select at, to_char(at at time zone $1, 'YYYY-MM-DD"T"HH24:MI') as local
     from hours order by at`,
    [p.zone, p.from, p.to],
  )
  return rows as Bound[]
}

/** The moments a period begins and ends with; null where no day is named. */
export async function periodFind(
  db: Executor,
  p: { readonly zone: string; readonly from: string | null; readonly to: string | null },
): Promise<{ from: Date | null; to: Date | null }> {
  const { rows } = await db.query(
    `select $2::date::timestamp at time zone $1 as from,
       ($3::date + 1)::timestamp at time zone $1 as to`,
    [p.zone, p.from, p.to],
  )
  return rows[0] as { from: Date | null; to: Date | null }
}

export type Used = {
  readonly requests: bigint
  /** Those of them that cost nothing. */
  readonly free: bigint
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite5m: bigint
  readonly cacheWrite1h: bigint
  readonly spent: Credits
}

/** What one model used between two bounds; `bucket` counts from 1. */
export type UsedRow = Used & { readonly bucket: number; readonly model: string }

const USED = `sum(requests)::int8 as requests, sum(free)::int8 as free, sum(input)::int8 as input,
  sum(output)::int8 as output, sum(cache_read)::int8 as "cacheRead",
  sum(cache_write_5m)::int8 as "cacheWrite5m", sum(cache_write_1h)::int8 as "cacheWrite1h",
  sum(spent)::int8 as spent`

/** A part of a bucket, to be added or taken away: whole steps between two moments. */
export type Piece = {
  readonly bucket: number
  readonly sign: 1 | -1
  readonly minutes: number
  readonly from: Date
  readonly to: Date
}

/**
 * Sums of the pieces, up to the mark. `offset 0` keeps each piece a look-up of its own: a plan that
 * is free to join may read every row for every piece.
 */
export async function sumList(
  tx: Tx,
  p: { readonly book: BookId; readonly pieces: readonly Piece[] },
): Promise<UsedRow[]> {
  const { rows } = await tx.query(
    `select p.bucket, s.model, ${USED}
     from unnest($2::int4[], $3::int2[], $4::int2[], $5::timestamptz[], $6::timestamptz[])
       as p (bucket, sign, minutes, begins, ends)
     cross join lateral (
       select model, p.sign * requests as requests, p.sign * free as free, p.sign * input as input,
         p.sign * output as output, p.sign * cache_read as cache_read,
         p.sign * cache_write_5m as cache_write_5m, p.sign * cache_write_1h as cache_write_1h,
         p.sign * spent as spent
       from usage_sums s
       where s.book_id = $1 and s.minutes = p.minutes and s.at >= p.begins and s.at < p.ends
       offset 0
     ) s
     group by p.bucket, s.model
     having sum(requests) > 0`,
    [
      p.book,
      p.pieces.map(({ bucket }) => bucket),
      p.pieces.map(({ sign }) => sign),
      p.pieces.map(({ minutes }) => minutes),
      p.pieces.map(({ from }) => from.toISOString()),
      p.pieces.map(({ to }) => to.toISOString()),
    ],
  )
  return rows as UsedRow[]
}

/** The same of the entries behind the mark, which are on these days. */
export async function freshList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly afterSeq: bigint
    readonly dayMin: string
    readonly dayMax: string
    readonly bounds: readonly Date[]
  },
): Promise<UsedRow[]> {
  const { rows } = await tx.query(
    `select width_bucket(at, $2::timestamptz[]) as bucket, model, ${USED}
     from (
       select e.at, t.model, 1 as requests, (e.kind = 'void')::int4 as free,
         coalesce(e.input, 0) as input, coalesce(e.output, 0) as output,
         coalesce(e.cache_read, 0) as cache_read, coalesce(e.cache_write_5m, 0) as cache_write_5m,
         coalesce(e.cache_write_1h, 0) as cache_write_1h, -e.amount as spent
       from entries e join tariffs t on t.id = e.tariff
       where e.book_id = $1 and e.seq > $3 and e.day >= $4::date and e.day <= $5::date
         and e.kind in ('charge', 'void') and e.at >= $6 and e.at < $7
     ) e
     group by 1, 2`,
    [
      ...[p.book, p.bounds.map((bound) => bound.toISOString()), p.afterSeq, p.dayMin, p.dayMax],
      ...[p.bounds[0], p.bounds.at(-1)],
    ],
  )
  return rows as UsedRow[]
}

/** When the book's oldest charge was made; undefined without one. */
export async function chargeFindFirst(db: Executor, book: BookId): Promise<Date | undefined> {
  const { rows } = await db.query(
    `select at from entries where book_id = $1 and kind = 'charge' order by seq limit 1`,
    [book],
  )
  return (rows[0] as { at: Date } | undefined)?.at
}

/** When credits were last bought. */
export async function purchaseFindLast(db: Executor, book: BookId): Promise<Date | null> {
  const { rows } = await db.query(
    `select max(at) as at from postings where book_id = $1 and kind = 'purchase'`,
    [book],
  )
  return (rows[0] as { at: Date | null }).at
}
