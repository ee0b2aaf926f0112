// An order with its refunds and disputes: the lock over all of them, what was returned of it in
// total, and the state that follows.
import type { Tx } from '../../platform/db/db.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { type Dispute, disputeList, type Refund, refundListLocked } from './queries.ts'
import { stateAfter } from './sums.ts'

/** An order with its refunds and disputes. */
export type Purchase = {
  readonly order: Order
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

export async function lockPurchase(tx: Tx, id: Order['id']): Promise<Purchase | undefined> {
  const order = await queries.orderLock(tx, id)
  if (order === undefined) return undefined
  return { order, refunds: await refundListLocked(tx, id), disputes: await disputeList(tx, id) }
}

/**
 * The money that was or will be returned (refunds that were not canceled, lost disputes), and the
 * credits taken or reserved for it. A review's refund is left out: it returns money that was never
 * credited.
 */
export function returnedTotals({ refunds, disputes }: Purchase): {
  promised: Kopecks
  taken: Credits
} {
  const counted = refunds.filter((one) => one.state !== 'canceled' && one.review === null)
  const sum = (amounts: bigint[]) => amounts.reduce((total, one) => total + one, 0n)
  return {
    promised: sum([
      ...counted.map((one) => one.amount),
      ...disputes.map((one) => (one.state === 'lost' ? one.amount : 0n)),
    ]) as Kopecks,
    taken: sum([
      ...counted.map((one) => one.credits),
      ...disputes.map((one) => (one.state === 'opened' ? one.reserved : one.taken)),
    ]) as Credits,
  }
}

/** Writes the order's state that follows from its refunds and disputes. */
export async function updateOrderState(
  tx: Tx,
  { order, refunds, disputes }: Purchase,
): Promise<void> {
  const ours = refunds.filter((one) => one.review === null)
  const refunded = ours
    .filter((one) => one.state === 'succeeded')
    .reduce((sum, one) => sum + one.amount, 0n) as Kopecks
  const dispute = disputes.at(-1)?.state ?? null
  const isUnderWay = (one: Refund) => one.state === 'created' || one.state === 'pending'
  const state =
    order.creditedAt === null
      ? stateUncredited(order, refunds)
      : stateAfter({
          price: order.price,
          refunded,
          hasRefundUnderWay: ours.some(isUnderWay),
          dispute,
        })
  await queries.orderSetState(tx, { id: order.id, state, refunded })
}

/** The state of an order that was never credited and is refunded by an operator or the provider. */
function stateUncredited(order: Order, refunds: readonly Refund[]): Order['state'] {
  if (refunds.some((one) => one.state === 'succeeded')) return 'refunded'
  if (refunds.some((one) => one.state !== 'canceled')) return 'refund_pending'
  return order.state === 'refund_pending' ? 'review' : order.state
}
