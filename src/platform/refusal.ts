// The closed list of expected noes. A refusal carries a code, a sentence for the client and
// private detail for the log; rooms raise refusals and know no status numbers. Each outer door maps
// every code to its own answer in one table, so a new code without a decision does not compile.

export const refusalCodes = [
  'path_unknown',
  'method_wrong',
  'content_type_wrong',
  'content_encoding_unsupported',
  'body_too_large',
  'body_broken_off',
  'body_bytes_exhausted',
  'field_invalid',
  'thread_unsupported',
  'model_unknown',
  'feature_unpriced',
  'upstream_unavailable',
  'upstream_unreachable',
  'upstream_failed',
  'upstream_misconfigured',
  'request_overdue',
  'key_missing',
  'key_malformed',
  'key_unknown',
  'key_revoked',
  'key_attempts_exceeded',
  'key_checks_overloaded',
  'key_pending_missing',
  'key_import_refused',
  'session_missing',
  'session_not_fresh',
  'password_checks_overloaded',
  'credits_insufficient',
  'day_limit_reached',
  'velocity_stopped',
  'owner_suspended',
  'operator_blocked',
  'debt_outstanding',
  'book_unknown',
  'ledger_unavailable',
  'refund_exceeds_unspent',
  'adjust_exceeds_available',
  'order_unknown',
  'order_attempt_reused',
  'order_state_wrong',
  'payment_unavailable',
  'refund_refused',
  'promo_refused',
  'promo_attempts_exceeded',
  'top_up_refused',
  'pack_changed',
] as const

export type RefusalCode = (typeof refusalCodes)[number]

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  /** For the log only; never sent to a client. */
  readonly detail: Record<string, unknown>
  /** When asking again may help, where who refuses knows more than the door's table. */
  retryAfterMs: number | undefined

  constructor(
    code: RefusalCode,
    sentence: string,
    detail: Record<string, unknown> = {},
    cause?: unknown,
  ) {
    super(sentence, cause === undefined ? undefined : { cause })
    this.code = code
    this.detail = detail
  }
}

/** True for a refusal, of the given code when one is given. */
export function isRefusal(error: unknown, code?: RefusalCode): error is Refusal {
  return error instanceof Refusal && (code === undefined || error.code === code)
}
