// The SQL of looking for a purchase by whatever number somebody has of it, and of comparing what we
// credited with what the provider shows. Nothing here locks.
import type { Executor } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'

/** The order of its own id, of a payment, or of a refund or dispute, ours or the provider's. */
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
 * Credited orders whose money came within a period, by the provider's clock. What was captured then
 * was credited then or later, so the index by credit finds them.
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
