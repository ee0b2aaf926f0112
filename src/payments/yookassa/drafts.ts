// The bodies we post to YooKassa. Made once, stored beside the order, and sent as they are stored:
// the provider promises the same payment for the same key only with the same parameters. Receipts
// under 54-FZ are the accountant's settings, frozen with the order.
import { rublesText } from '../../units/kopecks.ts'
import type { PaymentDraft, RefundDraft } from '../port.ts'

/** 54-FZ. What applies to prepaid credits is the accountant's decision, so all is settings. */
export type ReceiptSettings = {
  readonly vatCode: number
  /** 0: not sent, as for the provider's own receipts. */
  readonly taxSystem: number
  readonly subject: string
  readonly mode: string
  readonly measure: string
}

/** The provider's limits, in characters. */
const DESCRIPTION_MAX = 128
const REASON_MAX = 250
/** One pack is one piece. */
const QUANTITY = 1

export function paymentBody(
  draft: PaymentDraft,
  options: {
    readonly env: string
    readonly isQr: boolean
    readonly receipt: ReceiptSettings | null
  },
): string {
  const amount = { value: rublesText(draft.price), currency: 'RUB' }
  return JSON.stringify({
    amount,
    // The provider's default is a hold that somebody must capture.
    capture: true,
    ...(draft.savedMethodId === null
      ? confirmed(draft, options.isQr)
      : { payment_method_id: draft.savedMethodId }),
    description: cut(draft.title, DESCRIPTION_MAX),
    // Nothing personal: metadata is shown to the shop's staff.
    metadata: { order_id: draft.order, env: options.env },
    ...(options.receipt && { receipt: receiptOf({ ...draft, amount }, options.receipt) }),
  })
}

/** The payer chooses on the provider's page, and may leave the method there for later. */
function confirmed({ method, returnUrl, locale, savesMethod }: PaymentDraft, hasQr: boolean) {
  return {
    payment_method_data: { type: method === 'sbp' ? 'sbp' : 'bank_card' },
    ...(savesMethod && { save_payment_method: true }),
    confirmation:
      hasQr && method === 'sbp'
        ? { type: 'qr', return_url: returnUrl }
        : {
            type: 'redirect',
            return_url: returnUrl,
            locale: locale === 'ru' ? 'ru_RU' : 'en_US',
          },
  }
}

export function refundBody(draft: RefundDraft): string {
  const amount = { value: rublesText(draft.amount), currency: 'RUB' }
  const frozen = draft.receipt as ReceiptSettings | null
  return JSON.stringify({
    payment_id: draft.paymentId,
    amount,
    ...(draft.reason !== '' && { description: cut(draft.reason, REASON_MAX) }),
    metadata: { refund_id: draft.refund },
    ...(frozen && { receipt: receiptOf({ ...draft, amount }, frozen) }),
  })
}

function receiptOf(
  sale: { readonly title: string; readonly email: string; readonly amount: object },
  settings: ReceiptSettings,
) {
  return {
    customer: { email: sale.email },
    items: [
      {
        description: cut(sale.title, DESCRIPTION_MAX),
        quantity: QUANTITY,
        amount: sale.amount,
        vat_code: settings.vatCode,
        payment_subject: settings.subject,
        payment_mode: settings.mode,
        measure: settings.measure,
      },
    ],
    ...(settings.taxSystem > 0 && { tax_system_code: settings.taxSystem }),
  }
}

/** By characters, not by halves of them. */
function cut(text: string, max: number): string {
  const characters = [...text]
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}
