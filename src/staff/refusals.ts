// The refusals of staff: why an operator cannot sign in, act, or approve.
import { makeRefusal } from '../platform/refusal.ts'

/** Signing in and proving who somebody is. */
export const signInRefusalCodes = [
  'sign_in_wrong',
  'sign_in_throttled',
  'operator_session_missing',
  'second_factor_missing',
  'second_factor_wrong',
  'second_factor_not_set_up',
  'invitation_wrong',
  'operator_password_weak',
  'operator_passkey_wrong',
  'oidc_sign_in_refused',
  'oidc_unavailable',
  'permission_missing',
] as const

/** Changing operators. */
export const operatorRefusalCodes = [
  'operator_unknown',
  'operator_exists',
  'operator_not_first',
  'operator_last_admin',
  'token_exists',
  'token_unknown',
  'token_not_for_command',
  'day_limit_exceeded',
] as const

/** What waits for a second person. */
export const approvalRefusalCodes = [
  'approval_unknown',
  'approval_over',
  'approval_own',
  'approval_changed',
] as const

export type SignInRefusalCode = (typeof signInRefusalCodes)[number]
export const signInRefusal = makeRefusal<SignInRefusalCode>

export type OperatorRefusalCode = (typeof operatorRefusalCodes)[number]
export const operatorRefusal = makeRefusal<OperatorRefusalCode>

export type ApprovalRefusalCode = (typeof approvalRefusalCodes)[number]
export const approvalRefusal = makeRefusal<ApprovalRefusalCode>
