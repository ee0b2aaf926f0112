// The table of all error codes that the cabinet answers, with their HTTP statuses. A code without a
// line here, or a line that the contract does not know, does not compile.
import {
  type ClosingRefusalCode,
  neededProofs,
  type SessionRefusalCode,
} from '../accounts/accounts.ts'
import type { KeyCheckRefusalCode, KeyLifeRefusalCode } from '../keys/keys.ts'
import type { PaymentRefusalCode } from '../payments/payments.ts'
import type { Refusal } from '../platform/refusal.ts'
import { createAnswers, type ServerCode, serverStatuses } from '../platform/server/answers.ts'
import type { ErrorCode } from './contract/contract.ts'
import { CabinetRefusal, type CabinetRefusalCode, type RefusalData } from './refusals.ts'

/** A pasted key that is refused so is not the owner's: api/key.ts answers `false` then. */
export const wrongKeyCodes = [
  'key_malformed',
  'key_unknown',
  'key_revoked',
] as const satisfies readonly KeyCheckRefusalCode[]

type KeyCode = KeyLifeRefusalCode | Exclude<KeyCheckRefusalCode, (typeof wrongKeyCodes)[number]>

type RefusedCode =
  | CabinetRefusalCode
  | SessionRefusalCode
  | ClosingRefusalCode
  | KeyCode
  | PaymentRefusalCode
type AnsweredCode = RefusedCode | ServerCode

export const statuses = {
  ...serverStatuses,
  origin_wrong: 403,
  session_missing: 401,
  step_up_needed: 403,
  session_unknown: 404,
  attempts_exceeded: 429,
  streams_exceeded: 429,

  key_attempts_exceeded: 429,
  key_checks_overloaded: 503,
  key_pending_missing: 409,
  purchase_missing: 409,

  pack_unknown: 404,
  order_unknown: 404,
  order_attempt_reused: 409,
  payment_unavailable: 503,
  refund_refused: 409,
  refund_exceeds_unspent: 409,
  refund_needs_support: 409,
  promo_refused: 409,
  promo_attempts_exceeded: 429,
  top_up_refused: 409,
  pack_changed: 409,
  account_closing: 409,
  closing_final: 409,
  refund_not_waiting: 409,
  email_change_recent: 409,
  recovery_recent: 409,
  review_not_due: 409,
  request_unknown: 404,
  usage_session_unknown: 404,
  document_unknown: 404,
  consent_unknown: 404,

  ledger_unavailable: 503,
  overloaded: 503,
} satisfies Record<AnsweredCode, number> satisfies Record<ErrorCode, number>

export const answers = createAnswers({ statuses, dataOf })

/** Answers with the code's status, in the cabinet's shape. */
export const sendError = answers.send

function dataOf(error: Refusal): RefusalData {
  if (error instanceof CabinetRefusal) return error.data
  const needs = neededProofs(error)
  return needs === undefined ? {} : { needs }
}
