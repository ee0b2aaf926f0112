// Composes the e-mail about a month in the owner's language. The layout is in
// platform/mail/email.ts, the choice of what it says in summaries.ts.
import { dayText } from '../platform/clock.ts'
import { composeEmail, type EmailBrand, momentsIn } from '../platform/mail/email.ts'
import type { Credits } from '../units/credits.ts'
import { creditsInMoney, creditsPhrase, moneyPhrase } from '../units/email-amounts.ts'
import type { Kopecks } from '../units/kopecks.ts'
import type { PackPrice } from '../units/pack-price.ts'

export const SUMMARY_KIND = 'month-summary'

type Language = 'ru' | 'en'
type ReceiptKind = 'prepayment' | 'completion' | 'return'

export type SummaryFacts = {
  /** The first day of the month, `2026-10-01`. */
  readonly month: string
  /** Charged requests only. */
  readonly requests: bigint
  readonly spent: Credits
  /** Most credits first. */
  readonly models: readonly { readonly model: string; readonly spent: Credits }[]
  readonly purchases: readonly { readonly price: Kopecks; readonly credits: Credits }[]
  readonly receipts: readonly {
    readonly kind: ReceiptKind
    readonly amount: Kopecks
    readonly atMs: number
  }[]
  /** Receipts that are not listed. */
  readonly receiptsMore: number
  /** Now, not at the end of the month. */
  readonly balance: Credits
  /** The pack bought last: credits are shown in roubles at its price. */
  readonly pack: PackPrice | undefined
}

export type SummaryReader = {
  readonly language: Language
  readonly zone: string | null
  readonly brand: EmailBrand
  /** Of the link that switches the e-mail off. */
  readonly code: string
}

const words = {
  en: {
    locale: 'en-GB',
    subject: (brand: string, month: string) => `${brand}: your ${month}`,
    used: (requests: string, spent: string) => `${requests}, ${spent} used.`,
    unused: 'No request was charged in this month.',
    requests: { one: 'request', other: 'requests' },
    bought: 'Bought',
    balance: 'Balance now',
    receipt: {
      prepayment: 'Receipt of a payment',
      completion: 'Receipt of used credits',
      return: 'Receipt of a refund',
    },
    more: (count: number) => `More receipts (${count}) are on the page of payments.`,
    button: 'Show usage',
    payments: 'Payments and receipts',
  },
  ru: {
    locale: 'ru-RU',
    subject: (brand: string, month: string) => `${brand}: итоги за ${month}`,
    used: (requests: string, spent: string) => `${requests}, израсходовано ${spent}.`,
    unused: 'За этот месяц ни за один запрос кредиты не списаны.',
    requests: { one: 'запрос', few: 'запроса', other: 'запросов' },
    bought: 'Куплено',
    balance: 'Сейчас на балансе',
    receipt: {
      prepayment: 'Чек оплаты',
      completion: 'Чек за использованное',
      return: 'Чек возврата',
    },
    more: (count: number) => `Остальные чеки (${count}) — на странице платежей.`,
    button: 'Показать использование',
    payments: 'Платежи и чеки',
  },
} as const

export function composeSummaryEmail(facts: SummaryFacts, reader: SummaryReader) {
  const { language, zone, brand, code } = reader
  const said = words[language]
  const { cabinetUrl } = brand
  const month = new Intl.DateTimeFormat(said.locale, {
    ...{ timeZone: 'UTC', month: 'long', year: 'numeric' },
  })
    .format(Date.parse(facts.month))
    .replace(/\s*г\.$/, '')
  const day = momentsIn(said.locale, zone).day
  const content = {
    subject: said.subject(brand.name, month),
    lines: [
      facts.requests === 0n
        ? said.unused
        : said.used(
            counted(facts.requests, language),
            creditsInMoney(facts.spent, facts.pack, language),
          ),
    ],
    facts: [
      ...facts.models.map((one): Fact => [one.model, creditsPhrase(one.spent, language)]),
      ...facts.purchases.map(
        (one): Fact => [
          said.bought,
          `${creditsPhrase(one.credits, language)}, ${moneyPhrase(one.price, language)}`,
        ],
      ),
      ...facts.receipts.map(
        (one): Fact => [
          `${said.receipt[one.kind]}, ${day(one.atMs)}`,
          moneyPhrase(one.amount, language),
        ],
      ),
      [said.balance, creditsInMoney(facts.balance, facts.pack, language)] as Fact,
    ],
    button: { label: said.button, link: `${cabinetUrl}/usage?period=own&${periodOf(facts.month)}` },
    more: [
      ...(facts.receiptsMore > 0 ? [said.more(facts.receiptsMore)] : []),
      `${said.payments}: ${cabinetUrl}/payments`,
    ],
  }
  const unsubscribe = `${cabinetUrl}/unsubscribe#code=${code}`
  const frame = { brand, language, reason: 'monthly', unsubscribe } as const
  return {
    ...composeEmail(content, frame),
    // Mail programs send a POST there, and cannot send what is behind a hash.
    unsubscribe: `${cabinetUrl}/unsubscribe?code=${code}`,
  }
}

type Fact = readonly [name: string, value: string]

function counted(requests: bigint, language: Language): string {
  const { requests: forms } = words[language]
  // Plural rules read only the last two digits, so the remainder is enough and fits a Number.
  const rule = new Intl.PluralRules(language).select(Number(requests % 1_000_000n))
  const form = (forms as Partial<Record<Intl.LDMLPluralRule, string>>)[rule] ?? forms.other
  return `${new Intl.NumberFormat(words[language].locale).format(requests)} ${form}`
}

/** The month as the page of usage takes it. */
function periodOf(first: string): string {
  const [year = 0, month = 0] = first.split('-').map(Number)
  return `from=${first}&to=${dayText(Date.UTC(year, month, 0))}`
}
