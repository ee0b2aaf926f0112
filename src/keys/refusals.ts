// The refusals of keys. The modules that call keys decide how each is shown to the client.
import { makeRefusal } from '../platform/refusal.ts'

/** Why a key is not verified; the last three do not depend on the key. */
export const keyCheckRefusalCodes = [
  'key_malformed',
  'key_unknown',
  'key_revoked',
  'key_attempts_exceeded',
  'key_checks_overloaded',
  'ledger_unavailable',
] as const

export type KeyCheckRefusalCode = (typeof keyCheckRefusalCodes)[number]
export const keyCheckRefusal = makeRefusal<KeyCheckRefusalCode>

/** Why an owner's key is not activated. */
export const keyLifeRefusalCodes = ['key_pending_missing'] as const

export type KeyLifeRefusalCode = (typeof keyLifeRefusalCodes)[number]
export const keyLifeRefusal = makeRefusal<KeyLifeRefusalCode>

/**
 * Why a key of another service is not imported. `book_unknown` also refuses to issue a key for a
 * book that does not exist; the book of an owner always exists.
 */
export const keyImportRefusalCodes = [
  'key_malformed',
  'key_import_refused',
  'book_unknown',
] as const

export type KeyImportRefusalCode = (typeof keyImportRefusalCodes)[number]
export const keyImportRefusal = makeRefusal<KeyImportRefusalCode>
