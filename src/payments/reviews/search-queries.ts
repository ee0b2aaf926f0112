// The SQL that finds an order by any related id, and the SQL of reconciliation. Nothing here locks.
import type { Executor } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'

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

export type CapturedOrder = {
  readonly id: OrderId
  readonly paymentId: string
  readonly state: OrderState
  readonly price: Kopecks
}

/**
 * Credited orders whose payment was captured within a period, by the provider's clock. An order is
 * credited after its capture, so the condition on `credited_at` lets the index be used.
 */
export async function orderListCaptured(
  db: Executor,
  p: { readonly provider: string; readonly from: Date; readonly to: Date },
): Promise<CapturedOrder[]> {
  const { rows } = await db.query(
    `select id, provider_payment_id as "paymentId", state, price_kopecks as price
     from orders
     where provider = $1 and captured_at >= $2 and captured_at < $3
       and credited_at > $2::timestamptz - interval '1 hour'
     order by id`,
    [p.provider, p.from, p.to],
  )
  return rows as CapturedOrder[]
}
