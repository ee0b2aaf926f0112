// The letters of payments, Russian and English, as text and HTML: only what an owner must learn.
// Money and credits are written as people write them in that language; nothing in a letter comes
// from the payer's side but the pack's own title.
import type { Tx } from '../../platform/db/db.ts'
import type { Letter as Posted } from '../../platform/mail/mail.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { counted, money } from '../../units/spoken.ts'
import type { Locale } from '../port.ts'
import type { Order } from './order.ts'

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  readonly cabinetUrl: string
}

/** The outbox: a letter exists exactly when the transaction that posted it does. */
export type Mailer = {
  post(tx: Tx, letter: Posted): Promise<unknown>
}

export type LetterKind =
  | 'payment-credited'
  | 'payment-review'
  | 'payment-refunded'
  | 'refund-canceled'
  | 'dispute-opened'
  | 'dispute-won'
  | 'dispute-lost'

/** What a letter tells besides the order itself. */
export type Facts = {
  readonly amount?: Kopecks
  readonly credits?: Credits
  readonly debt?: Credits
}

export type Letter = {
  readonly to: string
  readonly kind: LetterKind
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly once: string
}

type Words = {
  readonly title: string
  readonly price: string
  readonly credits: string
  readonly amount: string
  readonly taken: string
  readonly debt: string | null
}
type Sentences = { readonly subject: string; readonly lines: readonly (string | null)[] }

const ru: Record<LetterKind, (w: Words) => Sentences> = {
  'payment-credited': (w) => ({
    subject: `Оплата получена: ${w.title}`,
    lines: [
      `Мы получили ${w.price} за «${w.title}». На баланс зачислено: ${w.credits}.`,
      'Ими можно пользоваться уже сейчас.',
    ],
  }),
  'payment-review': (w) => ({
    subject: `Оплата проверяется: ${w.title}`,
    lines: [
      `Платёж за «${w.title}» поступил, но его данные не совпали с заказом.`,
      'Его проверит сотрудник: мы зачислим кредиты или вернём деньги. Платить ещё раз не нужно.',
    ],
  }),
  'payment-refunded': (w) => ({
    subject: `Деньги возвращены: ${w.amount}`,
    lines: [
      `За «${w.title}» возвращено ${w.amount}. С баланса списано: ${w.taken}.`,
      'Банк зачисляет возврат в срок до трёх дней, иногда дольше.',
      w.debt && `Часть кредитов уже была потрачена: долг ${w.debt}. Его покроет следующая покупка.`,
    ],
  }),
  'refund-canceled': (w) => ({
    subject: `Возврат не прошёл: ${w.amount}`,
    lines: [
      `Банк не принял возврат ${w.amount} за «${w.title}».`,
      `Кредиты снова на балансе: ${w.taken}. Возврат можно запросить ещё раз.`,
    ],
  }),
  'dispute-opened': (w) => ({
    subject: `Платёж оспорен: ${w.title}`,
    lines: [
      `Банк сообщил, что платёж за «${w.title}» оспорен на сумму ${w.amount}.`,
      `До решения банка отложено: ${w.taken}. Если это ошибка, напишите нам.`,
    ],
  }),
  'dispute-won': (w) => ({
    subject: `Спор закрыт: ${w.title}`,
    lines: [`Спор по платежу за «${w.title}» закрыт. Кредиты снова на балансе: ${w.taken}.`],
  }),
  'dispute-lost': (w) => ({
    subject: `Платёж отозван банком: ${w.title}`,
    lines: [
      `Банк вернул плательщику ${w.amount} за «${w.title}». С баланса списано: ${w.taken}.`,
      w.debt && `Часть кредитов уже была потрачена: долг ${w.debt}. Его покроет следующая покупка.`,
    ],
  }),
}

const en: Record<LetterKind, (w: Words) => Sentences> = {
  'payment-credited': (w) => ({
    subject: `Payment received: ${w.title}`,
    lines: [
      `We received ${w.price} for “${w.title}”. Added to your balance: ${w.credits}.`,
      'They can be used right now.',
    ],
  }),
  'payment-review': (w) => ({
    subject: `Payment under review: ${w.title}`,
    lines: [
      `A payment for “${w.title}” has arrived, but its facts differ from the order.`,
      'A person will look at it: we credit it or give the money back. Do not pay again.',
    ],
  }),
  'payment-refunded': (w) => ({
    subject: `Money returned: ${w.amount}`,
    lines: [
      `${w.amount} was returned for “${w.title}”. Taken from your balance: ${w.taken}.`,
      'Your bank shows it within three days, sometimes later.',
      w.debt && `Some of the credits were spent: you owe ${w.debt}. Your next purchase covers it.`,
    ],
  }),
  'refund-canceled': (w) => ({
    subject: `Refund not accepted: ${w.amount}`,
    lines: [
      `The bank did not accept the refund of ${w.amount} for “${w.title}”.`,
      `The credits are back on your balance: ${w.taken}. You can ask for it again.`,
    ],
  }),
  'dispute-opened': (w) => ({
    subject: `Payment disputed: ${w.title}`,
    lines: [
      `The bank says that the payment for “${w.title}” is disputed, for ${w.amount}.`,
      `Until the bank decides, this is set aside: ${w.taken}. If it is a mistake, write to us.`,
    ],
  }),
  'dispute-won': (w) => ({
    subject: `Dispute closed: ${w.title}`,
    lines: [
      `The dispute about “${w.title}” is closed. The credits are back on your balance: ${w.taken}.`,
    ],
  }),
  'dispute-lost': (w) => ({
    subject: `Payment taken back by the bank: ${w.title}`,
    lines: [
      `The bank gave ${w.amount} for “${w.title}” back. Taken from your balance: ${w.taken}.`,
      w.debt && `Some of the credits were spent: you owe ${w.debt}. Your next purchase covers it.`,
    ],
  }),
}

export const letterKinds = Object.keys(en) as readonly LetterKind[]

/** The letter of one event of an order; `once` names the event, so that it is told once. */
export function letterOf(
  kind: LetterKind,
  order: Pick<Order, 'id' | 'email' | 'locale' | 'packTitle' | 'price' | 'credits'>,
  brand: Brand,
  once: string,
  facts: Facts = {},
): Letter {
  const { locale } = order
  const { amount = order.price, credits = order.credits, debt } = facts
  const { subject, lines } = (locale === 'ru' ? ru : en)[kind]({
    title: order.packTitle,
    price: money(order.price, locale),
    credits: counted(order.credits, locale),
    amount: money(amount, locale),
    taken: counted(credits, locale),
    debt: debt === undefined || debt === 0n ? null : counted(debt, locale),
  })
  const said = lines.filter((line) => line !== null)
  const number = locale === 'ru' ? `Номер заказа: ${order.id}` : `Order: ${order.id}`
  const help = locale === 'ru' ? 'Вопросы' : 'Questions'
  const address = `${brand.cabinetUrl}/orders/${order.id}`
  return {
    to: order.email,
    kind,
    subject,
    text: [...said, '', number, address, `${help}: ${brand.supportEmail}`, brand.name, ''].join(
      '\n',
    ),
    html: page({ locale, subject, said, number, address, help, brand }),
    once,
  }
}

function page(letter: {
  readonly locale: Locale
  readonly subject: string
  readonly said: readonly string[]
  readonly number: string
  readonly address: string
  readonly help: string
  readonly brand: Brand
}): string {
  const { brand, address, help } = letter
  const mail = escaped(brand.supportEmail)
  return [
    '<!doctype html>',
    `<html lang="${letter.locale}"><head><meta charset="utf-8">`,
    `<title>${escaped(letter.subject)}</title></head>`,
    '<body style="font-family:sans-serif;line-height:1.5;max-width:36em;margin:1.5em">',
    ...letter.said.map((line) => `<p>${escaped(line)}</p>`),
    `<p><a href="${escaped(address)}">${escaped(letter.number)}</a></p>`,
    `<p>${help}: <a href="mailto:${mail}">${mail}</a><br>${escaped(brand.name)}</p>`,
    '</body></html>',
    '',
  ].join('\n')
}

function escaped(text: string): string {
  const marks: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (mark) => marks[mark] ?? mark)
}
