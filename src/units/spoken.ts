// Amounts as people write them in a letter, in Russian and in English: digits in threes, the sign
// where it belongs, the noun in its right form. Whole credits, rounded down.
import type { Credits } from './credits.ts'
import { wholeCredits } from './credits.ts'
import type { Kopecks } from './kopecks.ts'

type Locale = 'ru' | 'en'

/** `1 300,00 ₽`; in English `RUB 1,300.00`. */
export function money(amount: Kopecks, locale: Locale): string {
  const whole = grouped(amount / 100n, locale)
  const rest = (amount % 100n).toString().padStart(2, '0')
  return locale === 'ru' ? `${whole},${rest}\u00a0₽` : `RUB\u00a0${whole}.${rest}`
}

/** `35 000 000 кредитов`, with the right ending; whole credits, rounded down. */
export function counted(amount: Credits, locale: Locale): string {
  const whole = wholeCredits(amount)
  if (locale === 'en') return `${grouped(whole, 'en')} ${whole === 1n ? 'credit' : 'credits'}`
  const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'кредит', few: 'кредита' }
  // The rules look at the last two digits only, so a number that fits is enough.
  const rule = new Intl.PluralRules('ru').select(Number(whole % 1_000_000n))
  return `${grouped(whole, 'ru')}\u00a0${endings[rule] ?? 'кредитов'}`
}

function grouped(whole: bigint, locale: Locale): string {
  return whole.toString().replace(/\B(?=(?:\d{3})+$)/g, locale === 'ru' ? '\u00a0' : ',')
}
