// The SQL of erasing accounts; src/accounts/sql/erasure.sql has what is deleted.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'

/** Closed accounts whose term is over, but not `after`. Reads without a lock. */
export async function accountListToErase(
  db: Executor,
  p: { readonly after: AccountId | null; readonly max: number },
) {
  const { rows } = await db.query(
    `select id, book_id as book from accounts
     where erase_at <= clock_timestamp() and erased_at is null and ($1::text is null or id > $1)
     order by id limit $2`,
    [p.after, p.max],
  )
  return rows as { readonly id: AccountId; readonly book: BookId }[]
}

/** Closed accounts that stay although their term is over. Reads without a lock. */
export async function accountCountOverdue(db: Executor): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from accounts
     where erase_at <= clock_timestamp() - interval '2 days' and erased_at is null`,
  )
  return (rows[0] as { count: number }).count
}

/** Whether the account may be erased. Locks its row. */
export async function accountLockToErase(
  tx: Tx,
  account: AccountId,
): Promise<'unknown' | 'open' | 'closed' | 'erased'> {
  const { rows } = await tx.query('select answer from accounts_erasable($1)', [account])
  return (rows[0] as { answer: 'unknown' | 'open' | 'closed' | 'erased' }).answer
}

/**
 * Every address that the person has or had, without those that somebody else has now: letters to
 * them are about the other one. Reads without a lock.
 */
export async function accountAddresses(db: Executor, account: AccountId): Promise<string[]> {
  const { rows } = await db.query(
    `select had.email
     from accounts own, accounts_addresses(own.id) as had (email)
     where own.id = $1
       and not exists (select from accounts other
         where other.email = had.email and other.id <> own.id)
       and (had.email in (own.email, own.former_email)
         or not exists (select from registrations r where r.email = had.email))`,
    [account],
  )
  return (rows as { email: string }[]).map(({ email }) => email)
}

/** Erases what accounts hold about the person; the row of the account stays. Locks its rows. */
export async function accountErase(tx: Tx, account: AccountId): Promise<void> {
  await tx.query('select accounts_erase($1)', [account])
}
