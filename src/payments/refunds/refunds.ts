// Refunds that owners and operators request. The default policy refunds the unspent part of a pack.
// Its credits are reserved in the transaction that creates the refund, so they cannot be spent in
// the days that the bank takes. Then posting.ts posts it to the provider.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type BookId, newRefundId, type OrderId } from '../../platform/ids.ts'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { TopUpEndings } from '../mandates/endings.ts'
import type { Order } from '../order/order.ts'
import * as queries from '../order/queries.ts'
import { providerOf } from '../providers.ts'
import { type PaymentRefusalCode, paymentRefusal } from '../refusals.ts'
import { BUDGET_DAYS, createRefundBudget, type RefundBudgetOptions } from './budget.ts'
import { createRefundPosting, type RefundPostingOptions } from './posting.ts'
import { lockPurchase, type Purchase, returnedTotals, updateOrderState } from './purchase.ts'
import type { Refund } from './queries.ts'
import {
  completedPartRead,
  disputeList,
  refundInsert,
  refundListByBook,
  refundListByOrder,
} from './queries.ts'
import { countRefundable, type Refundable, type RefundableOptions } from './refundable.ts'
import { creditsForAmount } from './sums.ts'

export type RefundOptions = {
  readonly ledger: Pick<Ledger, 'refund'>
  readonly cell: number
  readonly topUpEndings: Pick<TopUpEndings, 'endWithEmail'>
} & RefundPostingOptions &
  RefundableOptions &
  RefundBudgetOptions

export type RefundInput = {
  readonly order: OrderId
  /** The book that must own the order; absent for an operator. */
  readonly book?: BookId
  /** A new one per click: repeating it returns the first refund. */
  readonly attempt: string
  /** A part of what is refundable; absent: all of it. */
  readonly amountKopecks?: Kopecks
  /** Without an amount: not more than this, also if more became free since it was shown. */
  readonly mostKopecks?: Kopecks
  readonly by: string
  readonly reason: string
}

/** Longer than a post can take, so that no other process posts the same refund meanwhile. */
const POST_SECONDS = 45
/**
 * Attempts to compute the refundable amount and reserve it while the book is spending. One takes
 * about 8 ms: at a hundred requests a second one in five succeeds, and with a limit of five
 * attempts one refund in ten failed.
 */
const TRIES_MAX = 30

export function createRefunds(options: RefundOptions) {
  const { db, ledger } = options
  const posting = createRefundPosting(options)
  const budget = createRefundBudget(options)

  async function read(id: OrderId, book?: BookId): Promise<Purchase> {
    const order = await queries.orderFind(db, id)
    if (order === undefined || (book !== undefined && order.book !== book)) {
      throw paymentRefusal('order_unknown', 'There is no such order.', { order: id })
    }
    return {
      order,
      refunds: await refundListByOrder(db, id),
      disputes: await disputeList(db, id),
    }
  }

  /** What can be refunded; for an owner also by the policy and the budget. */
  async function count(purchase: Purchase, isOwner: boolean): Promise<Refundable> {
    const counted = await countRefundable(purchase, isOwner, options)
    if (!isOwner || counted.why !== null) return counted
    const why = await budget.needsSupport(db, purchase.order)
    return why === null ? counted : { ...nothing, why }
  }

  /** Checks `counted` again under the lock, except for its credits, which the ledger checks. */
  async function insert(
    tx: Tx,
    input: RefundInput,
    seen: Order,
    counted: Refundable,
  ): Promise<Refund> {
    const isOwner = input.book !== undefined
    if (isOwner) await budget.lock(tx, seen)
    const purchase = await lockPurchase(tx, input.order)
    if (purchase === undefined) throw paymentRefusal('order_unknown', 'There is no such order.')
    const { order } = purchase
    const same = purchase.refunds.find((one) => one.attempt === input.attempt)
    if (same !== undefined) return same
    const why = isOwner ? await budget.needsSupport(tx, order) : null
    if (why !== null) throw refused(why, budget.refundsPerMonth)
    const { amountKopecks: all } = counted
    const { mostKopecks: most = all } = input
    const amount = input.amountKopecks ?? (all < most ? all : most)
    const rest = order.price - returnedTotals(purchase).promised
    if (order.lot === null || order.paymentId === null || order.state === 'disputed') {
      throw refused('not_credited', budget.refundsPerMonth)
    }
    if (amount <= 0n || amount > counted.amountKopecks || amount > rest) throw exceeds(order)
    const credits =
      amount === counted.amountKopecks
        ? counted.credits
        : creditsForAmount(order, amount, returnedTotals(purchase))
    const refund = await create(tx, {
      order,
      paymentId: order.paymentId,
      amount,
      credits,
      attempt: input.attempt,
      by: input.by,
      reason: input.reason,
      review: null,
      ownerDigest: isOwner ? budget.digestOf(order) : null,
    })
    await updateOrderState(tx, { ...purchase, refunds: [...purchase.refunds, refund] })
    const { book, lot } = order
    await ledger.refund(tx, { book, lot, ref: refund.id, amount: credits, note: input.reason })
    return refund
  }

  async function create(
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
      readonly ownerDigest?: Buffer | null
    },
  ): Promise<Refund> {
    const id = newRefundId(options.cell, options.clock.nowMs())
    const isOfReview = p.review !== null
    const completed = isOfReview
      ? (0n as Kopecks)
      : await completedPartRead(tx, p.order.id, p.amount)
    const requestBody = providerOf(options.providers, p.order).draftRefund({
      refund: id,
      paymentId: p.paymentId,
      amount: p.amount,
      title: p.order.packTitle,
      email: p.order.email,
      reason: p.reason,
      receipt: p.order.receipt,
      completed,
    })
    // Otherwise a top-up would charge the card for what the owner was just refunded.
    await options.topUpEndings.endWithEmail(tx, p.order.book, 'refunded')
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
      ownerDigest: p.ownerDigest ?? null,
    })
  }

  return {
    /** What can be refunded now; with a book, what its owner can request. */
    async refundable(id: OrderId, book?: BookId): Promise<Refundable> {
      return count(await read(id, book), book !== undefined)
    },

    /**
     * Reserves credits and posts the refund. Repeating an attempt returns its refund. Refuses:
     * order_unknown, refund_refused, refund_needs_support, refund_exceeds_unspent,
     * payment_unavailable.
     */
    async request(input: RefundInput): Promise<Refund> {
      for (let tries = 1; ; tries++) {
        const purchase = await read(input.order, input.book)
        const same = purchase.refunds.find((one) => one.attempt === input.attempt)
        if (same !== undefined) return same
        const counted = await count(purchase, input.book !== undefined)
        if (counted.why !== null) throw refused(counted.why, budget.refundsPerMonth)
        try {
          const refund = await db.transaction((tx) => insert(tx, input, purchase.order, counted))
          if (refund.state === 'created') await posting.post(refund)
          return (
            (await refundListByOrder(db, input.order)).find(({ id }) => id === refund.id) ?? refund
          )
        } catch (error) {
          const wasSpent = isRefusal<PaymentRefusalCode>(error, 'refund_exceeds_unspent')
          if (!wasSpent || input.amountKopecks !== undefined || tries >= TRIES_MAX) throw error
        }
      }
    },

    create,

    list: (book: BookId): Promise<Refund[]> => refundListByBook(db, book, 200),

    /** `post`, `poll`, `sync` and `paymentsWithUnknownRefunds`. */
    ...posting,
  }
}

export type Refunds = ReturnType<typeof createRefunds>

const nothing = { amountKopecks: 0n as Kopecks, credits: 0n as Credits }

function refused(why: NonNullable<Refundable['why']>, perMonth: number): Refusal {
  const sentences = {
    budget: `There were ${perMonth} refunds in ${BUDGET_DAYS} days; support decides about more.`,
    promo: 'This purchase opened a promo code; support decides about its refund.',
    not_credited: 'This order has nothing to give back.',
    disputed: 'This payment is disputed at the bank; it cannot be refunded as well.',
    policy: 'This pack cannot be given back by the refund rules.',
    spent: 'Everything of this pack was spent.',
    refunded: 'Everything of this pack was refunded or spent.',
  }
  const needsSupport = why === 'budget' || why === 'promo'
  const code = needsSupport ? 'refund_needs_support' : 'refund_refused'
  return paymentRefusal(code, sentences[why], { why })
}

function exceeds(order: Order): Refusal {
  return paymentRefusal('refund_exceeds_unspent', 'More than the unspent part of the pack.', {
    order: order.id,
  })
}
