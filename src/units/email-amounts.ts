// Formats amounts for e-mails, in Russian and in English: digits in groups of three, the currency
// sign in its place, the noun in its plural form. Credits are rounded down to whole ones.
import type { Credits } from './credits.ts'
import { groupDigits, wholeCredits } from './credits.ts'
import type { Kopecks } from './kopecks.ts'
import { kopecksFor, kopecksPerMillion, type PackPrice } from './pack-price.ts'

type Locale = 'ru' | 'en'

/** `1 300,00 ₽`; in English `RUB 1,300.00`. */
export function moneyPhrase(amount: Kopecks, locale: Locale): string {
  const whole = digits(amount / 100n, locale)
  const rest = (amount % 100n).toString().padStart(2, '0')
  return locale === 'ru' ? `${whole},${rest}\u00a0₽` : `RUB\u00a0${whole}.${rest}`
}

/** `35 000 000 кредитов`, with the plural form of the number; whole credits, rounded down. */
export function creditsPhrase(amount: Credits, locale: Locale): string {
  const whole = wholeCredits(amount)
  if (locale === 'en') return `${digits(whole, 'en')} ${whole === 1n ? 'credit' : 'credits'}`
  const endings: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'кредит', few: 'кредита' }
  // Plural rules read only the last two digits, so the remainder is enough and fits a Number.
  const rule = new Intl.PluralRules('ru').select(Number(whole % 1_000_000n))
  return `${digits(whole, 'ru')}\u00a0${endings[rule] ?? 'кредитов'}`
}

/** `1,234,567 credits (about RUB 45.86)` at the price of a pack; without a pack credits alone. */
export function creditsInMoney(
  amount: Credits,
  pack: PackPrice | undefined,
  locale: Locale,
): string {
  const counted = creditsPhrase(amount, locale)
  if (pack === undefined || amount <= 0n) return counted
  const money = moneyPhrase(kopecksFor(amount, pack), locale)
  return `${counted} (${locale === 'ru' ? 'около' : 'about'}\u00a0${money})`
}

/** `RUB 37.15 per million credits`: the price of a pack for comparisons. */
export function perMillionPhrase(pack: PackPrice, locale: Locale): string {
  const money = moneyPhrase(kopecksPerMillion(pack), locale)
  return locale === 'ru' ? `${money} за миллион кредитов` : `${money} per million credits`
}

function digits(whole: bigint, locale: Locale): string {
  const grouped = groupDigits(whole)
  return locale === 'ru' ? grouped.replaceAll(',', '\u00a0') : grouped
}
