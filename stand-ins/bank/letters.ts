// The e-mails that the provider writes to the shop. There is no object and no event for a dispute:
// this text is all that a shop ever gets.
import { wrong } from './input.ts'
import type { Payment } from './objects.ts'

const DAY_MS = 86_400_000

export type Letter = { readonly subject: string; readonly text: string }

/** Names the payment, the amount, and the day until which the shop may answer. */
export function disputeLetter(payment: Payment, nowMs: number, days: number): Letter {
  const { id, status, amount, payment_method: method } = payment
  if (status !== 'succeeded' || method?.type !== 'bank_card') {
    throw wrong('a bank disputes only card payments that succeeded')
  }
  const answerBy = new Date(nowMs + days * DAY_MS).toISOString().slice(0, 10)
  return {
    subject: `Чарджбэк по платежу ${id}`,
    text: [
      'Банк плательщика оспорил платёж.',
      `Номер платежа: ${id}`,
      `Сумма: ${amount.value} ${amount.currency}`,
      `Пришлите документы до ${answerBy} включительно.`,
    ].join('\n'),
  }
}
