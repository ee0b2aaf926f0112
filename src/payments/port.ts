// What the room knows of a payment provider. An adapter asks and reports: it returns snapshots of
// what the provider says now, and never credits, refunds or decides. Every call is limited in time
// and ends in one of a few typed ways, because "we do not know" must never look like "no".
import type { OrderId, RefundId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { Kopecks } from '../units/kopecks.ts'

export type Method = 'card' | 'sbp'
export type Locale = 'ru' | 'en'

/** How the payer gets to the payment: an address to open, or text to draw as a QR code. */
export type Confirmation = { readonly kind: 'redirect' | 'qr'; readonly value: string }

export type PaymentStatus = 'pending' | 'authorized' | 'succeeded' | 'canceled'

/** A way to pay that the provider keeps for us; what it is called here is no secret. */
export type SavedMethod = { readonly id: string; readonly title: string }

/** A payment as the provider shows it at one moment. */
export type Snapshot = {
  readonly provider: string
  readonly paymentId: string
  /** Our order, as we wrote it into the payment; null when there is none. */
  readonly orderRef: string | null
  readonly shopRef: string
  readonly status: PaymentStatus
  /** Null when the text is not an amount to the kopeck. */
  readonly amount: Kopecks | null
  readonly amountText: string
  readonly currency: string
  /** What has gone back so far; null as above. */
  readonly refunded: Kopecks | null
  /** By the provider's clock. */
  readonly createdAt: Date
  readonly capturedAt: Date | null
  readonly cancelReason: string | null
  readonly isTestMoney: boolean
  readonly receipt: 'pending' | 'succeeded' | 'canceled' | null
  readonly confirmation: Confirmation | null
  /** The payer's method, when the provider keeps it for later payments. */
  readonly savedMethod: SavedMethod | null
}

export type RefundSnapshot = {
  readonly provider: string
  readonly refundId: string
  readonly paymentId: string
  /** Our refund, as we wrote it; null for one that was made at the provider's own desk. */
  readonly refundRef: string | null
  readonly status: 'pending' | 'succeeded' | 'canceled'
  readonly amount: Kopecks | null
  readonly amountText: string
  readonly currency: string
  readonly createdAt: Date
  readonly cancelReason: string | null
}

/**
 * How a call ended. `rejected`: it did not happen and will not; `isOurs` when the credentials or
 * the shop's settings are at fault, so that an operator is called. `unknown`: it may have happened;
 * ask again with the same key and the same bytes. `throttled`: it did not happen, ask later.
 */
export type Answer<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'rejected'; readonly why: string; readonly isOurs: boolean }
  | { readonly kind: 'unknown'; readonly why: string }
  | { readonly kind: 'throttled'; readonly afterMs: number }

/** Nothing was sent: whoever asked for it took it back while it waited for its turn. */
export type Withheld = { readonly kind: 'withheld' }

/** Why there is no value, for the log. */
export function whyOf(answer: Answer<unknown> | Withheld): string {
  return 'why' in answer ? answer.why : answer.kind
}

export type PaymentDraft = {
  readonly order: OrderId
  readonly price: Kopecks
  readonly method: Method
  readonly title: string
  readonly credits: Credits
  readonly email: string
  readonly locale: Locale
  readonly returnUrl: string
  /** The payer agreed that the method is kept. */
  readonly savesMethod: boolean
  /** A kept method pays, without its payer: then nobody comes back. */
  readonly savedMethodId: string | null
}

export type RefundDraft = {
  readonly refund: RefundId
  readonly paymentId: string
  readonly amount: Kopecks
  readonly title: string
  readonly email: string
  readonly reason: string
  /** The receipt settings frozen with the order. */
  readonly receipt: Record<string, unknown> | null
}

export type Notice =
  | { readonly trust: 'rejected'; readonly why: string }
  | {
      /** `unverified`: believe nothing of it, and ask the provider. */
      readonly trust: 'authentic' | 'unverified'
      readonly event: string
      readonly paymentId: string
      readonly orderRef: string | null
      /** The same for every repeat of the same notice. */
      readonly dedupe: string
    }

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null }

export type Provider = {
  readonly name: string
  /** The shop our snapshots must name. */
  readonly shopRef: string
  capabilities(): {
    readonly methods: Readonly<Record<Method, { readonly min: Kopecks; readonly max: Kopecks }>>
    /** Settled payments can be listed, so one sweep serves any number of open orders. */
    readonly hasSettledList: boolean
    /** How long the payer may take, and how long one key means one payment. */
    readonly payerTermSeconds: number
    readonly keySeconds: number
  }

  /** The bytes to store beside the order before anything is sent, and what to freeze of them. */
  draftPayment(draft: PaymentDraft): {
    readonly body: string
    readonly receipt: Record<string, unknown> | null
  }
  /**
   * Repeatable with the same key and body while the key is young. At most 35 s. `mayLeave` is asked
   * after every wait, immediately before the bytes leave; its no is `withheld`.
   */
  createPayment(
    key: OrderId,
    body: string,
    mayLeave?: () => Promise<boolean>,
  ): Promise<Answer<Snapshot> | Withheld>
  fetchPayment(paymentId: string): Promise<Answer<Snapshot>>
  /** For an order whose key is too old to repeat: looks through what was made around that time. */
  findByOrder(order: OrderId, from: Date, to: Date): Promise<Answer<Snapshot>>
  /** Settled since a moment of the provider's clock, in any order. */
  listSettled(since: Date, cursor: string | null): Promise<Answer<Page<Snapshot>>>

  draftRefund(draft: RefundDraft): string
  createRefund(key: RefundId, body: string): Promise<Answer<RefundSnapshot>>
  fetchRefund(refundId: string): Promise<Answer<RefundSnapshot>>
  listRefunds(
    of: { readonly paymentId: string } | { readonly since: Date },
    cursor: string | null,
  ): Promise<Answer<Page<RefundSnapshot>>>

  /** Reads a notification without asking anyone. Undefined when it is none of this provider's. */
  parseNotification(notice: {
    readonly body: string
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
    readonly peer: string
  }): Notice | undefined
  /** What the provider wants to hear when a notice was stored. */
  readonly acknowledgement: { readonly status: number; readonly body: string }

  close(): Promise<void>
}
