// Reviews: payments that differ from their order, so nothing was credited. An operator credits the
// order, refunds the payment or dismisses the review; once, with a name and a note.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import { UNRESOLVED } from '../mandates/endings.ts'
import * as queries from '../order/queries.ts'
import {
  type Review,
  reviewClose,
  reviewCloseOthers,
  reviewFind,
  reviewListOpen,
} from '../order/review-queries.ts'
import { type Provider, type Snapshot, whyOf } from '../port.ts'
import type { Providers } from '../providers.ts'
import type { Apply } from '../purchase/apply.ts'
import type { RefundApply } from '../refunds/apply.ts'
import {
  CLOSING_REVIEW,
  type ClosingRefunds,
  DISMISSED,
  isHeldBack,
  REPLACED,
} from '../refunds/closing.ts'
import { lockPurchase, type Purchase, updateOrderState } from '../refunds/purchase.ts'
import type { Refund } from '../refunds/queries.ts'
import { refundListByOrder, refundListLocked } from '../refunds/queries.ts'
import type { Refunds } from '../refunds/refunds.ts'
import { paymentDeskRefusal } from '../refusals.ts'

export type ReviewInput = {
  readonly id: bigint
  readonly decision: 'credit' | 'refund' | 'dismiss'
  readonly by: string
  readonly note: string
}

export function createReviews(options: {
  readonly db: Db
  readonly log: Log
  readonly providers: Providers
  readonly apply: Apply
  readonly refunds: Refunds
  readonly refundApply: RefundApply
  readonly closingRefunds: Pick<ClosingRefunds, 'onDecided'>
}) {
  const { db, log, refunds } = options

  async function shopOf({ order: id, provider }: Review): Promise<Provider | undefined> {
    const order = id === null ? undefined : await queries.orderFind(db, id)
    return order === undefined ? options.providers.get(provider) : options.providers.of(order)
  }

  /** Fetches the payment as it is now: since the review opened it may have been refunded. */
  async function fetchPaid(review: Review): Promise<Snapshot> {
    const provider = await shopOf(review)
    if (provider === undefined)
      throw stateRefusal('The provider of this payment is not in use.', review)
    const answer = await provider.fetchPayment(review.paymentId)
    if (answer.kind !== 'ok')
      throw stateRefusal(`The provider did not return the payment: ${whyOf(answer)}`, review)
    if (answer.value.status !== 'succeeded') throw stateRefusal('The payment is not paid.', review)
    return answer.value
  }

  async function close(tx: Tx, review: Review, input: ReviewInput): Promise<void> {
    if (!(await reviewClose(tx, input)))
      throw stateRefusal('The review was decided already.', review)
  }

  async function lockPurchaseOf(tx: Tx, review: Review): Promise<Purchase> {
    const purchase = review.order === null ? undefined : await lockPurchase(tx, review.order)
    if (purchase === undefined) throw stateRefusal('The payment belongs to no order here.', review)
    return purchase
  }

  async function credit(review: Review, input: ReviewInput): Promise<OrderId> {
    const snapshot = await fetchPaid(review)
    if ((snapshot.refunded ?? 0n) > 0n)
      throw stateRefusal('A part of the payment was refunded.', review)
    return db.transaction(async (tx) => {
      const { order } = await lockPurchaseOf(tx, review)
      const isPaymentOfOrder =
        order.provider === review.provider &&
        (order.paymentId === null || order.paymentId === review.paymentId)
      if (order.creditedAt !== null || order.state !== 'review' || !isPaymentOfOrder) {
        throw stateRefusal('Only the payment of an order in review can be credited.', review)
      }
      await close(tx, review, input)
      await reviewCloseOthers(tx, { ...review, by: input.by, note: input.note })
      await options.apply.credit(tx, order, snapshot, 'operator')
      return order.id
    })
  }

  async function refund(review: Review, input: ReviewInput): Promise<Refund> {
    const snapshot = await fetchPaid(review)
    const { amount } = snapshot
    if (amount === null || amount === 0n)
      throw stateRefusal('The amount of the payment is zero or unreadable.', review)
    // The review's amount was shown, counted towards the day and approved.
    if (review.amount !== null && amount > review.amount)
      throw stateRefusal('The payment is larger than its review says.', review)
    const refund = await db.transaction(async (tx) => {
      const purchase = await lockPurchaseOf(tx, review)
      const { order } = purchase
      if (order.creditedAt !== null && order.paymentId === review.paymentId) {
        throw stateRefusal('The payment was credited: refund its order instead.', review)
      }
      await close(tx, review, input)
      const made = await refunds.create(tx, {
        order,
        paymentId: review.paymentId,
        amount,
        credits: 0n as Credits,
        attempt: `review ${review.id}`,
        by: input.by,
        reason: input.note,
        review: review.id,
      })
      await updateOrderState(tx, { ...purchase, refunds: await refundListLocked(tx, order.id) })
      return made
    })
    await refunds.post(refund)
    return refund
  }

  /** A refund of a closing account was held back until now. */
  async function decideClosing(review: Review, input: ReviewInput): Promise<void> {
    if (input.decision === 'credit')
      throw stateRefusal('It is credited: refund or dismiss it.', review)
    const decision = input.decision === 'refund' ? REPLACED : DISMISSED
    const made = await db.transaction(async (tx) => {
      const purchase = await lockPurchaseOf(tx, review)
      await close(tx, review, input)
      const held = purchase.refunds.find((one) => review.reason === `${CLOSING_REVIEW} ${one.id}`)
      if (held === undefined || !isHeldBack(held)) return undefined
      const after = await options.refundApply.withdraw(tx, purchase, held, decision)
      return options.closingRefunds.onDecided(tx, after, held, decision)
    })
    if (made === undefined || review.order === null) return
    const sent = (await refundListByOrder(db, review.order)).find(({ id }) => id === made)
    if (sent !== undefined) await refunds.post(sent)
  }

  /** A dismissal allows the next top-up, so this one must have ended at the provider. */
  async function requireEnded(review: Review): Promise<void> {
    const answer = await (await shopOf(review))?.fetchPayment(review.paymentId)
    if (answer?.kind === 'absent') return
    if (answer?.kind !== 'ok')
      throw stateRefusal('The provider did not return the status of the payment.', review)
    if (answer.value.status === 'succeeded') {
      throw stateRefusal('The payment is paid and will be credited automatically.', review)
    }
    if (answer.value.status === 'canceled') return
    throw stateRefusal('The payment is open at the provider: cancel it there first.', review)
  }

  async function dismiss(review: Review, input: ReviewInput): Promise<void> {
    const isTopUp = review.reason === UNRESOLVED
    if (isTopUp) await requireEnded(review)
    // The payment matches the order: if it were dismissed, the next sweep would credit it.
    if (review.reason === 'paid_in_review')
      throw stateRefusal('The payment is paid: credit or refund it.', review)
    await db.transaction(async (tx) => {
      const order = review.order === null ? undefined : await queries.orderLock(tx, review.order)
      await close(tx, review, input)
      const endableStates = isTopUp ? ['pending', 'expired'] : ['review']
      if (order === undefined || !endableStates.includes(order.state)) return
      const end = { id: order.id, paymentId: null, reason: 'dismissed' }
      await queries.orderEnd(tx, { ...end, state: 'canceled' })
    })
  }

  return {
    /** Open reviews, oldest first. */
    queue: (limit = 200): Promise<Review[]> => reviewListOpen(db, limit),

    /** Decides a review, once. Refuses: order_state_wrong, with the reason. */
    async resolve(input: ReviewInput): Promise<void> {
      const review = await reviewFind(db, input.id)
      if (review === undefined) {
        throw paymentDeskRefusal('order_state_wrong', 'There is no such review.', {
          review: input.id,
        })
      }
      if (review.reason.startsWith(`${CLOSING_REVIEW} `)) await decideClosing(review, input)
      else if (input.decision === 'credit') await credit(review, input)
      else if (input.decision === 'refund') await refund(review, input)
      else await dismiss(review, input)
      log.info({ review: input.id, decision: input.decision, by: input.by }, 'a review was decided')
    },
  }
}

export type Reviews = ReturnType<typeof createReviews>

function stateRefusal(sentence: string, review: Review): Refusal {
  return paymentDeskRefusal('order_state_wrong', sentence, {
    review: review.id,
    order: review.order,
  })
}
