// The SQL for closing an account, the copy of its data, and deleting expired rows.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'

export type Unspent = 'refund' | 'forfeit'

/**
 * Closes the account and deletes every way to sign in. Locks its rows. One statement, so that no
 * session outlives its account. The address becomes free; former_email keeps it for the term.
 */
export async function accountClose(
  tx: Tx,
  p: { readonly account: AccountId; readonly unspent: Unspent; readonly days: number },
): Promise<{ readonly closedAt: Date; readonly eraseAt: Date }> {
  const { rows } = await tx.query(
    `with gone_sessions as (delete from sessions where account_id = $1),
       gone_credentials as (delete from credentials where account_id = $1),
       gone_factors as (delete from second_factors where account_id = $1),
       gone_passkeys as (delete from passkeys where account_id = $1),
       gone_devices as (delete from account_devices where account_id = $1),
       gone_changes as (delete from email_changes where account_id = $1),
       gone_codes as (delete from account_codes
         where value = $1 or starts_with(value, '{"account":"' || $1 || '"'))
     update accounts set
       closed_at = clock_timestamp(),
       erase_at = clock_timestamp() + make_interval(days => $3),
       unspent = $2,
       former_email = email,
       email = lower(id) || '.' || book_id || '@closed.invalid',
       second_factor_on = false,
       updated_at = clock_timestamp()
     where id = $1 and closed_at is null
     returning closed_at as "closedAt", erase_at as "eraseAt"`,
    [p.account, p.unspent, p.days],
  )
  return rows[0] as { closedAt: Date; eraseAt: Date }
}

/** Deletes at most `max` expired rows of each table: locks stay short, even after a long pause. */
export async function expiredDelete(
  db: Executor,
  p: { readonly max: number; readonly deviceDays: number; readonly registrationDays: number },
): Promise<number> {
  const { rows } = await db.query(
    `with gone_sessions as (
       delete from sessions where id in (
         select id from sessions where expires_at < clock_timestamp() limit $1) returning 1
     ), gone_codes as (
       delete from account_codes where id in (
         select id from account_codes where expires_at < clock_timestamp() limit $1) returning 1
     ), gone_registrations as (
       delete from registrations where id in (
         select id from registrations
         where expires_at < clock_timestamp() - make_interval(days => $3) limit $1) returning 1
     ), gone_throttles as (
       delete from account_throttles where key in (
         select key from account_throttles where ends_at < clock_timestamp() limit $1) returning 1
     ), gone_devices as (
       delete from account_devices where (account_id, device_hash) in (
         select account_id, device_hash from account_devices
         where last_seen_at < clock_timestamp() - make_interval(days => $2) limit $1) returning 1
     ), gone_changes as (
       delete from email_changes where account_id in (
         select account_id from email_changes where undo_until < clock_timestamp() limit $1)
       returning 1
     )
     select ((select count(*) from gone_sessions) + (select count(*) from gone_codes)
       + (select count(*) from gone_registrations) + (select count(*) from gone_throttles)
       + (select count(*) from gone_devices) + (select count(*) from gone_changes))::int4 as gone`,
    [p.max, p.deviceDays, p.registrationDays],
  )
  return (rows[0] as { gone: number }).gone
}

/**
 * Everything that our tables hold about a person, without secrets. Registrations are not: one of an
 * address that an account has or had comes from somebody else's browser. Reads without a lock.
 */
export async function accountExport(
  db: Executor,
  account: AccountId,
): Promise<Record<string, unknown>> {
  const { rows } = await db.query('select accounts_export($1) as everything', [account])
  return (rows[0] as { everything: Record<string, unknown> }).everything
}
