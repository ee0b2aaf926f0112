// What payments hold about an owner: the owner's copy of it, with amounts as text and without
// secrets and names of operators; what still needs the address; and the erasure.
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { createMandates } from '../mandates/mandates.ts'
import type { OrderView } from '../order/order.ts'
import type { ReceiptView } from '../receipts/fiscal.ts'
import type { Receipts } from '../receipts/receipts.ts'
import type { Refund } from '../refunds/queries.ts'
import { payerListByBook } from '../signals/queries.ts'
import type { Trials } from '../trials/trials.ts'
import * as queries from './queries.ts'

/** An order is about 1 KiB of JSON: half a megabyte at a time. */
const ORDERS_PAGE = 500

type OrderPages = (p: {
  book: BookId
  before: OrderId | null
  limit: number
}) => Promise<readonly OrderView[]>

export function createOwnerData(options: {
  readonly db: Db
  readonly orders: { readonly list: OrderPages }
  readonly refunds: { list(book: BookId): Promise<readonly Refund[]> }
  readonly topUps: Pick<ReturnType<typeof createMandates>, 'copy'>
  readonly receipts: Pick<Receipts, 'ofBook'>
  readonly trials: Pick<Trials, 'trial'>
}) {
  const { db, orders, refunds, topUps, receipts, trials } = options
  return {
    /** Everything about an owner's purchases, as JSON values; see src/accounts/closing. */
    copy: (book: BookId) => ({
      orders: ordersCopy(orders.list, book),
      refunds: async () => (await refunds.list(book)).map(refundCopy),
      mandates: () => topUps.copy(book),
      payers: () => payerListByBook(db, book),
      trialAt: async () => (await trials.trial(book))?.grantedAt ?? null,
      receipts: async () => (await receipts.ofBook(book)).map(receiptCopy),
      ...personCopy(db, book),
    }),

    /** What still needs the owner's address, a sentence for each: a refund under way, … */
    needs: (executor: Executor, book: BookId) => queries.paymentsNeeds(executor, book),

    /**
     * Erases an owner's address, what people typed about the orders, and what the provider told
     * about payers, in the caller's transaction. Amounts stay: the law requires them for longer
     * than personal data. May be repeated.
     */
    erase: (tx: Tx, book: BookId): Promise<void> => queries.paymentsErase(tx, book),
  }
}

/** Every order, the newest first, page by page. */
async function* ordersCopy(list: OrderPages, book: BookId) {
  let before: OrderId | null = null
  for (;;) {
    const page: readonly OrderView[] = await list({ book, before, limit: ORDERS_PAGE })
    yield* page.map(orderCopy)
    before = page.at(-1)?.id ?? null
    if (before === null || page.length < ORDERS_PAGE) return
  }
}

function orderCopy({ pack, priceKopecks, refundedKopecks, ...order }: OrderView) {
  return {
    ...order,
    confirmation: null,
    pack: { ...pack, credits: creditsText(pack.credits) },
    price: rublesText(priceKopecks),
    refunded: rublesText(refundedKopecks),
  }
}

function refundCopy({ id, order, state, ...refund }: Refund) {
  return {
    ...{ id, order, state },
    amount: rublesText(refund.amount),
    credits: creditsText(refund.credits),
    reason: refund.reason,
    createdAt: refund.createdAt,
    endedAt: refund.endedAt,
  }
}

function receiptCopy({ amountKopecks, ...receipt }: ReceiptView) {
  return { ...receipt, amount: rublesText(amountKopecks) }
}

/** What no list of the cabinet shows, each read when its turn comes. */
function personCopy(db: Executor, book: BookId) {
  return {
    addresses: () => queries.orderEmailList(db, book),
    savedMethod: () => queries.methodCopy(db, book),
    hasAdvanceNotice: () => queries.noticeSettingCopy(db, book),
    disputes: () => queries.disputeCopyList(db, book),
    reviews: () => queries.reviewCopyList(db, book),
    receiptNotes: () => queries.receiptCopyList(db, book),
    promoCodes: () => queries.redemptionCopyList(db, book),
    promoTries: () => queries.promoTriesCopy(db, book),
    notifications: () => queries.noticeCopyList(db, book),
  }
}
