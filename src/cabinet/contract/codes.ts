// The closed lists of codes in the cabinet's answers, as types. The browser's code has a sentence
// for each code in both languages; a code without one does not compile there.

/** Every error code of `/api` except `/api/auth`. */
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
  /** The action could cost the account: `needs` says what to prove first. */
  | 'step_up_needed'
  /** Too often; `retryAfterSeconds` says when. */
  | 'attempts_exceeded'
  | 'key_attempts_exceeded'
  | 'key_checks_overloaded'
  /** The pending key was replaced in another tab or on another device. */
  | 'key_pending_missing'
  /** No key before the first credited purchase. */
  | 'purchase_missing'
  | 'pack_unknown'
  | 'order_unknown'
  /** The attempt id was used for another purchase: make a new one. */
  | 'order_attempt_reused'
  | 'payment_unavailable'
  | 'refund_refused'
  | 'refund_exceeds_unspent'
  | 'refund_needs_support'
  | 'promo_refused'
  | 'promo_attempts_exceeded'
  /** No payment method is saved, or pack, threshold and ceilings contradict each other. */
  | 'top_up_refused'
  /** The pack's price or credits differ from what the page showed. */
  | 'pack_changed'
  /** The account is being closed: nothing can be bought and no key be made. */
  | 'account_closing'
  /** Refunds have begun, or an operator closes the account. */
  | 'closing_final'
  /** The refund was sent, decided or does not exist. */
  | 'refund_not_waiting'
  /** The old mailbox can still undo the change of address: no closing, no second change. */
  | 'email_change_recent'
  /** A stop can still take back a completed recovery: no closing. */
  | 'recovery_recent'
  /** There was no password reset, or its owner has reviewed it. */
  | 'review_not_due'
  /** The log of this account has no such request. */
  | 'request_unknown'
  | 'usage_session_unknown'
  | 'document_unknown'
  | 'consent_unknown'
  | 'session_unknown'
  | 'streams_exceeded'
  | 'ledger_unavailable'
  | 'overloaded'
  | 'unavailable'
  | 'fault'

/** Every error code of `/api/auth`. */
export type AuthErrorCode =
  | 'path_unknown'
  | 'origin_wrong'
  | 'body_wrong'
  | 'attempts_exceeded'
  | 'session_missing'
  | 'step_up_needed'
  | 'sign_in_wrong'
  | 'sign_in_expired'
  | 'email_wrong'
  | 'email_change_recent'
  | 'consent_missing'
  | 'code_wrong'
  | 'password_wrong'
  /** A registration is confirmed in another browser than the one it was made in. */
  | 'password_needed'
  | 'password_too_short'
  | 'password_too_long'
  | 'password_common'
  | 'second_factor_wrong'
  | 'second_factor_locked'
  | 'second_factor_already_on'
  | 'second_factor_off'
  /** The password came from the mailbox: the two are one identity step. */
  | 'recovery_password_new'
  /** An operator has begun one; its e-mail waits to be confirmed. */
  | 'recovery_underway'
  /** The wait is not over, or a warning has not left yet. */
  | 'recovery_unripe'
  | 'passkey_expired'
  | 'passkey_unknown'
  | 'passkey_wrong'
  /** After a password reset: the owner must look through the passkeys first. */
  | 'passkey_suspended'
  | 'overloaded'
  | 'unavailable'
  | 'fault'

/** The states of an order; the payments module has the table of transitions. */
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

/** Why a payment failed, in our words for every provider. */
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
