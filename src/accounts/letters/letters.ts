// Turns a notice into a letter in the owner's language. How a letter looks is the business of
// platform/mail/letter.ts, sending of platform/mail/mail.ts.
import type { Executor } from '../../platform/db/db.ts'
import { composeLetter, momentsIn, type Sentences } from '../../platform/mail/letter.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Language } from '../queries.ts'
import type { Notice, Setting, Words } from './notice.ts'
import { english } from './words-en.ts'
import { russian } from './words-ru.ts'

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  /** The cabinet's address, without a slash at the end. */
  readonly cabinetUrl: string
}

const languages = { ru: russian, en: english } satisfies Record<Language, Words>

export function createLetters(options: {
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
}) {
  const { mail, brand } = options

  return {
    /** Puts a letter into the outbox, in the caller's transaction when there is one. */
    async post(
      executor: Executor,
      to: {
        readonly email: string
        readonly language: Language
        readonly zone?: string | null
      },
      notice: Notice,
    ): Promise<void> {
      const { subject, text, html } = compose(notice, to.language, brand, to.zone)
      await mail.post(executor, { to: to.email, kind: notice.kind, subject, text, html })
    },

    /**
     * A page of the cabinet. The code goes behind the hash, which browsers keep to themselves: it
     * reaches neither a log nor the next page's referrer.
     */
    link: (page: string, code?: string): string =>
      `${brand.cabinetUrl}/${page}${code === undefined ? '' : `#code=${encodeURIComponent(code)}`}`,
  }
}

export type Letters = ReturnType<typeof createLetters>

export function compose(
  notice: Notice,
  language: Language,
  brand: Brand,
  zone: string | null = null,
) {
  const { frame, letters } = languages[language]
  const setting = settingOf(frame.locale, brand, zone)
  // The kind chooses both the sentences and the type of the facts; the compiler cannot follow that.
  const write = letters[notice.kind] as (facts: Notice['facts'], setting: Setting) => Sentences
  const sentences = write(notice.facts, setting)
  const signature = frame.signature(brand.name, brand.supportEmail)
  return composeLetter(sentences, signature, language)
}

function settingOf(locale: string, brand: Brand, zone: string | null): Setting {
  return {
    brand: brand.name,
    securityLink: `${brand.cabinetUrl}/security`,
    ...momentsIn(locale, zone),
  }
}
