// Registrations that wait, each with the newest e-mail that brought its link.
import type { WaitingRegistration } from '../../accounts/accounts.ts'
import type { OperatorModules } from '../desk/modules.ts'

/** The kinds that bring a link of a registration or of an invitation. */
const LINK_KINDS = ['confirm-email', 'invitation']
const HOUR_MS = 3_600_000

export type SeenRegistration = WaitingRegistration & {
  readonly isExpired: boolean
  readonly ageHours: number
  /** Null when e-mails of that time are not kept any more. */
  readonly letter: {
    readonly state: 'queued' | 'sent' | 'failed'
    /** The relay's last answer, when it refused the e-mail for now or for good. */
    readonly error: string | null
    readonly postedAt: Date
  } | null
}

/** Newest first; `text`: only those of this id or with this part of an address. */
export async function findWaiting(
  { accounts, mail, clock }: Pick<OperatorModules, 'accounts' | 'mail' | 'clock'>,
  p: { readonly text: string | null; readonly limit: number },
): Promise<SeenRegistration[]> {
  const waiting = await accounts.registrations.list(p.limit, p.text?.trim() ?? null)
  const recipients = [...new Set(waiting.map(({ email }) => email))]
  const letters = await mail.latestTo(recipients, LINK_KINDS)
  const nowMs = clock.nowMs()
  return waiting.map((one) => {
    const letter = letters.find(({ recipient }) => recipient === one.email)
    return {
      ...one,
      isExpired: one.expiresAt.getTime() <= nowMs,
      ageHours: Math.floor((nowMs - one.createdAt.getTime()) / HOUR_MS),
      letter: letter === undefined ? null : letterOf(letter),
    }
  })
}

/** Without its recipient and its attempts, which `op registrations --json` would show. */
function letterOf({ state, error, postedAt }: NonNullable<SeenRegistration['letter']>) {
  return { state, error, postedAt }
}
