// The one function that turns a snapshot into a change of an order, and the only place that credits
// one. Whoever brought the snapshot (a webhook, the returning payer, the sweep, a poll), the order
// is locked, the decision is made again under the lock, and state, letter and ledger posting commit
// together or not at all. The posting is unique by the order's id, so twice is once.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import { type Decision, decide, type Rules } from '../order/decide.ts'
import { letterOf } from '../order/letters.ts'
import type { Order, Trigger } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { firstLookSeconds } from '../order/schedule.ts'
import type { Provider, Snapshot } from '../port.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import { createReviewOpening, type ReviewOpeningOptions } from './review-opening.ts'

export type ApplyOptions = {
  readonly ledger: Pick<Ledger, 'credit'>
  readonly providers: ReadonlyMap<string, Provider>
  readonly takesTest: boolean
  readonly topUpEndings: TopUpEndings
} & ReviewOpeningOptions

export type Applied = {
  readonly act: Decision['act'] | 'unknown_order' | 'foreign'
  readonly order?: OrderId
  /** The provider gave back more than we know of: its refunds must be read. */
  readonly hasStrangeRefunds: boolean
}

export function createApply(options: ApplyOptions) {
  const { db, ledger, mail, brand, log, metrics, topUpEndings } = options
  const reviews = createReviewOpening(options)

  function rulesOf(snapshot: Snapshot): Rules {
    const provider = options.providers.get(snapshot.provider)
    return { shopRef: provider?.shopRef ?? '', takesTest: options.takesTest }
  }

  async function credit(tx: Tx, order: Order, snapshot: Snapshot, by: Trigger) {
    if (order.isTopUp) await topUpEndings.credited(tx, order)
    else await mail.post(tx, letterOf('payment-credited', order, brand, order.id))
    if (order.savesMethod) await topUpEndings.saved(tx, order, snapshot)
    // Last of all locks. Its answer is the lot; the order's row is ours already.
    const { seq } = await ledger.credit(tx, {
      book: order.book,
      kind: 'purchase',
      ref: order.id,
      amount: order.credits,
      contra: 'clearing',
      note: order.packTitle,
    })
    return queries.orderCredit(tx, {
      id: order.id,
      paymentId: snapshot.paymentId,
      capturedAt: snapshot.capturedAt,
      receiptState: snapshot.receipt,
      lot: seq,
      by,
    })
  }

  async function act(tx: Tx, order: Order, snapshot: Snapshot, by: Trigger, decision: Decision) {
    const { id } = order
    switch (decision.act) {
      case 'credit':
        return credit(tx, order, snapshot, by)
      case 'open': {
        const { hasSettledList, payerTermSeconds } = capabilitiesOf(snapshot.provider)
        await queries.orderOpen(tx, {
          id,
          paymentId: snapshot.paymentId,
          confirmation: snapshot.confirmation,
          createdAt: snapshot.createdAt,
          payerTermSeconds,
          dueSeconds: firstLookSeconds(hasSettledList),
        })
        return null
      }
      case 'cancel': {
        const { paymentId, cancelReason: reason } = snapshot
        await queries.orderEnd(tx, { id, state: 'canceled', paymentId, reason })
        if (order.isTopUp) await topUpEndings.canceled(tx, order)
        return null
      }
      case 'review':
        await reviews.differs(tx, order, snapshot, decision.difference)
        return null
      case 'nothing':
        return null
    }
  }

  function capabilitiesOf(name: string) {
    const provider = options.providers.get(name)
    if (provider === undefined) throw new Error(`no provider ${name}`)
    return provider.capabilities()
  }

  /** Decides and acts under the order's lock. May be repeated, by anybody, in any order. */
  async function applySnapshot(snapshot: Snapshot, by: Trigger): Promise<Applied> {
    const seen = await queries.orderFindByPayment(db, snapshot)
    if (seen === undefined) {
      return { act: await reviews.unknownOrder(snapshot), hasStrangeRefunds: false }
    }
    await noteReceipt(seen, snapshot)
    const hasStrangeRefunds = (order: Order) =>
      order.paymentId === snapshot.paymentId && (snapshot.refunded ?? 0n) > order.refunded
    // The sweep reads the same credited payments again and again: no lock for those.
    if (seen.creditedAt !== null && decide(seen, snapshot, rulesOf(snapshot)).act === 'nothing') {
      if (snapshot.status === 'canceled') {
        log.warn({ order: seen.id, by }, 'canceled after it was credited: ignored')
      }
      return { act: 'nothing', order: seen.id, hasStrangeRefunds: hasStrangeRefunds(seen) }
    }
    const done = await db.transaction(async (tx) => {
      const order = await queries.orderLock(tx, seen.id)
      if (order === undefined) throw new Error(`order ${seen.id} is gone`)
      const decision = decide(order, snapshot, rulesOf(snapshot))
      const seconds = await act(tx, order, snapshot, by, decision)
      return { order, decision, seconds }
    })
    tell(done, snapshot, by)
    return {
      act: done.decision.act,
      order: seen.id,
      hasStrangeRefunds:
        done.decision.act === 'credit'
          ? (snapshot.refunded ?? 0n) > 0n
          : hasStrangeRefunds(done.order),
    }
  }

  /** After the commit: what did not happen is not counted. */
  function tell(
    done: { readonly order: Order; readonly decision: Decision; readonly seconds: number | null },
    snapshot: Snapshot,
    by: Trigger,
  ): void {
    const { order, decision, seconds } = done
    if (decision.act === 'nothing') return
    const fields = { order: order.id, payment: snapshot.paymentId, from: order.state, by }
    if (decision.act === 'credit') {
      metrics.credited(by, seconds)
      log.info({ ...fields, seconds }, 'an order was credited')
    } else log.info({ ...fields, act: decision.act }, 'an order changed')
  }

  /** A receipt that failed is the operator's trouble; the credit does not wait for it. */
  async function noteReceipt(order: Order, snapshot: Snapshot): Promise<void> {
    if (snapshot.receipt === null || snapshot.receipt === order.receiptState) return
    if (snapshot.paymentId !== order.paymentId) return
    if (await queries.orderSetReceipt(db, order.id, snapshot.receipt)) {
      metrics.receiptFailed()
      log.error({ order: order.id }, 'the tax receipt of an order was not registered')
    }
  }

  return { applySnapshot, credit }
}

export type Apply = ReturnType<typeof createApply>
