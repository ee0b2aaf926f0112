// The provider's objects in JSON, with the member names of its reference. Our private member `sim`
// never leaves the server: `store.shown` removes it and applies the alterations of control calls.

export type Amount = { value: string; currency: string }

export type PaymentStatus = 'pending' | 'waiting_for_capture' | 'succeeded' | 'canceled'
export type MethodType = 'bank_card' | 'sbp'
export type Registration = 'pending' | 'succeeded' | 'canceled'

export type Card = {
  first6: string
  last4: string
  expiry_month: string
  expiry_year: string
  /** MasterCard, Visa, Mir, UnionPay… */
  card_type: string
  issuer_country?: string
  issuer_name?: string
}

export type PaymentMethod = {
  type: MethodType
  id: string
  saved: boolean
  status?: 'pending' | 'active' | 'inactive'
  title?: string
  card?: Card
  sbp_operation_id?: string
  payer_bank_details?: { bank_id: string; bic: string }
}

export type Confirmation =
  | { type: 'redirect'; confirmation_url: string; return_url: string; enforce?: boolean }
  | { type: 'qr'; confirmation_data: string; return_url?: string }
  | { type: 'embedded'; confirmation_token: string }

export type Cancellation = { party: string; reason: string }

export type ReceiptItem = {
  description: string
  quantity: number | string
  amount: Amount
  vat_code: number
  payment_subject?: string
  payment_mode?: string
  measure?: string
}

export type ReceiptOrder = {
  customer?: { email?: string; phone?: string; full_name?: string; inn?: string }
  items: ReceiptItem[]
  tax_system_code?: number
  internet?: boolean | string
}

export type Settlement = { type: string; amount: Amount }

/** A receipt that the shop makes apart from a payment or refund. */
export type OwnReceipt = ReceiptOrder & {
  type: 'payment' | 'refund'
  payment_id?: string
  refund_id?: string
  settlements: Settlement[]
}

export type PaymentObject = {
  id: string
  status: PaymentStatus
  amount: Amount
  income_amount?: Amount
  description?: string
  recipient: { account_id: string; gateway_id: string }
  payment_method?: PaymentMethod
  captured_at?: string
  created_at: string
  expires_at?: string
  confirmation?: Confirmation
  test: boolean
  refunded_amount?: Amount
  paid: boolean
  refundable: boolean
  receipt_registration?: Registration
  metadata?: Record<string, string>
  cancellation_details?: Cancellation
  authorization_details?: {
    rrn?: string
    auth_code?: string
    three_d_secure: { applied: boolean }
  }
  merchant_customer_id?: string
}

/** A failed attempt of the payer; the payment stays pending and the payer may try again. */
export type Attempt = { atMs: number; reason: string }

/** What the provider knows about a payment and does not show. */
export type PaymentSim = {
  /** Grows with every payment: the order of the list. */
  sequence: number
  createdMs: number
  capturedMs: number | null
  amountKopecks: bigint
  refundedKopecks: bigint
  /** Pending refunds, which already count against the remainder. */
  refundingKopecks: bigint
  isCapture: boolean
  /** The only method the shop allows for this payment; null lets the payer choose. */
  method: MethodType | null
  /** The payer's method is saved for later charges. */
  isKept: boolean
  /** Where the hosted page sends the payer; null when the shop gave no address. */
  returnUrl: string | null
  locale: 'ru' | 'en'
  attempts: Attempt[]
  /** What a phone opens from the QR code: the imitated bank app of this payment. */
  sbpLink: string
  receipt: ReceiptOrder | null
  /** Whether its refunds wait for a control call; null leaves it to the shop's setting. */
  isRefundPending: boolean | null
  /** The object as it was before its last change: what a stale notice carries. */
  before: string | null
  /** Members that control calls want shown with other values. */
  shown: Record<string, unknown>
}

export type Payment = PaymentObject & { sim: PaymentSim }

export type RefundObject = {
  id: string
  payment_id: string
  status: 'pending' | 'succeeded' | 'canceled'
  amount: Amount
  created_at: string
  description?: string
  cancellation_details?: Cancellation
  receipt_registration?: Registration
  refund_method?: { type: MethodType; sbp_operation_id?: string }
  refund_authorization_details?: { rrn: string }
  metadata?: Record<string, string>
}

export type RefundSim = {
  sequence: number
  createdMs: number
  amountKopecks: bigint
  receipt: ReceiptOrder | null
  before: string | null
  shown: Record<string, unknown>
}

export type Refund = RefundObject & { sim: RefundSim }

export type ReceiptObject = {
  id: string
  type: 'payment' | 'refund'
  payment_id?: string
  refund_id?: string
  status: Registration
  fiscal_document_number?: string
  fiscal_storage_number?: string
  fiscal_attribute?: string
  registered_at?: string
  fiscal_provider_id?: string
  tax_system_code?: number
  items: ReceiptItem[]
  settlements: Settlement[]
}

/** How the payer paid. */
export type PaidHow = { type: 'bank_card'; card: Card; threeDSecure: boolean } | { type: 'sbp' }

export type EventName =
  | 'payment.waiting_for_capture'
  | 'payment.succeeded'
  | 'payment.canceled'
  | 'refund.succeeded'
