// The closed list of error codes of the console, as a type. Its pages have a sentence for each code
// in both languages; a code without one does not compile there.

export type ErrorCode =
  | 'path_unknown'
  | 'content_type_wrong'
  | 'body_too_large'
  | 'body_broken_off'
  | 'field_invalid'
  | 'request_overdue'
  | 'http_broken'
  | 'headers_too_large'
  /** The request does not come from the console's own pages. */
  | 'origin_wrong'
  /** The role lacks the permission of the route or command. */
  | 'permission_missing'
  /** The thing does not exist, or no longer. */
  | 'thing_unknown'
  /** The command was refused; the message says why. */
  | 'command_refused'
  /** The console does not run this command; `op` does. */
  | 'command_unknown'
  | 'sign_in_wrong'
  | 'sign_in_throttled'
  | 'operator_session_missing'
  | 'second_factor_missing'
  | 'second_factor_wrong'
  | 'second_factor_not_set_up'
  | 'invitation_wrong'
  | 'operator_password_weak'
  | 'operator_passkey_wrong'
  /** The identity provider's answer names nobody who may sign in, or is not an answer to us. */
  | 'oidc_sign_in_refused'
  | 'oidc_unavailable'
  /** Too many passwords at once wait for a thread. */
  | 'password_checks_overloaded'
  | 'unavailable'
  | 'fault'
