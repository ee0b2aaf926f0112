// The types of the routes of `/api/auth`: registration, sign-in, sign-out, passwords, passkeys.
import type { Language } from './contract.ts'

export type RegisterBody = {
  readonly email: string
  readonly password: string
  readonly language: Language
  readonly consents: readonly { readonly document: string; readonly version: string }[]
}

type SignInResult = { readonly status: 'signed_in' | 'second_factor' }
type Success = { readonly status: true }

export type AuthRoutes = {
  // Public, unless a comment says session or fresh. Passkey options and answers are WebAuthn JSON.
  'POST /api/auth/register': { body: RegisterBody; answer: Success }
  'POST /api/auth/register/again': { body: { email: string }; answer: Success }
  'POST /api/auth/confirm': { body: { code: string; password: string }; answer: SignInResult }
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
  /** Session. The other sessions end. */
  'POST /api/auth/change-password': {
    body: { currentPassword: string; newPassword: string }
    answer: object
  }
  /** Fresh. */
  'POST /api/auth/email/change': { body: { newEmail: string }; answer: Success }
  /** Session. */
  'POST /api/auth/email/confirm': { body: { code: string }; answer: Success }
  /** Session. `uri` is for the authenticator app, whose first code goes to verify-totp. */
  'POST /api/auth/two-factor/enable': {
    body: { password: string }
    answer: { uri: string; recoveryCodes: readonly string[] }
  }
  /** Fresh. */
  'POST /api/auth/two-factor/disable': { body: { password: string }; answer: Success }
  /** Fresh. */
  'POST /api/auth/two-factor/generate-backup-codes': {
    body: { password: string }
    answer: { recoveryCodes: readonly string[] }
  }
  /** Fresh. */
  'GET /api/auth/passkey/generate-register-options': { answer: object }
  /** Fresh. */
  'POST /api/auth/passkey/verify-registration': {
    body: { response: object; name: string }
    answer: { id: string }
  }
  'GET /api/auth/passkey/generate-authenticate-options': { answer: object }
  'POST /api/auth/passkey/verify-authentication': {
    body: { response: object }
    answer: SignInResult
  }
  /** Fresh. */
  'POST /api/auth/passkey/delete-passkey': { body: { id: string }; answer: Success }
  /** Session. */
  'POST /api/auth/passkey/update-passkey': { body: { id: string; name: string }; answer: Success }
}
