// Composes an e-mail in the owner's language, with links to pages of the cabinet. The
// layout is in platform/mail/email.ts, sending in platform/mail/mail.ts.
import {
  composeEmail,
  type EmailBrand,
  type EmailContent,
  momentsIn,
} from '../platform/mail/email.ts'
import { creditsInMoney } from '../units/email-amounts.ts'
import type { PackPrice } from '../units/pack-price.ts'
import type { EmailTemplates, GuardEmail, Language, TemplateContext } from './email-kinds.ts'
import { english } from './templates-en.ts'
import { russian } from './templates-ru.ts'

export type Brand = EmailBrand

const languages = { ru: russian, en: english } satisfies Record<Language, EmailTemplates>

export function composeGuardEmail(
  { kind, facts }: GuardEmail,
  language: Language,
  brand: Brand,
  {
    zone = null,
    pack,
  }: { readonly zone?: string | null; readonly pack?: PackPrice | undefined } = {},
) {
  const { locale, templates } = languages[language]
  // The kind selects both the sentences and the type of the facts; TypeScript cannot express that.
  const write = templates[kind] as (
    facts: GuardEmail['facts'],
    context: TemplateContext,
  ) => EmailContent
  const sentences = write(facts, {
    brand: brand.name,
    page: (name) => `${brand.cabinetUrl}/${name}`,
    time: momentsIn(locale, zone).time,
    credits: (amount) => creditsInMoney(amount, pack, language),
  })
  // Owners can turn off this alert alone; the others tell why requests are refused.
  const reason = kind === 'low-balance' ? 'choice' : 'account'
  return composeEmail(sentences, { brand, language, reason })
}
