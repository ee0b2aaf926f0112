// What an operator does about an order that hangs: see what the provider says about its payment,
// and apply it as the four triggers do. And receipts that failed: the money is taken, the credits
// are delivered, and a person makes the receipt in the merchant portal.
import type { Clock } from '../../platform/clock.ts'
import { dateAt } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import { type Order, type OrderView, viewOf } from '../order/order.ts'
import { orderFind } from '../order/queries.ts'
import type { Answer, Provider, Snapshot } from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import type { Reread } from '../purchase/reread.ts'
import { receiptDismiss, receiptRetry } from '../receipts/queries.ts'
import { paymentDeskRefusal, paymentRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

const LISTED_MAX = 100
/** The provider's clock may be behind ours by some minutes. */
const SKEW_MS = 5 * 60_000
/** The provider creates a payment within a day of its order, or never. */
const CREATED_MS = 25 * 3_600_000

export function createStuckOrders(options: {
  readonly db: Db
  readonly clock: Clock
  readonly providers: Providers
  readonly reread: Reread
}) {
  const { db, clock, providers, reread } = options

  async function find(id: OrderId): Promise<{ order: Order; provider: Provider }> {
    const order = await orderFind(db, id)
    if (order === undefined) {
      throw paymentRefusal('order_unknown', 'There is no such order.', { order: id })
    }
    return { order, provider: providerOf(providers, order) }
  }

  /** By the payment's id, or, if we never learned it, in the provider's list. */
  async function ask(id: OrderId): Promise<Answer<Snapshot>> {
    const { order, provider } = await find(id)
    if (order.paymentId !== null) return provider.fetchPayment(order.paymentId)
    const fromMs = order.createdAt.getTime() - SKEW_MS
    const toMs = Math.min(clock.nowMs(), fromMs + CREATED_MS) + SKEW_MS
    return provider.findByOrder(order.id, dateAt(fromMs), dateAt(toMs))
  }

  return {
    /** Orders that were paid and not credited, or that have no end after the payer's hour. */
    stuckOrders: () => queries.orderListStuck(db, LISTED_MAX),

    /**
     * What the provider says about the payment of an order now. Changes nothing. Refuses:
     * order_unknown, payment_unavailable.
     */
    askProvider: ask,

    /**
     * Asks, and applies the answer as a trigger does: a paid order is credited, once. Refuses:
     * order_unknown, payment_unavailable.
     */
    async applyProvider(id: OrderId): Promise<OrderView> {
      const { provider } = await find(id)
      const answer = await ask(id)
      if (answer.kind === 'ok') await reread.applyWithRefunds(provider, answer.value, 'operator')
      return viewOf((await find(id)).order)
    },

    /** Receipts that the provider could not register and that nobody has dealt with. */
    failedReceipts: () => queries.receiptListFailed(db, LISTED_MAX),

    /** The failed receipts of an order are made again at once. Refuses: order_state_wrong. */
    async retryReceipts(tx: Tx, order: OrderId): Promise<void> {
      if ((await receiptRetry(tx, order)) > 0) return
      throw paymentDeskRefusal('order_state_wrong', 'No failed receipt can be made again.', {
        order,
      })
    },

    /** A person has dealt with the failed receipts of an order. Refuses: order_state_wrong. */
    async decideReceipt(tx: Tx, p: Parameters<typeof queries.receiptDecide>[1]): Promise<void> {
      const order = await orderFind(tx, p.order)
      if ((await receiptDismiss(tx, p)) > 0) return
      if (order?.receiptState === 'canceled' && (await queries.receiptDecide(tx, p))) return
      throw paymentDeskRefusal('order_state_wrong', 'No failed receipt of this order waits.', {
        order: p.order,
      })
    },
  }
}
