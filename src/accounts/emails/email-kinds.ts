// The kinds of e-mails to an owner, and the facts that each needs. The texts are in templates-ru.ts
// and templates-en.ts; a kind without a template in both languages does not compile.
import type { EmailContent } from '../../platform/mail/email.ts'

/** What an owner has lost who recovers the account. */
export type RecoveryKind = 'authenticator' | 'mailbox' | 'both'

/** When and where something was done, so that owners can tell whether they did it. */
export type EventContext = {
  readonly atMs: number
  readonly address: string
  /** For example "Firefox, Windows"; empty when the browser does not say. */
  readonly device: string
}

type KeyFacts = EventContext & { readonly last4: string }
type PasskeyFacts = EventContext & { readonly name: string }
type RecoveryFacts = EventContext & {
  readonly lost: RecoveryKind
  readonly newEmail: string | null
  readonly link: string
  readonly untilMs: number
}
type EmailChangeFacts = EventContext & { readonly oldEmail: string; readonly newEmail: string }

export type EmailFacts = {
  'confirm-email': { readonly link: string; readonly hours: number }
  /** To a person that an operator has invited. */
  invitation: { readonly link: string; readonly hours: number }
  'already-registered': { readonly signInLink: string; readonly resetLink: string }
  'reset-password': { readonly link: string; readonly minutes: number }
  'password-guessed': EventContext & { readonly minutes: number }
  'new-device': EventContext
  'password-changed': EventContext
  'email-change-asked': EmailChangeFacts
  'confirm-new-email': { readonly link: string; readonly minutes: number }
  'email-changed': EmailChangeFacts
  /** To the old address, with a link that gives the account back to it. */
  'email-change-undo': EmailChangeFacts & { readonly link: string; readonly untilMs: number }
  'email-change-undone': EmailChangeFacts
  /** To an address that an account has given up lately. */
  'email-reserved': { readonly untilMs: number }
  'second-factor-on': EventContext
  'second-factor-off': EventContext
  'recovery-code-used': EventContext
  /** To the mailbox, after the password was right: begins or completes a recovery. */
  'recovery-link': { readonly link: string; readonly minutes: number }
  /** To the mailbox that a recovery by an operator names. */
  'recovery-confirm': {
    readonly link: string
    readonly lost: RecoveryKind
    readonly hours: number
    readonly waitHours: number
  }
  /** To every known mailbox, with a link that stops the recovery until `untilMs`. */
  'recovery-opened': RecoveryFacts
  'recovery-reminder': RecoveryFacts
  'recovery-ready': { readonly link: string; readonly lost: RecoveryKind; readonly untilMs: number }
  /** With a link that takes back what was completed, until `untilMs`. */
  'recovery-done': RecoveryFacts
  'recovery-stopped': EventContext & { readonly lost: RecoveryKind }
  'passkey-added': PasskeyFacts
  'passkey-removed': PasskeyFacts
  'key-created': KeyFacts
  'key-reissued': KeyFacts
  'key-revoked': KeyFacts
  'account-closing': {
    readonly atMs: number
    readonly unspent: 'refund' | 'forfeit'
    readonly begunBy: 'owner' | 'operator'
  }
  'account-closing-stopped': object
  'account-closed': {
    readonly atMs: number
    readonly unspent: 'refund' | 'forfeit'
    readonly eraseAtMs: number
  }
}

export type EmailKind = keyof EmailFacts
export type AccountEmail = {
  readonly [K in EmailKind]: { readonly kind: K; readonly facts: EmailFacts[K] }
}[EmailKind]

/** What all e-mails in a language share. */
export type SharedParts = {
  readonly locale: string
}

/** What a template may use besides its facts. */
export type TemplateContext = {
  readonly brand: string
  /** The page where sessions, the password and the second factor are changed. */
  readonly securityLink: string
  time(atMs: number): string
  day(atMs: number): string
}

export type EmailTemplates = {
  readonly shared: SharedParts
  readonly templates: {
    readonly [K in EmailKind]: (facts: EmailFacts[K], context: TemplateContext) => EmailContent
  }
}
