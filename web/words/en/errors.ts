// A sentence for every refusal of the contract, in English: what happened, and what helps.

import type { errors as ru } from '../ru/errors.ts'
import type { Same } from '../ru/ru.ts'

export const errors: Same<typeof ru> = {
  number: 'Reference: {{id}}.',
  waitSeconds_one: 'Try again in {{count}} second.',
  waitSeconds_other: 'Try again in {{count}} seconds.',
  waitMinutes_one: 'Try again in {{count}} minute.',
  waitMinutes_other: 'Try again in {{count}} minutes.',

  offline: 'Cannot reach the server. Check your connection and try again.',
  answer_unreadable: 'The server sent an unexpected response. Try again in a minute.',
  fault: 'Something went wrong on our side. The error has been logged; try again in a minute.',
  overloaded: 'The service is busy right now. Try again in a few seconds.',
  unavailable: 'The service is temporarily unavailable.',

  path_unknown: 'The server does not recognise this request. Reload the page.',
  content_type_wrong: 'This page is out of date. Reload it.',
  body_wrong: 'The server could not read the request. Reload the page and try again.',
  body_too_large: 'The text is too long.',
  body_broken_off: 'The connection was interrupted. Try again.',
  field_invalid: 'One of the fields is not valid.',
  request_overdue: 'The request timed out. Try again.',
  http_broken: 'The connection was interrupted. Try again.',
  headers_too_large:
    'The browser sent too much data. Delete this site’s cookies and sign in again.',
  origin_wrong: 'The request did not come from this site. Reopen the site and try again.',

  session_missing: 'You are not signed in. Sign in and try again.',
  step_up_needed: 'Confirm your identity.',
  session_unknown: 'This session has already ended.',
  attempts_exceeded: 'Too many attempts.',
  sign_in_wrong: 'Wrong e-mail or password.',
  sign_in_expired: 'Your sign-in timed out. Sign in again.',
  email_wrong: 'Enter a valid e-mail address.',
  email_change_recent:
    'A change of the e-mail address can be undone for seven days. During this time the address ' +
    'cannot be changed again, and the account cannot be closed.',
  recovery_recent:
    'For seven days after a recovery the links in our e-mails can take it back. During this time ' +
    'the account cannot be closed.',
  review_not_due: 'There is nothing to check any more.',
  consent_missing: 'Agree to the required documents to create an account.',
  consent_unknown: 'The document has been updated. Reload the page.',
  code_wrong: 'This link has expired or has already been used.',
  password_wrong: 'Wrong password.',
  password_needed: 'Enter the password that you chose.',
  password_too_short: 'The password is too short.',
  password_too_long: 'The password is too long: use at most 128 characters.',
  password_common: 'This password is too easy to guess. Choose another one.',
  second_factor_wrong: 'Wrong code.',
  second_factor_locked: 'Too many wrong codes. Wait 15 minutes.',
  second_factor_already_on: 'Two-factor authentication is already on.',
  second_factor_off: 'Two-factor authentication is off.',
  recovery_password_new:
    'The password was reset lately, so it proves no more than the mailbox. Contact support to ' +
    'recover the account.',
  recovery_underway: 'Support has begun a recovery. Open the link in the e-mail about it.',
  recovery_unripe: 'The recovery cannot be completed yet.',
  passkey_expired: 'The request timed out. Try again.',
  passkey_unknown: 'We do not recognise this passkey. Sign in with your password.',
  passkey_suspended:
    'The password was reset. Sign in with the new password and check your passkeys first.',
  passkey_wrong: 'The passkey did not work. Try again or sign in with your password.',

  key_attempts_exceeded: 'Too many key checks in a row.',
  key_checks_overloaded: 'Too many keys are being checked right now. Try again in a second.',
  key_pending_missing: 'This key has been replaced in another tab or on another device.',
  purchase_missing: 'You can create a key after your first purchase.',

  pack_unknown: 'This pack is no longer available. Reload the page.',
  order_unknown: 'Order not found.',
  order_attempt_reused: 'This purchase has already been placed. Start a new one.',
  payment_unavailable: 'The payment provider is not responding. Try again in a minute.',
  refund_refused: 'This order cannot be refunded.',
  refund_exceeds_unspent:
    'Some credits have been spent in the meantime, so this amount can no longer be refunded.',
  refund_needs_support: 'Our support team decides about this refund. Contact us with the order ID.',
  promo_refused: 'This promo code is not valid or has already been used.',
  promo_attempts_exceeded: 'Too many promo code attempts.',
  top_up_refused:
    'Automatic top-up does not work with these settings. Check the card, the threshold and the ' +
    'limits.',
  pack_changed:
    'The price or the number of credits in the pack has changed. Check the new terms and ' +
    'authorise the charges again.',
  account_closing: 'Your account is being closed: purchases and new keys are unavailable.',
  closing_final: 'This closing can no longer be stopped.',
  refund_not_waiting: 'This refund has already been sent or decided.',
  request_unknown: 'Request not found.',
  usage_session_unknown: 'Session not found.',
  document_unknown: 'Document not found.',
  streams_exceeded: 'Too many dashboard tabs are open. Close some of them.',
  ledger_unavailable: 'Balances are temporarily unavailable. Try again in a minute.',
}
