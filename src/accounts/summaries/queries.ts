// The SQL of who gets a summary of the month.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { AccountId, BookId } from '../../platform/ids.ts'
import type { Language } from '../queries.ts'

export type SummaryOwner = {
  readonly account: AccountId
  readonly book: BookId
  readonly email: string
  readonly language: Language
  readonly zone: string | null
  /** The first day of the newest month that was summarised; null: none. */
  readonly month: string | null
}

/** Open accounts that want it and have none of `month` or a later one, by id. Locks nothing. */
export async function summaryOwnerList(
  db: Executor,
  p: { readonly after: string; readonly month: string; readonly limit: number },
): Promise<SummaryOwner[]> {
  const { rows } = await db.query(
    `select id as account, book_id as book, email, language, zone, summary_month::text as month
     from accounts
     where id > $1 and closed_at is null and summary_off_at is null
       and (summary_month is null or summary_month < $2::date)
       and not exists (select from account_closings c
         where c.account_id = accounts.id and c.ended_at is null)
     order by id
     limit $3`,
    [p.after, p.month, p.limit],
  )
  return rows as SummaryOwner[]
}

/**
 * Stores the month and, if there is none, the code; undefined when another process did, or when
 * the account has another address by now: the old mailbox must not get the code.
 */
export async function summarySet(
  tx: Tx,
  p: {
    readonly account: AccountId
    readonly email: string
    readonly month: string
    readonly newCode: string
  },
): Promise<string | undefined> {
  const { rows } = await tx.query(
    `update accounts
     set summary_month = $2::date, summary_code = coalesce(summary_code, $3)
     where id = $1 and email = $4 and closed_at is null and summary_off_at is null
       and (summary_month is null or summary_month < $2::date)
     returning summary_code as code`,
    [p.account, p.month, p.newCode, p.email],
  )
  return (rows[0] as { code: string } | undefined)?.code
}

/** Whether the owner wants it. */
export async function summaryIsOn(db: Executor, account: AccountId): Promise<boolean> {
  const { rows } = await db.query('select from accounts where id = $1 and summary_off_at is null', [
    account,
  ])
  return rows.length > 0
}

/**
 * Switches it on or off; the time of the first switching off is kept. Links from before it is
 * switched on again end, or who has one of them could switch it off as often as the owner wants it.
 */
export async function summarySwitch(
  db: Executor,
  p: { readonly account: AccountId; readonly isOn: boolean },
): Promise<void> {
  await db.query(
    `update accounts
     set summary_off_at =
         case when $2 then null else coalesce(summary_off_at, clock_timestamp()) end,
       summary_code = case when $2 and summary_off_at is not null then null else summary_code end
     where id = $1`,
    [p.account, p.isOn],
  )
}

/** Switches it off by the code of a link; false when the code is wrong. May be repeated. */
export async function summaryOffByCode(
  db: Executor,
  p: { readonly account: string; readonly code: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `update accounts set summary_off_at = coalesce(summary_off_at, clock_timestamp())
     where id = $1 and summary_code = $2
     returning id`,
    [p.account, p.code],
  )
  return rows.length > 0
}
