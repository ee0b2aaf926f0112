// Applies a refund of the provider's. One that we requested: its reserved credits are taken for
// good, or released. One made in the provider's merchant portal: the credits are debited by force,
// and what was already spent becomes debt. The order's lock is taken first, the ledger's last.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { newRefundId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import { type Brand, type Mailer, orderEmail } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { reviewOpen } from '../order/review-queries.ts'
import { refundPollSeconds } from '../order/schedule.ts'
import type { RefundSnapshot } from '../port.ts'
import type { ClosingRefunds } from './closing.ts'
import { lockPurchase, type Purchase, returnedTotals, updateOrderState } from './purchase.ts'
import type { Refund } from './queries.ts'
import {
  refundAddCredits,
  refundEnd,
  refundInsertExternal,
  refundListLocked,
  refundSetDue,
  refundSetPending,
} from './queries.ts'
import { creditsToTake } from './sums.ts'

export type RefundApplyOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'reverseRefund' | 'forceDebit'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  readonly topUpEndings: Pick<TopUpEndings, 'endWithEmail'>
  readonly closingRefunds: Pick<ClosingRefunds, 'endingOf' | 'requestAgain'>
}

export function createRefundApply(options: RefundApplyOptions) {
  const { db, ledger, mail, brand, log, topUpEndings, closingRefunds } = options

  async function succeed(tx: Tx, purchase: Purchase, refund: Refund, snapshot: RefundSnapshot) {
    // The credits were released when the refund was canceled; now it has succeeded after all.
    const wasReleased = refund.state === 'canceled'
    const isForced = wasReleased && refund.credits > 0n && purchase.order.lot !== null
    const end = { id: refund.id, refundId: snapshot.refundId, cancelReason: null }
    await refundEnd(tx, { ...end, state: 'succeeded', isForced: isForced || refund.isForced })
    await updateOrderState(tx, withRefund(purchase, { ...refund, state: 'succeeded' }))
    // After the cancellation the owner may have turned top-ups on again.
    if (wasReleased) await topUpEndings.endWithEmail(tx, purchase.order.book, 'refunded')
    const debt = isForced
      ? await forceDebit(tx, purchase.order, refund.id, refund.credits)
      : undefined
    const facts = { amount: refund.amount, credits: refund.credits, ...(debt && { debt }) }
    await mail.post(tx, orderEmail('payment-refunded', purchase.order, brand, refund.id, facts))
  }

  /** Ends a refund that does not happen, and releases its credits. */
  async function withdraw(tx: Tx, purchase: Purchase, refund: Refund, reason: string | null) {
    const { book, lot } = purchase.order
    const end = { id: refund.id, refundId: null, cancelReason: reason, isForced: false }
    await refundEnd(tx, { ...end, state: 'canceled' })
    const after = withRefund(purchase, { ...refund, state: 'canceled' })
    await updateOrderState(tx, after)
    if (refund.credits > 0n && lot !== null) {
      await ledger.reverseRefund(tx, { book, lot, ref: refund.id, note: reason ?? '' })
      await takeOwed(tx, after, refund)
    }
    return after
  }

  async function cancel(tx: Tx, purchase: Purchase, refund: Refund, reason: string | null) {
    const after = await withdraw(tx, purchase, refund, reason)
    const { order } = after
    // Its owner may not be able to request the refund again.
    if (refund.credits > 0n && (await closingRefunds.endingOf(tx, order.book)) !== undefined) {
      return closingRefunds.requestAgain(tx, after, refund)
    }
    const facts = { amount: refund.amount, credits: refund.credits }
    await mail.post(tx, orderEmail('refund-canceled', order, brand, refund.id, facts))
  }

  /**
   * A refund in the merchant portal took no credits that the canceled one had reserved: it takes
   * them now, because their money has gone back.
   */
  async function takeOwed(tx: Tx, purchase: Purchase, canceled: Refund): Promise<void> {
    const { promised, taken } = returnedTotals(purchase)
    const owed = creditsToTake(purchase.order, promised, taken)
    const made = purchase.refunds.findLast((one) => one.isForced && one.state === 'succeeded')
    if (owed === 0n || made === undefined) return
    await refundAddCredits(tx, made.id, owed)
    await forceDebit(tx, purchase.order, `${made.id} ${canceled.id}`, owed)
  }

  async function forceDebit(tx: Tx, order: Order, ref: string, amount: Credits): Promise<Credits> {
    const { debt } = await ledger.forceDebit(tx, {
      book: order.book,
      lot: order.lot,
      ref,
      amount,
      contra: 'clearing',
      note: 'refunded at the provider',
    })
    return debt
  }

  /** Records a refund that was made in the provider's merchant portal. */
  async function recordExternalRefund(
    tx: Tx,
    purchase: Purchase,
    snapshot: RefundSnapshot,
    amount: Kopecks,
  ) {
    const { order } = purchase
    const { promised, taken } = returnedTotals(purchase)
    const gone = (promised + amount) as Kopecks
    const isCredited = order.creditedAt !== null
    const credits = isCredited ? creditsToTake(order, gone, taken) : (0n as Credits)
    const id = newRefundId(options.cell, options.clock.nowMs())
    await refundInsertExternal(tx, {
      id,
      order: order.id,
      provider: snapshot.provider,
      paymentId: snapshot.paymentId,
      refundId: snapshot.refundId,
      amount,
      credits,
    })
    await updateOrderState(tx, { ...purchase, refunds: await refundListLocked(tx, order.id) })
    await topUpEndings.endWithEmail(tx, order.book, 'refunded')
    const debt = credits > 0n ? await forceDebit(tx, order, id, credits) : undefined
    const facts = { amount, credits, ...(debt && { debt }) }
    await mail.post(tx, orderEmail('payment-refunded', order, brand, id, facts))
    log.warn({ order: order.id, refund: id, amount, debt }, 'refunded at the provider')
  }

  async function openReview(tx: Tx, order: Order, snapshot: RefundSnapshot, detail: string) {
    const { isNew } = await reviewOpen(tx, {
      order: order.id,
      provider: snapshot.provider,
      paymentId: snapshot.paymentId,
      reason: `refund ${snapshot.refundId}`,
      detail,
      amount: snapshot.amount,
      hasMoney: true,
    })
    if (isNew) log.error({ order: order.id, refund: snapshot.refundId }, 'a refund differs')
  }

  async function apply(tx: Tx, purchase: Purchase, snapshot: RefundSnapshot): Promise<string> {
    const { order } = purchase
    const refund = purchase.refunds.find(
      (one) => one.refundId === snapshot.refundId || one.id === snapshot.refundRef,
    )
    if (refund === undefined && snapshot.status !== 'succeeded') return 'not ours'
    if (refund?.state === 'succeeded') return 'known'
    const { amount } = snapshot
    if (amount === null || amount === 0n || snapshot.currency !== 'RUB') {
      await openReview(tx, order, snapshot, `${snapshot.amountText} ${snapshot.currency}`)
      return 'differs'
    }
    if (refund === undefined) {
      await recordExternalRefund(tx, purchase, snapshot, amount)
      return 'outside'
    }
    if (amount !== refund.amount || snapshot.paymentId !== refund.paymentId) {
      await openReview(tx, order, snapshot, `expected ${refund.amount}, found ${amount} kopecks`)
      await refundSetDue(tx, refund.id, null)
      return 'differs'
    }
    if (snapshot.status === 'succeeded') await succeed(tx, purchase, refund, snapshot)
    else if (refund.state === 'canceled') return 'known'
    else if (snapshot.status === 'canceled')
      await cancel(tx, purchase, refund, snapshot.cancelReason)
    else if (refund.state === 'created') {
      const dueSeconds = refundPollSeconds(0)
      await refundSetPending(tx, { id: refund.id, refundId: snapshot.refundId, dueSeconds })
    }
    return snapshot.status
  }

  return {
    /** Applies one refund of the provider's. Idempotent; calls may come in any order. */
    async applyRefund(snapshot: RefundSnapshot, of?: OrderId): Promise<string> {
      // No order may store this payment's id, although the refund belongs to an order.
      const seen = await queries.orderFindByPayment(db, { ...snapshot, orderRef: of ?? null })
      if (seen === undefined) return 'foreign'
      return db.transaction(async (tx) => {
        const purchase = await lockPurchase(tx, seen.id)
        return purchase === undefined ? 'foreign' : apply(tx, purchase, snapshot)
      })
    },

    withdraw,

    /** The provider refused the refund: releases its reserved credits. May be repeated. */
    async release(refund: Refund, reason: string): Promise<void> {
      await db.transaction(async (tx) => {
        const purchase = await lockPurchase(tx, refund.order)
        const now = purchase?.refunds.find((one) => one.id === refund.id)
        if (purchase === undefined || now === undefined || now.state !== 'created') return
        await cancel(tx, purchase, now, reason.slice(0, 100))
      })
    },
  }
}

export type RefundApply = ReturnType<typeof createRefundApply>

function withRefund(purchase: Purchase, refund: Refund): Purchase {
  return {
    ...purchase,
    refunds: purchase.refunds.map((one) => (one.id === refund.id ? refund : one)),
  }
}
