// The routes of `/api/auth`: ways in and out, as types alone. Part of the contract.
import type { Language } from './contract.ts'

export type RegisterBody = {
  readonly email: string
  readonly password: string
  readonly language: Language
  readonly consents: readonly { readonly document: string; readonly version: string }[]
}

type Signed = { readonly status: 'signed_in' | 'second_factor' }
type Done = { readonly status: true }

export type AuthRoutes = {
  // Public, or with a session where said. Passkey options and answers are WebAuthn's own JSON.
  'POST /api/auth/register': { body: RegisterBody; answer: Done }
  'POST /api/auth/register/again': { body: { email: string }; answer: Done }
  'POST /api/auth/confirm': { body: { code: string; password: string }; answer: Signed }
  'POST /api/auth/sign-in/email': {
    body: { email: string; password: string; isPrivate?: boolean }
    answer: Signed
  }
  /** After `second_factor`; with a session, switches the second factor on. */
  'POST /api/auth/two-factor/verify-totp': {
    body: { code: string }
    answer: { readonly status: 'signed_in' | 'second_factor_on' }
  }
  'POST /api/auth/two-factor/verify-backup-code': { body: { code: string }; answer: Signed }
  'POST /api/auth/sign-out': { body: object; answer: object }
  'POST /api/auth/request-password-reset': { body: { email: string }; answer: object }
  'POST /api/auth/reset-password': { body: { code: string; newPassword: string }; answer: object }
  /** Session. The other sessions end. */
  'POST /api/auth/change-password': {
    body: { currentPassword: string; newPassword: string }
    answer: object
  }
  /** Fresh. */
  'POST /api/auth/email/change': { body: { newEmail: string }; answer: Done }
  /** Session. */
  'POST /api/auth/email/confirm': { body: { code: string }; answer: Done }
  /** Session. `uri` is for the authenticator app; then verify-totp. */
  'POST /api/auth/two-factor/enable': {
    body: { password: string }
    answer: { uri: string; recoveryCodes: readonly string[] }
  }
  /** Fresh. */
  'POST /api/auth/two-factor/disable': { body: { password: string }; answer: Done }
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
  'POST /api/auth/passkey/verify-authentication': { body: { response: object }; answer: Signed }
  /** Fresh. */
  'POST /api/auth/passkey/delete-passkey': { body: { id: string }; answer: Done }
  /** Session. */
  'POST /api/auth/passkey/update-passkey': { body: { id: string; name: string }; answer: Done }
}
