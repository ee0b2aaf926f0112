// The refusals of accounts. What the flows of /api/auth answer is in answers.ts.
import { makeRefusal, Refusal } from '../platform/refusal.ts'
import type { Proof } from './levels.ts'

/** Why a browser's request is not an owner's, or what its owner has to prove first. */
export const sessionRefusalCodes = ['session_missing', 'step_up_needed'] as const

export type SessionRefusalCode = (typeof sessionRefusalCodes)[number]
export const sessionRefusal = makeRefusal<SessionRefusalCode>

/** Says which proofs are missing; the browser asks for these only. */
export class StepUpNeeded extends Refusal<'step_up_needed'> {
  override readonly name = 'StepUpNeeded'
  readonly needs: readonly Proof[]

  constructor(needs: readonly Proof[]) {
    super('step_up_needed', 'Confirm that it is you.', { needs })
    this.needs = needs
  }
}

/** Why an operator cannot begin, or compare answers for, a recovery. */
export const recoveryRefusalCodes = [
  'account_unknown',
  'identity_checks_exceeded',
  'identity_unproven',
  'recovery_underway',
  'recovery_email_taken',
  'recovery_email_change_recent',
] as const

export type RecoveryRefusalCode = (typeof recoveryRefusalCodes)[number]
export const recoveryRefusal = makeRefusal<RecoveryRefusalCode>

/** Why an account cannot be closed now, or its closing cannot be stopped. */
export const closingRefusalCodes = [
  'email_change_recent',
  'recovery_recent',
  'closing_final',
] as const

export type ClosingRefusalCode = (typeof closingRefusalCodes)[number]
export const closingRefusal = makeRefusal<ClosingRefusalCode>

/** Why the person of an account cannot be erased now. */
export const erasureRefusalCodes = [
  'account_not_closed',
  'account_erased',
  'erasure_waits',
] as const

export type ErasureRefusalCode = (typeof erasureRefusalCodes)[number]
export const erasureRefusal = makeRefusal<ErasureRefusalCode>
