// The refusals of platform.
import { makeRefusal } from './refusal.ts'

/** The handler of /api/auth answers it as `overloaded`. */
export const passwordRefusalCodes = ['password_checks_overloaded'] as const

export type PasswordRefusalCode = (typeof passwordRefusalCodes)[number]
export const passwordRefusal = makeRefusal<PasswordRefusalCode>
