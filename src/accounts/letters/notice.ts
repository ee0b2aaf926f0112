// What an owner is told by letter, and the facts each letter needs. The sentences are in
// words-ru.ts and words-en.ts; a notice without sentences in both languages does not compile.
import type { Sentences } from '../../platform/mail/letter.ts'

/** Where and when something was done: enough for an owner to know whether it was theirs. */
export type Circumstances = {
  readonly atMs: number
  readonly address: string
  /** Such as "Firefox, Windows"; empty when the browser does not say. */
  readonly device: string
}

type KeyFacts = Circumstances & { readonly last4: string }
type PasskeyFacts = Circumstances & { readonly name: string }
type EmailFacts = Circumstances & { readonly oldEmail: string; readonly newEmail: string }

export type Facts = {
  'confirm-email': { readonly link: string; readonly hours: number }
  'already-registered': { readonly signInLink: string; readonly resetLink: string }
  'reset-password': { readonly link: string; readonly minutes: number }
  'password-guessed': Circumstances & { readonly minutes: number }
  'new-device': Circumstances
  'password-changed': Circumstances
  'email-change-asked': EmailFacts
  'confirm-new-email': { readonly link: string; readonly minutes: number }
  'email-changed': EmailFacts
  'second-factor-on': Circumstances
  'second-factor-off': Circumstances
  'recovery-code-used': Circumstances
  'passkey-added': PasskeyFacts
  'passkey-removed': PasskeyFacts
  'key-created': KeyFacts
  'key-reissued': KeyFacts
  'key-revoked': KeyFacts
  'account-closed': {
    readonly atMs: number
    readonly unspent: 'refund' | 'forfeit'
    readonly eraseAtMs: number
  }
}

export type Kind = keyof Facts
export type Notice = { readonly [K in Kind]: { readonly kind: K; readonly facts: Facts[K] } }[Kind]

/** What every letter of a language shares. */
export type Frame = {
  readonly locale: string
  /** Said under the letter; `brand` and `support` are what customers see. */
  signature(brand: string, support: string): string
}

/** What the sentences may need besides their facts. */
export type Setting = {
  readonly brand: string
  /** Where sessions, the password and the second factor are changed. */
  readonly securityLink: string
  time(atMs: number): string
  day(atMs: number): string
}

export type Words = {
  readonly frame: Frame
  readonly letters: {
    readonly [K in Kind]: (facts: Facts[K], setting: Setting) => Sentences
  }
}
