// The SQL of closings: one row for each time that an account is closed. Lock order: the account's
// row, then its closing, last what the hooks of other modules lock.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'
import type { Unspent } from './queries.ts'

export type ClosingStep = 'closing' | 'drained' | 'refunded' | 'closed' | 'stopped'

export type Closing = {
  readonly account: AccountId
  readonly book: BookId
  readonly unspent: Unspent
  readonly begunBy: 'owner' | 'operator'
  /** The book was stopped before the closing began. */
  readonly wasStopped: boolean
  readonly step: ClosingStep
  readonly begunAt: Date
  readonly drainedAt: Date | null
  readonly refundedAt: Date | null
}

const COLUMNS = `
  c.account_id as account, a.book_id as book, c.unspent, c.begun_by as "begunBy",
  c.was_stopped as "wasStopped", c.step, c.begun_at as "begunAt", c.drained_at as "drainedAt",
  c.refunded_at as "refundedAt"`

/** Begins a closing; undefined when one is under way, or the account is closed. Locks the row. */
export async function closingInsert(
  tx: Tx,
  p: Pick<Closing, 'account' | 'unspent' | 'begunBy' | 'wasStopped'>,
): Promise<Date | undefined> {
  const { rows } = await tx.query(
    `insert into account_closings (account_id, unspent, begun_by, was_stopped)
     select id, $2, $3, $4 from accounts where id = $1 and closed_at is null
     on conflict (account_id) where ended_at is null do nothing
     returning begun_at as "begunAt"`,
    [p.account, p.unspent, p.begunBy, p.wasStopped],
  )
  return (rows[0] as { begunAt: Date } | undefined)?.begunAt
}

/** The closing under way of an account. Reads without a lock. */
export async function closingFind(db: Executor, account: AccountId): Promise<Closing | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from account_closings c join accounts a on a.id = c.account_id
     where c.account_id = $1 and c.ended_at is null`,
    [account],
  )
  return rows[0] as Closing | undefined
}

/** The closing under way of an account. Locks its row. */
export async function closingLock(tx: Tx, account: AccountId): Promise<Closing | undefined> {
  const { rows } = await tx.query(
    `select ${COLUMNS} from account_closings c join accounts a on a.id = c.account_id
     where c.account_id = $1 and c.ended_at is null
     for update of c`,
    [account],
  )
  return rows[0] as Closing | undefined
}

/** Moves the closing under way to a step, now. The caller holds the row's lock. */
export async function closingSetStep(
  tx: Tx,
  account: AccountId,
  step: Exclude<ClosingStep, 'closing'>,
): Promise<void> {
  await tx.query(
    `update account_closings set step = $2,
       drained_at = case when $2 = 'drained' then ledger_now() else drained_at end,
       refunded_at = case when $2 = 'refunded' then ledger_now() else refunded_at end,
       ended_at = case when $2 in ('closed', 'stopped') then ledger_now() end,
       next_at = case when $2 in ('closed', 'stopped') then null else next_at end
     where account_id = $1 and ended_at is null`,
    [account, step],
  )
}

/**
 * Claims the closing that has been due longest. A worker looks at it again after a twentieth of its
 * age, at least five seconds and at most five minutes: what ends within a minute is seen at once,
 * and what waits for days costs little. Locks the row; skips rows that others have locked.
 */
export async function closingClaimDue(db: Executor): Promise<AccountId | undefined> {
  const { rows } = await db.query(
    `update account_closings c
     set next_at = ledger_now()
       + least(greatest((ledger_now() - begun_at) / 20, interval '5 seconds'), interval '5 minutes')
     where id = (
       select id from account_closings where ended_at is null and next_at <= ledger_now()
       order by next_at
       limit 1
       for update skip locked
     )
     returning account_id as account`,
  )
  return (rows[0] as { account: AccountId } | undefined)?.account
}

/** The worker looks at the closing under way as soon as it can. Locks its row. */
export async function closingSetDue(db: Executor, account: AccountId): Promise<void> {
  await db.query(
    `update account_closings set next_at = ledger_now()
     where account_id = $1 and ended_at is null`,
    [account],
  )
}

/** Closings under way, oldest first. Reads without a lock. */
export async function closingList(
  db: Executor,
  limit: number,
): Promise<(Closing & { readonly email: string })[]> {
  const { rows } = await db.query(
    `select ${COLUMNS}, a.email from account_closings c join accounts a on a.id = c.account_id
     where c.ended_at is null
     order by c.begun_at, c.id
     limit $1`,
    [limit],
  )
  return rows as (Closing & { email: string })[]
}

/** How many closings are under way for longer than `days`. Reads without a lock. */
export async function closingCountOld(db: Executor, days: number): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from account_closings
     where ended_at is null and begun_at < ledger_now() - make_interval(days => $1)`,
    [days],
  )
  return (rows[0] as { count: number }).count
}

/** How far the account of a book is on its way out; undefined when it stays. */
export type Ending = {
  readonly step: Exclude<ClosingStep, 'stopped'>
  readonly unspent: Unspent
  readonly begunAt: Date
}

/** Reads without a lock. An older version closes accounts without a closing. */
export async function endingFind(db: Executor, book: BookId): Promise<Ending | undefined> {
  const { rows } = await db.query(
    `select case when a.closed_at is not null then 'closed' else c.step end as step,
       coalesce(c.unspent, a.unspent) as unspent,
       coalesce(c.begun_at, a.closed_at) as "begunAt"
     from accounts a
     left join account_closings c on c.account_id = a.id
       and (c.ended_at is null or c.step = 'closed')
     where a.book_id = $1 and (a.closed_at is not null or c.id is not null)`,
    [book],
  )
  return rows[0] as Ending | undefined
}
