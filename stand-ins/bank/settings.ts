// Settings of the shop's owner and the provider's staff, which tests can change at run time.
import type { MethodType } from './objects.ts'

export type Settings = {
  shopId: string
  secretKey: string
  gatewayId: string
  shopName: string
  /** Where payers and phones reach this server; without a slash at the end. */
  publicUrl: string
  /** Marks every new object; a real test shop says true. */
  isTest: boolean
  methods: MethodType[]
  payerTermMs: number
  captureTermMs: number
  /** Whether the shop may save payers' methods: a real one must ask its manager first. */
  keepsMethods: boolean
  /** New refunds stay pending until a control call completes or cancels them. */
  isRefundPending: boolean
  /** The provider's own receipts: stricter rules, and no payment without a receipt if required. */
  isReceiptOwn: boolean
  isReceiptRequired: boolean
  /** Fiscal registration of new receipts. */
  receiptStatus: 'pending' | 'succeeded' | 'canceled'
  /** Until then new receipts are pending. */
  receiptDelayMs: number
  /** Every n-th receipt is not registered; 0 switches that off. */
  receiptCancelEvery: number
  /** Every n-th object has unknown members; 0 switches them off. */
  noveltyEvery: number
  /** Without an address no notices are sent. */
  webhookUrl: string | null
  /** The address that notices claim to come from, and the header that says it. */
  webhookSource: string
  webhookSourceHeader: string
  /** Real time that a receiver gets for its answer. */
  webhookTimeoutMs: number
}

const hourMs = 3_600_000

export const defaultSettings: Settings = {
  shopId: '100500',
  secretKey: 'test_stand-in-secret',
  gatewayId: '2100500',
  shopName: 'Tollgate',
  publicUrl: '',
  isTest: true,
  methods: ['bank_card', 'sbp'],
  // The provider's term for cards and SBP.
  payerTermMs: hourMs,
  // Its longest hold of a card.
  captureTermMs: 7 * 24 * hourMs,
  keepsMethods: true,
  isRefundPending: false,
  isReceiptOwn: true,
  isReceiptRequired: false,
  receiptStatus: 'succeeded',
  receiptDelayMs: 0,
  receiptCancelEvery: 0,
  // Often enough that any test of three payments finds a reader that fails on unknown members.
  noveltyEvery: 3,
  webhookUrl: null,
  // Inside the first network of the provider's list.
  webhookSource: '185.71.76.1',
  webhookSourceHeader: 'x-forwarded-for',
  webhookTimeoutMs: 10_000,
}

/** Roubles per payment, as the provider publishes them. */
export const kopecksLimits = {
  bank_card: { min: 100n, max: 35_000_000n },
  sbp: { min: 100n, max: 70_000_000n },
} as const
