// What a closing account asks of payments: whether an order can still be paid, the refunds that its
// unspent credits need, whether all of them have ended, and what its owner sees of them.
import type { Ledger } from '../../ledger/ledger.ts'
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId, RefundId } from '../../platform/ids.ts'
import { isOrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { orderCountPayable, orderWorthAtMost } from '../order/payable-queries.ts'
import { orderFind } from '../order/queries.ts'
import { createRefundBudget, type RefundBudgetOptions } from './budget.ts'
import type { AccountEnding, ClosingRefunds } from './closing.ts'
import { DISMISSED, isHeldBack, isLate as isLateOrder, isOfClosing } from './closing.ts'
import type { RefundPosting } from './posting.ts'
import { lockPurchase, type Purchase } from './purchase.ts'
import {
  disputeList,
  type Refund,
  refundCountOpen,
  refundListByBook,
  refundListByOrder,
  refundSetDueNow,
} from './queries.ts'
import { countUndisputed, type Refundable, type RefundPolicy } from './refundable.ts'

type ClosingRequestOptions = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'lots' | 'balance'>
  readonly policy: RefundPolicy
  readonly closingRefunds: ClosingRefunds
  readonly posting: Pick<RefundPosting, 'post'>
} & RefundBudgetOptions

type ClosingOf = Pick<AccountEnding, 'unspent' | 'begunAt'> & { readonly book: BookId }

/** Refunds of a book that its owner sees; more than any account has bought packs. */
const SEEN_MAX = 200

/** A refund of a closing, as its owner sees it. */
export type ClosingRefund = {
  readonly id: RefundId
  readonly order: OrderId
  readonly amount: Kopecks
  readonly credits: Credits
  /**
   * `sent`: the bank is doing it. `again`: the bank refused, and it is asked again at `againAt`.
   * `review`: a person decides. `dismissed`: a person decided that this way no money goes back.
   */
  readonly state: 'sent' | 'again' | 'review' | 'returned' | 'dismissed'
  readonly at: Date
  readonly againAt: Date | null
}

/**
 * What of an order a closing refunds. `opened`: the bank decides about the payment, and nobody
 * knows yet what is left of it. `lost`: a part of it is gone, and a person decides about the rest.
 */
type Missing = {
  readonly sum: Refundable
  readonly isLate: boolean
  readonly dispute: 'opened' | 'lost' | null
}

export function createClosingRequests(options: ClosingRequestOptions) {
  const { db, ledger, closingRefunds, posting } = options
  const budget = createRefundBudget(options)

  /** What of an order a closing refunds; undefined: nothing. */
  async function missing(
    purchase: Purchase,
    /** `begunAt` is null for a closing that has not begun. */
    { unspent, begunAt }: Pick<ClosingOf, 'unspent'> & { readonly begunAt: Date | null },
    db: Executor,
  ): Promise<Missing | undefined> {
    const { order, refunds, disputes } = purchase
    const isLate = begunAt !== null && isLateOrder(order, begunAt)
    if (unspent === 'forfeit' && !isLate) return undefined
    if (refunds.some((one) => one.cancelReason === DISMISSED)) return undefined
    const read = {
      lots: (book: BookId) => ledger.lots(book, db),
      balance: (book: BookId) => ledger.balance(book, db),
    }
    // The refund rules are for what the owner bought to use.
    const { policy } = options
    const sum = await countUndisputed(purchase, !isLate, { ledger: read, policy })
    const has = (state: 'opened' | 'lost') => disputes.some((one) => one.state === state)
    const dispute = has('opened') ? 'opened' : has('lost') ? 'lost' : null
    // Credits that a request held were not set aside for the dispute, which may take all the money.
    const waits = dispute === 'opened' && (isLate || policy !== 'none')
    return waits || sum.why === null ? { sum, isLate, dispute } : undefined
  }

  /** The orders of a book whose credits are not all spent, oldest first. */
  async function unspentOrders(book: BookId, executor: Executor = db): Promise<OrderId[]> {
    const lots = await ledger.lots(book, executor)
    return lots.flatMap(({ kind, ref, unspent }) =>
      kind === 'purchase' && unspent > 0n && isOrderId(ref) ? [ref] : [],
    )
  }

  async function purchaseOf(executor: Executor, id: OrderId): Promise<Purchase> {
    const order = await orderFind(executor, id)
    if (order === undefined) throw new Error(`order ${id} is gone`)
    const [refunds, disputes] = [
      await refundListByOrder(executor, id),
      await disputeList(executor, id),
    ]
    return { order, refunds, disputes }
  }

  async function requestOne(tx: Tx, id: OrderId, closing: ClosingOf): Promise<boolean> {
    const seen = await orderFind(tx, id)
    if (seen === undefined) return false
    await closingRefunds.lock(tx, seen)
    const purchase = await lockPurchase(tx, id)
    const found = purchase && (await missing(purchase, closing, tx))
    if (purchase === undefined || found === undefined || found.dispute === 'opened') return false
    const { amountKopecks: amount, credits } = found.sum
    const { isLate, dispute } = found
    const isDisputed = dispute === 'lost'
    await closingRefunds.requestRest(tx, purchase, { amount, credits }, { isLate, isDisputed })
    return true
  }

  return {
    /** How many orders of a book can still be paid, counted by the provider's terms. */
    payableOrders: (book: BookId, executor: Executor = db): Promise<number> =>
      orderCountPayable(executor, book),

    /** What a closing can end at most, whatever is refunded, and how many purchases it is of. */
    worthAtMost: (book: BookId, credits: Credits) => orderWorthAtMost(db, { book, credits }),

    /** What the closing would refund now, and which part of that a person decides about. */
    async preview(book: BookId) {
      const sums = { amount: 0n, credits: 0n, forPerson: 0n }
      const owner = { unspent: 'refund', begunAt: null } as const
      let left: number | undefined
      for (const id of await unspentOrders(book)) {
        const purchase = await purchaseOf(db, id)
        const found = await missing(purchase, owner, db)
        if (found === undefined) continue
        const { order } = purchase
        left ??= await budget.left(db, order)
        const isForPerson =
          found.dispute !== null || left <= 0 || (await budget.needsSupport(db, order)) === 'promo'
        sums.amount += found.sum.amountKopecks
        sums.credits += found.sum.credits
        if (isForPerson) sums.forPerson += found.sum.amountKopecks
        else left -= 1
      }
      return sums as { amount: Kopecks; credits: Credits; forPerson: Kopecks }
    },

    /**
     * Requests the refunds that are missing, each in a transaction of its own, and sends them. May
     * be repeated; what dies between a commit and the bank's answer is sent by the job of refunds.
     */
    async requestMissing(closing: ClosingOf): Promise<void> {
      for (const id of await unspentOrders(closing.book)) {
        const isNew = await db.transaction((tx) => requestOne(tx, id, closing))
        if (!isNew) continue
        const made = (await refundListByOrder(db, id)).at(-1)
        if (made !== undefined && made.state === 'created' && !isHeldBack(made))
          await posting.post(made)
      }
    },

    /** Whether every refund of the book has ended, and no other is missing. */
    async isSettled(tx: Tx, closing: ClosingOf): Promise<boolean> {
      if ((await refundCountOpen(tx, closing.book)) > 0) return false
      for (const id of await unspentOrders(closing.book, tx)) {
        if ((await missing(await purchaseOf(tx, id), closing, tx)) !== undefined) return false
      }
      return true
    },

    /** What became of each order since the closing began, oldest first. */
    async list({ book, begunAt }: Pick<ClosingOf, 'book' | 'begunAt'>): Promise<ClosingRefund[]> {
      const all = (await refundListByBook(db, book, SEEN_MAX)).reverse()
      const shown = all.filter((one) => isOfClosing(one) && one.createdAt >= begunAt)
      return shown.flatMap((one) => {
        const state = stateOf(one)
        if (state === undefined) return []
        const { id, order, amount, credits, createdAt, endedAt, nextAt } = one
        const againAt = state === 'again' ? nextAt : null
        return [{ id, order, amount, credits, state, at: endedAt ?? createdAt, againAt }]
      })
    },

    /** For operators: the refunds of a book that have not ended, oldest first. */
    async open(book: BookId) {
      const all = (await refundListByBook(db, book, SEEN_MAX)).reverse()
      return all.flatMap((one) =>
        one.endedAt === null ? [{ ...one, isHeldBack: isHeldBack(one) }] : [],
      )
    },

    /** The orders whose credits a closing keeps until the bank has decided a dispute. */
    async disputed({ book, unspent, begunAt }: ClosingOf): Promise<OrderId[]> {
      const found: OrderId[] = []
      for (const id of await unspentOrders(book)) {
        const one = await missing(await purchaseOf(db, id), { unspent, begunAt }, db)
        if (one?.dispute === 'opened') found.push(id)
      }
      return found
    },

    /** Sends a refund that waits for its next try now; false when there is none to send. */
    askAgain: (book: BookId, id: RefundId): Promise<boolean> => refundSetDueNow(db, book, id),
  }
}

/** Undefined for a refund that another one has replaced. */
function stateOf(refund: Refund): ClosingRefund['state'] | undefined {
  const { state, tries, nextAt, createdAt, cancelReason } = refund
  if (state === 'succeeded') return 'returned'
  if (state === 'canceled') return cancelReason === DISMISSED ? 'dismissed' : undefined
  if (isHeldBack(refund)) return 'review'
  const waits = nextAt !== null && nextAt.getTime() - createdAt.getTime() > 3_600_000
  return state === 'created' && tries === 0 && waits ? 'again' : 'sent'
}
