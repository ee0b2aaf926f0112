// Receipts under 54-FZ: of the prepayment, of completions and of returns. The database adds the
// first and the last when an order is credited and refunded; this adds completions when credits
// were used, and brings every receipt to its registration or to a person.
import type { Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { type CompletingOptions, createCompleting } from './completing.ts'
import { createReceiptViews, type ReceiptView } from './fiscal.ts'
import { createReceiptPosting, type ReceiptPostingOptions } from './posting.ts'
import * as queries from './queries.ts'

export type ReceiptOptions = CompletingOptions &
  ReceiptPostingOptions & {
    /** The link to a registered receipt; `none`: only its numbers. */
    readonly receiptUrl: string
  }

export function createReceipts(options: ReceiptOptions) {
  const { db } = options
  const completing = createCompleting(options)
  const posting = createReceiptPosting(options)
  const viewOf = createReceiptViews({ timeZone: options.timeZone, url: options.receiptUrl })

  return {
    /** The receipts of these orders, oldest first. */
    async of(orders: readonly OrderId[]): Promise<ReceiptView[]> {
      return (await queries.receiptList(db, orders)).map(viewOf)
    },

    async ofBook(book: BookId): Promise<ReceiptView[]> {
      return (await queries.receiptListByBook(db, book)).map(viewOf)
    },

    /** The account of a book ends: what is owed for its packs is completed within seconds. */
    completeNow: (tx: Tx, book: BookId) => queries.checkNowOfBook(tx, book),
    /** The job of each minute: what was used up is completed within seconds. */
    findUsedUp: completing.findUsedUp,

    /** The job: completes what was used, then posts and reads. */
    async run(): Promise<void> {
      await completing.complete()
      await posting.poll()
    },
  }
}

export type Receipts = ReturnType<typeof createReceipts>
