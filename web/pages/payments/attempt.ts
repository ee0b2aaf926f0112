// The number of an attempt to buy or to refund: made once, kept in this tab until an answer came.
// When the answer gets lost, the same number is sent again, and the server does nothing twice.

const PREFIX = 'attempt:'

/** `subject` says what is attempted; each subject has one number at a time. */
export function attemptFor(subject: string): string {
  const stored = sessionStorage.getItem(PREFIX + subject)
  if (stored !== null) return stored
  const made = crypto.randomUUID()
  sessionStorage.setItem(PREFIX + subject, made)
  return made
}

/** An answer came: the next attempt is another one. */
export function attemptOver(subject: string): void {
  sessionStorage.removeItem(PREFIX + subject)
}
