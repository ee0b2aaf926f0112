// The SQL of the budget of refunds: what owners requested lately, and which purchases opened a
// promo code.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'

export type Owner = { readonly book: BookId; readonly digest: Buffer }

/**
 * Locks the budget of an account, then that of its address, until the transaction ends, so that two
 * requests at once cannot both take what is left. Taken before the order's lock.
 */
export async function refundBudgetLock(tx: Tx, owner: Owner): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('refunds of book ' || $1::int8, 0))`,
    [owner.book],
  )
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('refunds of ' || encode($1, 'hex'), 0))`,
    [owner.digest],
  )
}

/**
 * Refunds that this account, or another one with the same address, requested within `days` and the
 * bank did not cancel. Reads without a lock.
 */
export async function refundCountRequested(
  db: Executor,
  owner: Owner,
  days: number,
): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from (
       select id from refunds
       where owner_digest = $1 and state <> 'canceled'
         and created_at > ledger_now() - make_interval(days => $3)
       union
       select r.id from orders o join refunds r on r.order_id = o.id
       where o.book_id = $2 and r.owner_digest is not null and r.state <> 'canceled'
         and r.created_at > ledger_now() - make_interval(days => $3)
     ) requested`,
    [owner.digest, owner.book, days],
  )
  return (rows[0] as { count: number }).count
}

/** Whether the purchase opened a promo code. Reads without a lock. */
export async function orderOpenedPromo(db: Executor, order: OrderId): Promise<boolean> {
  const { rows } = await db.query('select from promo_purchases where order_id = $1', [order])
  return rows.length > 0
}
