// What a refund at the provider means here. Ours: its reservation becomes final, or is released.
// One that we never asked for, made at the provider's own desk: the credits are taken by force, and
// what was spent already becomes debt. Always under the order's lock, the ledger last.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { newRefundId, type OrderId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { type Brand, letterOf, type Mailer } from '../order/letters.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { reviewOpen } from '../order/review-queries.ts'
import { refundLookSeconds } from '../order/schedule.ts'
import type { RefundSnapshot } from '../port.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import type { Dispute, Refund } from './queries.ts'
import {
  disputeList,
  refundEnd,
  refundInsertOutside,
  refundListLocked,
  refundSetDue,
  refundSetPending,
} from './queries.ts'
import { creditsToTake, stateAfter } from './sums.ts'

export type RefundApplyOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'reverseRefund' | 'forceDebit'>
  readonly mail: Mailer
  readonly brand: Brand
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  readonly topUpEndings: Pick<TopUpEndings, 'ended'>
}

/** An order with everything that was given back of it, locked. */
export type Locked = {
  readonly order: Order
  readonly refunds: readonly Refund[]
  readonly disputes: readonly Dispute[]
}

export async function lockWhole(tx: Tx, id: Order['id']): Promise<Locked | undefined> {
  const order = await queries.orderLock(tx, id)
  if (order === undefined) return undefined
  return { order, refunds: await refundListLocked(tx, id), disputes: await disputeList(tx, id) }
}

/**
 * Money that has gone, or is about to go, back (refunds that live, disputes that were lost), and
 * the credits that left the book for it. A refund of a review gives back what was never credited.
 */
export function backOf({ refunds, disputes }: Locked): { promised: Kopecks; taken: Credits } {
  const living = refunds.filter((one) => one.state !== 'canceled' && one.review === null)
  const sum = (amounts: bigint[]) => amounts.reduce((total, one) => total + one, 0n)
  return {
    promised: sum([
      ...living.map((one) => one.amount),
      ...disputes.map((one) => (one.state === 'lost' ? one.amount : 0n)),
    ]) as Kopecks,
    taken: sum([
      ...living.map((one) => one.credits),
      ...disputes.map((one) => (one.state === 'opened' ? one.reserved : one.taken)),
    ]) as Credits,
  }
}

/** Writes the state that follows from refunds and disputes as they are now. */
export async function settleState(tx: Tx, { order, refunds, disputes }: Locked): Promise<void> {
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

/** Money that was never credited and goes back by a person's decision, or by the provider's. */
function stateUncredited(order: Order, refunds: readonly Refund[]): Order['state'] {
  if (refunds.some((one) => one.state === 'succeeded')) return 'refunded'
  if (refunds.some((one) => one.state !== 'canceled')) return 'refund_pending'
  return order.state === 'refund_pending' ? 'review' : order.state
}

export function createRefundApply(options: RefundApplyOptions) {
  const { db, ledger, mail, brand, log, topUpEndings } = options

  async function succeed(tx: Tx, whole: Locked, refund: Refund, snapshot: RefundSnapshot) {
    // Its reservation was released when it was canceled, and now the money is gone after all.
    const wasReleased = refund.state === 'canceled'
    const isForced = wasReleased && refund.credits > 0n && whole.order.lot !== null
    const end = { id: refund.id, refundId: snapshot.refundId, cancelReason: null }
    await refundEnd(tx, { ...end, state: 'succeeded', isForced: isForced || refund.isForced })
    await settleState(tx, replaced(whole, { ...refund, state: 'succeeded' }))
    // Its owner may have agreed anew when it was canceled.
    if (wasReleased) await topUpEndings.ended(tx, whole.order.book, 'refunded')
    const debt = isForced ? await force(tx, whole.order, refund.id, refund.credits) : undefined
    const facts = { amount: refund.amount, credits: refund.credits, ...(debt && { debt }) }
    await mail.post(tx, letterOf('payment-refunded', whole.order, brand, refund.id, facts))
  }

  async function cancel(tx: Tx, whole: Locked, refund: Refund, reason: string | null) {
    const { order } = whole
    const end = { id: refund.id, refundId: null, cancelReason: reason, isForced: false }
    await refundEnd(tx, { ...end, state: 'canceled' })
    await settleState(tx, replaced(whole, { ...refund, state: 'canceled' }))
    const facts = { amount: refund.amount, credits: refund.credits }
    await mail.post(tx, letterOf('refund-canceled', order, brand, refund.id, facts))
    if (refund.credits > 0n && order.lot !== null) {
      const { book, lot } = order
      await ledger.reverseRefund(tx, { book, lot, ref: refund.id, note: reason ?? '' })
    }
  }

  async function force(tx: Tx, order: Order, ref: string, amount: Credits): Promise<Credits> {
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

  /** A refund nobody here asked for. */
  async function outside(tx: Tx, whole: Locked, snapshot: RefundSnapshot, amount: Kopecks) {
    const { order } = whole
    const { promised, taken } = backOf(whole)
    const gone = (promised + amount) as Kopecks
    const isCredited = order.creditedAt !== null
    const credits = isCredited ? creditsToTake(order, gone, taken) : (0n as Credits)
    const id = newRefundId(options.cell, options.clock.nowMs())
    await refundInsertOutside(tx, {
      id,
      order: order.id,
      provider: snapshot.provider,
      paymentId: snapshot.paymentId,
      refundId: snapshot.refundId,
      amount,
      credits,
    })
    await settleState(tx, { ...whole, refunds: await refundListLocked(tx, order.id) })
    await topUpEndings.ended(tx, order.book, 'refunded')
    const debt = credits > 0n ? await force(tx, order, id, credits) : undefined
    const facts = { amount, credits, ...(debt && { debt }) }
    await mail.post(tx, letterOf('payment-refunded', order, brand, id, facts))
    log.warn({ order: order.id, refund: id, amount, debt }, 'refunded at the provider')
  }

  async function differs(tx: Tx, order: Order, snapshot: RefundSnapshot, detail: string) {
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

  async function apply(tx: Tx, whole: Locked, snapshot: RefundSnapshot): Promise<string> {
    const { order } = whole
    const refund = whole.refunds.find(
      (one) => one.refundId === snapshot.refundId || one.id === snapshot.refundRef,
    )
    if (refund === undefined && snapshot.status !== 'succeeded') return 'not ours'
    if (refund?.state === 'succeeded') return 'known'
    const { amount } = snapshot
    if (amount === null || amount === 0n || snapshot.currency !== 'RUB') {
      await differs(tx, order, snapshot, `${snapshot.amountText} ${snapshot.currency}`)
      return 'differs'
    }
    if (refund === undefined) {
      await outside(tx, whole, snapshot, amount)
      return 'outside'
    }
    if (amount !== refund.amount || snapshot.paymentId !== refund.paymentId) {
      await differs(tx, order, snapshot, `expected ${refund.amount}, found ${amount} kopecks`)
      await refundSetDue(tx, refund.id, null)
      return 'differs'
    }
    if (snapshot.status === 'succeeded') await succeed(tx, whole, refund, snapshot)
    else if (refund.state === 'canceled') return 'known'
    else if (snapshot.status === 'canceled') await cancel(tx, whole, refund, snapshot.cancelReason)
    else if (refund.state === 'created') {
      const dueSeconds = refundLookSeconds(0)
      await refundSetPending(tx, { id: refund.id, refundId: snapshot.refundId, dueSeconds })
    }
    return snapshot.status
  }

  return {
    /** Applies one refund of the provider's. May be repeated, by anybody, in any order. */
    async applyRefund(snapshot: RefundSnapshot, of?: OrderId): Promise<string> {
      // A payment that was never bound to an order may still be refunded in its name.
      const seen = await queries.orderFindByPayment(db, { ...snapshot, orderRef: of ?? null })
      if (seen === undefined) return 'foreign'
      return db.transaction(async (tx) => {
        const whole = await lockWhole(tx, seen.id)
        return whole === undefined ? 'foreign' : apply(tx, whole, snapshot)
      })
    },

    /** The provider refused to make it: what was set aside goes back. May be repeated. */
    async release(refund: Refund, reason: string): Promise<void> {
      await db.transaction(async (tx) => {
        const whole = await lockWhole(tx, refund.order)
        const now = whole?.refunds.find((one) => one.id === refund.id)
        if (whole === undefined || now === undefined || now.state !== 'created') return
        await cancel(tx, whole, now, reason.slice(0, 100))
      })
    },
  }
}

export type RefundApply = ReturnType<typeof createRefundApply>

function replaced(whole: Locked, refund: Refund): Locked {
  return {
    ...whole,
    refunds: whole.refunds.map((one) => (one.id === refund.id ? refund : one)),
  }
}
