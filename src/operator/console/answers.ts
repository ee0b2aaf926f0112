// The table of all error codes that the console answers, with their HTTP statuses. A code without a
// line here, or a line that the contract does not know, does not compile.
import type { Refusal } from '../../platform/refusal.ts'
import type { PasswordRefusalCode } from '../../platform/refusals.ts'
import { createAnswers, type ServerCode, serverStatuses } from '../../platform/server/answers.ts'
import type { SignInRefusalCode } from '../../staff/staff.ts'
import type { ErrorCode } from './contract/codes.ts'
import { ConsoleRefusal, type ConsoleRefusalCode, type RefusalData } from './refusals.ts'

type AnsweredCode = ConsoleRefusalCode | SignInRefusalCode | PasswordRefusalCode | ServerCode

export const statuses = {
  ...serverStatuses,
  origin_wrong: 403,
  thing_unknown: 404,
  command_unknown: 404,
  command_refused: 409,
  sign_in_wrong: 401,
  sign_in_throttled: 429,
  operator_session_missing: 401,
  second_factor_missing: 403,
  second_factor_wrong: 401,
  second_factor_not_set_up: 409,
  invitation_wrong: 401,
  operator_password_weak: 400,
  operator_passkey_wrong: 401,
  oidc_sign_in_refused: 401,
  oidc_unavailable: 503,
  permission_missing: 403,
  password_checks_overloaded: 503,
} satisfies Record<AnsweredCode, number> satisfies Record<ErrorCode, number>

export const answers = createAnswers({ statuses, dataOf })

function dataOf(error: Refusal): RefusalData & { readonly retryAfterSeconds?: number } {
  if (error instanceof ConsoleRefusal) return error.data
  const { retryAfterMs } = error
  return retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) }
}
