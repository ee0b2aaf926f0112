// The e-mails about top-ups, in Russian and English: what will be or was bought automatically, or
// why nothing was bought. Each links to the page where owners turn top-ups off.
import { composeEmail, type EmailContent, momentsIn } from '../../platform/mail/email.ts'
import type { Credits } from '../../units/credits.ts'
import { creditsInMoney, creditsPhrase, moneyPhrase } from '../../units/email-amounts.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Brand } from '../order/emails.ts'
import type { Locale } from '../port.ts'
import type { EndReason } from './queries.ts'

/**
 * Ends of a mandate that get the e-mail `top-up-stopped`. A decline, a closed account and a new
 * mandate have their own, the owner's own end needs none.
 */
export type EmailedEndReason = Exclude<EndReason, 'owner' | 'declined' | 'closed' | 'replaced'>

type PackTerms = { readonly price: Kopecks; readonly credits: Credits }
/** With the card's last digits. */
type CardTerms = PackTerms & { readonly title: string }

export type TopUpEmailFacts = {
  'top-up-on': CardTerms & {
    readonly threshold: Credits
    readonly dayCeiling: Kopecks
    readonly monthCeiling: Kopecks
  }
  'top-up-soon': CardTerms & { readonly threshold: Credits; readonly chargeAt: Date }
  /** The balance includes the credits; the title is empty if the mandate was erased. */
  'top-up-credited': CardTerms & { readonly balance: Credits }
  'top-up-declined': Pick<PackTerms, 'price'>
  'top-up-unresolved': Pick<PackTerms, 'price'>
  'top-up-stopped': { readonly why: EmailedEndReason }
  'top-up-ceiling': {
    readonly period: 'day' | 'month'
    readonly ceiling: Kopecks
    readonly spent: Kopecks
    /** When the day or month, which are in UTC, ends. */
    readonly resetsAt: Date
  }
}

export type TopUpEmailInput = {
  readonly [K in keyof TopUpEmailFacts]: { readonly kind: K; readonly facts: TopUpEmailFacts[K] }
}[keyof TopUpEmailFacts]

type TemplateContext = {
  readonly brand: string
  /** The page of automatic top-up. */
  readonly page: string
  readonly packs: string
  counted(amount: Credits): string
  /** With roubles, at the price of the pack that top-ups buy. */
  countedAt(amount: Credits, terms: PackTerms): string
  money(amount: Kopecks): string
  moment(at: Date): string
}
type Templates = {
  readonly [K in keyof TopUpEmailFacts]: (
    facts: TopUpEmailFacts[K],
    context: TemplateContext,
  ) => EmailContent
}

const stoppedRussian: Record<EmailedEndReason, string> = {
  pack_changed:
    'У пакета, который вы разрешили покупать, изменилась цена или число кредитов, или он больше ' +
    'не продаётся. Без вашего разрешения мы не купим другой пакет.',
  refunded:
    'Мы возвращаем деньги за вашу покупку. Чтобы не списать их с карты снова, мы прекратили ' +
    'автоматические покупки.',
  disputed: 'Ваш платёж оспорен. Автоматических покупок не будет ни во время спора, ни после него.',
  forgotten:
    'Карта для автопополнения удалена из вашего аккаунта. Больше мы с неё ничего не спишем.',
  card_replaced:
    'Вы разрешили списания с одной карты, а теперь сохранена другая. С неё мы без вашего ' +
    'разрешения ничего не спишем.',
  consent_incomplete:
    'В вашем разрешении указана цена пакета, но не указано число кредитов. Для автоматических ' +
    'покупок нужно и то и другое.',
}

const stoppedEnglish: Record<EmailedEndReason, string> = {
  pack_changed:
    'The price or the number of credits of the pack you authorised has changed, or the pack is ' +
    'no longer sold. We will not buy a different one without your authorisation.',
  refunded:
    'One of your purchases is being refunded. So that your card is not charged for it again, we ' +
    'have stopped automatic purchases.',
  disputed:
    'One of your payments is disputed. We will make no automatic purchases during the dispute ' +
    'or after it.',
  forgotten:
    'The card used for automatic top-up was removed from your account. We will not charge it ' +
    'again.',
  card_replaced:
    'You authorised charges to one card, and another one is saved now. We will not charge it ' +
    'without your authorisation.',
  consent_incomplete:
    'Your authorisation states the price of the pack but not its number of credits. Automatic ' +
    'purchases require both.',
}

const russian: Templates = {
  'top-up-on': ({ title, price, credits, threshold, dayCeiling, monthCeiling }, at) => ({
    subject: `Автопополнение в ${at.brand} включено`,
    lines: [
      `Когда на балансе останется меньше чем ${at.countedAt(threshold, { price, credits })}, ` +
        `мы спишем ${at.money(price)} с карты ${title} и зачислим ${at.counted(credits)}.`,
      `Не больше ${at.money(dayCeiling)} за сутки и ${at.money(monthCeiling)} за календарный ` +
        'месяц, по UTC. О каждом списании придёт письмо.',
    ],
    button: { label: 'Изменить или выключить', link: at.page },
    more: ['Если это были не вы, выключите автопополнение и сразу смените пароль.'],
  }),
  'top-up-soon': ({ title, price, credits, threshold, chargeAt }, at) => ({
    subject: `Автопополнение: скоро спишем ${at.money(price)}`,
    lines: [
      `На балансе меньше чем ${at.countedAt(threshold, { price, credits })}. ` +
        `${at.moment(chargeAt)} мы спишем ${at.money(price)} с карты ${title} ` +
        `и зачислим ${at.counted(credits)}.`,
      'Если списание не нужно, выключите автопополнение до этого времени. Если вы сами пополните ' +
        'баланс выше порога, списания тоже не будет.',
    ],
    button: { label: 'Выключить автопополнение', link: at.page },
  }),
  'top-up-credited': ({ title, price, credits, balance }, at) => ({
    subject: `Автопополнение: списано ${at.money(price)}`,
    lines: [
      'Баланс опустился ниже порога. ' +
        `Мы списали ${at.money(price)} с карты${title === '' ? '' : ` ${title}`} и зачислили ` +
        `${at.counted(credits)}. Теперь на балансе ${at.countedAt(balance, { price, credits })}.`,
      'Автопополнение можно выключить в любой момент, тогда списаний больше не будет.',
    ],
    button: { label: 'Изменить или выключить', link: at.page },
  }),
  'top-up-declined': ({ price }, at) => ({
    subject: `Автопополнение в ${at.brand} не прошло и выключено`,
    lines: [
      `Банк отклонил списание ${at.money(price)}. Деньги не списаны, кредиты не зачислены.`,
      'Повторять списание мы не будем: автопополнение выключено. Пополните баланс вручную, а ' +
        'если нужно, включите автопополнение снова.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Настройки автопополнения: ${at.page}`],
  }),
  'top-up-unresolved': ({ price }, at) => ({
    subject: `Автопополнение в ${at.brand}: банк не отвечает`,
    lines: [
      `Банк больше суток не подтверждает списание ${at.money(price)}. Если оно прошло, ` +
        'кредиты зачислятся автоматически.',
      'Пока это не выяснится, других списаний не будет. Мы уже разбираемся; если кредиты нужны ' +
        'сейчас, пополните баланс вручную.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Настройки автопополнения: ${at.page}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `Автопополнение в ${at.brand} выключено`,
    lines: [
      stoppedRussian[why],
      'Автопополнение выключено. Если оно нужно, включите его снова и дайте новое разрешение.',
    ],
    button: { label: 'Настроить автопополнение', link: at.page },
    ...(why === 'forgotten' && { more: ['Если это были не вы, сразу смените пароль.'] }),
  }),
  'top-up-ceiling': ({ period, ceiling, spent, resetsAt }, at) => ({
    subject:
      period === 'day'
        ? `Автопополнение в ${at.brand}: исчерпан лимит на сутки`
        : `Автопополнение в ${at.brand}: исчерпан лимит на месяц`,
    lines: [
      period === 'day'
        ? 'Баланс ниже порога, но за эти сутки на автопополнение уже потрачено ' +
          `${at.money(spent)}, и ещё одна покупка превысит ваш лимит на сутки — ` +
          `${at.money(ceiling)}. Списаний не будет, пока лимит не обновится: ` +
          `${at.moment(resetsAt)}.`
        : 'Баланс ниже порога, но в этом месяце на автопополнение уже потрачено ' +
          `${at.money(spent)}, и ещё одна покупка превысит ваш лимит на месяц — ` +
          `${at.money(ceiling)}. Списаний не будет, пока лимит не обновится: ` +
          `${at.moment(resetsAt)}.`,
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Поднять лимит: ${at.page}`],
  }),
}

const english: Templates = {
  'top-up-on': ({ title, price, credits, threshold, dayCeiling, monthCeiling }, at) => ({
    subject: `${at.brand} automatic top-up is on`,
    lines: [
      `When your balance is below ${at.countedAt(threshold, { price, credits })}, we will charge ` +
        `${at.money(price)} to the card ${title} and add ${at.counted(credits)}.`,
      `Up to ${at.money(dayCeiling)} per day and ${at.money(monthCeiling)} per calendar month, ` +
        'in UTC. We will e-mail you about each charge.',
    ],
    button: { label: 'Edit or turn off', link: at.page },
    more: ['If this was not you, turn it off and change your password immediately.'],
  }),
  'top-up-soon': ({ title, price, credits, threshold, chargeAt }, at) => ({
    subject: `Automatic top-up: ${at.money(price)} will be charged soon`,
    lines: [
      `Your balance is below ${at.countedAt(threshold, { price, credits })}. ` +
        `On ${at.moment(chargeAt)} we will charge ` +
        `${at.money(price)} to the card ${title} and add ${at.counted(credits)}.`,
      'If you do not want this charge, turn automatic top-up off before that time. If you bring ' +
        'the balance above the threshold yourself, there will be no charge either.',
    ],
    button: { label: 'Turn off automatic top-up', link: at.page },
  }),
  'top-up-credited': ({ title, price, credits, balance }, at) => ({
    subject: `Automatic top-up: ${at.money(price)} charged`,
    lines: [
      `Your balance fell below the threshold. We charged ${at.money(price)} to ` +
        `${title === '' ? 'your card' : `the card ${title}`} and added ${at.counted(credits)}. ` +
        `Your balance is now ${at.countedAt(balance, { price, credits })}.`,
      'You can turn automatic top-up off at any time; there will be no more charges then.',
    ],
    button: { label: 'Edit or turn off', link: at.page },
  }),
  'top-up-declined': ({ price }, at) => ({
    subject: `${at.brand} automatic top-up failed and was turned off`,
    lines: [
      `The bank declined a charge of ${at.money(price)}. You were not charged, and no credits ` +
        'were added.',
      'We will not try again: automatic top-up is off. Top up manually, and turn it on again if ' +
        'you need it.',
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Automatic top-up settings: ${at.page}`],
  }),
  'top-up-unresolved': ({ price }, at) => ({
    subject: `${at.brand} automatic top-up: no response from the bank`,
    lines: [
      `The bank has not confirmed a charge of ${at.money(price)} for more than a day. If it ` +
        'went through, the credits will be added automatically.',
      'Until this is resolved, we will make no other charges. We are looking into it; if you ' +
        'need credits now, top up manually.',
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Automatic top-up settings: ${at.page}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `${at.brand} automatic top-up is off`,
    lines: [
      stoppedEnglish[why],
      'Automatic top-up is off. If you need it, turn it on and authorise the charges again.',
    ],
    button: { label: 'Open settings', link: at.page },
    ...(why === 'forgotten' && {
      more: ['If this was not you, change your password immediately.'],
    }),
  }),
  'top-up-ceiling': ({ period, ceiling, spent, resetsAt }, at) => ({
    subject:
      period === 'day'
        ? `${at.brand} automatic top-up: daily limit reached`
        : `${at.brand} automatic top-up: monthly limit reached`,
    lines: [
      period === 'day'
        ? 'Your balance is below the threshold, but automatic top-ups have already cost ' +
          `${at.money(spent)} since this day began, and another one would exceed your daily ` +
          `limit of ${at.money(ceiling)}. We will make no more charges until the limit resets on ` +
          `${at.moment(resetsAt)}.`
        : 'Your balance is below the threshold, but automatic top-ups have already cost ' +
          `${at.money(spent)} this month, and another one would exceed your monthly limit of ` +
          `${at.money(ceiling)}. We will make no more charges until the limit resets on ` +
          `${at.moment(resetsAt)}.`,
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Raise the limit: ${at.page}`],
  }),
}

export const topUpEmailKinds = Object.keys(english) as readonly (keyof TopUpEmailFacts)[]
export const emailedEndReasons = Object.keys(stoppedEnglish) as readonly EmailedEndReason[]

/** The e-mail about one event; `once` names the event, so that it is sent once. */
export function topUpEmail(
  { kind, facts }: TopUpEmailInput,
  to: { readonly email: string; readonly locale: Locale; readonly zone?: string | null },
  brand: Brand,
  once: string,
) {
  const { locale } = to
  // The kind chooses both the sentences and the type of the facts; the compiler cannot follow that.
  const write = (locale === 'ru' ? russian : english)[kind] as (
    facts: TopUpEmailInput['facts'],
    context: TemplateContext,
  ) => EmailContent
  const sentences = write(facts, {
    brand: brand.name,
    page: `${brand.cabinetUrl}/top-up`,
    packs: `${brand.cabinetUrl}/packs`,
    counted: (amount) => creditsPhrase(amount, locale),
    countedAt: (amount, { credits, price }) =>
      creditsInMoney(amount, { credits, priceKopecks: price }, locale),
    money: (amount) => moneyPhrase(amount, locale),
    moment: (at) => momentsIn(locale, to.zone).time(at.getTime()),
  })
  const email = composeEmail(sentences, { brand, language: locale })
  return { to: to.email, kind, once, ...email }
}
