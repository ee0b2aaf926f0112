// The SQL of recoveries. Their times, and what may change in them, are decided by triggers of the
// database (sql/recoveries.sql), not here.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'
import { UNDO_DAYS } from '../codes.ts'
import type { RecoveryKind } from '../emails/email-kinds.ts'

type StoppedBy = 'link' | 'session' | 'sign_in' | 'operator'
/** Who is warned: the mailbox of the account, and the one that can still undo a change. */
export type Channel = 'mailbox' | 'old_mailbox'
export type Stage = 'opened' | 'half' | 'day' | 'done'

export type Recovery = {
  readonly id: string
  readonly account: AccountId
  readonly kind: RecoveryKind
  readonly begunBy: 'owner' | 'operator'
  readonly steps: readonly string[]
  readonly newEmail: string | null
  readonly begunAt: Date
  /** Null until the mailbox was confirmed, of one that an operator began. */
  readonly openedAt: Date | null
  readonly ripeAt: Date | null
  readonly endsAt: Date
  readonly mailbox: string | null
  readonly oldMailbox: string | null
  readonly stoppedAt: Date | null
  readonly stoppedBy: string | null
  readonly doneAt: Date | null
  readonly isRipe: boolean
}

const RECOVERY = `
  id, account_id as account, kind, begun_by as "begunBy", steps, new_email as "newEmail",
  begun_at as "begunAt", opened_at as "openedAt", ripe_at as "ripeAt", ends_at as "endsAt",
  mailbox, old_mailbox as "oldMailbox", stopped_at as "stoppedAt", stopped_by as "stoppedBy",
  done_at as "doneAt", coalesce(ripe_at <= clock_timestamp(), false) as "isRipe"`
const LIVES = `stopped_at is null and done_at is null and ends_at > clock_timestamp()`
/** How long a stop takes back what was completed: as long as a change of address can be undone. */
const TAKEN_BACK = `interval '${UNDO_DAYS} days'`

/** The recovery of an account that waits or can be completed. Reads without a lock. */
export async function recoveryLiving(
  db: Executor,
  account: AccountId,
): Promise<Recovery | undefined> {
  const { rows } = await db.query(
    `select ${RECOVERY} from account_recoveries where account_id = $1 and ${LIVES}`,
    [account],
  )
  return rows[0] as Recovery | undefined
}

/** The same, and locks it. The caller has locked the account, then its password. */
export async function recoveryLockLiving(
  tx: Tx,
  account: AccountId,
): Promise<Recovery | undefined> {
  const { rows } = await tx.query(
    `select ${RECOVERY} from account_recoveries where account_id = $1 and ${LIVES} for update`,
    [account],
  )
  return rows[0] as Recovery | undefined
}

/** All of an account, newest first. Reads without a lock. */
export async function recoveryList(db: Executor, account: AccountId): Promise<Recovery[]> {
  const { rows } = await db.query(
    `select ${RECOVERY} from account_recoveries where account_id = $1
     order by begun_at desc limit 20`,
    [account],
  )
  return rows as Recovery[]
}

/** Locks the password too: a reset that runs meanwhile waits, or has changed it. */
export async function passwordLock(tx: Tx, account: AccountId): Promise<string | undefined> {
  const { rows } = await tx.query(
    `select password_hash as hash from credentials where account_id = $1 for update`,
    [account],
  )
  return (rows[0] as { hash: string } | undefined)?.hash
}

/** Begins a recovery; one whose time is over makes room. Rejects when another one lives. */
export async function recoveryInsert(
  tx: Tx,
  p: {
    readonly id: string
    readonly account: AccountId
    readonly kind: RecoveryKind
    readonly begunBy: 'owner' | 'operator'
    readonly steps: readonly string[]
    readonly newEmail: string | null
    readonly confirmHash: Buffer | null
    readonly hours: number
  },
): Promise<Recovery> {
  await tx.query(
    `update account_recoveries set stopped_at = clock_timestamp(), stopped_by = 'lapsed'
     where (account_id = $1 or new_email = $2) and stopped_at is null and done_at is null
       and ends_at <= clock_timestamp()`,
    [p.account, p.newEmail],
  )
  const { rows } = await tx.query(
    `insert into account_recoveries
       (id, account_id, kind, begun_by, steps, new_email, confirm_hash, wait_hours)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     returning ${RECOVERY}`,
    [p.id, p.account, p.kind, p.begunBy, p.steps, p.newEmail, p.confirmHash, p.hours],
  )
  return rows[0] as Recovery
}

/** The account of a code for the mailbox; reads without a lock: the account is locked first. */
export async function recoveryAccountByCode(
  db: Executor,
  p: { readonly column: 'confirm' | 'ready'; readonly hash: Buffer },
): Promise<AccountId | undefined> {
  const { rows } = await db.query(
    `select account_id as account from account_recoveries
     where ${p.column === 'confirm' ? 'confirm_hash' : 'ready_hash'} = $1 and ${LIVES}`,
    [p.hash],
  )
  return (rows[0] as { account: AccountId } | undefined)?.account
}

/** Begins the wait of a recovery whose mailbox is confirmed. Locks it. */
export async function recoveryOpen(tx: Tx, confirmHash: Buffer): Promise<Recovery | undefined> {
  const { rows } = await tx.query(
    `update account_recoveries set opened_at = clock_timestamp()
     where confirm_hash = $1 and opened_at is null and ${LIVES}
     returning ${RECOVERY}`,
    [confirmHash],
  )
  return rows[0] as Recovery | undefined
}

/** Records a warning and the code that stops; false when it was posted before. */
export async function warningInsert(
  tx: Executor,
  p: {
    readonly recovery: string
    readonly channel: Channel
    readonly stage: Stage
    readonly stopHash: Buffer
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into account_recovery_warnings (recovery_id, channel, stage, stop_hash)
     values ($1, $2, $3, $4) on conflict (recovery_id, channel, stage) do nothing
     returning recovery_id`,
    [p.recovery, p.channel, p.stage, p.stopHash],
  )
  return rows.length > 0
}

/** Which warnings of a recovery were posted, and when. Reads without a lock. */
export async function warningList(db: Executor, recovery: string) {
  const { rows } = await db.query(
    `select channel, stage, posted_at as "postedAt"
     from account_recovery_warnings where recovery_id = $1 order by posted_at, channel`,
    [recovery],
  )
  return rows as { readonly channel: Channel; readonly stage: Stage; readonly postedAt: Date }[]
}

/** What a code from a warning stops: a recovery that lives, or was completed within the week. */
export async function recoveryByStop(
  db: Executor,
  stopHash: Buffer,
): Promise<{ readonly id: string; readonly account: AccountId } | undefined> {
  const { rows } = await db.query(
    `select r.id, r.account_id as account
     from account_recovery_warnings w join account_recoveries r on r.id = w.recovery_id
     where w.stop_hash = $1 and r.stopped_at is null
       and (r.done_at is null or r.done_at > clock_timestamp() - ${TAKEN_BACK})`,
    [stopHash],
  )
  return rows[0] as { id: string; account: AccountId } | undefined
}

/** Stops what lives; undefined when nothing does. Locks it; one that completes meanwhile stays. */
export async function recoveryStop(
  db: Executor,
  p: { readonly account: AccountId; readonly by: StoppedBy; readonly id?: string },
): Promise<Recovery | undefined> {
  const { rows } = await db.query(
    `update account_recoveries set stopped_at = clock_timestamp(), stopped_by = $2
     where account_id = $1 and ($3::text is null or id = $3)
       and stopped_at is null and done_at is null
     returning ${RECOVERY}`,
    [p.account, p.by, p.id ?? null],
  )
  return rows[0] as Recovery | undefined
}

/**
 * Completes a recovery and keeps a copy of the second factor that goes. The database refuses it
 * before its time, and without the warnings. Locks it.
 */
export async function recoveryComplete(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update account_recoveries r set done_at = clock_timestamp(),
       removed_factor = case when r.kind <> 'mailbox' then
         (select to_jsonb(f) from second_factors f join accounts a on a.id = f.account_id
          where a.id = r.account_id and a.second_factor_on) end
     where id = $1`,
    [id],
  )
}

/** Removes the second factor, and ends every session and every link. Locks the rows. */
export async function factorRemove(tx: Tx, account: AccountId): Promise<void> {
  await tx.query(
    `with gone_sessions as (delete from sessions where account_id = $1),
       gone_codes as (delete from account_codes where value = $1),
       gone_factors as (delete from second_factors where account_id = $1)
     update accounts set second_factor_on = false, updated_at = clock_timestamp() where id = $1`,
    [account],
  )
}

/** The second factor that is on; null without one. Reads without a lock. */
export async function factorId(tx: Tx, account: AccountId): Promise<string | null> {
  const { rows } = await tx.query(
    `select f.id from second_factors f join accounts a on a.id = f.account_id
     where a.id = $1 and a.second_factor_on`,
    [account],
  )
  return (rows[0] as { id: string } | undefined)?.id ?? null
}

/** Marks a completed recovery of this week as taken back; undefined without one. Locks it. */
export async function recoveryTakeBack(
  tx: Tx,
  p: { readonly account: AccountId; readonly id?: string },
): Promise<Recovery | undefined> {
  const { rows } = await tx.query(
    `update account_recoveries set stopped_at = clock_timestamp(), stopped_by = 'link'
     where account_id = $1 and ($2::text is null or id = $2) and stopped_at is null
       and done_at > clock_timestamp() - ${TAKEN_BACK}
     returning ${RECOVERY}`,
    [p.account, p.id ?? null],
  )
  return rows[0] as Recovery | undefined
}

/** Whether a stop can still take a completed recovery back. Reads without a lock. */
export async function recoveryIsRecent(db: Executor, account: AccountId): Promise<boolean> {
  const { rows } = await db.query(
    `select from account_recoveries where account_id = $1 and stopped_at is null
       and done_at > clock_timestamp() - ${TAKEN_BACK}`,
    [account],
  )
  return rows.length > 0
}

/** Gives the account the second factor back that a recovery removed, instead of any other. */
export async function factorRestore(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `delete from second_factors f using account_recoveries r
     where r.id = $1 and r.removed_factor is not null and f.account_id = r.account_id`,
    [id],
  )
  await tx.query(
    `with kept as (
       insert into second_factors
       select f.* from account_recoveries r,
         jsonb_populate_record(null::second_factors, r.removed_factor) f
       where r.id = $1 and r.removed_factor is not null
       returning account_id
     ), forgotten as (
       update account_recoveries set removed_factor = null where id = $1
     )
     update accounts set second_factor_on = true, updated_at = clock_timestamp()
     where id in (select account_id from kept)`,
    [id],
  )
}

/** Recoveries whose next e-mail is due. Reads without a lock; each e-mail is written once. */
export async function recoveriesDue(db: Executor, max: number) {
  const { rows } = await db.query(
    `select * from (
       select ${RECOVERY},
         case
           when ripe_at <= clock_timestamp() and ready_at is null then 'ready'
           when ripe_at > clock_timestamp() and wait_hours > 48
             and ripe_at <= clock_timestamp() + interval '24 hours'
             and not exists (select from account_recovery_warnings w
               where w.recovery_id = r.id and w.stage = 'day') then 'day'
           when ripe_at > clock_timestamp()
             and clock_timestamp() >= opened_at + (ripe_at - opened_at) / 2
             and (wait_hours <= 48 or ripe_at > clock_timestamp() + interval '24 hours')
             and not exists (select from account_recovery_warnings w
               where w.recovery_id = r.id and w.stage = 'half') then 'half'
         end as due
       from account_recoveries r where ${LIVES} and opened_at is not null) as recoveries
     where due is not null order by "ripeAt" limit $1`,
    [max],
  )
  return rows as (Recovery & { readonly due: 'ready' | 'half' | 'day' })[]
}

/** Records that the owner was told; false when another process was faster. Locks it. */
export async function recoveryReady(
  tx: Tx,
  p: { readonly id: string; readonly readyHash: Buffer | null },
): Promise<boolean> {
  const { rows } = await tx.query(
    `update account_recoveries set ready_at = clock_timestamp(), ready_hash = $2
     where id = $1 and ready_at is null and ${LIVES} returning id`,
    [p.id, p.readyHash],
  )
  return rows.length > 0
}

/** Ends recoveries whose time is over, and forgets second factors after their week. Locks them. */
export async function recoveriesEnd(db: Executor): Promise<number> {
  const { rows } = await db.query(
    `with lapsed as (
       update account_recoveries set stopped_at = clock_timestamp(), stopped_by = 'lapsed'
       where stopped_at is null and done_at is null and ends_at <= clock_timestamp()
       returning 1
     ), forgotten as (
       update account_recoveries set removed_factor = null
       where removed_factor is not null and done_at <= clock_timestamp() - ${TAKEN_BACK}
       returning 1
     )
     select ((select count(*) from lapsed) + (select count(*) from forgotten))::int4 as ended`,
  )
  return (rows[0] as { ended: number }).ended
}
