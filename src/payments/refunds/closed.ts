// The books of closed accounts: nothing may stay in them, because their owners can neither use nor
// see it. Money that arrives late goes back; a refund that the bank cancels is requested again;
// what cannot be refunded is forfeited, as the owner agreed when closing. Everything happens in the
// caller's transaction, which has locked the order first and the ledger's book last.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type BookId, newRefundId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { type Credits, micro } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Order } from '../order/order.ts'
import { reviewOpen } from '../order/review-queries.ts'
import type { Providers } from '../providers.ts'
import { lockPurchase, type Purchase, returnedTotals, updateOrderState } from './purchase.ts'
import { type Refund, refundInsert } from './queries.ts'

export type ClosedBookOptions = {
  readonly ledger: Pick<Ledger, 'refund' | 'adjust' | 'balance'>
  readonly providers: Providers
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  /** Whether the account of a book is closed. */
  isClosed(book: BookId, tx: Tx): Promise<boolean>
}

/**
 * The bank may refuse today and pay tomorrow: `insufficient_funds` is about the day's takings. Less
 * than the 23 hours after which a refund that was never posted counts as absent.
 */
const AGAIN_SECONDS = 43_200
/**
 * With the pauses these are two days, in which a shop that lacked the money has earned it. So the
 * payer's bank does not take the money back, and an operator must find another way.
 */
const TRIES_MAX = 5
const REASON = 'The account was closed.'
/** The review's reason for a closed account whose money the bank does not take back. */
export const REFUND_REFUSED = 'refund_refused'

export function createClosedBooks(options: ClosedBookOptions) {
  const { ledger, log } = options

  /** Ask this after the book's lock was taken: closing locks the book too, so it is decided. */
  const isClosed = (tx: Tx, book: BookId): Promise<boolean> => options.isClosed(book, tx)

  const availableOf = async (tx: Tx, book: BookId): Promise<Credits> =>
    (await ledger.balance(book, tx))?.available ?? micro(0n)

  /** Takes at most `most`: the rest may wait for an operator's refund of another order. */
  async function forfeit(tx: Tx, book: BookId, ref: string, most: Credits): Promise<void> {
    const left = least(await availableOf(tx, book), most)
    if (left === 0n) return
    const entry = { book, ref: `closing ${ref}`, amount: micro(-left) }
    await ledger.adjust(tx, { ...entry, contra: 'revenue', note: REASON })
  }

  /** Stores a refund of what the credits are worth and reserves them. A worker posts it. */
  async function request(
    tx: Tx,
    { order }: Purchase,
    p: {
      readonly amount: Kopecks
      readonly credits: Credits
      readonly attempt: string
      readonly dueSeconds: number
    },
  ): Promise<void> {
    const { book, lot, paymentId, provider, packTitle: title, email, receipt } = order
    const adapter = options.providers.of(order)
    if (lot === null || paymentId === null || adapter === undefined) {
      throw new Error(`order ${order.id} cannot be refunded`)
    }
    const { amount } = p
    const id = newRefundId(options.cell, options.clock.nowMs())
    const draft = { refund: id, paymentId, amount, title, email, reason: REASON, receipt }
    await refundInsert(tx, {
      ...{ id, order: order.id, provider, paymentId, ...p },
      ...{ review: null, askedBy: 'closed account', reason: REASON, ownerDigest: null },
      requestBody: adapter.draftRefund(draft),
    })
    await ledger.refund(tx, { book, lot, ref: id, amount: p.credits, note: REASON })
    const now = await lockPurchase(tx, order.id)
    if (now !== undefined) await updateOrderState(tx, now)
  }

  return {
    isClosed,
    forfeit,

    /**
     * An order of a closed account was credited: what its debt has left goes back. `refundedThere`:
     * what the provider has returned of the payment already.
     */
    async giveBack(tx: Tx, id: Order['id'], refundedThere: Kopecks): Promise<void> {
      const purchase = await lockPurchase(tx, id)
      if (purchase === undefined) throw new Error(`order ${id} is gone`)
      const { order } = purchase
      const available = await availableOf(tx, order.book)
      const credits = least(available, order.credits) as Credits
      const worth = (order.price * credits) / order.credits
      const amount = (worth - refundedThere) as Kopecks
      log.warn({ order: id, amount }, 'money came for a closed account')
      // Refunds that were made there take their credits when they are read, a moment later.
      if (amount <= 0n) return refundedThere > 0n ? undefined : forfeit(tx, order.book, id, credits)
      await request(tx, purchase, { amount, credits, attempt: 'closed account', dueSeconds: 0 })
    },

    /** The bank canceled a refund of a closed account, which has released its credits. */
    async requestAgain(tx: Tx, purchase: Purchase, refund: Refund): Promise<void> {
      const { order, refunds } = purchase
      const available = await availableOf(tx, order.book)
      const credits = least(available, refund.credits) as Credits
      const rest = order.price - returnedTotals(purchase).promised
      const worth = (order.price * credits) / order.credits
      const amount = least(least(refund.amount, rest), worth) as Kopecks
      if (amount <= 0n) return forfeit(tx, order.book, refund.id, credits)
      const tries = refunds.filter((one) => one.state === 'canceled').length
      if (tries < TRIES_MAX) {
        const attempt = `closed account ${tries}`
        return request(tx, purchase, { amount, credits, attempt, dueSeconds: AGAIN_SECONDS })
      }
      const { provider, paymentId } = refund
      const detail = `the bank refused ${tries} refunds of a closed account, ${amount} kopecks`
      await reviewOpen(tx, {
        ...{ order: order.id, provider, paymentId, reason: REFUND_REFUSED, detail, amount },
        hasMoney: true,
      })
      log.error({ order: order.id, amount }, 'a closed account could not be refunded')
    },
  }
}

export type ClosedBooks = ReturnType<typeof createClosedBooks>

const least = (a: bigint, b: bigint) => (a < b ? a : b)
