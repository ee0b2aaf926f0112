// The provider's answers as its reference describes them, for tests: required members exist,
// optional ones have their format. Unknown members are allowed, as in a tolerant reader.
import { z } from 'zod'

const amount = z.object({ value: z.string().regex(/^\d+\.\d{2}$/), currency: z.literal('RUB') })
const id = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
const moment = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
/** Members that the reference forbids in this status. */
const absent = z.never().optional()
const registration = z.enum(['pending', 'succeeded', 'canceled'])
const cancellation = z.object({ party: z.string(), reason: z.string() })

const card = z.object({
  first6: z.string().length(6),
  last4: z.string().length(4),
  expiry_month: z.string().regex(/^\d{2}$/),
  expiry_year: z.string().regex(/^\d{4}$/),
  card_type: z.string(),
  issuer_country: z.string().length(2),
  issuer_name: z.string(),
})

const confirmation = z.discriminatedUnion('type', [
  z.object({ type: z.literal('redirect'), confirmation_url: z.url(), return_url: z.url() }),
  z.object({ type: z.literal('qr'), confirmation_data: z.url() }),
  z.object({ type: z.literal('embedded'), confirmation_token: z.string().startsWith('ct-') }),
])

const method = { id: z.string(), saved: z.boolean(), status: z.string().optional() }
const cardMethod = z.object({
  ...method,
  type: z.literal('bank_card'),
  title: z.string(),
  card,
})
const sbpMethod = z.object({
  ...method,
  type: z.literal('sbp'),
  sbp_operation_id: z.string().regex(/^[0-9A-F]{32}$/),
  payer_bank_details: z.object({ bank_id: z.string(), bic: z.string().length(9) }),
})

const always = {
  id,
  amount,
  created_at: moment,
  description: z.string().max(128).optional(),
  recipient: z.object({ account_id: z.string(), gateway_id: z.string() }),
  test: z.boolean(),
  metadata: z.record(z.string(), z.string()).optional(),
  receipt_registration: registration.optional(),
}
const taken = {
  paid: z.literal(true),
  payment_method: z.union([cardMethod, sbpMethod]),
  authorization_details: z.object({
    rrn: z.string(),
    auth_code: z.string().optional(),
    three_d_secure: z.object({ applied: z.boolean() }),
  }),
  confirmation: absent,
  cancellation_details: absent,
}

export const payment = z.discriminatedUnion('status', [
  z.object({
    ...always,
    status: z.literal('pending'),
    paid: z.literal(false),
    refundable: z.literal(false),
    confirmation: confirmation.optional(),
    payment_method: z.object({ ...method, type: z.enum(['bank_card', 'sbp']) }).optional(),
    expires_at: absent,
    captured_at: absent,
    income_amount: absent,
    refunded_amount: absent,
  }),
  z.object({
    ...always,
    ...taken,
    status: z.literal('waiting_for_capture'),
    refundable: z.literal(false),
    expires_at: moment,
    captured_at: absent,
    refunded_amount: absent,
  }),
  z.object({
    ...always,
    ...taken,
    status: z.literal('succeeded'),
    refundable: z.boolean(),
    captured_at: moment,
    income_amount: amount,
    refunded_amount: amount.optional(),
    expires_at: absent,
  }),
  z.object({
    ...always,
    status: z.literal('canceled'),
    paid: z.literal(false),
    refundable: z.literal(false),
    cancellation_details: cancellation,
    confirmation: absent,
    expires_at: absent,
    captured_at: absent,
  }),
])

export const refund = z.object({
  id,
  payment_id: id,
  status: registration,
  amount,
  created_at: moment,
  description: z.string().max(250).optional(),
  cancellation_details: cancellation.optional(),
  receipt_registration: registration.optional(),
  refund_method: z.object({ type: z.string(), sbp_operation_id: z.string().optional() }).optional(),
  refund_authorization_details: z.object({ rrn: z.string() }).optional(),
})

export const receipt = z.object({
  id: z.string().startsWith('rt-'),
  type: z.enum(['payment', 'refund']),
  payment_id: id.optional(),
  refund_id: id.optional(),
  status: registration,
  fiscal_document_number: z.string().optional(),
  fiscal_storage_number: z.string().optional(),
  fiscal_attribute: z.string().optional(),
  registered_at: moment.optional(),
  fiscal_provider_id: z.string().optional(),
  items: z.array(z.object({ description: z.string(), amount, vat_code: z.number() })).min(1),
})

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    type: z.literal('list'),
    items: z.array(item),
    next_cursor: z.string().min(1).optional(),
  })

export const error = z.strictObject({
  type: z.literal('error'),
  id: z.uuid(),
  code: z.enum([
    'invalid_request',
    'invalid_credentials',
    'forbidden',
    'not_found',
    'too_many_requests',
    'internal_server_error',
  ]),
  description: z.string().optional(),
  parameter: z.string().optional(),
  retry_after: z.number().int().optional(),
})

export const notification = z.strictObject({
  type: z.literal('notification'),
  event: z.enum([
    'payment.waiting_for_capture',
    'payment.succeeded',
    'payment.canceled',
    'refund.succeeded',
  ]),
  object: z.union([payment, refund]),
})
