// The SQL of the outbox. One function per statement; each is a transaction of its own, except the
// first, which runs in the caller's.
import type { Executor } from '../db/db.ts'

export type EmailRow = {
  readonly id: string
  readonly kind: string
  readonly recipient: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly unsubscribe: string | null
  /** The number of attempts, including this one. */
  readonly attempts: number
  readonly postedAt: Date
}

/** How the error of an e-mail begins whose recipient the server refuses for now. */
export const POSTPONED = 'at RCPT TO: '

export type EmailCounts = {
  readonly queued: number
  /** The age of the oldest e-mail in the queue; 0 when there is none. */
  readonly oldestSeconds: number
  /** The same without those whose own recipient is refused for now: anybody may cause these. */
  readonly heldUpSeconds: number
  /** E-mails that failed permanently within the last day. */
  readonly failed: number
}

/**
 * Inserts the e-mail and its job, or neither when one of its kind exists for the same cause. Locks
 * the new row; a second writer of the same cause waits for the first one's transaction. One
 * statement, so that an e-mail without its job cannot exist. False when one existed.
 */
export async function emailInsert(
  tx: Executor,
  p: {
    readonly kind: string
    readonly once: string | null
    readonly recipient: string
    readonly subject: string
    readonly text: string
    readonly html: string
    readonly unsubscribe: string | null
    readonly account: string | null
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `with letter as (
       insert into letters
         (kind, once, recipient, subject, body_text, body_html, unsubscribe, account_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (kind, once) do nothing
       returning id
     )
     select letters_queue(letter.id) from letter`,
    [p.kind, p.once, p.recipient, p.subject, p.text, p.html, p.unsubscribe, p.account],
  )
  return rows.length === 1
}

/**
 * Leases an e-mail for sending. Locks its row; undefined when it has ended or another process has
 * leased it.
 */
export async function emailLease(
  db: Executor,
  id: string,
  seconds: number,
): Promise<EmailRow | undefined> {
  const { rows } = await db.query(
    `update letters
     set attempts = attempts + 1,
       leased_until = clock_timestamp() + make_interval(secs => $2)
     where id = $1 and state = 'queued'
       and (leased_until is null or leased_until < clock_timestamp())
     returning id, kind, recipient, subject, body_text as text, body_html as html, unsubscribe,
       attempts,
       posted_at as "postedAt"`,
    [id, seconds],
  )
  return rows[0] as EmailRow | undefined
}

/** Ends an e-mail and deletes its bodies. Locks its row; repeating it changes nothing. */
export async function emailEnd(
  db: Executor,
  p: { readonly id: string; readonly state: 'sent' | 'failed'; readonly error: string | null },
): Promise<void> {
  await db.query(
    `update letters
     set state = $2, last_error = $3, body_text = null, body_html = null, unsubscribe = null,
       leased_until = null, ended_at = clock_timestamp()
     where id = $1 and state = 'queued'`,
    [p.id, p.state, p.error],
  )
}

/** Ends the lease after a temporary failure. Locks its row. */
export async function emailRelease(db: Executor, id: string, error: string): Promise<void> {
  await db.query(
    `update letters set last_error = $2, leased_until = null where id = $1 and state = 'queued'`,
    [id, error],
  )
}

/**
 * Adds a job for every e-mail whose process died. The old job stays locked for four hours, as
 * graphile-worker does for a lost worker; when it runs, the e-mail has ended. Reads without a lock:
 * the lease decides who sends.
 */
export async function emailResume(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select id, letters_queue(id)
     from letters
     where state = 'queued' and leased_until < clock_timestamp()`,
  )
  return (rows as { id: string }[]).map((row) => row.id)
}

/** Deletes e-mails that ended more than `days` days ago. Locks what it deletes. */
export async function emailDeleteOld(db: Executor, days: number): Promise<void> {
  await db.query(
    `delete from letters
     where state <> 'queued' and ended_at < clock_timestamp() - make_interval(days => $1)`,
    [days],
  )
}

/** Reads without a lock, by the two small indexes. */
export async function emailCount(db: Executor): Promise<EmailCounts> {
  const { rows } = await db.query(
    `select queue.queued, queue."oldestSeconds", queue."heldUpSeconds", ended.failed
     from (
       select count(*)::int4 as queued,
         coalesce(extract(epoch from clock_timestamp() - min(posted_at)), 0)::float8
           as "oldestSeconds",
         coalesce(extract(epoch from clock_timestamp() - min(posted_at)
           filter (where not starts_with(coalesce(last_error, ''), $1))), 0)::float8
           as "heldUpSeconds"
       from letters where state = 'queued'
     ) as queue, (
       select count(*)::int4 as failed from letters
       where state = 'failed' and ended_at > clock_timestamp() - interval '1 day'
     ) as ended`,
    [POSTPONED],
  )
  return rows[0] as EmailCounts
}

/** Queues the job of a waiting e-mail to run now; false if it does not wait. Locks its job. */
export async function emailRetry(db: Executor, id: string): Promise<boolean> {
  const { rows } = await db.query(
    `select letters_queue(id) from letters where id::text = $1 and state = 'queued'`,
    [id],
  )
  return rows.length === 1
}

export type FailedEmail = {
  readonly id: string
  readonly kind: string
  readonly recipient: string
  readonly state: 'queued' | 'failed'
  readonly attempts: number
  readonly error: string
  readonly postedAt: Date
}

/** E-mails that failed within the last day, or wait after a failure. Reads by the small indexes. */
export async function emailListFailed(db: Executor, limit: number): Promise<FailedEmail[]> {
  const { rows } = await db.query(
    `select id, kind, recipient, state, attempts, coalesce(last_error, '') as error,
       posted_at as "postedAt"
     from letters
     where (state = 'queued' and last_error is not null)
       or (state = 'failed' and ended_at > clock_timestamp() - interval '1 day')
     order by state, posted_at limit $1`,
    [limit],
  )
  return rows as FailedEmail[]
}

export type EmailSummary = {
  readonly kind: string
  readonly subject: string
  readonly state: 'queued' | 'sent' | 'failed'
  readonly postedAt: Date
}

/** E-mails to these addresses, newest first. Scans a quarter's e-mails, and is called rarely. */
export async function emailListTo(
  db: Executor,
  recipients: readonly string[],
): Promise<EmailSummary[]> {
  const { rows } = await db.query(
    `select kind, subject, state, posted_at as "postedAt"
     from letters where lower(recipient) = any ($1) order by posted_at desc`,
    [recipients],
  )
  return rows as EmailSummary[]
}

/** Whose e-mails: of the account, and those to its addresses that are of no account. */
export type EmailsOf = { readonly account: string; readonly addresses: readonly string[] }
const OF_OWNER = `(account_id = $1 or (account_id is null and lower(recipient) = any ($2)))`

/** The e-mails of an account, newest first. Reads without a lock. */
export async function emailListOf(db: Executor, of: EmailsOf): Promise<EmailSummary[]> {
  const { rows } = await db.query(
    `select kind, subject, state, posted_at as "postedAt"
     from letters where ${OF_OWNER} order by posted_at desc`,
    [of.account, of.addresses],
  )
  return rows as EmailSummary[]
}

export type LatestEmail = {
  readonly recipient: string
  readonly state: 'queued' | 'sent' | 'failed'
  readonly attempts: number
  /** What the relay answered last; null when it accepted the e-mail, or was not asked yet. */
  readonly error: string | null
  readonly postedAt: Date
}

/** The newest e-mail of these kinds to each address. Scans a quarter's e-mails, called rarely. */
export async function emailLatestTo(
  db: Executor,
  p: { readonly recipients: readonly string[]; readonly kinds: readonly string[] },
): Promise<LatestEmail[]> {
  const { rows } = await db.query(
    `select distinct on (recipient) recipient, state, attempts, last_error as error,
       posted_at as "postedAt"
     from letters where recipient = any($1) and kind = any($2)
     order by recipient, posted_at desc`,
    [p.recipients, p.kinds],
  )
  return rows as LatestEmail[]
}

/** How many of its e-mails wait to be sent. Reads without a lock. */
export async function emailCountWaiting(db: Executor, of: EmailsOf): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from letters where state = 'queued' and ${OF_OWNER}`,
    [of.account, of.addresses],
  )
  return (rows[0] as { count: number }).count
}

/** Deletes the e-mails of an account. Locks their rows. */
export async function emailErase(tx: Executor, of: EmailsOf): Promise<void> {
  await tx.query('select letters_erase($1, $2)', [of.account, of.addresses])
}
