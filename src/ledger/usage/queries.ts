// The SQL of what a book used when: days of a time zone, sums, and what is younger than them. One
// function per statement; all only read. Those that add up need one snapshot with the mark.
import { dateAt } from '../../platform/clock.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'

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

/** Whole steps on the way from a mid to its bound, added or taken away. */
export type Piece = {
  /** Number of the bound, from 0. */
  readonly bound: number
  readonly sign: 1 | -1
  readonly minutes: number
  /** Minutes after the first mid, or before it. */
  readonly from: number
  readonly to: number
}

/**
 * Sums of one model, each a bucket (int4) and eight numbers (int8), one after the other. As rows,
 * 27,000 fields of a year's chart took 7.6 ms of our own processor to read; as bytes they take 0.9,
 * and PostgreSQL 2 ms more to pack.
 */
export type PackedSums = {
  readonly model: string
  /** 0: of whole steps. Else of pieces, added or taken away; their buckets are bounds. */
  readonly sign: 0 | 1 | -1
  readonly packed: Uint8Array
}

const PACKED = `int8send(requests) || int8send(free) || int8send(input) || int8send(output)
  || int8send(cache_read) || int8send(cache_write_5m) || int8send(cache_write_1h)
  || int8send(spent)`

/**
 * Sums up to the mark: of the whole steps between the mids, which are one range, and of the pieces
 * between the mids and their bounds, each read once. `offset 0` keeps a piece a look-up of its own:
 * a plan that is free to join may read every row for every piece. Nothing is added up here: the sum
 * of int8 is a numeric, and to group first took 10.7 ms of the server instead of 8.7 in Moscow's
 * zone, 14.4 instead of 15.4 twelve hours away.
 */
export async function sumList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly minutes: number
    readonly mids: readonly number[]
    readonly pieces: readonly Piece[]
  },
): Promise<PackedSums[]> {
  const { rows } = await tx.query(
    `select model, sign, string_agg(packed, '') as packed
     from (
       select model, 0::int2 as sign,
         int4send(width_bucket(at, $3::timestamptz[])) || ${PACKED} as packed
       from usage_sums where book_id = $1 and minutes = $2 and at >= $4 and at < $5
       union all
       select s.model, p.sign, int4send(p.bound) || s.packed
       from unnest($6::int4[], $7::int2[], $8::int2[], $9::int4[], $10::int4[])
         as p (bound, sign, minutes, begins, ends)
       cross join lateral (
         select model, ${PACKED} as packed from usage_sums
         where book_id = $1 and minutes = p.minutes
           and at >= $4 + make_interval(mins => p.begins)
           and at < $4 + make_interval(mins => p.ends)
         offset 0
       ) s
     ) s
     group by model, sign`,
    [
      ...[p.book, p.minutes, times(p.mids)],
      ...[dateAt(p.mids[0] ?? 0), dateAt(p.mids.at(-1) ?? 0)],
      list(p.pieces.map(({ bound }) => bound)),
      list(p.pieces.map(({ sign }) => sign)),
      list(p.pieces.map(({ minutes }) => minutes)),
      list(p.pieces.map(({ from }) => from)),
      list(p.pieces.map(({ to }) => to)),
    ],
  )
  return rows as PackedSums[]
}

/** An array as PostgreSQL reads it; pg would look for quotes in each of a thousand elements. */
function list(elements: readonly (number | string)[]): string {
  return `{${elements.join(',')}}`
}

function times(moments: readonly number[]): string {
  return list(moments.map((ms) => dateAt(ms).toISOString()))
}

/** The same of the entries behind the mark, which are on these days. */
export async function freshList(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly afterSeq: bigint
    readonly dayMin: string
    readonly dayMax: string
    readonly bounds: readonly number[]
  },
): Promise<UsedRow[]> {
  const { rows } = await tx.query(
    `select width_bucket(at, $2::timestamptz[]) as bucket, model, sum(requests)::int8 as requests,
       sum(free)::int8 as free, sum(input)::int8 as input,
       sum(output)::int8 as output, sum(cache_read)::int8 as "cacheRead",
       sum(cache_write_5m)::int8 as "cacheWrite5m", sum(cache_write_1h)::int8 as "cacheWrite1h",
       sum(spent)::int8 as spent
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
      ...[p.book, times(p.bounds), p.afterSeq, p.dayMin, p.dayMax],
      ...[dateAt(p.bounds[0] ?? 0), dateAt(p.bounds.at(-1) ?? 0)],
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
