// The SQL of a paid order that could not be credited.
import type { Executor } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'

/** The provider captured the payment, and it could not be credited. Locks the order's row. */
export async function orderSetPaid(db: Executor, id: OrderId, at: Date | null): Promise<void> {
  await db.query(
    `update orders set paid_at = least($2::timestamptz, ledger_now())
     where id = $1 and paid_at is null and credited_at is null`,
    [id, at],
  )
}
