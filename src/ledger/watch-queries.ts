// The queries that the guards module polls: balances, whether a limit has refused a request, and
// which books were stopped for spending too fast. They only read and are never part of a request.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'

export type BookStatus = {
  readonly book: BookId
  /** Includes held credits: a running request must not make the balance look low. */
  readonly balance: Credits
  readonly spentTotal: Credits
  readonly dayLimit: Credits | null
  /** The book's day in UTC, `2026-11-15`; whether its limit refused a request. */
  readonly day: string
  readonly isDayLimitMet: boolean
  /** What the day's first refused request needed, and what was left of the limit then. */
  readonly dayLimitNeeded: Credits | null
  readonly dayLimitLeft: Credits | null
  /** What is left of the daily limit now; null: no limit. */
  readonly dayLeft: Credits | null
  /** A request was refused for lack of credits and none came since, or less than one is left. */
  readonly isOutOfCredits: boolean
  readonly now: Date
}

/** Up to 256 books, in no particular order. Reads without a lock. */
export async function bookListStatus(
  db: Executor,
  books: readonly BookId[],
): Promise<BookStatus[]> {
  const { rows } = await db.query(
    `select b.id as book, b.available + b.held - b.debt as balance, b.spent_total as "spentTotal",
       b.day_limit as "dayLimit", to_char(greatest(t.today, b.day), 'YYYY-MM-DD') as day,
       coalesce(b.day_limit is not null and b.day_limit_met = greatest(t.today, b.day), false)
         as "isDayLimitMet",
       b.day_limit_needed as "dayLimitNeeded", b.day_limit_left as "dayLimitLeft",
       case when b.day_limit is not null then greatest(0, b.day_limit - b.held
         - case when b.day >= t.today then b.day_spent else 0 end) end as "dayLeft",
       (b.short_seq is not null and not exists (
         select from postings p where p.book_id = b.id and p.seq > b.short_seq
       )) or (b.spent_total > 0 and b.available + b.held < 1000000) as "isOutOfCredits",
       t.now
     from (select now, (now at time zone 'UTC')::date as today
       from (select ledger_now() as now) n) t
     join books b on b.id = any ($1::int8[])`,
    [books.slice(0, 256).map(String)],
  )
  return rows as BookStatus[]
}

export type StoppedBook = {
  readonly book: BookId
  /** The end of the window in which the book was stopped; it identifies the stop. */
  readonly until: Date
  readonly velocityLimit: Credits
  readonly velocitySeconds: number
  readonly velocitySpent: Credits
}

/** Books that spent faster than their limit; a partial index contains only these. Locks nothing. */
export async function bookListStopped(db: Executor, max: number): Promise<StoppedBook[]> {
  const { rows } = await db.query(
    `select id as book, velocity_until as until, velocity_limit as "velocityLimit",
       velocity_seconds as "velocitySeconds", velocity_spent as "velocitySpent"
     from books
     where blocked_reason = 'velocity_stopped' and velocity_limit is not null
       and velocity_until > '-infinity'
     order by id
     limit $1`,
    [max],
  )
  return rows as StoppedBook[]
}
