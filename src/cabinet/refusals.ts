// The refusals that the cabinet raises itself: about HTTP, sessions, things that do not exist, and
// steps in the wrong order. The table in answers.ts has the HTTP status of these refusals and of
// those that other modules raise.
import type { Proof } from '../accounts/accounts.ts'
import { Refusal } from '../platform/refusal.ts'

export const cabinetRefusalCodes = [
  'path_unknown',
  'field_invalid',
  'origin_wrong',
  'session_unknown',
  'attempts_exceeded',
  'streams_exceeded',
  'overloaded',
  'key_pending_missing',
  'purchase_missing',
  'pack_unknown',
  'order_unknown',
  'account_closing',
  'refund_not_waiting',
  'review_not_due',
  'request_unknown',
  'usage_session_unknown',
  'document_unknown',
  'consent_unknown',
] as const

export type CabinetRefusalCode = (typeof cabinetRefusalCodes)[number]

/** Details that the browser gets besides the code; they are fields of the contract's ErrorBody. */
export type RefusalData = {
  readonly retryAfterSeconds?: number
  readonly field?: string
  readonly needs?: readonly Proof[]
}

export class CabinetRefusal extends Refusal<CabinetRefusalCode> {
  override readonly name = 'CabinetRefusal'
  readonly data: RefusalData

  constructor(code: CabinetRefusalCode, sentence: string, data: RefusalData = {}) {
    super(code, sentence)
    this.data = data
  }
}
