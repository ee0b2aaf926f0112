// The request bodies for YooKassa. Each is created once, stored with the order and sent as stored:
// the provider returns the same payment for the same idempotence key only with the same parameters.
// Receipts under 54-FZ follow the accountant's settings, which are stored with the order.

import type { Kopecks } from '../../units/kopecks.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { PaymentDraft, ReceiptDraft, RefundDraft } from '../port.ts'

/**
 * The settings of 54-FZ receipts. The accountant decides what applies to prepaid credits, so
 * everything is configurable.
 */
export type ReceiptSettings = {
  readonly vatCode: number
  /** 0: not sent; receipts that YooKassa registers itself accept no tax system. */
  readonly taxSystem: number
  readonly subject: string
  readonly mode: string
  readonly measure: string
  /**
   * When used credits get receipts of completion. Absent in orders from before there were any, and
   * taken as off.
   */
  readonly completions?: 'off' | 'monthly' | 'at_end'
}

/** The provider's limits, in characters. */
const DESCRIPTION_MAX = 128
const REASON_MAX = 250
/** A pack is one item. */
const QUANTITY = 1
/** Of a receipt for what was delivered. */
const FULL_PAYMENT = 'full_payment'

export function paymentBody(
  draft: PaymentDraft,
  options: {
    readonly env: string
    readonly hasSbpQr: boolean
    readonly receipt: ReceiptSettings | null
  },
): string {
  const amount = amountOf(draft.price)
  return JSON.stringify({
    amount,
    // By default the provider only authorizes the amount, and it must be captured separately.
    capture: true,
    ...(draft.savedMethodId === null
      ? confirmationFields(draft, options.hasSbpQr)
      : { payment_method_id: draft.savedMethodId }),
    description: cut(draft.title, DESCRIPTION_MAX),
    metadata: metadataOf(draft, options.env),
    ...(options.receipt && {
      receipt: receiptOf(draft, options.receipt, [
        { amount: draft.price, mode: options.receipt.mode },
      ]),
    }),
  })
}

/**
 * No personal data: the shop's staff can see it. The sale is for a database that was restored to a
 * moment before the order.
 */
function metadataOf({ order, sale }: PaymentDraft, env: string) {
  const { book, packId: pack, catalogueVersion, isTopUp } = sale
  const known = { order_id: order, env, book: String(book), pack }
  return { ...known, catalogue: String(catalogueVersion), ...(isTopUp && { top_up: 'yes' }) }
}

/** For a payment that the payer must confirm; the provider saves the method if `savesMethod`. */
function confirmationFields(
  { method, returnUrl, locale, savesMethod }: PaymentDraft,
  hasSbpQr: boolean,
) {
  return {
    payment_method_data: { type: method === 'sbp' ? 'sbp' : 'bank_card' },
    ...(savesMethod && { save_payment_method: true }),
    confirmation:
      hasSbpQr && method === 'sbp'
        ? { type: 'qr', return_url: returnUrl }
        : {
            type: 'redirect',
            return_url: returnUrl,
            locale: locale === 'ru' ? 'ru_RU' : 'en_US',
          },
  }
}

export function refundBody(draft: RefundDraft): string {
  const amount = amountOf(draft.amount)
  const frozen = draft.receipt as ReceiptSettings | null
  return JSON.stringify({
    payment_id: draft.paymentId,
    amount,
    ...(draft.reason !== '' && { description: cut(draft.reason, REASON_MAX) }),
    metadata: { refund_id: draft.refund },
    ...(frozen && { receipt: receiptOf(draft, frozen, returnedParts(draft, frozen)) }),
  })
}

/** What was only prepaid is returned as the prepayment was sold; what was completed, as paid. */
function returnedParts(
  { amount, completed }: Pick<RefundDraft, 'amount' | 'completed'>,
  { mode }: ReceiptSettings,
): Part[] {
  return [
    { amount: (amount - completed) as Kopecks, mode },
    { amount: completed, mode: FULL_PAYMENT },
  ].filter((part) => part.amount > 0n)
}

/** A receipt of its own: of a completion, or again of a payment or refund whose receipt failed. */
export function receiptBody(draft: ReceiptDraft): string {
  const settings = draft.settings as ReceiptSettings
  const { kind, paymentId, refundId, amount } = draft
  const isReturn = kind === 'return'
  const parts = {
    prepayment: () => [{ amount, mode: settings.mode }],
    completion: () => [{ amount, mode: FULL_PAYMENT }],
    return: () => returnedParts(draft, settings),
  }[kind]()
  return JSON.stringify({
    type: isReturn ? 'refund' : 'payment',
    ...(isReturn ? { refund_id: refundId } : { payment_id: paymentId }),
    ...receiptOf(draft, settings, parts),
    settlements: [
      { type: kind === 'completion' ? 'prepayment' : 'cashless', amount: amountOf(amount) },
    ],
    send: true,
  })
}

/** See `Provider.savedMethodOf`. */
export function savedMethodOf(body: string): string | null | undefined {
  const { payment_method_id: id = null } = membersOf(body) ?? { payment_method_id: 0 }
  return typeof id === 'string' || id === null ? id : undefined
}

/** See `Provider.isRefundDraftOf`. */
export function isRefundDraftOf(
  body: string,
  { paymentId, amount }: Pick<RefundDraft, 'paymentId' | 'amount'>,
): boolean {
  const draft = membersOf(body)
  return (
    draft?.payment_id === paymentId &&
    JSON.stringify(draft.amount) === JSON.stringify(amountOf(amount))
  )
}

/**
 * The members of stored bytes. Undefined if they are not as a draft of ours is written: with a
 * member twice, the provider could read another value than we do.
 */
function membersOf(body: string): Record<string, unknown> | undefined {
  try {
    const members = JSON.parse(body) as Record<string, unknown> | null
    return members !== null && JSON.stringify(members) === body ? members : undefined
  } catch {
    return undefined
  }
}

type Part = { readonly amount: Kopecks; readonly mode: string }

function receiptOf(
  sale: { readonly title: string; readonly email: string },
  settings: ReceiptSettings,
  parts: readonly Part[],
) {
  return {
    customer: { email: sale.email },
    items: parts.map(({ amount, mode }) => ({
      description: cut(sale.title, DESCRIPTION_MAX),
      quantity: QUANTITY,
      amount: amountOf(amount),
      vat_code: settings.vatCode,
      payment_subject: settings.subject,
      payment_mode: mode,
      measure: settings.measure,
    })),
    ...(settings.taxSystem > 0 && { tax_system_code: settings.taxSystem }),
  }
}

function amountOf(kopecks: Kopecks) {
  return { value: rublesText(kopecks), currency: 'RUB' }
}

/** Cuts by code points, so that no surrogate pair is split. */
function cut(text: string, max: number): string {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}
