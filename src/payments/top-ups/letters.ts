// The letters about top-ups, in both languages: what was bought without its owner, and why nothing
// was. Each leads to the page where it is switched off.
import { composeLetter, type Sentences } from '../../platform/mail/letter.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { counted, money } from '../../units/spoken.ts'
import type { Brand } from '../order/letters.ts'
import type { Locale } from '../port.ts'
import type { StopReason } from './queries.ts'

/** Ends that owners are written about; a decline has its own letter, their own word needs none. */
export type StopTold = Exclude<StopReason, 'owner' | 'declined'>

type Purchase = { readonly price: Kopecks; readonly credits: Credits }

export type TopUpFacts = {
  'top-up-on': Purchase & { readonly threshold: Credits; readonly ceiling: Kopecks; title: string }
  'top-up-credited': Purchase
  'top-up-declined': Pick<Purchase, 'price'>
  'top-up-unresolved': Pick<Purchase, 'price'>
  'top-up-stopped': { readonly why: StopTold }
  'top-up-ceiling': { readonly ceiling: Kopecks; readonly spent: Kopecks }
}

export type TopUpNotice = {
  readonly [K in keyof TopUpFacts]: { readonly kind: K; readonly facts: TopUpFacts[K] }
}[keyof TopUpFacts]

type Setting = {
  readonly brand: string
  readonly limits: string
  readonly packs: string
  counted(amount: Credits): string
  money(amount: Kopecks): string
}
type Words = {
  readonly [K in keyof TopUpFacts]: (facts: TopUpFacts[K], setting: Setting) => Sentences
}

const stoppedRussian: Record<StopTold, string> = {
  pack_changed:
    'Пакет, на который вы соглашались, изменился (цена или число кредитов) или больше не ' +
    'продаётся. Другой мы без вашего согласия не купим.',
  refunded:
    'Деньги за вашу покупку возвращаются. Чтобы не списать их с карты снова, мы больше ничего не ' +
    'покупаем сами.',
  disputed:
    'Ваш платёж оспорен в банке. Пока спор не решён и после него мы больше ничего не покупаем ' +
    'сами.',
  forgotten:
    'Карта, с которой оплачивалось автопополнение, удалена из кабинета. Больше мы с неё ничего ' +
    'не спишем.',
  consent_incomplete:
    'В вашем согласии названа цена пакета, но не число кредитов. Мы покупаем, только если вы ' +
    'согласились и с тем и с другим.',
}

const stoppedEnglish: Record<StopTold, string> = {
  pack_changed:
    'The pack that you agreed to has changed (its price or its credits), or is no longer sold. ' +
    'We do not buy another one without your word.',
  refunded:
    'The money for a purchase of yours is being paid back. So that your card is not charged for ' +
    'it again, we buy nothing more by ourselves.',
  disputed:
    'A payment of yours is disputed at the bank. During the dispute and after it we buy nothing ' +
    'more by ourselves.',
  forgotten:
    'The card that paid for automatic top-up was removed from your account. We do not charge it ' +
    'again.',
  consent_incomplete:
    'Your agreement names the price of the pack but not its credits. We buy only when you have ' +
    'agreed to both.',
}

const russian: Words = {
  'top-up-on': ({ title, price, credits, threshold, ceiling }, at) => ({
    subject: `Автопополнение в ${at.brand} включено`,
    lines: [
      `Когда на балансе останется меньше чем ${at.counted(threshold)}, мы спишем с карты ` +
        `${title} ${at.money(price)} и зачислим ${at.counted(credits)}.`,
      `За календарный месяц — не больше ${at.money(ceiling)}. О каждом списании придёт письмо.`,
    ],
    button: { label: 'Настроить или выключить', link: at.limits },
    more: ['Если это были не вы, выключите автопополнение и сразу смените пароль.'],
  }),
  'top-up-credited': ({ price, credits }, at) => ({
    subject: `Автопополнение: списано ${at.money(price)}`,
    lines: [
      `Баланс опустился ниже порога. Мы списали с карты ${at.money(price)} и зачислили ` +
        `${at.counted(credits)}.`,
    ],
    button: { label: 'Настроить или выключить', link: at.limits },
  }),
  'top-up-declined': ({ price }, at) => ({
    subject: `Автопополнение в ${at.brand} не прошло и выключено`,
    lines: [
      `Банк отклонил списание ${at.money(price)}. Деньги не списаны, кредиты не зачислены.`,
      'Больше мы пробовать не будем: автопополнение выключено. Пополните баланс сами и включите ' +
        'его снова, если нужно.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Настройки автопополнения: ${at.limits}`],
  }),
  'top-up-unresolved': ({ price }, at) => ({
    subject: `Автопополнение в ${at.brand}: банк не отвечает`,
    lines: [
      `Больше суток неизвестно, прошло ли списание ${at.money(price)}. Если деньги списаны, ` +
        'кредиты зачислятся сами.',
      'Пока это не выяснится, мы больше ничего не спишем. Мы уже разбираемся; если кредиты ' +
        'нужны сейчас, пополните баланс сами.',
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Настройки автопополнения: ${at.limits}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `Автопополнение в ${at.brand} выключено`,
    lines: [
      stoppedRussian[why],
      'Автопополнение выключено. Если оно нужно, включите его снова: мы спросим согласие заново.',
    ],
    button: { label: 'Настроить автопополнение', link: at.limits },
    ...(why === 'forgotten' && { more: ['Если это были не вы, сразу смените пароль.'] }),
  }),
  'top-up-ceiling': ({ ceiling, spent }, at) => ({
    subject: `Автопополнение в ${at.brand} дошло до предела месяца`,
    lines: [
      `Баланс ниже порога, но в этом месяце автопополнения уже стоили ${at.money(spent)}, а ` +
        `ваш предел — ${at.money(ceiling)}. До начала следующего месяца мы ничего не спишем.`,
    ],
    button: { label: 'Пополнить баланс', link: at.packs },
    more: [`Поднять предел: ${at.limits}`],
  }),
}

const english: Words = {
  'top-up-on': ({ title, price, credits, threshold, ceiling }, at) => ({
    subject: `Automatic top-up in ${at.brand} is on`,
    lines: [
      `When less than ${at.counted(threshold)} is left, we charge ${at.money(price)} to the ` +
        `card ${title} and add ${at.counted(credits)}.`,
      `Never more than ${at.money(ceiling)} in a calendar month. You get a letter each time.`,
    ],
    button: { label: 'Change or switch off', link: at.limits },
    more: ['If it was not you, switch it off and change your password at once.'],
  }),
  'top-up-credited': ({ price, credits }, at) => ({
    subject: `Automatic top-up: ${at.money(price)} charged`,
    lines: [
      `Your balance fell below its threshold. We charged ${at.money(price)} to your card and ` +
        `added ${at.counted(credits)}.`,
    ],
    button: { label: 'Change or switch off', link: at.limits },
  }),
  'top-up-declined': ({ price }, at) => ({
    subject: `Automatic top-up in ${at.brand} failed and is off`,
    lines: [
      `The bank declined a charge of ${at.money(price)}. No money was taken, no credits came.`,
      'We do not try again: automatic top-up is off. Top up yourself, and switch it on again if ' +
        'you want it.',
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Automatic top-up: ${at.limits}`],
  }),
  'top-up-unresolved': ({ price }, at) => ({
    subject: `Automatic top-up in ${at.brand}: no answer from the bank`,
    lines: [
      `For more than a day it is unknown whether a charge of ${at.money(price)} went through. If ` +
        'it did, the credits come by themselves.',
      'Until that is known we charge nothing else. We are looking into it; if you need credits ' +
        'now, top up yourself.',
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Automatic top-up: ${at.limits}`],
  }),
  'top-up-stopped': ({ why }, at) => ({
    subject: `Automatic top-up in ${at.brand} is off`,
    lines: [
      stoppedEnglish[why],
      'Automatic top-up is off. If you need it, switch it on again: we ask for your word anew.',
    ],
    button: { label: 'Automatic top-up', link: at.limits },
    ...(why === 'forgotten' && { more: ['If it was not you, change your password at once.'] }),
  }),
  'top-up-ceiling': ({ ceiling, spent }, at) => ({
    subject: `Automatic top-up in ${at.brand} reached the month’s limit`,
    lines: [
      `Your balance is below its threshold, but this month top-ups have cost ${at.money(spent)} ` +
        `and your limit is ${at.money(ceiling)}. We charge nothing before the next month.`,
    ],
    button: { label: 'Top up', link: at.packs },
    more: [`Raise the limit: ${at.limits}`],
  }),
}

export const topUpKinds = Object.keys(english) as readonly (keyof TopUpFacts)[]
export const stopsTold = Object.keys(stoppedEnglish) as readonly StopTold[]

/** The letter of one event; `once` names the event, so that it is told once. */
export function topUpLetter(
  { kind, facts }: TopUpNotice,
  to: { readonly email: string; readonly locale: Locale },
  brand: Brand,
  once: string,
) {
  const { locale } = to
  // The kind chooses both the sentences and the type of the facts; the compiler cannot follow that.
  const write = (locale === 'ru' ? russian : english)[kind] as (
    facts: TopUpNotice['facts'],
    setting: Setting,
  ) => Sentences
  const sentences = write(facts, {
    brand: brand.name,
    limits: `${brand.cabinetUrl}/limits`,
    packs: `${brand.cabinetUrl}/packs`,
    counted: (amount) => counted(amount, locale),
    money: (amount) => money(amount, locale),
  })
  const help = locale === 'ru' ? 'Вопросы' : 'Questions'
  const signature = `${brand.name}. ${help}: ${brand.supportEmail}`
  return { to: to.email, kind, once, ...composeLetter(sentences, signature, locale) }
}
