// Parses YooKassa's objects into snapshots. Unknown members are ignored, as the provider requires.
// A missing or malformed required member makes the object unreadable: of a single answer that is an
// unknown outcome, of a list it is one item.
import { z } from 'zod'
import { dateOf } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import type {
  Confirmation,
  Page,
  Payer,
  RefundSnapshot,
  Sale,
  SavedMethod,
  Snapshot,
  Unreadable,
} from '../port.ts'
import { strictKopecks } from './strict-money.ts'

export const PROVIDER = 'yookassa'

export const timestamp = z.string().transform((text, context) => {
  const date = dateOf(text)
  if (date !== undefined) return date
  context.addIssue({ code: 'custom', message: 'expected a date and time' })
  return z.NEVER
})
// Any value is accepted: an amount that `strictKopecks` cannot read becomes a difference, which an
// operator reviews.
export const amount = z.looseObject({ value: z.unknown(), currency: z.string() })
export const id = z.string().min(1).max(64)
const metadata = z.record(z.string(), z.unknown()).optional()
const canceled = z.looseObject({ reason: z.string() }).optional()

const payment = z.looseObject({
  id,
  status: z.enum(['pending', 'waiting_for_capture', 'succeeded', 'canceled']),
  amount,
  created_at: timestamp,
  captured_at: timestamp.optional(),
  test: z.boolean(),
  recipient: z.looseObject({ account_id: z.string() }),
  refunded_amount: amount.optional(),
  income_amount: amount.optional().catch(undefined),
  receipt_registration: z.enum(['pending', 'succeeded', 'canceled']).optional().catch(undefined),
  metadata,
  cancellation_details: canceled,
  // A payment method of an unknown kind must not make the payment unreadable.
  payment_method: z
    .looseObject({
      id,
      saved: z.boolean(),
      title: z.string().optional(),
      card: z
        .looseObject({
          last4: z.string(),
          first6: z.string().optional(),
          expiry_month: z.string().optional(),
          expiry_year: z.string().optional(),
        })
        .optional(),
      payer_bank_details: z
        .looseObject({ bank_id: z.string().optional(), bic: z.string().optional() })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  confirmation: z
    .looseObject({
      type: z.string(),
      confirmation_url: z.string().optional(),
      confirmation_data: z.string().optional(),
    })
    .optional(),
})

const refund = z.looseObject({
  id,
  payment_id: id,
  status: z.enum(['pending', 'succeeded', 'canceled']),
  amount,
  created_at: timestamp,
  metadata,
  cancellation_details: canceled,
})

const list = z.looseObject({ items: z.array(z.unknown()), next_cursor: z.string().optional() })

const statuses = {
  pending: 'pending',
  waiting_for_capture: 'authorized',
  succeeded: 'succeeded',
  canceled: 'canceled',
} as const

/** Undefined when the value is not a payment. */
export function paymentOf(value: unknown): Snapshot | undefined {
  const read = payment.safeParse(value).data
  if (read === undefined) return undefined
  return {
    provider: PROVIDER,
    paymentId: read.id,
    orderRef: metadataText(read.metadata, 'order_id'),
    sale: saleOf(read.metadata),
    shopRef: read.recipient.account_id,
    status: statuses[read.status],
    amount: strictKopecks(read.amount.value),
    amountText: String(read.amount.value).slice(0, 50),
    currency: read.amount.currency.slice(0, 10),
    refunded: strictKopecks(read.refunded_amount?.value ?? '0.00'),
    income: strictKopecks(read.income_amount?.value) ?? undefined,
    createdAt: read.created_at,
    capturedAt: read.captured_at ?? null,
    cancelReason: read.cancellation_details?.reason.slice(0, 100) || null,
    isTestMoney: read.test,
    receipt: read.receipt_registration ?? null,
    confirmation: confirmationOf(read.confirmation),
    savedMethod: savedMethodOf(read.payment_method),
    payer: payerOf(read.payment_method),
  }
}

/** The first six digits are missing for some cards; the last four alone are shared by many. */
function payerOf(given: z.output<typeof payment>['payment_method']): Payer {
  const { first6, last4, expiry_month: month, expiry_year: year } = given?.card ?? {}
  const bank = given?.payer_bank_details?.bank_id ?? given?.payer_bank_details?.bic ?? null
  const isWhole = first6 && last4 && month && year
  return {
    card: isWhole ? { first6, last4, expiryMonth: month, expiryYear: year } : null,
    bank: bank?.slice(0, 20) || null,
  }
}

/** A card's title is its last digits, which need no translation. */
function savedMethodOf(given: z.output<typeof payment>['payment_method']): SavedMethod | null {
  if (given === undefined || !given.saved) return null
  const { id, title, card } = given
  const known = card === undefined ? (title ?? '') : `•••• ${card.last4}`
  return { id, title: known.slice(0, 100) }
}

function confirmationOf(given: z.output<typeof payment>['confirmation']): Confirmation | null {
  const kind = given?.type
  const value = kind === 'redirect' ? given?.confirmation_url : given?.confirmation_data
  if ((kind !== 'redirect' && kind !== 'qr') || value === undefined || value === '') return null
  return { kind, value: value.slice(0, 4_096) }
}

export function refundOf(value: unknown): RefundSnapshot | undefined {
  const read = refund.safeParse(value).data
  if (read === undefined) return undefined
  return {
    provider: PROVIDER,
    refundId: read.id,
    paymentId: read.payment_id,
    refundRef: metadataText(read.metadata, 'refund_id'),
    status: read.status,
    amount: strictKopecks(read.amount.value),
    amountText: String(read.amount.value).slice(0, 50),
    currency: read.amount.currency.slice(0, 10),
    createdAt: read.created_at,
    cancelReason: read.cancellation_details?.reason.slice(0, 100) || null,
  }
}

/**
 * A page of items. An item that cannot be read is listed apart, so that it neither stops the others
 * nor is silently left out.
 */
export function pageOf<T>(
  value: unknown,
  itemOf: (value: unknown) => T | undefined,
): Page<T> | undefined {
  const read = list.safeParse(value).data
  if (read === undefined) return undefined
  const items: T[] = []
  const unreadable: Unreadable[] = []
  for (const one of read.items) {
    const item = itemOf(one)
    if (item === undefined) unreadable.push(unreadableOf(one))
    else items.push(item)
  }
  return { items, unreadable, next: read.next_cursor ?? null }
}

function unreadableOf(value: unknown): Unreadable {
  const known = z.looseObject({ id }).safeParse(value).data
  const shape = known !== undefined && 'payment_id' in known ? refund : payment
  const issues = shape.safeParse(value).error?.issues ?? []
  const why = issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
  return { id: known?.id ?? null, text: JSON.stringify(value) ?? '', why: why.slice(0, 500) }
}

function saleOf(members: Record<string, unknown> | undefined): Sale | undefined {
  const [book, packId, version] = ['book', 'pack', 'catalogue'].map((name) =>
    metadataText(members, name),
  )
  if (!book || !packId || !version || !/^\d{1,18}$/.test(book) || !/^\d{1,9}$/.test(version)) {
    return undefined
  }
  const isTopUp = metadataText(members, 'top_up') === 'yes'
  return { book: BigInt(book) as BookId, packId, catalogueVersion: Number(version), isTopUp }
}

function metadataText(members: Record<string, unknown> | undefined, name: string): string | null {
  const value = members?.[name]
  return typeof value === 'string' ? value.slice(0, 100) : null
}
