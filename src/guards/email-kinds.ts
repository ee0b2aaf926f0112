// The kinds of e-mails about the balance and its limits, and the facts that each of them needs. The
// sentences are in templates-ru.ts and templates-en.ts; a kind without sentences in both does not
// compile.
import type { EmailContent } from '../platform/mail/email.ts'
import type { Credits } from '../units/credits.ts'
import type { Limits, Velocity } from './limits.ts'

export type Language = 'ru' | 'en'

export type EmailFacts = {
  'low-balance': { readonly balance: Credits; readonly daysLeft: number | null }
  'balance-empty': { readonly balance: Credits }
  'day-limit-reached': {
    readonly dayLimit: Credits
    /** What the refused request could cost, and what was left of the limit then. */
    readonly needed: Credits | null
    readonly left: Credits | null
    readonly resetsAtMs: number
  }
  'velocity-stopped': Velocity
  'limits-loosened': Limits & { readonly atMs: number; readonly address: string }
}

export type EmailKind = keyof EmailFacts
export type GuardEmail = {
  readonly [K in EmailKind]: { readonly kind: K; readonly facts: EmailFacts[K] }
}[EmailKind]

/** What a template needs besides the facts. */
export type TemplateContext = {
  readonly brand: string
  page(name: 'limits' | 'packs' | 'key' | 'security'): string
  time(atMs: number): string
  /** An amount of credits, with roubles if the owner has bought a pack. */
  credits(amount: Credits): string
}

export type EmailTemplates = {
  readonly locale: string
  readonly templates: {
    readonly [K in EmailKind]: (facts: EmailFacts[K], context: TemplateContext) => EmailContent
  }
}
