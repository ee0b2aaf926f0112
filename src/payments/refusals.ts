// The refusals of payments: those that an owner can meet in the cabinet, and those that only an
// operator's command can.
import { makeRefusal } from '../platform/refusal.ts'

export const paymentRefusalCodes = [
  'payment_unavailable',
  'order_unknown',
  'order_attempt_reused',
  'refund_refused',
  'refund_exceeds_unspent',
  'refund_needs_support',
  'promo_refused',
  'promo_attempts_exceeded',
  'top_up_refused',
  'pack_changed',
] as const

export type PaymentRefusalCode = (typeof paymentRefusalCodes)[number]
export const paymentRefusal = makeRefusal<PaymentRefusalCode>

/** The refusals of operators' commands for disputes, reviews and promo codes. */
export const paymentDeskRefusalCodes = ['order_state_wrong', 'field_invalid'] as const

export type PaymentDeskRefusalCode = (typeof paymentDeskRefusalCodes)[number]
export const paymentDeskRefusal = makeRefusal<PaymentDeskRefusalCode>
