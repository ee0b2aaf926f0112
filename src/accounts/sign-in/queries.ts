// The SQL of step-ups and of resets that wait for their owner's review.
import { createHash } from 'node:crypto'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'
import type { Proofs } from '../levels.ts'

/** The columns of sessions, which no request can name. */
const COLUMNS: Readonly<Record<keyof Proofs, string>> = {
  passwordAt: 'password_at',
  codeAt: 'code_at',
  recoveryAt: 'recovery_at',
  passkeyAt: 'passkey_at',
}

/** Records a proof; false when the session has ended meanwhile. Locks it. */
export async function sessionProve(
  db: Executor,
  p: {
    readonly account: AccountId
    readonly id: string
    readonly proof: keyof Proofs
    readonly at: Date
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `update sessions set ${COLUMNS[p.proof]} = $3
     where id = $2 and account_id = $1 and expires_at > clock_timestamp() returning id`,
    [p.account, p.id, p.at],
  )
  return rows.length > 0
}

/** Sessions that proved a passkey must prove something again: it may be the one just removed. */
export async function passkeyProofsForget(
  db: Executor,
  p: { readonly account: AccountId; readonly keep: string },
): Promise<void> {
  await db.query(
    `update sessions set passkey_at = null
     where account_id = $1 and id <> $2 and passkey_at is not null`,
    [p.account, p.keep],
  )
}

/** Reads without a lock. */
export async function passwordHashOf(
  db: Executor,
  account: AccountId,
): Promise<string | undefined> {
  const { rows } = await db.query(
    `select password_hash as hash from credentials where account_id = $1`,
    [account],
  )
  return (rows[0] as { hash: string } | undefined)?.hash
}

/** Reads without a lock: one statement for known and unknown addresses. */
export async function passwordHashByEmail(
  db: Executor,
  email: string,
): Promise<string | undefined> {
  const { rows } = await db.query(
    `select c.password_hash as hash from accounts a join credentials c on c.account_id = a.id
     where a.email = $1 and a.closed_at is null`,
    [email],
  )
  return (rows[0] as { hash: string } | undefined)?.hash
}

/**
 * The account of a code that still works. better-auth stores the SHA-256 of its own name for the
 * code, such as `reset-password:<code>`.
 */
export async function codeAccount(db: Executor, name: string): Promise<AccountId | undefined> {
  const { rows } = await db.query(
    `select value as account from account_codes
     where identifier = $1 and expires_at > clock_timestamp()`,
    [createHash('sha256').update(name).digest('base64url')],
  )
  return (rows[0] as { account: AccountId } | undefined)?.account
}

/** From now on passkeys do not count, until resetReviewed. Locks the account. */
export async function resetBegin(db: Executor, account: AccountId): Promise<void> {
  await db.query(`update accounts set unreviewed_reset_at = clock_timestamp() where id = $1`, [
    account,
  ])
}

/** Ends the review; false when there is none. Locks the account. */
export async function resetReviewed(tx: Tx, account: AccountId): Promise<boolean> {
  const { rows } = await tx.query(
    `update accounts set unreviewed_reset_at = null
     where id = $1 and unreviewed_reset_at is not null returning id`,
    [account],
  )
  return rows.length > 0
}

/**
 * Why a passkey that was just proven does not count; undefined if it does. In one statement: a
 * review that ends meanwhile has removed the passkey. Reads without a lock.
 */
export async function passkeyProblem(
  db: Executor,
  p: { readonly account: string; readonly credential: unknown },
): Promise<'passkey_suspended' | 'passkey_unknown' | undefined> {
  const { rows } = await db.query(
    `select a.unreviewed_reset_at is not null as "isSuspended"
     from accounts a join passkeys p on p.account_id = a.id
     where a.id = $1 and a.closed_at is null and p.credential_id = $2`,
    [p.account, p.credential],
  )
  const found = rows[0] as { isSuspended: boolean } | undefined
  if (found === undefined) return 'passkey_unknown'
  return found.isSuspended ? 'passkey_suspended' : undefined
}

/** Deletes these passkeys of the account, and returns their names. Locks them. */
export async function passkeysDelete(
  tx: Tx,
  p: { readonly account: AccountId; readonly ids: readonly string[] },
): Promise<string[]> {
  const { rows } = await tx.query(
    `delete from passkeys where account_id = $1 and id = any($2)
     returning coalesce(name, '') as name`,
    [p.account, p.ids],
  )
  return (rows as { name: string }[]).map(({ name }) => name)
}
