// Opens a review for a payment that differs from its order or names an order that we do not have.
// There is one review per payment and reason; an operator decides.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { PaymentMetrics } from '../metrics.ts'
import { type Difference, isOrderOfCell } from '../order/decide.ts'
import { type Brand, type Mailer, orderEmail } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { reviewOpen } from '../order/review-queries.ts'
import type { Snapshot } from '../port.ts'

export type ReviewOpeningOptions = {
  readonly db: Db
  readonly mail: Mailer
  readonly brand: Brand
  readonly log: Log
  readonly metrics: PaymentMetrics
  readonly cell: number
}

export function createReviewOpening(options: ReviewOpeningOptions) {
  const { db, mail, brand, log, metrics } = options

  /** A payment differs from its order: it is not credited, and the payer gets an e-mail. */
  async function differs(tx: Tx, order: Order, snapshot: Snapshot, difference: Difference) {
    const { reason, detail } = difference
    const hasMoney = snapshot.status === 'succeeded'
    const { isNew, isOpen } = await reviewOpen(tx, {
      order: order.id,
      provider: snapshot.provider,
      paymentId: snapshot.paymentId,
      reason,
      detail,
      amount: snapshot.amount,
      hasMoney,
    })
    if (order.creditedAt === null && isOpen && order.state !== 'review') {
      // With these reasons it is unclear whose payment it is, so the order does not store its id.
      const isBound = !['provider', 'payment_id', 'order_reference'].includes(reason)
      const paymentId = isBound ? snapshot.paymentId : null
      await queries.orderEnd(tx, { id: order.id, state: 'review', paymentId, reason })
    }
    if (hasMoney && isOpen) {
      const once = `${order.id} ${snapshot.paymentId}`
      await mail.post(tx, orderEmail('payment-review', order, brand, once))
    }
    if (isNew) {
      metrics.countReview(reason)
      const fields = { order: order.id, payment: snapshot.paymentId, reason, detail, hasMoney }
      log.error(fields, 'a payment differs from its order: a person must decide')
    }
  }

  /**
   * A payment names an order id of this cell that the database does not have: the order was lost.
   */
  async function unknownOrder(snapshot: Snapshot): Promise<'foreign' | 'unknown_order'> {
    if (!isOrderOfCell(snapshot.orderRef, options.cell)) return 'foreign'
    if (snapshot.status === 'succeeded') {
      const { isNew } = await reviewOpen(db, {
        order: null,
        provider: snapshot.provider,
        paymentId: snapshot.paymentId,
        reason: 'order_unknown',
        detail: `paid for ${snapshot.orderRef}, which is not in this database`,
        amount: snapshot.amount,
        hasMoney: true,
      })
      if (isNew)
        log.error({ payment: snapshot.paymentId }, 'money came for an order we do not have')
    }
    return 'unknown_order'
  }

  return { differs, unknownOrder }
}
