// Turns a notice into a letter in the owner's language, with links to pages of the cabinet. How a
// letter looks is in platform/mail/letter.ts, sending in platform/mail/mail.ts.
import { composeLetter, momentsIn, type Sentences } from '../platform/mail/letter.ts'
import type { Language, Notice, Setting, Words } from './notice.ts'
import { english } from './words-en.ts'
import { russian } from './words-ru.ts'

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  /** The cabinet's address, without a slash at the end. */
  readonly cabinetUrl: string
}

const languages = { ru: russian, en: english } satisfies Record<Language, Words>

export function compose(
  { kind, facts }: Notice,
  language: Language,
  brand: Brand,
  zone: string | null = null,
) {
  const { locale, signature, letters } = languages[language]
  // The kind chooses both the sentences and the type of the facts; the compiler cannot follow that.
  const write = letters[kind] as (facts: Notice['facts'], setting: Setting) => Sentences
  const sentences = write(facts, {
    brand: brand.name,
    page: (name) => `${brand.cabinetUrl}/${name}`,
    time: momentsIn(locale, zone).time,
  })
  return composeLetter(sentences, signature(brand.name, brand.supportEmail), language)
}
