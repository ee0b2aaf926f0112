// The refusals of platform.
import { makeRefusal } from './refusal.ts'

/** The cabinet answers it as `overloaded`, the console under its own name. */
export const passwordRefusalCodes = ['password_checks_overloaded'] as const

export type PasswordRefusalCode = (typeof passwordRefusalCodes)[number]
export const passwordRefusal = makeRefusal<PasswordRefusalCode>
