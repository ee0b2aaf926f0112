// The SQL of a changed e-mail address that can still be undone.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'

export type EmailChange = { readonly oldEmail: string; readonly undoUntil: Date }

/** The account's change that can still be undone. Reads without a lock. */
export async function emailChangeFind(
  db: Executor,
  account: AccountId,
): Promise<EmailChange | undefined> {
  const { rows } = await db.query(
    `select old_email as "oldEmail", undo_until as "undoUntil" from email_changes
     where account_id = $1 and undo_until > clock_timestamp()`,
    [account],
  )
  return rows[0] as EmailChange | undefined
}

/** Until when an address is reserved for the account that had it. Reads without a lock. */
export async function emailReservedUntil(db: Executor, email: string): Promise<Date | undefined> {
  const { rows } = await db.query(
    `select undo_until as "undoUntil" from email_changes
     where old_email = $1 and undo_until > clock_timestamp()`,
    [email],
  )
  return (rows[0] as { undoUntil: Date } | undefined)?.undoUntil
}

/** Adds a change; earlier ones whose time is over make room. Rejects when one can be undone. */
export async function emailChangeInsert(
  tx: Tx,
  p: {
    readonly account: AccountId
    readonly oldEmail: string
    readonly newEmail: string
    readonly undoHash: Buffer
    readonly days: number
  },
): Promise<Date> {
  await tx.query(
    `delete from email_changes
     where (account_id = $1 or old_email = $2) and undo_until <= clock_timestamp()`,
    [p.account, p.oldEmail],
  )
  const { rows } = await tx.query(
    `insert into email_changes
       (account_id, old_email, new_email, undo_hash, second_factor_id, undo_until)
     select id, $2, $3, $4,
       (select f.id from second_factors f where f.account_id = $1 and second_factor_on),
       clock_timestamp() + make_interval(days => $5)
     from accounts where id = $1
     returning undo_until as "undoUntil"`,
    [p.account, p.oldEmail, p.newEmail, p.undoHash, p.days],
  )
  return (rows[0] as { undoUntil: Date }).undoUntil
}

/** The account of an undo code. Reads without a lock: the account is locked before its change. */
export async function emailChangeAccount(
  db: Executor,
  undoHash: Buffer,
): Promise<AccountId | undefined> {
  const { rows } = await db.query(
    `select account_id as account from email_changes
     where undo_hash = $1 and undo_until > clock_timestamp()`,
    [undoHash],
  )
  return (rows[0] as { account: AccountId } | undefined)?.account
}

/** Deletes the change, under its lock: of two concurrent calls only one gets it. */
export async function emailChangeConsume(tx: Tx, undoHash: Buffer) {
  const { rows } = await tx.query(
    `delete from email_changes where undo_hash = $1 and undo_until > clock_timestamp()
     returning old_email as "oldEmail", second_factor_id as "secondFactor"`,
    [undoHash],
  )
  return rows[0] as { readonly oldEmail: string; readonly secondFactor: string | null } | undefined
}

/** The same by account, for a recovery that is taken back. */
export async function emailChangeTake(tx: Tx, account: AccountId) {
  const { rows } = await tx.query(
    `delete from email_changes where account_id = $1 and undo_until > clock_timestamp()
     returning old_email as "oldEmail", second_factor_id as "secondFactor"`,
    [account],
  )
  return rows[0] as { readonly oldEmail: string; readonly secondFactor: string | null } | undefined
}

/**
 * What changes with the address, `$2`. The links in summaries of the month lie in the old mailbox,
 * whose holder must not switch the e-mail off: the next summary gets another code.
 */
const NEW_EMAIL = 'email = $2, summary_code = null, updated_at = clock_timestamp()'

/** Locks and updates the row. Rejects (`isUniqueViolation`) if another account has the address. */
export async function accountSetEmail(tx: Tx, id: AccountId, email: string): Promise<void> {
  await tx.query(`update accounts set ${NEW_EMAIL} where id = $1`, [id, email])
}

/**
 * Gives the account another address: the one before a change, or that of a recovery. Nobody knows
 * the password after this, no session is left, and passkeys do not count before a review. Locks the
 * account's rows.
 */
export async function accountMoveTo(
  tx: Tx,
  p: {
    readonly account: AccountId
    readonly email: string
    readonly passwordHash: string
    /** The one that stays, if the account still has it. */
    readonly secondFactor: string | null
  },
): Promise<void> {
  await tx.query(
    `with gone_sessions as (delete from sessions where account_id = $1),
       gone_codes as (delete from account_codes where value = $1),
       gone_factors as (
         delete from second_factors where account_id = $1 and id is distinct from $4
       ),
       new_password as (
         update credentials set password_hash = $3, updated_at = clock_timestamp()
         where account_id = $1
       )
     update accounts set ${NEW_EMAIL}, unreviewed_reset_at = clock_timestamp(),
       second_factor_on = second_factor_on
         and exists (select from second_factors f where f.account_id = $1 and f.id = $4)
     where id = $1`,
    [p.account, p.email, p.passwordHash, p.secondFactor],
  )
}
