// The SQL of what a closing account waits for: orders that can still be paid.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'

/**
 * How many orders of a book can still be paid. An order without an answer of the provider counts
 * for the payer's hour only: its link reached nobody, and money that comes all the same goes back.
 */
export async function orderCountPayable(db: Executor, book: BookId): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from orders
     where book_id = $1 and (
       (state = 'created' and created_at > ledger_now() - interval '1 hour')
       or (state = 'pending' and coalesce(payable_until > ledger_now(), true))
     )`,
    [book],
  )
  return (rows[0] as { count: number }).count
}
