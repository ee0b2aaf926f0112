// Refunds that people ask for. The default policy gives back the unspent part of a pack: its
// credits are set aside in the same transaction that makes the refund, so they cannot be spent
// while the bank takes its days. Then posting.ts asks the provider.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type BookId, newRefundId, type OrderId } from '../../platform/ids.ts'
import { isRefusal, Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import type { TopUpEndings } from '../top-ups/endings.ts'
import { backOf, type Locked, lockWhole, settleState } from './apply.ts'
import { createRefundPosting, providerOf, type RefundPostingOptions } from './posting.ts'
import type { Refund } from './queries.ts'
import { disputeList, refundInsert, refundListByBook, refundListByOrder } from './queries.ts'
import { countRefundable, type Refundable, type RefundableOptions } from './refundable.ts'
import { creditsOf } from './sums.ts'

export type RefundOptions = {
  readonly ledger: Pick<Ledger, 'refund'>
  readonly cell: number
  readonly topUpEndings: Pick<TopUpEndings, 'ended'>
} & RefundPostingOptions &
  RefundableOptions

export type RefundAsk = {
  readonly order: OrderId
  /** Whose order it must be; absent for an operator. */
  readonly book?: BookId
  /** One per click: a repeat answers the first. */
  readonly attempt: string
  /** Part of what is refundable; absent: all of it. */
  readonly amountKopecks?: Kopecks
  readonly by: string
  readonly reason: string
}

/** Longer than a post may take, so that nobody posts the same refund beside us. */
const POST_SECONDS = 45
/**
 * A busy book spends while we count; a few counts later the sums meet. A count takes some 8 ms: at
 * a hundred requests a second one in five succeeds, and five of them gave up one refund in ten.
 */
const COUNTS_MAX = 30
export function createRefunds(options: RefundOptions) {
  const { db, ledger } = options
  const posting = createRefundPosting(options)

  async function read(id: OrderId, book?: BookId): Promise<Locked> {
    const order = await queries.orderFind(db, id)
    if (order === undefined || (book !== undefined && order.book !== book)) {
      throw new Refusal('order_unknown', 'There is no such order.', { order: id })
    }
    return {
      order,
      refunds: await refundListByOrder(db, id),
      disputes: await disputeList(db, id),
    }
  }

  /** What was counted without the lock is checked under it: by the sums and by the ledger. */
  async function insert(tx: Tx, ask: RefundAsk, counted: Refundable): Promise<Refund> {
    const whole = await lockWhole(tx, ask.order)
    if (whole === undefined) throw new Refusal('order_unknown', 'There is no such order.')
    const { order } = whole
    const same = whole.refunds.find((one) => one.attempt === ask.attempt)
    if (same !== undefined) return same
    const amount = ask.amountKopecks ?? counted.amountKopecks
    const rest = order.price - backOf(whole).promised
    if (order.lot === null || order.paymentId === null || order.state === 'disputed') {
      throw refused('not_credited')
    }
    if (amount <= 0n || amount > counted.amountKopecks || amount > rest) throw exceeds(order)
    const credits =
      amount === counted.amountKopecks ? counted.credits : creditsOf(order, amount, backOf(whole))
    const refund = await make(tx, {
      order,
      paymentId: order.paymentId,
      amount,
      credits,
      attempt: ask.attempt,
      by: ask.by,
      reason: ask.reason,
      review: null,
    })
    await settleState(tx, { ...whole, refunds: [...whole.refunds, refund] })
    const { book, lot } = order
    await ledger.refund(tx, { book, lot, ref: refund.id, amount: credits, note: ask.reason })
    return refund
  }

  async function make(
    tx: Tx,
    p: {
      readonly order: Order
      readonly paymentId: string
      readonly amount: Kopecks
      readonly credits: Credits
      readonly attempt: string
      readonly by: string
      readonly reason: string
      readonly review: bigint | null
    },
  ): Promise<Refund> {
    const id = newRefundId(options.cell, options.clock.nowMs())
    const requestBody = providerOf(options.providers, p.order.provider).draftRefund({
      refund: id,
      paymentId: p.paymentId,
      amount: p.amount,
      title: p.order.packTitle,
      email: p.order.email,
      reason: p.reason,
      receipt: p.order.receipt,
    })
    // Else the card would be charged for what its owner has just got back.
    await options.topUpEndings.ended(tx, p.order.book, 'refunded')
    return refundInsert(tx, {
      id,
      order: p.order.id,
      provider: p.order.provider,
      paymentId: p.paymentId,
      attempt: p.attempt,
      amount: p.amount,
      credits: p.credits,
      review: p.review,
      askedBy: p.by,
      reason: p.reason.slice(0, 250),
      requestBody,
      dueSeconds: POST_SECONDS,
    })
  }

  return {
    /** What the owner could get back now. */
    async refundable(id: OrderId, book?: BookId): Promise<Refundable> {
      return countRefundable(await read(id, book), book !== undefined, options)
    },

    /**
     * Sets credits aside and asks the provider. May be repeated by its attempt. Refuses:
     * order_unknown, refund_refused, refund_exceeds_unspent, payment_unavailable.
     */
    async request(ask: RefundAsk): Promise<Refund> {
      for (let counts = 1; ; counts++) {
        const whole = await read(ask.order, ask.book)
        const same = whole.refunds.find((one) => one.attempt === ask.attempt)
        if (same !== undefined) return same
        const counted = await countRefundable(whole, ask.book !== undefined, options)
        if (counted.why !== null) throw refused(counted.why)
        try {
          const refund = await db.transaction((tx) => insert(tx, ask, counted))
          if (refund.state === 'created') await posting.post(refund)
          return (
            (await refundListByOrder(db, ask.order)).find(({ id }) => id === refund.id) ?? refund
          )
        } catch (error) {
          const isMoved = isRefusal(error, 'refund_exceeds_unspent')
          if (!isMoved || ask.amountKopecks !== undefined || counts >= COUNTS_MAX) throw error
        }
      }
    },

    make,

    list: (book: BookId): Promise<Refund[]> => refundListByBook(db, book, 200),

    /** Post, poll, sync and strange. */
    ...posting,
  }
}

export type Refunds = ReturnType<typeof createRefunds>

function refused(why: NonNullable<Refundable['why']>): Refusal {
  const sentences = {
    not_credited: 'This order has nothing to give back.',
    disputed: 'This payment is disputed at the bank; it cannot be refunded as well.',
    policy: 'This pack cannot be given back by the refund rules.',
    spent: 'Everything of this pack was spent.',
  }
  return new Refusal('refund_refused', sentences[why], { why })
}

function exceeds(order: Order): Refusal {
  return new Refusal('refund_exceeds_unspent', 'More than the unspent part of the pack.', {
    order: order.id,
  })
}
