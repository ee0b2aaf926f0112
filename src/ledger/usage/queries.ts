// The SQL of a book's mark, of the days of a time zone, and of first and last charges. One function
// per statement; all only read. Sums and entries after the mark may be added up only if they are
// read in the same snapshot as the mark.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'

/** How far the entries of a book have been added to the sums. */
export type Mark = {
  /** `seq`: the last entry in the sums and spans; `bookSeq`: the book's newest entry. */
  readonly seq: bigint
  readonly bookSeq: bigint
  /** The first and the last UTC day that entries after `seq` can have. */
  readonly dayMin: string
  readonly dayMax: string
}

/**
 * Of which sums: `usage_marks` belongs to usage_sums and usage_spans, `usage_split_marks` to the
 * tables by split.
 */
export type MarkTable = 'usage_marks' | 'usage_split_marks'

/**
 * Reads without a lock. The range of days is one day longer on each side: before migration 0024 a
 * clock that was set back across midnight wrote entries to an earlier day.
 */
export async function markFind(tx: Tx, book: BookId, table: MarkTable): Promise<Mark | undefined> {
  const { rows } = await tx.query(
    `select coalesce(m.seq, 0) as seq, b.seq as "bookSeq",
       (coalesce(m.day, '-infinity') - 1)::text as "dayMin",
       greatest((ledger_now() at time zone 'UTC')::date + 1, b.day)::text as "dayMax"
     from books b left join ${table} m on m.book_id = b.id
     where b.id = $1`,
    [book],
  )
  return rows[0] as Mark | undefined
}

/**
 * The time before which sessions and labels are no longer kept: whole days of UTC, so that sums of
 * every length end there together.
 */
export function sessionsSinceSql(keptDays: string): string {
  return `(date_trunc('day', ledger_now() at time zone 'UTC') at time zone 'UTC'
    - make_interval(days => ${keptDays}))`
}

export async function sessionsSince(tx: Tx, keptDays: number): Promise<Date> {
  const { rows } = await tx.query(`select ${sessionsSinceSql('$1')} as since`, [keptDays])
  return (rows[0] as { since: Date }).since
}

/** Where the usage of a book is read. */
export type UsageSource = Mark & {
  /** All entries have been added to the sums by split once; else only usage_sums is whole. */
  readonly isSplit: boolean
  /** Sessions and labels before this time are no longer kept. */
  readonly since: Date
}

/** The mark of the sums by split, or of usage_sums while the job fills those. */
export async function sourceFind(
  tx: Tx,
  p: { readonly book: BookId; readonly sessionsKeptDays: number },
): Promise<UsageSource | undefined> {
  const { rows } = await tx.query(
    `select s.is_split as "isSplit", ${sessionsSinceSql('$2')} as since, b.seq as "bookSeq",
       coalesce(case when s.is_split then n.seq else m.seq end, 0) as seq,
       (coalesce(case when s.is_split then n.day else m.day end, '-infinity') - 1)::text
         as "dayMin",
       greatest((ledger_now() at time zone 'UTC')::date + 1, b.day)::text as "dayMax"
     from books b left join usage_marks m on m.book_id = b.id
     left join usage_split_marks n on n.book_id = b.id
     cross join lateral (select coalesce(n.is_complete, false) as is_split) s
     where b.id = $1`,
    [p.book, p.sessionsKeptDays],
  )
  return rows[0] as UsageSource | undefined
}

/** Today in a time zone, by the database's clock. */
export async function todayFind(db: Executor, zone: string): Promise<string> {
  const { rows } = await db.query(`select (ledger_now() at time zone $1)::date::text as today`, [
    zone,
  ])
  return (rows[0] as { today: string }).today
}

export type Bound = { readonly at: Date; readonly local: string }
export type DayRange = { readonly zone: string; readonly from: string; readonly to: string }

/** When each of these days begins in a time zone, in their order. */
export async function dayList(
  db: Executor,
  p: { readonly zone: string; readonly days: readonly string[] },
): Promise<Bound[]> {
  const { rows } = await db.query(
    `select day::date::timestamp at time zone $1 as at, day as local
     from unnest($2::text[]) with ordinality as d (day, n) order by n`,
    [p.zone, p.days],
  )
  return rows as Bound[]
}

/**
 * When each hour of a period begins, oldest first; the last element is the period's end. A day on
 * which clocks change has 23 or 25 hours.
 */
export async function hourList(db: Executor, p: DayRange): Promise<Bound[]> {
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

/** When a period begins and ends; null where no day is given. */
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

/** The time of the book's first charge; undefined without one. */
export async function chargeFindFirst(db: Executor, book: BookId): Promise<Date | undefined> {
  const { rows } = await db.query(
    `select at from entries where book_id = $1 and kind = 'charge' order by seq limit 1`,
    [book],
  )
  return (rows[0] as { at: Date } | undefined)?.at
}

/** The time of the last purchase. */
export async function purchaseFindLast(db: Executor, book: BookId): Promise<Date | null> {
  const { rows } = await db.query(
    `select max(at) as at from postings where book_id = $1 and kind = 'purchase'`,
    [book],
  )
  return (rows[0] as { at: Date | null }).at
}
