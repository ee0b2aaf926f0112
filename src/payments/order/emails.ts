// The e-mails about orders, in Russian and English. Amounts are written as is usual in the
// language. An order is named by its credits, as in the cabinet: the pack's title is one text of
// the operator, for the receipt, and not translated.
import type { Tx } from '../../platform/db/db.ts'
import { composeEmail, type EmailBrand } from '../../platform/mail/email.ts'
import type { EmailMessage } from '../../platform/mail/mail.ts'
import type { Credits } from '../../units/credits.ts'
import { creditsPhrase, moneyPhrase, perMillionPhrase } from '../../units/email-amounts.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Order } from './order.ts'

export type Brand = EmailBrand

/** The outbox: an e-mail is stored in the caller's transaction and sent after its commit. */
export type Mailer = {
  post(tx: Tx, email: EmailMessage): Promise<unknown>
}

export type OrderEmailKind =
  | 'payment-credited'
  | 'payment-review'
  | 'payment-refunded'
  | 'refund-canceled'
  | 'refund-again'
  | 'refund-review'
  | 'dispute-opened'
  | 'dispute-won'
  | 'dispute-lost'

/** What an e-mail states besides the order itself. */
export type OrderEmailFacts = {
  readonly amount?: Kopecks
  readonly credits?: Credits
  readonly debt?: Credits
}

export type OrderEmail = {
  readonly to: string
  readonly kind: OrderEmailKind
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly once: string
}

type Phrases = {
  readonly price: string
  readonly credits: string
  /** The price per million credits. */
  readonly rate: string
  readonly amount: string
  readonly taken: string
  readonly debt: string | null
}
type Sentences = { readonly subject: string; readonly lines: readonly (string | null)[] }

const ru: Record<OrderEmailKind, (w: Phrases) => Sentences> = {
  'payment-credited': (w) => ({
    subject: `Оплата получена: ${w.credits}`,
    lines: [
      `Мы получили ${w.price}. На баланс зачислено: ${w.credits}, это ${w.rate}.`,
      'Кредиты уже можно тратить.',
    ],
  }),
  'payment-review': (w) => ({
    subject: `Оплата проверяется: ${w.credits}`,
    lines: [
      `Платёж за ${w.credits} поступил, но его данные не совпали с заказом.`,
      'Мы проверим его и зачислим кредиты или вернём деньги. Платить ещё раз не нужно.',
    ],
  }),
  'payment-refunded': (w) => ({
    subject: `Деньги возвращены: ${w.amount}`,
    lines: [
      `Мы вернули ${w.amount}. С баланса списано: ${w.taken}.`,
      'Деньги обычно приходят в течение трёх дней, но иногда банку нужно больше времени.',
      w.debt &&
        `Часть кредитов уже потрачена: у вас долг ${w.debt}. Его погасит следующая покупка.`,
    ],
  }),
  'refund-canceled': (w) => ({
    subject: `Возврат не прошёл: ${w.amount}`,
    lines: [
      `Банк не провёл возврат ${w.amount}.`,
      `Кредиты снова на балансе: ${w.taken}. Возврат можно запросить ещё раз.`,
    ],
  }),
  'refund-again': (w) => ({
    subject: `Возврат не прошёл, повторим: ${w.amount}`,
    lines: [
      `Банк не провёл возврат ${w.amount}. Мы запросим его ещё раз в течение двенадцати часов.`,
      'Пока аккаунт не закрыт, в настройках возврат можно запросить сразу.',
    ],
  }),
  'refund-review': (w) => ({
    subject: `Возврат проверяет сотрудник: ${w.amount}`,
    lines: [
      `Возврат ${w.amount} не может пройти сам: его проверит сотрудник поддержки.`,
      `До решения эти кредиты отложены: ${w.taken}. Делать ничего не нужно.`,
    ],
  }),
  'dispute-opened': (w) => ({
    subject: `Платёж оспорен: ${w.amount}`,
    lines: [
      `Платёж за ${w.credits} оспорен в банке: ${w.amount}.`,
      `До решения банка заморожено: ${w.taken}. Если это ошибка, напишите нам.`,
    ],
  }),
  'dispute-won': (w) => ({
    subject: `Спор закрыт: ${w.credits}`,
    lines: [`Спор по вашему платежу закрыт. Кредиты снова на балансе: ${w.taken}.`],
  }),
  'dispute-lost': (w) => ({
    subject: `Платёж отозван банком: ${w.amount}`,
    lines: [
      `Банк отозвал ${w.amount} за этот заказ. С баланса списано: ${w.taken}.`,
      w.debt &&
        `Часть кредитов уже потрачена: у вас долг ${w.debt}. Его погасит следующая покупка.`,
    ],
  }),
}

const en: Record<OrderEmailKind, (w: Phrases) => Sentences> = {
  'payment-credited': (w) => ({
    subject: `Payment received: ${w.credits}`,
    lines: [
      `We received ${w.price}. Added to your balance: ${w.credits}, that is ${w.rate}.`,
      'You can use the credits immediately.',
    ],
  }),
  'payment-review': (w) => ({
    subject: `Payment under review: ${w.credits}`,
    lines: [
      `We received a payment for ${w.credits}, but its details do not match the order.`,
      'We will review it and add the credits or refund you. Please do not pay again.',
    ],
  }),
  'payment-refunded': (w) => ({
    subject: `Your refund of ${w.amount}`,
    lines: [
      `We refunded ${w.amount}. Deducted from your balance: ${w.taken}.`,
      'The money usually arrives within three days, but your bank may take longer.',
      w.debt &&
        `Some of the credits had already been spent, so you owe ${w.debt}. Your next purchase ` +
          'covers it.',
    ],
  }),
  'refund-canceled': (w) => ({
    subject: `Refund failed: ${w.amount}`,
    lines: [
      `The bank did not accept the refund of ${w.amount}.`,
      `The credits are back on your balance: ${w.taken}. You can request the refund again.`,
    ],
  }),
  'refund-again': (w) => ({
    subject: `Refund failed, we will retry: ${w.amount}`,
    lines: [
      `The bank did not accept the refund of ${w.amount}. We will retry within twelve hours.`,
      'Until the account is closed you can request the retry immediately, in the settings.',
    ],
  }),
  'refund-review': (w) => ({
    subject: `Refund under review: ${w.amount}`,
    lines: [
      `The refund of ${w.amount} needs a decision by our support team.`,
      `Until then these credits are reserved: ${w.taken}. You need not do anything.`,
    ],
  }),
  'dispute-opened': (w) => ({
    subject: `Payment disputed: ${w.amount}`,
    lines: [
      `The payment for ${w.credits} has been disputed with the bank: ${w.amount}.`,
      `On hold until the bank decides: ${w.taken}. If this is a mistake, contact us.`,
    ],
  }),
  'dispute-won': (w) => ({
    subject: `Dispute closed: ${w.credits}`,
    lines: [
      `The dispute over your payment is closed. The credits are back on your balance: ${w.taken}.`,
    ],
  }),
  'dispute-lost': (w) => ({
    subject: `Payment charged back: ${w.amount}`,
    lines: [
      `The bank charged back ${w.amount} for this order. Deducted from your balance: ${w.taken}.`,
      w.debt &&
        `Some of the credits had already been spent, so you owe ${w.debt}. Your next purchase ` +
          'covers it.',
    ],
  }),
}

export const orderEmailKinds = Object.keys(en) as readonly OrderEmailKind[]

/** The e-mail about one event of an order; `once` names the event, so that it is sent once. */
export function orderEmail(
  kind: OrderEmailKind,
  order: Pick<Order, 'id' | 'email' | 'locale' | 'price' | 'credits'>,
  brand: Brand,
  once: string,
  facts: OrderEmailFacts = {},
): OrderEmail {
  const { locale } = order
  const { amount = order.price, credits = order.credits, debt } = facts
  const { subject, lines } = (locale === 'ru' ? ru : en)[kind]({
    price: moneyPhrase(order.price, locale),
    credits: creditsPhrase(order.credits, locale),
    rate: perMillionPhrase({ credits: order.credits, priceKopecks: order.price }, locale),
    amount: moneyPhrase(amount, locale),
    taken: creditsPhrase(credits, locale),
    debt: debt === undefined || debt === 0n ? null : creditsPhrase(debt, locale),
  })
  const number = locale === 'ru' ? 'Номер заказа' : 'Order ID'
  const label = locale === 'ru' ? 'Открыть заказ' : 'View order'
  const composed = composeEmail(
    {
      subject,
      lines: lines.filter((line) => line !== null),
      facts: [[number, order.id]],
      button: { label, link: `${brand.cabinetUrl}/orders/${order.id}` },
    },
    { brand, language: locale },
  )
  return { to: order.email, kind, ...composed, once }
}
