// Finds a purchase for an operator by any id that the customer or the provider knows. The request
// body and the confirmation are left out: only the payer may use them.
import type { Db } from '../../platform/db/db.ts'
import type { Order } from '../order/order.ts'
import { orderFind } from '../order/queries.ts'
import { type Review, reviewListAbout } from '../order/review-queries.ts'
import type { Providers } from '../providers.ts'
import { type Receipt, receiptList } from '../receipts/queries.ts'
import {
  type Dispute,
  disputeList,
  disputeListAll,
  type Refund,
  refundListByOrder,
} from '../refunds/queries.ts'
import { orderSearch } from './search-queries.ts'

export type FoundOrder = Omit<
  Order,
  'attempt' | 'receipt' | 'requestBody' | 'confirmation' | 'tries' | 'polledFrom'
>

export type FoundPurchase = {
  /** Null for a payment whose order we do not have: it only has reviews. */
  readonly order: FoundOrder | null
  readonly refunds: readonly Omit<Refund, 'requestBody'>[]
  readonly disputes: readonly Dispute[]
  readonly reviews: readonly Review[]
  readonly receipts: readonly Omit<Receipt, 'requestBody'>[]
}

export function createSearch(options: {
  readonly db: Db
  readonly providers: Pick<Providers, 'names'>
}) {
  const { db } = options
  const providers = options.providers.names()

  return {
    async find(text: string): Promise<FoundPurchase | undefined> {
      const id = await orderSearch(db, providers, text)
      const order = id && (await orderFind(db, id))
      const about = { order: order?.id ?? null, paymentId: order?.paymentId ?? text }
      const reviews = await reviewListAbout(db, about)
      if (order === undefined) {
        return reviews.length === 0
          ? undefined
          : { order: null, refunds: [], disputes: [], reviews, receipts: [] }
      }
      const refunds = await refundListByOrder(db, order.id)
      return {
        order: withoutPayerFields(order),
        refunds: refunds.map(({ requestBody: _, ...refund }) => refund),
        disputes: await disputeList(db, order.id),
        reviews,
        receipts: (await receiptList(db, [order.id])).map(
          ({ requestBody: _, ...receipt }) => receipt,
        ),
      }
    },

    disputes: (limit = 200): Promise<Dispute[]> => disputeListAll(db, limit),
  }
}

function withoutPayerFields(order: Order): FoundOrder {
  const { attempt, receipt, requestBody, confirmation, tries: looks, polledFrom, ...rest } = order
  return rest
}
