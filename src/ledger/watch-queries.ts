// The SQL of what an owner should hear of: how much is left, whether the limits have refused
// anything, and which books were stopped. Reads alone; nothing here touches the way of a request.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'

export type WatchedBook = {
  readonly book: BookId
  /** With what is held: a request under way must not look like a balance that ran low. */
  readonly balance: Credits
  readonly spentTotal: Credits
  readonly dayLimit: Credits | null
  /** The day of the database, `2026-11-15`, and whether its limit has refused a request. */
  readonly day: string
  readonly isDayLimitMet: boolean
  /** A request was refused for want of credits, and none have come since; or none are left. */
  readonly isShort: boolean
  readonly now: Date
}

/** Up to 256 books, in no order. Reads without a lock. */
export async function bookListWatched(
  db: Executor,
  books: readonly BookId[],
): Promise<WatchedBook[]> {
  const { rows } = await db.query(
    `select b.id as book, b.available + b.held - b.debt as balance, b.spent_total as "spentTotal",
       b.day_limit as "dayLimit", to_char(t.today, 'YYYY-MM-DD') as day,
       coalesce(b.day_limit is not null and b.day_limit_met = t.today, false) as "isDayLimitMet",
       (b.short_seq is not null and not exists (
         select from postings p where p.book_id = b.id and p.seq > b.short_seq
       )) or (b.spent_total > 0 and b.available + b.held < 1000000) as "isShort",
       t.now
     from (select now, (now at time zone 'UTC')::date as today
       from (select ledger_now() as now) n) t
     join books b on b.id = any ($1::int8[])`,
    [books.slice(0, 256).map(String)],
  )
  return rows as WatchedBook[]
}

export type StoppedBook = {
  readonly book: BookId
  /** The end of the window in which it was stopped; no two stops of a book share it. */
  readonly until: Date
  readonly velocityLimit: Credits
  readonly velocitySeconds: number
  readonly velocitySpent: Credits
}

/** Books that spent faster than their limit, by the index of those alone. Locks nothing. */
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
