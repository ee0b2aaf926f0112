// The e-mails about top-ups, in Russian and English: what was bought automatically, or why nothing
// was bought. Each links to the page where owners turn top-ups off.
import { composeEmail, type EmailContent } from '../../platform/mail/email.ts'
import type { Credits } from '../../units/credits.ts'
import { creditsPhrase, moneyPhrase } from '../../units/email-amounts.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Brand } from '../order/emails.ts'
import type { Locale } from '../port.ts'
import type { StopReason } from './queries.ts'

/**
 * Stops that get the e-mail `top-up-stopped`; a decline has its own, the owner's stop needs none.
 */
export type EmailedStopReason = Exclude<StopReason, 'owner' | 'declined'>

type PackTerms = { readonly price: Kopecks; readonly credits: Credits }

export type TopUpEmailFacts = {
  'top-up-on': PackTerms & { readonly threshold: Credits; readonly ceiling: Kopecks; title: string }
  'top-up-credited': PackTerms
  'top-up-declined': Pick<PackTerms, 'price'>
  'top-up-unresolved': Pick<PackTerms, 'price'>
  'top-up-stopped': { readonly why: EmailedStopReason }
  'top-up-ceiling': { readonly ceiling: Kopecks; readonly spent: Kopecks }
}

export type TopUpEmailInput = {
  readonly [K in keyof TopUpEmailFacts]: { readonly kind: K; readonly facts: TopUpEmailFacts[K] }
}[keyof TopUpEmailFacts]

type TemplateContext = {
  readonly brand: string
  readonly limits: string
  readonly packs: string
  counted(amount: Credits): string
  money(amount: Kopecks): string
}
type Templates = {
  readonly [K in keyof TopUpEmailFacts]: (
    facts: TopUpEmailFacts[K],
    context: TemplateContext,
  ) => EmailContent
}

const stoppedRussian: Record<EmailedStopReason, string> = {
  pack_changed:
    'У пакета, который вы разрешили покупать, изменилась цена или число кредитов, или он больше ' +
    'не продаётся. Без вашего разрешения мы не купим другой пакет.',
  refunded:
    'Мы возвращаем деньги за вашу покупку. Чтобы не списать их с карты снова, мы прекратили ' +
    'автоматические покупки.',
  disputed: 'Ваш платёж оспорен. Автоматических покупок не будет ни во время спора, ни после него.',
  forgotten:
    'Карта для автопополнения удалена из вашего аккаунта. Больше мы с неё ничего не спишем.',
  consent_incomplete:
    'В вашем разрешении указана цена пакета, но не указано число кредитов. Для автоматических ' +
    'покупок нужно и то и другое.',
}

const stoppedEnglish: Record<EmailedStopReason, string> = {
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
  consent_incomplete:
    'Your authorisation states the price of the pack but not its number of credits. Automatic ' +
    'purchases require both.',
}

const russian: Templates = {
  'top-up-on': ({ title, price, credits, threshold, ceiling }, at) => ({
    subject: `Автопополнение в ${at.brand} включено`,
    lines: [
      `Когда на балансе останется меньше чем ${at.counted(threshold)}, мы спишем с карты ` +
        `${title} ${at.money(price)} и зачислим ${at.counted(credits)}.`,
      `Не больше ${at.money(ceiling)} за календарный месяц. О каждом списании придёт письмо.`,
    ],
    button: { label: 'Изменить или выключить', link: at.limits },
    more: ['Если это были не вы, выключите автопополнение и сразу смените пароль.'],
  }),
  'top-up-credited': ({ price, credits }, at) => ({
    subject: `Автопополнение: списано ${at.money(price)}`,
    lines: [
      `Баланс опустился ниже порога. Мы списали с карты ${at.money(price)} и зачислили ` +
        `${at.counted(credits)}.`,
    ],
    button: { label: 'Изменить или выключить', link: at.limits },
  }),
  'top-up-declined': ({ price }, at) => ({
    subject: `Автопополнение в ${at.brand} не прошло и выключено`,
    lines: [
      `Банк отклонил списание ${at.money(price)}. Деньги не списаны, кредиты не зачислены.`,
      'Повторять списание мы не будем: автопополнение выключено. Пополните баланс вручную, а ' +
        'если нужно, включите автопополнение снова.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Настройки автопополнения: ${at.limits}`],
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
    more: [`Настройки автопополнения: ${at.limits}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `Автопополнение в ${at.brand} выключено`,
    lines: [
      stoppedRussian[why],
      'Автопополнение выключено. Если оно нужно, включите его снова и дайте новое разрешение.',
    ],
    button: { label: 'Настроить автопополнение', link: at.limits },
    ...(why === 'forgotten' && { more: ['Если это были не вы, сразу смените пароль.'] }),
  }),
  'top-up-ceiling': ({ ceiling, spent }, at) => ({
    subject: `Автопополнение в ${at.brand}: исчерпан лимит на месяц`,
    lines: [
      `Баланс ниже порога, но в этом месяце на автопополнение уже потрачено ` +
        `${at.money(spent)}, а ваш лимит на месяц — ${at.money(ceiling)}. До следующего ` +
        'месяца списаний не будет.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Поднять лимит: ${at.limits}`],
  }),
}

const english: Templates = {
  'top-up-on': ({ title, price, credits, threshold, ceiling }, at) => ({
    subject: `${at.brand} automatic top-up is on`,
    lines: [
      `When your balance is below ${at.counted(threshold)}, we will charge ` +
        `${at.money(price)} to the card ${title} and add ${at.counted(credits)}.`,
      `Up to ${at.money(ceiling)} per calendar month. We will e-mail you about each charge.`,
    ],
    button: { label: 'Edit or turn off', link: at.limits },
    more: ['If this was not you, turn it off and change your password immediately.'],
  }),
  'top-up-credited': ({ price, credits }, at) => ({
    subject: `Automatic top-up: ${at.money(price)} charged`,
    lines: [
      `Your balance fell below the threshold. We charged ${at.money(price)} to your card and ` +
        `added ${at.counted(credits)}.`,
    ],
    button: { label: 'Edit or turn off', link: at.limits },
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
    more: [`Automatic top-up settings: ${at.limits}`],
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
    more: [`Automatic top-up settings: ${at.limits}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `${at.brand} automatic top-up is off`,
    lines: [
      stoppedEnglish[why],
      'Automatic top-up is off. If you need it, turn it on and authorise the charges again.',
    ],
    button: { label: 'Open settings', link: at.limits },
    ...(why === 'forgotten' && {
      more: ['If this was not you, change your password immediately.'],
    }),
  }),
  'top-up-ceiling': ({ ceiling, spent }, at) => ({
    subject: `${at.brand} automatic top-up: monthly limit reached`,
    lines: [
      `Your balance is below the threshold, but automatic top-ups have already cost ` +
        `${at.money(spent)} this month, and your monthly limit is ${at.money(ceiling)}. We will ` +
        'make no more charges until next month.',
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Raise the limit: ${at.limits}`],
  }),
}

export const topUpEmailKinds = Object.keys(english) as readonly (keyof TopUpEmailFacts)[]
export const emailedStopReasons = Object.keys(stoppedEnglish) as readonly EmailedStopReason[]

/** The e-mail about one event; `once` names the event, so that it is sent once. */
export function topUpEmail(
  { kind, facts }: TopUpEmailInput,
  to: { readonly email: string; readonly locale: Locale },
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
    limits: `${brand.cabinetUrl}/limits`,
    packs: `${brand.cabinetUrl}/packs`,
    counted: (amount) => creditsPhrase(amount, locale),
    money: (amount) => moneyPhrase(amount, locale),
  })
  const help = locale === 'ru' ? 'Вопросы' : 'Questions'
  const signature = `${brand.name}. ${help}: ${brand.supportEmail}`
  return { to: to.email, kind, once, ...composeEmail(sentences, signature, locale) }
}
