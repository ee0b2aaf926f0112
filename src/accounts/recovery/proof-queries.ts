// The SQL around recoveries: what operators compared with a person's answers, which addresses are
// taken, and the counts that keep an owner out.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'

/** What an operator may ask a person who claims to be the owner. */
export type IdentityStep = 'payment' | 'card' | 'request' | 'key'

/** Records what an operator compared: the step and its result. */
export async function identityCheckInsert(
  tx: Executor,
  p: { readonly account: AccountId; readonly step: IdentityStep; readonly isMatched: boolean },
): Promise<void> {
  await tx.query(
    `insert into account_identity_checks (account_id, step, is_matched) values ($1, $2, $3)`,
    [p.account, p.step, p.isMatched],
  )
}

/** What was compared within a day. Reads without a lock. */
export async function identityChecks(
  db: Executor,
  account: AccountId,
): Promise<{ readonly matched: readonly IdentityStep[]; readonly wrong: number }> {
  const { rows } = await db.query(
    `select coalesce(array_agg(distinct step) filter (where is_matched), '{}') as matched,
       count(*) filter (where not is_matched)::int4 as wrong
     from account_identity_checks
     where account_id = $1 and checked_at > clock_timestamp() - interval '24 hours'`,
    [account],
  )
  return rows[0] as { matched: IdentityStep[]; wrong: number }
}

/** Why an account's owner may be kept out. Reads without a lock. */
export async function lockFind(db: Executor, account: AccountId) {
  const { rows } = await db.query(
    `select case when a.guessed_until > clock_timestamp() then a.guessed_until end
         as "guessedUntil",
       case when f.locked_until > clock_timestamp() then f.locked_until end
         as "factorLockedUntil",
       coalesce(f.failed_count, 0) as "wrongCodes",
       a.unreviewed_reset_at as "unreviewedResetAt", a.unlocks
     from accounts a left join second_factors f on f.account_id = a.id
     where a.id = $1 and a.closed_at is null`,
    [account],
  )
  return rows[0] as
    | {
        readonly guessedUntil: Date | null
        readonly factorLockedUntil: Date | null
        readonly wrongCodes: number
        readonly unreviewedResetAt: Date | null
        readonly unlocks: number
      }
    | undefined
}

/** Forgets the counts of guesses: their keys contain the number. Locks the rows. */
export async function lockRelease(tx: Tx, account: AccountId): Promise<void> {
  await tx.query(`update accounts set unlocks = unlocks + 1, guessed_until = null where id = $1`, [
    account,
  ])
  await tx.query(
    `update second_factors set failed_count = 0, locked_until = null where account_id = $1`,
    [account],
  )
}

/** Records until when guesses keep unknown browsers out, for operators. Locks the row. */
export async function accountSetGuessed(
  db: Executor,
  p: { readonly account: AccountId; readonly seconds: number },
): Promise<void> {
  await db.query(
    `update accounts set guessed_until = clock_timestamp() + make_interval(secs => $2)
     where id = $1`,
    [p.account, p.seconds],
  )
}

/** Whether an account has the address, or it is reserved for one. Reads without a lock. */
export async function emailIsTaken(db: Executor, email: string): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from accounts where email = $1)
       or exists (select from email_changes
         where old_email = $1 and undo_until > clock_timestamp())
       or exists (select from account_recoveries where new_email = $1 and stopped_at is null
         and done_at is null and ends_at > clock_timestamp()) as "isTaken"`,
    [email],
  )
  return (rows[0] as { isTaken: boolean }).isTaken
}

/** Whether the old mailbox can still undo a change of address. Reads without a lock. */
export async function emailChangeIsRecent(db: Executor, account: AccountId): Promise<boolean> {
  const { rows } = await db.query(
    `select from email_changes where account_id = $1 and undo_until > clock_timestamp()`,
    [account],
  )
  return rows.length > 0
}
