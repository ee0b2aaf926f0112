// The types of the routes of `/api/auth`: registration, sign-in, sign-out, passwords, passkeys.
import type { Language, Time } from './contract.ts'

export type RegisterBody = {
  readonly email: string
  readonly password: string
  readonly language: Language
  readonly consents: readonly { readonly document: string; readonly version: string }[]
}

type SignInResult = { readonly status: 'signed_in' | 'second_factor' }
type Success = { readonly status: true }

export type RecoveryState = {
  readonly state: 'new' | 'unconfirmed' | 'waiting' | 'ripe' | 'done'
  /** When the wait is over. */
  readonly ripeAt: Time | null
}

export type AuthRoutes = {
  // Public, unless a comment names a session or an action of accounts/levels.ts.
  // Passkey options and answers are WebAuthn JSON.
  'POST /api/auth/register': { body: RegisterBody; answer: Success }
  'POST /api/auth/register/again': { body: { email: string }; answer: Success }
  /** The browser that registered needs no password. */
  'POST /api/auth/confirm': { body: { code: string; password?: string }; answer: SignInResult }
  /** Makes the account of an invited person, who chooses the password now. */
  'POST /api/auth/invitation': {
    body: { code: string; password: string; consents: RegisterBody['consents'] }
    answer: SignInResult
  }
  'POST /api/auth/sign-in/email': {
    body: { email: string; password: string; isPrivate?: boolean }
    answer: SignInResult
  }
  /** Finishes a sign-in after `second_factor`; with a session, turns the second factor on. */
  'POST /api/auth/two-factor/verify-totp': {
    body: { code: string }
    answer: { readonly status: 'signed_in' | 'second_factor_on' }
  }
  'POST /api/auth/two-factor/verify-backup-code': { body: { code: string }; answer: SignInResult }
  'POST /api/auth/sign-out': { body: object; answer: object }
  'POST /api/auth/request-password-reset': { body: { email: string }; answer: object }
  'POST /api/auth/reset-password': { body: { code: string; newPassword: string }; answer: object }
  /**
   * Session. Proves one factor in this session, after `step_up_needed`. `response` is a passkey's
   * answer to generate-authenticate-options.
   */
  'POST /api/auth/step-up': {
    body: { password: string } | { code: string } | { recoveryCode: string } | { response: object }
    answer: Success
  }
  /** `password.change`. The other sessions end. */
  'POST /api/auth/change-password': {
    body: { currentPassword: string; newPassword: string }
    answer: object
  }
  /** `email.change`. */
  'POST /api/auth/email/change': { body: { newEmail: string }; answer: Success }
  /** `email.confirm`. */
  'POST /api/auth/email/confirm': { body: { code: string }; answer: Success }
  /** With the code from the e-mail to the old address; ends every session and the password. */
  'POST /api/auth/email/undo': { body: { code: string }; answer: Success }
  /** After `second_factor`: e-mails a link to an owner who has lost the authenticator. */
  'POST /api/auth/recovery/ask': { body: object; answer: Success }
  /** With the code of that link: what can be done. */
  'POST /api/auth/recovery/look': {
    body: { code: string }
    answer: RecoveryState & { readonly waitHours: number }
  }
  /** Begins the wait. */
  'POST /api/auth/recovery/open': {
    body: { code: string; password: string }
    answer: RecoveryState
  }
  /** After the wait: removes the second factor and ends every session. */
  'POST /api/auth/recovery/complete': {
    body: { code: string; password: string }
    answer: RecoveryState
  }
  /** With the code from the e-mail after an operator began a recovery: begins the wait. */
  'POST /api/auth/recovery/confirm': { body: { code: string }; answer: RecoveryState }
  /** With the code that the new mailbox gets after the wait: it becomes the account's address. */
  'POST /api/auth/recovery/finish': { body: { code: string }; answer: RecoveryState }
  /** With the code of a warning. */
  'POST /api/auth/recovery/stop': {
    body: { code: string }
    answer: { readonly status: 'stopped' | 'taken_back' }
  }
  /** Session, which needs no proof: stopping only protects the account. */
  'POST /api/auth/recovery/stop-here': {
    body: object
    answer: { readonly status: 'stopped' }
  }
  /** `factor.enable`. `uri` is for the authenticator app, whose first code goes to verify-totp. */
  'POST /api/auth/two-factor/enable': {
    body: { password: string }
    answer: { uri: string; recoveryCodes: readonly string[] }
  }
  /** `factor.disable`. */
  'POST /api/auth/two-factor/disable': { body: { password: string }; answer: Success }
  /** `factor.recovery-codes`. */
  'POST /api/auth/two-factor/generate-backup-codes': {
    body: { password: string }
    answer: { recoveryCodes: readonly string[] }
  }
  /** `passkey.add`. */
  'GET /api/auth/passkey/generate-register-options': { answer: object }
  /** `passkey.add`. */
  'POST /api/auth/passkey/verify-registration': {
    body: { response: object; name: string }
    answer: { id: string }
  }
  'GET /api/auth/passkey/generate-authenticate-options': { answer: object }
  'POST /api/auth/passkey/verify-authentication': {
    body: { response: object }
    answer: SignInResult
  }
  /** `passkey.remove`. */
  'POST /api/auth/passkey/delete-passkey': { body: { id: string }; answer: Success }
  /** `passkey.rename`. */
  'POST /api/auth/passkey/update-passkey': { body: { id: string; name: string }; answer: Success }
}
