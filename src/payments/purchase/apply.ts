// Applies a snapshot to its order; the only place that credits one. Whatever the trigger (webhook,
// returning payer, sweep, poll), the order's row is locked, the decision is made under the lock,
// and state, e-mail and ledger posting commit in one transaction. The ledger's posting is unique by
// the order's id, so a repeat credits nothing.
import type { Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import { type Decision, decide, type Rules } from '../order/decide.ts'
import { orderEmail } from '../order/emails.ts'
import type { Order, Trigger } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { firstPollSeconds } from '../order/schedule.ts'
import type { Snapshot } from '../port.ts'
import { type Providers, providerOf } from '../providers.ts'
import type { ClosingRefunds } from '../refunds/closing.ts'
import type { SignalRecorder } from '../signals/signals.ts'
import type { Findings } from '../watch/findings.ts'
import { orderSetPaid, orderSetTaken } from './queries.ts'
import { createReviewOpening, type ReviewOpeningOptions } from './review-opening.ts'
import { sweepHasPassed, sweepSetMissed } from './sweep-queries.ts'

export type ApplyOptions = {
  readonly providers: Providers
  readonly findings: Findings
  readonly acceptsTestPayments: boolean
  readonly topUpEndings: TopUpEndings
  readonly signals: SignalRecorder
  readonly closingRefunds: Pick<ClosingRefunds, 'endingOf' | 'giveBack' | 'isLeaving'>
} & ReviewOpeningOptions

export type Applied = {
  readonly act: Decision['act'] | 'unknown_order' | 'foreign'
  readonly order?: OrderId
  /** The provider refunded more than we know of: the caller must read its refunds. */
  readonly hasUnknownRefunds: boolean
}

/** What the clocks may differ by, plus what the provider's list may lag behind its own capture. */
const SWEEP_MARGIN_SECONDS = 60

export function createApply(options: ApplyOptions) {
  const { db, mail, brand, log, metrics, topUpEndings, closingRefunds } = options
  const reviews = createReviewOpening(options)

  function rulesOf(order: Order): Rules {
    const shopRef = order.shop ?? options.providers.of(order)?.shopRef ?? ''
    return { shopRef, acceptsTestPayments: options.acceptsTestPayments }
  }

  /**
   * Whether the sweep should have credited the payment already. An operator credits what the sweep
   * has put to review.
   */
  async function wasMissed(tx: Tx, order: Order, snapshot: Snapshot, by: Trigger) {
    const { capturedAt } = snapshot
    if (by === 'sweep' || by === 'operator' || capturedAt === null) return false
    const shop = { provider: order.provider, shop: snapshot.shopRef }
    return sweepHasPassed(tx, { ...shop, capturedAt, marginSeconds: SWEEP_MARGIN_SECONDS })
  }

  /** The alarm, and the next sweep reads the last 25 hours. */
  async function reportMissed(order: Order, snapshot: Snapshot, by: Trigger): Promise<void> {
    const { paymentId, capturedAt, shopRef } = snapshot
    const detail = `${order.id}, captured ${capturedAt?.toISOString()}, was credited by ${by}`
    await sweepSetMissed(db, { provider: order.provider, shop: shopRef })
    const shop = { name: order.provider, shopRef }
    await options.findings.report('sweep_missed', shop, paymentId, detail)
  }

  async function credit(tx: Tx, order: Order, snapshot: Snapshot, by: Trigger) {
    if (order.isTopUp) await topUpEndings.onCredited(tx, order)
    // For an account that closes nothing is saved: its closing has deleted the card.
    if (order.savesMethod && !(await closingRefunds.isLeaving(tx, order.book)))
      await topUpEndings.onMethodSaved(tx, order, snapshot)
    await options.signals.record(tx, order, snapshot)
    const { paymentId, capturedAt, receipt: receiptState } = snapshot
    // The ledger's lock is the last one taken. The entry's number becomes the order's lot.
    const credited = { id: order.id, paymentId, capturedAt, receiptState, by }
    const seconds = await queries.orderCredit(tx, credited)
    const captured = snapshot.amount === order.price ? null : snapshot.amount
    await orderSetTaken(tx, { id: order.id, captured, income: snapshot.income ?? null })
    if ((await closingRefunds.endingOf(tx, order.book)) !== undefined) {
      await closingRefunds.giveBack(tx, order.id, snapshot.refunded ?? (0n as Kopecks))
    } else if (!order.isTopUp) {
      await mail.post(tx, orderEmail('payment-credited', order, brand, order.id))
    }
    return seconds
  }

  async function act(tx: Tx, order: Order, snapshot: Snapshot, by: Trigger, decision: Decision) {
    const { id } = order
    switch (decision.act) {
      case 'credit':
        return credit(tx, order, snapshot, by)
      case 'open': {
        const { hasSettledList, payerTermSeconds } = providerOf(
          options.providers,
          order,
        ).capabilities()
        await queries.orderOpen(tx, {
          id,
          paymentId: snapshot.paymentId,
          confirmation: snapshot.confirmation,
          createdAt: snapshot.createdAt,
          payerTermSeconds,
          dueSeconds: firstPollSeconds(hasSettledList),
        })
        return null
      }
      case 'cancel': {
        const { paymentId, cancelReason: reason } = snapshot
        await queries.orderEnd(tx, { id, state: 'canceled', paymentId, reason })
        if (order.isTopUp) await topUpEndings.onCanceled(tx, order)
        return null
      }
      case 'review':
        await reviews.differs(tx, order, snapshot, decision.difference)
        return null
      case 'nothing':
        return null
    }
  }

  /** Decides and acts under the order's lock. Idempotent; calls may come in any order. */
  async function applySnapshot(snapshot: Snapshot, by: Trigger): Promise<Applied> {
    const seen = await queries.orderFindByPayment(db, snapshot)
    if (seen === undefined) {
      return { act: await reviews.unknownOrder(snapshot), hasUnknownRefunds: false }
    }
    await updateReceiptState(seen, snapshot)
    const hasUnknownRefunds = (order: Order) =>
      order.paymentId === snapshot.paymentId && (snapshot.refunded ?? 0n) > order.refunded
    // Every sweep reads recently credited payments again; they need no lock.
    if (seen.creditedAt !== null && decide(seen, snapshot, rulesOf(seen)).act === 'nothing') {
      if (snapshot.status === 'canceled') {
        log.warn({ order: seen.id, by }, 'canceled after it was credited: ignored')
      }
      return { act: 'nothing', order: seen.id, hasUnknownRefunds: hasUnknownRefunds(seen) }
    }
    const done = await decideLocked(seen, snapshot, by).catch(async (error: unknown) => {
      // For the alarm. If this fails too, the first error still tells more.
      if (snapshot.status === 'succeeded')
        await orderSetPaid(db, seen.id, snapshot.capturedAt).catch(() => undefined)
      throw error
    })
    logOutcome(done, snapshot, by)
    if (done.isMissed) await reportMissed(done.order, snapshot, by)
    return {
      act: done.decision.act,
      order: seen.id,
      hasUnknownRefunds:
        done.decision.act === 'credit'
          ? (snapshot.refunded ?? 0n) > 0n
          : hasUnknownRefunds(done.order),
    }
  }

  function decideLocked(seen: Order, snapshot: Snapshot, by: Trigger) {
    return db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, seen.id)
      if (order === undefined) throw new Error(`order ${seen.id} is gone`)
      const decision = decide(order, snapshot, rulesOf(order))
      const seconds = await act(tx, order, snapshot, by, decision)
      const isMissed = decision.act === 'credit' && (await wasMissed(tx, order, snapshot, by))
      return { order, decision, seconds, isMissed }
    })
  }

  /** Called after the commit, so that a rolled-back change is neither counted nor logged. */
  function logOutcome(
    done: { readonly order: Order; readonly decision: Decision; readonly seconds: number | null },
    snapshot: Snapshot,
    by: Trigger,
  ): void {
    const { order, decision, seconds } = done
    if (decision.act === 'nothing') return
    const fields = { order: order.id, payment: snapshot.paymentId, from: order.state, by }
    if (decision.act === 'credit') {
      metrics.countCredit(by, seconds)
      log.info({ ...fields, seconds }, 'an order was credited')
    } else log.info({ ...fields, act: decision.act }, 'an order changed')
  }

  /** A failed receipt is for the operator to fix; the credit does not wait for it. */
  async function updateReceiptState(order: Order, snapshot: Snapshot): Promise<void> {
    if (snapshot.receipt === null || snapshot.receipt === order.receiptState) return
    if (snapshot.paymentId !== order.paymentId) return
    if (await queries.orderSetReceipt(db, order.id, snapshot.receipt)) {
      metrics.countReceiptFailure()
      log.error({ order: order.id }, 'the tax receipt of an order was not registered')
    }
  }

  return { applySnapshot, credit }
}

export type Apply = ReturnType<typeof createApply>
