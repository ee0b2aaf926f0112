// Writes e-mails in the owner's language and puts them into the outbox. platform/mail/email.ts lays
// them out, platform/mail/mail.ts sends them.
import type { Executor } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'
import {
  composeEmail,
  type EmailBrand,
  type EmailContent,
  momentsIn,
} from '../../platform/mail/email.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { Language } from '../queries.ts'
import type { AccountEmail, EmailKind, EmailTemplates, TemplateContext } from './email-kinds.ts'
import { english } from './templates-en.ts'
import { russian } from './templates-ru.ts'

export type Brand = EmailBrand

const languages = { ru: russian, en: english } satisfies Record<Language, EmailTemplates>

/** To mailboxes that may belong to nobody with an account. */
const toAddresses: ReadonlySet<EmailKind> = new Set([
  ...(['confirm-email', 'invitation', 'confirm-new-email'] as const),
  ...(['email-reserved', 'recovery-confirm'] as const),
])

export function createEmails(options: {
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
}) {
  const { mail, brand } = options

  return {
    /**
     * Puts an e-mail into the outbox, in the caller's transaction when there is one. False when one
     * of its kind and cause is there.
     */
    async post(
      executor: Executor,
      to: {
        readonly email: string
        readonly language: Language
        readonly zone?: string | null
        /** Where the address is not the account's own yet. */
        readonly account?: AccountId
      },
      email: AccountEmail,
      /** The cause: of a kind at most one e-mail is sent for it. */
      once?: string,
    ): Promise<boolean> {
      const { subject, text, html } = composeAccountEmail(email, to.language, brand, to.zone)
      return mail.post(executor, {
        ...{ to: to.email, kind: email.kind, subject, text, html },
        ...(once !== undefined && { once }),
        ...(to.account !== undefined && { account: to.account }),
      })
    },

    /**
     * The address of a page of the cabinet. The code stands after the hash, which browsers do not
     * send: it reaches neither a log nor a Referer header.
     */
    link: (page: string, code?: string): string =>
      `${brand.cabinetUrl}/${page}${code === undefined ? '' : `#code=${encodeURIComponent(code)}`}`,
  }
}

export type Emails = ReturnType<typeof createEmails>

export function composeAccountEmail(
  email: AccountEmail,
  language: Language,
  brand: Brand,
  zone: string | null = null,
) {
  const { shared, templates } = languages[language]
  const context = contextOf(shared.locale, brand, zone)
  // The kind selects both the template and the type of its facts; the compiler cannot follow that.
  const write = templates[email.kind] as (
    facts: AccountEmail['facts'],
    context: TemplateContext,
  ) => EmailContent
  const content = write(email.facts, context)
  const reason = toAddresses.has(email.kind) ? 'address' : 'account'
  return composeEmail(content, { brand, language, reason })
}

function contextOf(locale: string, brand: Brand, zone: string | null): TemplateContext {
  return {
    brand: brand.name,
    securityLink: `${brand.cabinetUrl}/security`,
    ...momentsIn(locale, zone),
  }
}
