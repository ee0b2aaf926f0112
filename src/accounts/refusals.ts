// The refusals of accounts. What the flows of /api/auth answer is in answers.ts.
import { makeRefusal } from '../platform/refusal.ts'

/** Why a browser's request is not an owner's, or not recent enough. */
export const sessionRefusalCodes = ['session_missing', 'session_not_fresh'] as const

export type SessionRefusalCode = (typeof sessionRefusalCodes)[number]
export const sessionRefusal = makeRefusal<SessionRefusalCode>

/** The handler of /api/auth answers it as `overloaded`. */
export const passwordRefusalCodes = ['password_checks_overloaded'] as const

export type PasswordRefusalCode = (typeof passwordRefusalCodes)[number]
export const passwordRefusal = makeRefusal<PasswordRefusalCode>
