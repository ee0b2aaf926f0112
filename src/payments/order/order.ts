// The types of an order and of the part that its owner sees. README.md has the states as a table.
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Confirmation, Locale, Method } from '../port.ts'

export type OrderState =
  | 'created'
  | 'pending'
  | 'failed'
  | 'canceled'
  | 'expired'
  | 'review'
  | 'credited'
  | 'refund_pending'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'dispute_won'
  | 'dispute_lost'

/** What an order has in place of its payer's address after the account was erased. */
export const ERASED_EMAIL = 'erased@invalid'

/** What reported the payment's state. */
export type Trigger = 'buy' | 'webhook' | 'return' | 'sweep' | 'poll' | 'recovery' | 'operator'

export type BuyInput = {
  readonly book: BookId
  readonly email: string
  readonly locale: Locale
  readonly pack: {
    readonly id: string
    readonly title: string
    readonly credits: Credits
    readonly priceKopecks: Kopecks
    readonly catalogueVersion: number
  }
  readonly method: Method
  /** An id that the browser generates once per purchase. */
  readonly attempt: string
  /** Where the provider sends the payer back to; `{order}` in it becomes the order's id. */
  readonly returnUrl: string
  /** The payer agreed that the card is saved for top-ups. */
  readonly savesMethod?: boolean
}

/** An order to be stored: a purchase, or a top-up paid by a saved method. */
export type OrderInput = Required<BuyInput> & {
  readonly savedMethodId: string | null
  /** The mandate that a top-up is bought under. */
  readonly mandate: bigint | null
}

export type Order = {
  readonly id: OrderId
  readonly book: BookId
  readonly attempt: string
  readonly provider: string
  /** The account at the provider; null: from before shops were stored. */
  readonly shop: string | null
  readonly method: Method
  readonly state: OrderState
  readonly packId: string
  readonly packTitle: string
  readonly credits: Credits
  readonly price: Kopecks
  readonly catalogueVersion: number
  readonly email: string
  readonly locale: Locale
  readonly receipt: Record<string, unknown> | null
  readonly requestBody: string | null
  readonly paymentId: string | null
  readonly confirmation: Confirmation | null
  readonly payableUntil: Date | null
  readonly cancelReason: string | null
  readonly receiptState: 'pending' | 'succeeded' | 'canceled' | null
  readonly capturedAt: Date | null
  readonly creditedAt: Date | null
  readonly creditedBy: Trigger | null
  readonly lot: bigint | null
  readonly refunded: Kopecks
  readonly tries: number
  readonly polledFrom: Date
  readonly createdAt: Date
  /** We bought it under the owner's mandate, without the owner present. */
  readonly isTopUp: boolean
  /** The payer agreed that the method is saved for top-ups. */
  readonly savesMethod: boolean
  /** The mandate of a top-up; null in those of versions before migration 0020. */
  readonly mandate: bigint | null
}

export type OrderView = {
  readonly id: OrderId
  readonly state: OrderState
  readonly method: Method
  readonly provider: string
  readonly pack: { readonly id: string; readonly title: string; readonly credits: Credits }
  readonly priceKopecks: Kopecks
  readonly refundedKopecks: Kopecks
  /** Null once the payer can no longer use it. */
  readonly confirmation: Confirmation | null
  readonly payableUntil: Date | null
  /** The provider's own code; new ones may appear. */
  readonly cancelReason: string | null
  /** State of the fiscal receipt; null: there is none. */
  readonly receiptState: Order['receiptState']
  readonly createdAt: Date
  readonly creditedAt: Date | null
  readonly isTopUp: boolean
}

export function viewOf(order: Order): OrderView {
  return {
    id: order.id,
    state: order.state,
    method: order.method,
    provider: order.provider,
    pack: { id: order.packId, title: order.packTitle, credits: order.credits },
    priceKopecks: order.price,
    refundedKopecks: order.refunded,
    confirmation: order.state === 'pending' ? order.confirmation : null,
    payableUntil: order.payableUntil,
    cancelReason: order.cancelReason,
    receiptState: order.receiptState,
    createdAt: order.createdAt,
    creditedAt: order.creditedAt,
    isTopUp: order.isTopUp,
  }
}
