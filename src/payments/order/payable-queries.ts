// The SQL of what a closing account waits for, orders that can still be paid, and of what it ends.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'

const PAYABLE = `(
  (state = 'created' and created_at > ledger_now() - interval '1 hour')
  or (state = 'pending' and coalesce(payable_until > ledger_now(), true)))`

/**
 * How many orders of a book can still be paid. An order without an answer of the provider counts
 * for the payer's hour only: its link reached nobody, and money that comes all the same goes back.
 */
export async function orderCountPayable(db: Executor, book: BookId): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from orders where book_id = $1 and ${PAYABLE}`,
    [book],
  )
  return (rows[0] as { count: number }).count
}

/**
 * The most that a closing can end of what was paid: these credits at the dearest price of the
 * book's purchases, and its orders that can still be paid. How many purchases, to see a new one.
 */
export async function orderWorthAtMost(
  db: Executor,
  p: { readonly book: BookId; readonly credits: Credits },
): Promise<{ readonly amount: Kopecks; readonly purchases: number }> {
  const { rows } = await db.query(
    `select (coalesce(max(ceil($2::numeric * price_kopecks / credits))
           filter (where credited_at is not null), 0)
         + coalesce(sum(price_kopecks) filter (where ${PAYABLE}), 0))::int8 as amount,
       count(*) filter (where credited_at is not null or ${PAYABLE})::int4 as purchases
     from orders where book_id = $1`,
    [p.book, p.credits],
  )
  const { amount, purchases } = rows[0] as { amount: bigint; purchases: number }
  return { amount: kopecks(amount), purchases }
}
