// The refusals of the ledger. The modules that call it decide how their clients see each.
import { makeRefusal } from '../platform/refusal.ts'

/** Why credits are not set aside for a request. */
export const holdRefusalCodes = [
  'credits_insufficient',
  'day_limit_reached',
  'velocity_stopped',
  'owner_suspended',
  'operator_blocked',
  'debt_outstanding',
  'key_revoked',
  'book_unknown',
  'ledger_unavailable',
] as const

export type HoldRefusalCode = (typeof holdRefusalCodes)[number]
export const holdRefusal = makeRefusal<HoldRefusalCode>

export const BOOK_UNKNOWN = 'There is no such account.'

/** What stops every request of an account, whatever the request costs. */
export const stopSentences = {
  velocity_stopped: 'Spending is stopped: it was faster than your limit.',
  owner_suspended: 'Spending is suspended by the owner of this account.',
  operator_blocked: 'This account is blocked.',
  debt_outstanding: 'This account is in debt: a payment was taken back.',
} as const satisfies Partial<Record<HoldRefusalCode, string>>

export type StopCode = keyof typeof stopSentences

/** Why an entry is not written, or a fence not raised, in the caller's transaction. */
export const postRefusalCodes = [
  'refund_exceeds_unspent',
  'adjust_exceeds_available',
  'book_unknown',
] as const

export type PostRefusalCode = (typeof postRefusalCodes)[number]
export const postRefusal = makeRefusal<PostRefusalCode>

/** Why an old day is not exported, verified or loaded again: somebody must look at its files. */
export const dayRefusalCodes = ['export_out_of_reach', 'export_differs', 'day_restored'] as const

export type DayRefusalCode = (typeof dayRefusalCodes)[number]
export const dayRefusal = makeRefusal<DayRefusalCode>
