// The idempotency key of a purchase or a refund: created once, stored in this tab until the answer
// arrives. If the answer is lost, the same id is sent again, and the server does nothing twice.

const PREFIX = 'attempt:'

/** `subject` describes the purchase or refund; each subject has one id at a time. */
export function attemptIdFor(subject: string): string {
  const stored = sessionStorage.getItem(PREFIX + subject)
  if (stored !== null) return stored
  const made = crypto.randomUUID()
  sessionStorage.setItem(PREFIX + subject, made)
  return made
}

/** Called when the answer has arrived: the next attempt gets a new id. */
export function endAttempt(subject: string): void {
  sessionStorage.removeItem(PREFIX + subject)
}
