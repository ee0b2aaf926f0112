// The SQL of what a book spent when, for its owner. Added up from the entries themselves, so that
// it agrees with the statement to the last credit.
import type { Executor } from '../platform/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'

export type UsedDay = {
  /** `2026-11-15`, of the asked time zone. */
  readonly day: string
  readonly requests: bigint
  readonly spent: Credits
}

/**
 * A book's charges by day of a time zone, oldest first, today last. Reads without a lock, and only
 * the partitions of those days and of the one before: no zone is further from UTC than a day.
 */
export async function chargeSumByDay(
  db: Executor,
  p: { readonly book: BookId; readonly zone: string; readonly days: number },
): Promise<UsedDay[]> {
  const { rows } = await db.query(
    `with today as materialized (select ledger_now() as now), used as (
       select (at at time zone $2)::date as day, count(*) as requests,
         (-sum(amount))::int8 as spent
       from entries
       where book_id = $1 and kind = 'charge'
         and day >= (select (now at time zone 'UTC')::date - $3::int4 from today)
       group by 1
     )
     select to_char(d, 'YYYY-MM-DD') as day, coalesce(used.requests, 0) as requests,
       coalesce(used.spent, 0) as spent
     from today, generate_series((now at time zone $2)::date - ($3::int4 - 1),
       (now at time zone $2)::date, interval '1 day') as d
     left join used on used.day = d::date
     order by d`,
    [p.book, p.zone, p.days],
  )
  return rows as UsedDay[]
}

/** When the book's oldest charge was made; undefined without one. Reads without a lock. */
export async function chargeFindFirst(db: Executor, book: BookId): Promise<Date | undefined> {
  const { rows } = await db.query(
    `select at from entries where book_id = $1 and kind = 'charge' order by seq limit 1`,
    [book],
  )
  return (rows[0] as { at: Date } | undefined)?.at
}
