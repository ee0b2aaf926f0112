// What the payments module requires of a provider. An adapter calls the provider and returns
// snapshots; it never decides about an order. Every call has a time limit and one of a few typed
// results, so that an unknown outcome can never be mistaken for a refusal.
import type { BookId, OrderId, ReceiptId, RefundId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { Kopecks } from '../units/kopecks.ts'

export type Method = 'card' | 'sbp'
export type Locale = 'ru' | 'en'

/** How the payer pays: a URL to open, or text to draw as a QR code. */
export type Confirmation = { readonly kind: 'redirect' | 'qr'; readonly value: string }

export type PaymentStatus = 'pending' | 'authorized' | 'succeeded' | 'canceled'

/** A payment method that the provider saved for us. The title may be shown and logged. */
export type SavedMethod = { readonly id: string; readonly title: string }

/** Which pack of which version of the catalogue was sold to which book. */
export type Sale = {
  readonly book: BookId
  readonly packId: string
  readonly catalogueVersion: number
  /** Bought by a mandate: it counts towards the mandate's ceilings. */
  readonly isTopUp: boolean
}

/** A payment as the provider reported it at one moment. */
export type Snapshot = {
  readonly provider: string
  readonly paymentId: string
  /** Our order's id, which we write into the payment; null when the payment names none. */
  readonly orderRef: string | null
  /** What the order sold, as we wrote it into the payment; absent when it does not say. */
  readonly sale?: Sale | undefined
  readonly shopRef: string
  readonly status: PaymentStatus
  /** Null when the text is not an amount with exactly two decimals. */
  readonly amount: Kopecks | null
  readonly amountText: string
  readonly currency: string
  /** Refunded so far; null when the text is not an amount. */
  readonly refunded: Kopecks | null
  /** What reaches our account after the provider's commission; absent when it does not say. */
  readonly income?: Kopecks | undefined
  /** By the provider's clock. */
  readonly createdAt: Date
  readonly capturedAt: Date | null
  readonly cancelReason: string | null
  readonly isTestMoney: boolean
  readonly receipt: 'pending' | 'succeeded' | 'canceled' | null
  readonly confirmation: Confirmation | null
  /** The payer's method, if the provider saved it for later payments. */
  readonly savedMethod: SavedMethod | null
  /** Who paid, as far as the provider tells; only its digest may be stored. */
  readonly payer: Payer
}

export type PayerCard = {
  readonly first6: string
  readonly last4: string
  readonly expiryMonth: string
  readonly expiryYear: string
}

export type Payer = { readonly card: PayerCard | null; readonly bank: string | null }

export type RefundSnapshot = {
  readonly provider: string
  readonly refundId: string
  readonly paymentId: string
  /** Our refund's id, which we write into it; null if made in the provider's merchant portal. */
  readonly refundRef: string | null
  readonly status: 'pending' | 'succeeded' | 'canceled'
  readonly amount: Kopecks | null
  readonly amountText: string
  readonly currency: string
  readonly createdAt: Date
  readonly cancelReason: string | null
}

/** `refund`: a receipt of a return. */
type ReceiptType = 'payment' | 'refund'

/** A receipt under 54-FZ as the provider reported it at one moment. */
export type ReceiptSnapshot = {
  readonly receiptId: string
  readonly type: ReceiptType
  readonly status: 'pending' | 'succeeded' | 'canceled'
  /** Null when an amount of it is not exact. */
  readonly amount: Kopecks | null
  /** The part of the amount that is a full payment, not a prepayment. */
  readonly fullPayment: Kopecks | null
  /** Paid with an earlier prepayment: a completion. */
  readonly isOfPrepayment: boolean
  /** Null until it is registered. */
  readonly fiscal: Fiscal | null
}

/** What proves a registered receipt: the numbers of document and storage, the sign, the time. */
export type Fiscal = {
  readonly document: string
  readonly storage: string
  readonly sign: string
  readonly registeredAt: Date
}

/**
 * How a call ended. `absent`: the provider does not have the payment or refund. `rejected`: the
 * call had no effect, and a repeat would have none; `isOurFault` when our credentials or the shop's
 * settings are wrong, which an operator must fix. `unknown`: it may have had its effect; repeat it
 * with the same key and the same bytes. `throttled`: it had no effect; repeat it later.
 */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'rejected'; readonly why: string; readonly isOurFault: boolean }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'throttled'; readonly afterMs: number }

/** Nothing was sent: `confirmSend` returned false when the call's turn came. */
export type Withheld = { readonly kind: 'withheld' }

/** Why a call returned no value, for the log. */
export function whyOf(answer: Answer<unknown> | Withheld): string {
  return 'why' in answer ? answer.why : answer.kind
}

export type PaymentDraft = {
  readonly order: OrderId
  readonly sale: Sale
  readonly price: Kopecks
  readonly method: Method
  readonly title: string
  readonly credits: Credits
  readonly email: string
  readonly locale: Locale
  readonly returnUrl: string
  /** The payer agreed that the method is saved. */
  readonly savesMethod: boolean
  /** Set for a top-up: the saved method pays without the payer, and `returnUrl` is not used. */
  readonly savedMethodId: string | null
}

export type RefundDraft = {
  readonly refund: RefundId
  readonly paymentId: string
  readonly amount: Kopecks
  readonly title: string
  readonly email: string
  readonly reason: string
  /** The receipt settings that were stored with the order. */
  readonly receipt: Record<string, unknown> | null
  /** The part of the amount that receipts of completion are about; the rest was only prepaid. */
  readonly completed: Kopecks
}

export type ReceiptKind = 'prepayment' | 'completion' | 'return'

/** A receipt that is posted apart from its payment or refund. */
export type ReceiptDraft = Pick<RefundDraft, 'paymentId' | 'amount' | 'completed' | 'email'> & {
  readonly kind: ReceiptKind
  readonly title: string
  /** Of a return. */
  readonly refundId: string | null
  /** The receipt settings that were stored with the order. */
  readonly settings: Record<string, unknown>
}

/** The events that change an order; providers announce others, which are acknowledged only. */
export type NotificationEvent = 'payment.succeeded' | 'payment.canceled' | 'refund.succeeded'

export type Notification =
  | { readonly trust: 'rejected'; readonly why: string }
  | {
      /** `unverified`: use it only as a hint, and fetch the payment from the provider. */
      readonly trust: 'authentic' | 'unverified'
      /** Null for an event that changes nothing. */
      readonly event: NotificationEvent | null
      readonly paymentId: string
      readonly orderRef: string | null
      /** SHA-256 of the bytes, equal for every repeat of the same notification. */
      readonly digest: string
    }

/** An item of a list that the adapter cannot read. The others of its page are read all the same. */
export type Unreadable = {
  /** Null when even its id cannot be read. */
  readonly id: string | null
  readonly text: string
  readonly why: string
}

export type Page<T> = {
  readonly items: readonly T[]
  readonly unreadable: readonly Unreadable[]
  readonly next: string | null
}

/** By the provider's clock, from `since` to before `until`. */
export type Period = { readonly since: Date; readonly until?: Date }

export type Provider = {
  readonly name: string
  /** The shop id that every snapshot must carry. */
  readonly shopRef: string
  capabilities(): {
    readonly methods: Readonly<Record<Method, { readonly min: Kopecks; readonly max: Kopecks }>>
    /** Settled payments can be listed, so one sweep covers any number of open orders. */
    readonly hasSettledList: boolean
    /** How long the payer has to pay, and how long the provider remembers an idempotence key. */
    readonly payerTermSeconds: number
    readonly idempotencyKeySeconds: number
  }

  /** The request body, stored with the order before it is sent, and the receipt settings used. */
  draftPayment(draft: PaymentDraft): {
    readonly body: string
    readonly receipt: Record<string, unknown> | null
  }
  /** The saved method that stored bytes charge, or null; undefined: no draft of this adapter. */
  savedMethodOf(body: string): string | null | undefined
  /**
   * Repeatable with the same key and body for `idempotencyKeySeconds`. Sending takes at most 35 s,
   * not counting the wait in the limiter. `confirmSend` is called after every wait, immediately
   * before sending; if it returns false, the answer is `withheld`.
   */
  createPayment(
    key: OrderId,
    body: string,
    confirmSend?: () => Promise<boolean>,
  ): Promise<Answer<Snapshot> | Withheld>
  fetchPayment(paymentId: string): Promise<Answer<Snapshot>>
  /**
   * Searches the payments created between `from` and `to`, for an order that must not be posted
   * again: it is older than `idempotencyKeySeconds`, or a top-up that may no longer be sent.
   */
  findByOrder(order: OrderId, from: Date, to: Date): Promise<Answer<Snapshot>>
  /** Payments captured in a period, in any order. */
  listSettled(period: Period, cursor: string | null): Promise<Answer<Page<Snapshot>>>

  draftRefund(draft: RefundDraft): string
  /** Whether stored bytes are a draft that returns this amount of this payment and nothing else. */
  isRefundDraftOf(body: string, of: Pick<RefundDraft, 'paymentId' | 'amount'>): boolean
  createRefund(key: RefundId, body: string): Promise<Answer<RefundSnapshot>>
  fetchRefund(refundId: string): Promise<Answer<RefundSnapshot>>
  listRefunds(
    of: { readonly paymentId: string } | Period,
    cursor: string | null,
  ): Promise<Answer<Page<RefundSnapshot>>>

  draftReceipt(draft: ReceiptDraft): string
  /**
   * Repeatable like `createPayment`. The key is the receipt's id, or, after an attempt that failed,
   * the id with the number of the attempt.
   */
  createReceipt(
    key: ReceiptId | `${ReceiptId}.${number}`,
    body: string,
  ): Promise<Answer<ReceiptSnapshot>>
  fetchReceipt(receiptId: string): Promise<Answer<ReceiptSnapshot>>
  /** Every receipt of a payment, without those of its refunds; or those of a refund. */
  listReceipts(
    of: { readonly paymentId: string } | { readonly refundId: string },
    cursor: string | null,
  ): Promise<Answer<Page<ReceiptSnapshot>>>

  /** Parses a notification without calls. Undefined when it is not one of this provider's. */
  parseNotification(notification: {
    readonly body: string
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly peer: string
  }): Notification | undefined
  /** The reply that the provider expects when a notification was stored. */
  readonly acknowledgement: { readonly status: number; readonly body: string }

  close(): Promise<void>
}
