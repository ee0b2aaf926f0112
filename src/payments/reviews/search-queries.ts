// The SQL that finds an order by any related id. Nothing here locks.
import type { Executor } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'

/**
 * The order with this id, or with a payment, refund or dispute of this id, ours or the provider's.
 */
export async function orderSearch(
  db: Executor,
  providers: readonly string[],
  text: string,
): Promise<OrderId | undefined> {
  const { rows } = await db.query(
    `select id from orders where id = $1
     union all
     select id from orders where provider = any ($2) and provider_payment_id = $1
     union all
     select order_id from refunds where id = $1
     union all
     select order_id from refunds where provider = any ($2) and provider_refund_id = $1
     union all
     select order_id from disputes where id = $1
     limit 1`,
    [text, providers],
  )
  return (rows[0] as { id: OrderId } | undefined)?.id
}
