// What the database and the bank show about orders, refunds and books: the facts that the model of
// payments is compared with. Amounts are kopecks and microcredits.

export type OrderFact = {
  readonly id: string
  readonly book: string
  readonly state: string
  readonly price: bigint
  readonly credits: bigint
  readonly isTopUp: boolean
  readonly isCredited: boolean
  readonly refunded: bigint
  readonly cancelReason: string | null
  /** The month (UTC) in which it was created. */
  readonly month: string
}
export type RefundFact = {
  readonly order: string
  readonly state: string
  readonly amount: bigint
  readonly credits: bigint
  readonly refundId: string | null
  readonly isForced: boolean
}
export type DisputeFact = {
  readonly order: string
  readonly state: 'opened' | 'won' | 'lost'
  readonly amount: bigint
}
export type BookFact = {
  readonly book: string
  readonly available: bigint
  readonly held: bigint
  readonly debt: bigint
  /** The saved card's id at the bank. */
  readonly card: string | null
  readonly isMandateOn: boolean
  /** The step of its account's closing; null: it stays. */
  readonly step: string | null
}
export type PostingFact = {
  readonly book: string
  readonly kind: string
  readonly ref: string
  readonly amount: bigint
  /** The order whose pack the posting belongs to, if any. */
  readonly order: string | null
}
export type LotFact = {
  readonly book: string
  readonly kind: string
  readonly ref: string
  readonly credited: bigint
  readonly takenBack: bigint
}
export type BankPayment = {
  readonly id: string
  readonly order: string
  readonly status: string
  readonly amount: bigint
  readonly refunded: bigint
}
export type BankRefund = {
  readonly id: string
  readonly payment: string
  readonly status: string
  readonly amount: bigint
}
/** A request to charge a saved card that reached the bank. */
export type Charge = {
  readonly order: string
  readonly card: string
  readonly amount: bigint
}
export type Facts = {
  readonly orders: readonly OrderFact[]
  readonly refunds: readonly RefundFact[]
  readonly disputes: readonly DisputeFact[]
  readonly books: readonly BookFact[]
  readonly postings: readonly PostingFact[]
  readonly lots: readonly LotFact[]
  readonly payments: readonly BankPayment[]
  readonly bankRefunds: readonly BankRefund[]
  /** New since the facts before. */
  readonly charges: readonly Charge[]
}
