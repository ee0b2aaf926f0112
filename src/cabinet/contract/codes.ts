// The closed lists of words that the cabinet's answers use; types alone, for the contract. The
// browser has a sentence for each in both languages, so a word without one does not compile there.

/** Every no of `/api` but for `/api/auth`. The sentence for each is the browser's own. */
export type ErrorCode =
  | 'path_unknown'
  | 'content_type_wrong'
  | 'body_too_large'
  | 'body_broken_off'
  | 'field_invalid'
  | 'request_overdue'
  | 'http_broken'
  | 'headers_too_large'
  /** The request does not come from our own pages. */
  | 'origin_wrong'
  | 'session_missing'
  /** Sign in again: what is asked could cost the account. */
  | 'session_not_fresh'
  /** Too often; `retryAfterSeconds` says when. */
  | 'attempts_exceeded'
  | 'key_attempts_exceeded'
  | 'key_checks_overloaded'
  /** The key that is confirmed was replaced, in another tab or on another device. */
  | 'key_pending_missing'
  /** No key before the first credited purchase. */
  | 'purchase_missing'
  | 'pack_unknown'
  | 'order_unknown'
  /** The attempt's number was used for another purchase: make a new one. */
  | 'order_attempt_reused'
  | 'order_state_wrong'
  | 'payment_unavailable'
  | 'refund_refused'
  | 'refund_exceeds_unspent'
  | 'adjust_exceeds_available'
  | 'promo_refused'
  | 'promo_attempts_exceeded'
  /** No method is saved, or pack, threshold and ceiling do not go together. */
  | 'top_up_refused'
  /** The pack has another price or other credits than the page showed. */
  | 'pack_changed'
  /** The account cannot be closed while an order can still be paid. */
  | 'closing_waits'
  /** No such request is in the log of this account. */
  | 'request_unknown'
  | 'document_unknown'
  | 'consent_unknown'
  | 'session_unknown'
  | 'streams_exceeded'
  | 'ledger_unavailable'
  | 'overloaded'
  | 'unavailable'
  | 'fault'

/** Every no of `/api/auth`. */
export type AuthErrorCode =
  | 'path_unknown'
  | 'origin_wrong'
  | 'body_wrong'
  | 'attempts_exceeded'
  | 'session_missing'
  | 'session_not_fresh'
  | 'sign_in_wrong'
  | 'sign_in_expired'
  | 'email_wrong'
  | 'consent_missing'
  | 'code_wrong'
  | 'password_wrong'
  | 'password_too_short'
  | 'password_too_long'
  | 'password_common'
  | 'second_factor_wrong'
  | 'second_factor_locked'
  | 'second_factor_already_on'
  | 'second_factor_off'
  | 'passkey_expired'
  | 'passkey_unknown'
  | 'passkey_wrong'
  | 'overloaded'
  | 'unavailable'
  | 'fault'

/** The life of an order; the payments room has it as a table. */
export type OrderState =
  | 'created'
  | 'pending'
  | 'failed'
  | 'canceled'
  | 'expired'
  | 'review'
  | 'credited'
  | 'refund_pending'
  | 'partially_refunded'
  | 'refunded'
  | 'disputed'
  | 'dispute_won'
  | 'dispute_lost'

/** Why a payment did not come about, whatever the provider calls it. */
export type DeclineReason =
  | 'insufficient_funds'
  | 'card_data_wrong'
  | 'card_expired'
  | 'bank_check_failed'
  | 'bank_refused'
  | 'bank_unreachable'
  | 'limit_exceeded'
  | 'suspected'
  | 'time_ran_out'
  | 'canceled_by_us'
  | 'provider_failed'
  | 'no_reason_given'

/** What the payer may do about it. */
export type DeclineAdvice =
  | 'top_up_or_other_card'
  | 'check_card_data'
  | 'repeat_and_pass_the_check'
  | 'ask_bank_or_other_method'
  | 'other_method_or_tomorrow'
  | 'other_method'
  | 'start_again'
  | 'write_to_us'
