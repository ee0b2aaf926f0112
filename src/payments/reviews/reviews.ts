// Money that waits for a person: its facts differ from the order's, so nothing was credited. The
// operator credits what was sold, gives the money back, or dismisses the matter; each once, with a
// name and a note.
import type { Db, Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import * as queries from '../order/queries.ts'
import {
  type Review,
  reviewClose,
  reviewCloseOthers,
  reviewFind,
  reviewListOpen,
} from '../order/review-queries.ts'
import { type Provider, type Snapshot, whyOf } from '../port.ts'
import type { Apply } from '../purchase/apply.ts'
import { type Locked, lockWhole, settleState } from '../refunds/apply.ts'
import type { Refund } from '../refunds/queries.ts'
import { refundListLocked } from '../refunds/queries.ts'
import type { Refunds } from '../refunds/refunds.ts'
import { UNRESOLVED } from '../top-ups/endings.ts'

export type ReviewAsk = {
  readonly id: bigint
  readonly decision: 'credit' | 'refund' | 'dismiss'
  readonly by: string
  readonly note: string
}

export function createReviews(options: {
  readonly db: Db
  readonly log: Log
  readonly providers: ReadonlyMap<string, Provider>
  readonly apply: Apply
  readonly refunds: Refunds
}) {
  const { db, log, refunds } = options

  /** The payment as it is now: a decision on old news could credit money that has gone back. */
  async function paid(review: Review): Promise<Snapshot> {
    const provider = options.providers.get(review.provider)
    if (provider === undefined) throw wrong('Its provider is not in use.', review)
    const answer = await provider.fetchPayment(review.paymentId)
    if (answer.kind !== 'ok') throw wrong(`The provider does not show it: ${whyOf(answer)}`, review)
    if (answer.value.status !== 'succeeded') throw wrong('It is not paid.', review)
    return answer.value
  }

  async function close(tx: Tx, review: Review, ask: ReviewAsk): Promise<void> {
    if (!(await reviewClose(tx, ask))) throw wrong('It was decided already.', review)
  }

  async function locked(tx: Tx, review: Review): Promise<Locked> {
    const whole = review.order === null ? undefined : await lockWhole(tx, review.order)
    if (whole === undefined) throw wrong('There is no order for it here.', review)
    return whole
  }

  async function credit(review: Review, ask: ReviewAsk): Promise<OrderId> {
    const snapshot = await paid(review)
    if ((snapshot.refunded ?? 0n) > 0n) throw wrong('Some of it has gone back.', review)
    return db.transaction(async (tx) => {
      const { order } = await locked(tx, review)
      const isTheirs =
        order.provider === review.provider &&
        (order.paymentId === null || order.paymentId === review.paymentId)
      if (order.creditedAt !== null || order.state !== 'review' || !isTheirs) {
        throw wrong('Only the payment of an order in review can be credited.', review)
      }
      await close(tx, review, ask)
      await reviewCloseOthers(tx, { ...review, by: ask.by, note: ask.note })
      await options.apply.credit(tx, order, snapshot, 'operator')
      return order.id
    })
  }

  async function refund(review: Review, ask: ReviewAsk): Promise<Refund> {
    const snapshot = await paid(review)
    const { amount } = snapshot
    if (amount === null || amount === 0n) throw wrong('Its amount cannot be read.', review)
    const refund = await db.transaction(async (tx) => {
      const whole = await locked(tx, review)
      const { order } = whole
      if (order.creditedAt !== null && order.paymentId === review.paymentId) {
        throw wrong('It was credited: refund the order.', review)
      }
      await close(tx, review, ask)
      const made = await refunds.make(tx, {
        order,
        paymentId: review.paymentId,
        amount,
        credits: 0n as Credits,
        attempt: `review ${review.id}`,
        by: ask.by,
        reason: ask.note,
        review: review.id,
      })
      await settleState(tx, { ...whole, refunds: await refundListLocked(tx, order.id) })
      return made
    })
    await refunds.post(refund)
    return refund
  }

  /** A dismissed top-up makes way for the next one; so it must be over at the provider, too. */
  async function mustBeOver(review: Review): Promise<void> {
    const answer = await options.providers.get(review.provider)?.fetchPayment(review.paymentId)
    if (answer?.kind === 'absent') return
    if (answer?.kind !== 'ok') throw wrong('The provider does not say how it is.', review)
    if (answer.value.status === 'succeeded') {
      throw wrong('It is paid, and credited by itself.', review)
    }
    if (answer.value.status === 'canceled') return
    throw wrong('It is open at the provider: it must be canceled there first.', review)
  }

  async function dismiss(review: Review, ask: ReviewAsk): Promise<void> {
    const isTopUp = review.reason === UNRESOLVED
    if (isTopUp) await mustBeOver(review)
    // Nothing about it is wrong but its moment; dismissed, the next sweep would credit it.
    if (review.reason === 'paid_in_review') throw wrong('It is paid: credit or refund it.', review)
    await db.transaction(async (tx) => {
      const order = review.order === null ? undefined : await queries.orderLock(tx, review.order)
      await close(tx, review, ask)
      const ends = isTopUp ? ['pending', 'expired'] : ['review']
      if (order === undefined || !ends.includes(order.state)) return
      const end = { id: order.id, paymentId: null, reason: 'dismissed' }
      await queries.orderEnd(tx, { ...end, state: 'canceled' })
    })
  }

  return {
    /** What waits, oldest first. */
    queue: (limit = 200): Promise<Review[]> => reviewListOpen(db, limit),

    /** Decides once. Refuses: order_state_wrong, with the reason. */
    async resolve(ask: ReviewAsk): Promise<void> {
      const review = await reviewFind(db, ask.id)
      if (review === undefined) {
        throw new Refusal('order_state_wrong', 'There is no such review.', { review: ask.id })
      }
      if (ask.decision === 'credit') await credit(review, ask)
      else if (ask.decision === 'refund') await refund(review, ask)
      else await dismiss(review, ask)
      log.info({ review: ask.id, decision: ask.decision, by: ask.by }, 'a review was decided')
    },
  }
}

export type Reviews = ReturnType<typeof createReviews>

function wrong(sentence: string, review: Review): Refusal {
  return new Refusal('order_state_wrong', sentence, { review: review.id, order: review.order })
}
