// The e-mails about a recovery to every mailbox that is known. Each has a code of its own that
// stops the recovery without signing in, and that works for a week after it was completed too.
import { assert } from '../../platform/assert.ts'
import type { Executor } from '../../platform/db/db.ts'
import { randomText } from '../../platform/ids.ts'
import { codeDigest, UNDO_DAYS } from '../codes.ts'
import type { AccountEmail, EventContext } from '../emails/email-kinds.ts'
import type { Emails } from '../emails/emails.ts'
import type { AccountRow } from '../queries.ts'
import * as queries from './queries.ts'

const DAY_MS = 86_400_000

type Addressee = Pick<AccountRow, 'language' | 'zone'>

const KINDS = {
  opened: 'recovery-opened',
  half: 'recovery-reminder',
  day: 'recovery-reminder',
  done: 'recovery-done',
} as const satisfies Record<queries.Stage, AccountEmail['kind']>

/** Warns every known mailbox once for each stage, in the caller's transaction. */
export async function warnOwner(
  tx: Executor,
  p: {
    readonly emails: Emails
    readonly recovery: queries.Recovery
    readonly stage: queries.Stage
    readonly to: Addressee
    readonly context: EventContext
  },
): Promise<void> {
  const { emails, recovery, stage, to, context } = p
  for (const { channel, email } of mailboxesOf(recovery)) {
    const code = randomText(24)
    const warning = { recovery: recovery.id, channel, stage, stopHash: codeDigest(code) }
    if (!(await queries.warningInsert(tx, warning))) continue
    const untilMs =
      stage === 'done' ? context.atMs + UNDO_DAYS * DAY_MS : recovery.ripeAt?.getTime()
    const facts = {
      ...context,
      lost: recovery.kind,
      newEmail: recovery.newEmail,
      untilMs: untilMs ?? context.atMs,
      link: emails.link('stop-recovery', code),
    }
    const once = stage === 'opened' ? `${recovery.id} ${channel}` : undefined
    const warns = { kind: KINDS[stage], facts } as AccountEmail
    const isPosted = await emails.post(tx, { ...to, email }, warns, once)
    // The database counts this e-mail as the warning: one that was there before would say nothing.
    assert(isPosted, `the warning ${once} is an e-mail that somebody else wrote`)
  }
}

/** Tells every known mailbox that a recovery was stopped. */
export async function reportStop(
  tx: Executor,
  p: {
    readonly emails: Emails
    readonly recovery: queries.Recovery
    readonly to: Addressee
    readonly context: EventContext
  },
): Promise<void> {
  const facts = { ...p.context, lost: p.recovery.kind }
  for (const { email } of mailboxesOf(p.recovery)) {
    await p.emails.post(tx, { ...p.to, email }, { kind: 'recovery-stopped', facts })
  }
}

function mailboxesOf({ mailbox, oldMailbox }: queries.Recovery) {
  const known: readonly { channel: queries.Channel; email: string | null }[] = [
    { channel: 'mailbox', email: mailbox },
    { channel: 'old_mailbox', email: oldMailbox },
  ]
  return known.flatMap(({ channel, email }) => (email === null ? [] : [{ channel, email }]))
}
