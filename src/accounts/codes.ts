// The codes in e-mailed links, and the cookie of the browser that registered: only their digests
// are stored.
import { createHash } from 'node:crypto'

/** For a registration. A day: e-mail is slow, and people confirm in the evening. */
export const CONFIRM_HOURS = 24
/** A week: the person did not ask for it just now, and may be on a journey. */
export const INVITATION_HOURS = 7 * 24
/**
 * How long the old mailbox can undo a change. A week covers a holiday without e-mail. Meanwhile the
 * address cannot change again and the account cannot be closed, so longer would hinder owners. A
 * recovery that was completed can be taken back as long.
 */
export const UNDO_DAYS = 7

/** The cookie by which a registration knows its browser. */
export const REGISTRATION_COOKIE = 'registration'

/** The id of a registration is made of its browser's cookie, so that nothing else is stored. */
export function registrationIdOf(cookie: string): string {
  const digest = createHash('sha256').update(`registration ${cookie}`).digest('base64url')
  return `reg_${digest.slice(0, 16)}`
}

export function codeDigest(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
