// The SQL of guards: the owner's thresholds and which e-mails were sent. Lock order: the guard's
// row, then the ledger's book.
import type { Executor, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { BalanceCheck, Guard, Thresholds } from './crossings.ts'

const COLUMNS = `
  book_id as book, low_credits as "lowCredits", low_days as "lowDays",
  is_low_told as "isLowSent", is_empty_told as "isEmptySent",
  to_char(day_told, 'YYYY-MM-DD') as "dayLimitSentOn",
  pace_at as "paceAt", pace_spent as "paceSpent", mark_at as "markAt", mark_spent as "markSpent"`

/**
 * Inserts a book's guard with default values; its pace counts what is spent beyond `spentTotal`.
 * May be repeated. Locks the new row.
 */
export async function guardInsert(db: Executor, book: BookId, spentTotal: Credits): Promise<void> {
  await db.query(
    `insert into guards (book_id, pace_spent, mark_spent) values ($1, $2, $2)
     on conflict do nothing`,
    [book, spentTotal],
  )
}

/** Reads without a lock; undefined for a book that an older version opened. */
export async function guardFind(db: Executor, book: BookId): Promise<Guard | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from guards where book_id = $1`, [book])
  return rows[0] as Guard | undefined
}

/** Locks the guard's row, so that two changes of one book's limits take turns. */
export async function guardLock(tx: Tx, book: BookId): Promise<void> {
  await tx.query('select from guards where book_id = $1 for update', [book])
}

/** A page of guards above a book, in the order of books. Locks nothing. */
export async function guardList(db: Executor, after: BookId, limit: number): Promise<Guard[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from guards where book_id > $1 order by book_id limit $2`,
    [after, limit],
  )
  return rows as Guard[]
}

/** Changed thresholds are armed: no e-mail was sent for them yet. Locks the guard's row. */
export async function guardSetThresholds(
  db: Executor,
  book: BookId,
  { lowCredits, lowDays }: Thresholds,
): Promise<void> {
  await db.query(
    `update guards set low_credits = $2, low_days = $3, is_low_told = false
     where book_id = $1 and (low_credits, low_days) is distinct from ($2::int8, $3::int4)`,
    [book, lowCredits, lowDays],
  )
}

/**
 * Stores the result of a check; false when another process or the owner has changed the row since
 * it was read: then no e-mail is sent. Locks the guard's row.
 */
export async function guardUpdateState(
  tx: Tx,
  before: Guard,
  after: BalanceCheck['after'],
): Promise<boolean> {
  const { rows } = await tx.query(
    `update guards
     set is_low_told = $2, is_empty_told = $3, day_told = $4::date, pace_at = $5, pace_spent = $6,
       mark_at = $7, mark_spent = $8
     where book_id = $1
       and (is_low_told, is_empty_told, day_told, low_credits, low_days)
         is not distinct from ($9, $10, $11::date, $12::int8, $13::int4)
     returning book_id`,
    [
      before.book,
      after.isLowSent,
      after.isEmptySent,
      after.dayLimitSentOn,
      after.paceAt,
      after.paceSpent,
      after.markAt,
      after.markSpent,
      before.isLowSent,
      before.isEmptySent,
      before.dayLimitSentOn,
      before.lowCredits,
      before.lowDays,
    ],
  )
  return rows.length > 0
}

/** True for the first caller with this stop, which then sends the e-mail. Locks the guard's row. */
export async function guardMarkStopAnnounced(tx: Tx, book: BookId, until: Date): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into guards (book_id, stop_told) values ($1, $2)
     on conflict (book_id) do update set stop_told = $2
       where guards.stop_told is distinct from $2
     returning book_id`,
    [book, until],
  )
  return rows.length > 0
}
