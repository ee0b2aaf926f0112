// The money of accounts that close or are closed: nothing may stay in their books. What can be
// refunded is requested; a refund that the bank cancels is requested again; money that comes late
// goes back. What only a person may decide is reserved in a refund that nobody posts, beside a
// review. Every function runs in the caller's transaction, which has locked the order first; the
// ledger's book is locked last.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import { type BookId, newRefundId, type RefundId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { type Credits, micro } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { type Brand, type Mailer, orderEmail } from '../order/emails.ts'
import type { Order } from '../order/order.ts'
import { reviewOpen } from '../order/review-queries.ts'
import type { Providers } from '../providers.ts'
import { createRefundBudget, type NeedsSupport, type RefundBudgetOptions } from './budget.ts'
import { lockPurchase, type Purchase, returnedTotals, updateOrderState } from './purchase.ts'
import { completedPartRead, type Refund, refundInsert } from './queries.ts'

/** How far the account of a book is on its way out. */
export type AccountEnding = {
  /** `drained` and later: nothing runs any more, and what comes goes back. */
  readonly step: 'closing' | 'drained' | 'refunded' | 'closed'
  readonly unspent: 'refund' | 'forfeit'
  readonly begunAt: Date
}

export type ClosingRefundOptions = {
  readonly ledger: Pick<Ledger, 'refund' | 'adjust' | 'balance'>
  readonly providers: Providers
  readonly mail: Mailer
  readonly brand: Brand
  readonly clock: Clock
  readonly log: Log
  readonly cell: number
  /** Undefined for an account that stays, and for a book without one. */
  endingOf(book: BookId, executor?: Executor): Promise<AccountEnding | undefined>
} & RefundBudgetOptions

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
/** The attempts of all these refunds begin so. */
const ATTEMPT = 'closing '
/** The reason of a review: this and the id of the refund that it decides about. */
export const CLOSING_REVIEW = 'closing'
/** Why a refund ended: a person decided that the money does not go back this way. */
export const DISMISSED = 'dismissed'
/** Why a refund ended: a person decided that it is sent, as another one. */
export const REPLACED = 'replaced'

type Sum = { readonly amount: Kopecks; readonly credits: Credits }
type Why = Exclude<NeedsSupport, null> | 'refused' | 'disputed'

const sentences: Record<Why, string> = {
  budget: 'the owner has used up the refunds of thirty days',
  promo: 'the purchase opened a promo code',
  refused: `the bank refused ${TRIES_MAX} refunds`,
  disputed: 'a dispute about a part of the payment was lost',
}

export function createClosingRefunds(options: ClosingRefundOptions) {
  const { ledger, log, mail, brand } = options
  const budget = createRefundBudget(options)

  const availableOf = async (tx: Tx, book: BookId): Promise<Credits> =>
    (await ledger.balance(book, tx))?.available ?? micro(0n)

  /**
   * How an account ends whose requests have ended, so that what comes goes back; undefined for the
   * others. Ask this after the book's lock was taken: the closing locks the book too, after it has
   * stored its step, so the answer stays true until the commit.
   */
  async function endingOf(tx: Tx, book: BookId): Promise<AccountEnding | undefined> {
    const ending = await options.endingOf(book, tx)
    return ending?.step === 'closing' ? undefined : ending
  }

  /** Takes at most `most`: the rest may be for the refund of another order. */
  async function forfeit(tx: Tx, book: BookId, ref: string, most: Credits): Promise<void> {
    const left = least(await availableOf(tx, book), most)
    if (left === 0n) return
    const entry = { book, ref: `closing ${ref}`, amount: micro(-left) }
    await ledger.adjust(tx, { ...entry, contra: 'revenue', note: REASON })
  }

  /** Stores a refund and reserves its credits. A worker posts it; null: a person must decide. */
  async function request(
    tx: Tx,
    { order, refunds }: Purchase,
    p: Sum & { readonly dueSeconds: number | null; readonly ownerDigest?: Buffer },
  ): Promise<RefundId> {
    const { book, lot, paymentId, provider, packTitle: title, email, receipt } = order
    const adapter = options.providers.of(order)
    if (lot === null || paymentId === null || adapter === undefined) {
      throw new Error(`order ${order.id} cannot be refunded`)
    }
    const { amount, credits, dueSeconds, ownerDigest = null } = p
    const id = newRefundId(options.cell, options.clock.nowMs())
    const completed = await completedPartRead(tx, order.id, amount)
    const given = { refund: id, paymentId, amount, title, email, receipt, completed }
    const draft = { ...given, reason: REASON }
    const attempt = `${ATTEMPT}${refunds.length}`
    await refundInsert(tx, {
      ...{ id, order: order.id, provider, paymentId, amount, credits, attempt, dueSeconds },
      ...{ review: null, askedBy: 'closed account', reason: REASON, ownerDigest },
      requestBody: adapter.draftRefund(draft),
    })
    await ledger.refund(tx, { book, lot, ref: id, amount: credits, note: REASON })
    const now = await lockPurchase(tx, order.id)
    if (now !== undefined) await updateOrderState(tx, now)
    return id
  }

  /** Reserves the credits until a person decides; reviews.ts carries the decision out. */
  async function holdBack(tx: Tx, purchase: Purchase, sum: Sum, why: Why): Promise<void> {
    const { order } = purchase
    const id = await request(tx, purchase, { ...sum, dueSeconds: null })
    await reviewOpen(tx, {
      ...{ order: order.id, provider: order.provider, paymentId: order.paymentId as string },
      ...{ reason: `${CLOSING_REVIEW} ${id}`, hasMoney: true, amount: sum.amount },
      detail: `refund ${id} of an account that closes waits: ${sentences[why]}`,
    })
    await mail.post(tx, orderEmail('refund-review', order, brand, id, sum))
    log.warn({ order: order.id, refund: id, why }, 'a person decides about the refund of a closing')
  }

  /** What can be requested of a canceled refund now; forfeits credits that are worth nothing. */
  async function restOf(tx: Tx, purchase: Purchase, refund: Refund): Promise<Sum | undefined> {
    const { order } = purchase
    const credits = least(await availableOf(tx, order.book), refund.credits) as Credits
    const rest = order.price - returnedTotals(purchase).promised
    const worth = (order.price * credits) / order.credits
    const amount = least(least(refund.amount, rest), worth) as Kopecks
    if (amount > 0n) return { amount, credits }
    await forfeit(tx, order.book, refund.id, credits)
    return undefined
  }

  return {
    endingOf,
    forfeit,

    /** Whether the account of a book is on its way out, or gone. */
    isLeaving: async (tx: Tx, book: BookId): Promise<boolean> =>
      (await options.endingOf(book, tx)) !== undefined,

    /** Before the order's lock, when `requestRest` will follow. */
    lock: (tx: Tx, order: Order): Promise<void> => budget.lock(tx, order),

    /** Requests what is refundable of an order whose account has no requests under way. */
    async requestRest(
      tx: Tx,
      purchase: Purchase,
      sum: Sum,
      { isLate, isDisputed }: { readonly isLate: boolean; readonly isDisputed: boolean },
    ): Promise<void> {
      const { order } = purchase
      if (isDisputed) return holdBack(tx, purchase, sum, 'disputed')
      const why = isLate ? null : await budget.needsSupport(tx, order)
      if (why !== null) return holdBack(tx, purchase, sum, why)
      const ownerDigest = isLate ? {} : { ownerDigest: budget.digestOf(order) }
      await request(tx, purchase, { ...sum, ...ownerDigest, dueSeconds: 0 })
    },

    /**
     * An order of an account on its way out was credited: what its debt has left goes back.
     * `refundedThere`: what the provider has returned of the payment already.
     */
    async giveBack(tx: Tx, id: Order['id'], refundedThere: Kopecks): Promise<void> {
      const purchase = await lockPurchase(tx, id)
      if (purchase === undefined) throw new Error(`order ${id} is gone`)
      const { order } = purchase
      const available = await availableOf(tx, order.book)
      const credits = least(available, order.credits) as Credits
      const worth = (order.price * credits) / order.credits
      const amount = (worth - refundedThere) as Kopecks
      log.warn({ order: id, amount }, 'money came for an account that closes')
      // Refunds that were made there take their credits when they are read, a moment later.
      if (amount <= 0n) return refundedThere > 0n ? undefined : forfeit(tx, order.book, id, credits)
      await request(tx, purchase, { amount, credits, dueSeconds: 0 })
    },

    /** A dispute was won, which has released its credits: they go the way of the others. */
    async onReleased(
      tx: Tx,
      purchase: Purchase,
      ending: AccountEnding,
      dispute: { readonly id: string; readonly reserved: Credits },
    ): Promise<void> {
      const { order } = purchase
      const credits = least(await availableOf(tx, order.book), dispute.reserved) as Credits
      const rest = order.price - returnedTotals(purchase).promised
      const amount = least(rest, (order.price * credits) / order.credits) as Kopecks
      if ((ending.unspent === 'forfeit' && !isLate(order, ending.begunAt)) || amount <= 0n) {
        return forfeit(tx, order.book, dispute.id, credits)
      }
      await request(tx, purchase, { amount, credits, dueSeconds: 0 })
    },

    /** The bank canceled a refund, which has released its credits: it is requested again. */
    async requestAgain(tx: Tx, purchase: Purchase, refund: Refund): Promise<void> {
      const sum = await restOf(tx, purchase, refund)
      if (sum === undefined) return
      const { order, refunds } = purchase
      const tries = refunds.filter((one) => one.state === 'canceled' && !isDecided(one)).length
      if (tries >= TRIES_MAX) return holdBack(tx, purchase, sum, 'refused')
      const id = await request(tx, purchase, { ...sum, dueSeconds: AGAIN_SECONDS })
      await mail.post(tx, orderEmail('refund-again', order, brand, id, sum))
    },

    /**
     * A person has decided about a refund that was held back, and it was canceled. It is sent as
     * another one, or its credits are forfeited, of an open account when it closes.
     */
    async onDecided(
      tx: Tx,
      purchase: Purchase,
      refund: Refund,
      decision: typeof REPLACED | typeof DISMISSED,
    ): Promise<RefundId | undefined> {
      const { book } = purchase.order
      if (decision === DISMISSED) {
        const isClosed = (await options.endingOf(book, tx))?.step === 'closed'
        if (isClosed) await forfeit(tx, book, refund.id, refund.credits)
        return undefined
      }
      const sum = await restOf(tx, purchase, refund)
      return sum && request(tx, purchase, { ...sum, dueSeconds: 0 })
    },
  }
}

export type ClosingRefunds = ReturnType<typeof createClosingRefunds>

/** Paid after the closing began, so its owner never agreed to forfeit it. */
export const isLate = ({ creditedAt }: Pick<Order, 'creditedAt'>, begunAt: Date): boolean =>
  creditedAt !== null && creditedAt > begunAt

/** A refund that was made because its account closes, or closed. */
export const isOfClosing = ({ attempt }: Pick<Refund, 'attempt'>): boolean =>
  attempt.startsWith(ATTEMPT) || attempt.startsWith('closing-') || attempt.startsWith('closed acc')

/** A refund that nobody posts until a person has decided. */
export const isHeldBack = ({ state, nextAt }: Pick<Refund, 'state' | 'nextAt'>): boolean =>
  state === 'created' && nextAt === null

const isDecided = ({ cancelReason }: Refund) =>
  cancelReason === DISMISSED || cancelReason === REPLACED

const least = (a: bigint, b: bigint) => (a < b ? a : b)
