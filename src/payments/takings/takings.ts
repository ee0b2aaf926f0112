// Money in a period, for reports: payments by their capture, refunds by their end, disputes, and
// what orders sold. Everything is read in the snapshot that the caller passes.

import * as queries from './queries.ts'
import { receiptSums } from './receipt-queries.ts'
import { takingsRows } from './rows.ts'

export const takings = {
  /** Pack, price and credits of orders, by id. */
  terms: queries.soldTerms,
  packTitles: queries.packTitles,
  captured: queries.capturedSums,
  credited: queries.creditedSums,
  refunded: queries.refundedSums,
  disputes: queries.disputeSums,
  /** Receipts by what they are about. */
  receipts: receiptSums,
  /** What waits for a person now. */
  reviews: queries.reviewSums,
  /** A page of the orders, refunds, disputes or reviews that such a sum is made of. */
  rows: takingsRows,
}
