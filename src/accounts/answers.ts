// What /api/auth answers: a closed list of codes with their status, ours and better-auth's alike,
// so that the cabinet can say each in the owner's language. better-auth's own texts are English and
// change with its versions; its codes are translated here and an unknown one is reported.
import type { Proof } from './levels.ts'

/** Code → status. A refusal of a sign-in never tells which part of it was wrong. */
export const statuses = {
  path_unknown: 404,
  origin_wrong: 403,
  body_wrong: 400,
  attempts_exceeded: 429,
  session_missing: 401,
  step_up_needed: 403,
  sign_in_wrong: 401,
  sign_in_expired: 401,
  email_wrong: 400,
  email_change_recent: 409,
  consent_missing: 400,
  code_wrong: 400,
  password_wrong: 400,
  password_needed: 400,
  password_too_short: 400,
  password_too_long: 400,
  password_common: 400,
  second_factor_wrong: 401,
  second_factor_locked: 429,
  second_factor_already_on: 409,
  second_factor_off: 409,
  passkey_expired: 400,
  passkey_unknown: 401,
  passkey_wrong: 400,
  passkey_suspended: 401,
  recovery_password_new: 409,
  recovery_underway: 409,
  recovery_unripe: 409,
  overloaded: 503,
  unavailable: 503,
  fault: 500,
} as const

export type AccountCode = keyof typeof statuses

const foreign: Readonly<Record<string, AccountCode>> = {
  VALIDATION_ERROR: 'body_wrong',
  INVALID_EMAIL: 'email_wrong',
  INVALID_EMAIL_OR_PASSWORD: 'sign_in_wrong',
  EMAIL_NOT_VERIFIED: 'sign_in_wrong',
  INVALID_PASSWORD: 'password_wrong',
  CREDENTIAL_ACCOUNT_NOT_FOUND: 'password_wrong',
  PASSWORD_TOO_SHORT: 'password_too_short',
  PASSWORD_TOO_LONG: 'password_too_long',
  INVALID_TOKEN: 'code_wrong',
  USER_NOT_FOUND: 'code_wrong',
  UNAUTHORIZED: 'session_missing',
  SESSION_REQUIRED: 'session_missing',
  INVALID_CODE: 'second_factor_wrong',
  INVALID_BACKUP_CODE: 'second_factor_wrong',
  INVALID_TWO_FACTOR_COOKIE: 'sign_in_expired',
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'sign_in_expired',
  ACCOUNT_TEMPORARILY_LOCKED: 'second_factor_locked',
  TOTP_ALREADY_ENABLED: 'second_factor_already_on',
  TOTP_NOT_ENABLED: 'second_factor_off',
  TWO_FACTOR_NOT_ENABLED: 'second_factor_off',
  BACKUP_CODES_NOT_ENABLED: 'second_factor_off',
  CHALLENGE_NOT_FOUND: 'passkey_expired',
  PASSKEY_NOT_FOUND: 'passkey_unknown',
  AUTHENTICATION_FAILED: 'passkey_wrong',
  FAILED_TO_VERIFY_REGISTRATION: 'passkey_wrong',
  FAILED_TO_UPDATE_PASSKEY: 'passkey_unknown',
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: 'passkey_wrong',
  PASSKEY_WITHOUT_ITS_OWNER: 'passkey_wrong',
}

export type Answer = {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly cookies: readonly string[]
  /** Of an error. */
  readonly code?: AccountCode
  readonly retryAfterSeconds?: number
}

export function okAnswer(
  body: Answer['body'] = { status: true },
  cookies: readonly string[] = [],
): Answer {
  return { status: 200, body, cookies }
}

/** In the cabinet's shape: the code for its words, the message for people who read the traffic. */
export function errorAnswer(
  code: AccountCode,
  data: { readonly retryAfterSeconds?: number; readonly needs?: readonly Proof[] } = {},
): Answer {
  const { retryAfterSeconds, needs } = data
  const more = retryAfterSeconds === undefined ? {} : { retryAfterSeconds }
  const asks = needs === undefined ? {} : { needs }
  const error = { code, message: code.replaceAll('_', ' '), ...more, ...asks }
  return { status: statuses[code], body: { error }, cookies: [], code, ...more }
}

export const isOk = (answer: Answer): boolean => answer.status < 300

/** Our code for better-auth's; undefined for one that nobody has thought about. */
export function codeOf(theirs: unknown): AccountCode | undefined {
  return typeof theirs === 'string' && Object.hasOwn(foreign, theirs) ? foreign[theirs] : undefined
}

/** The answer as HTTP. Never kept by a cache: it may carry cookies and recovery codes. */
export function responseOf({ status, body, cookies, retryAfterSeconds }: Answer): Response {
  const headers = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
  return new Response(JSON.stringify(body), { status, headers })
}
