// The SQL of promo codes. The tables enforce the limits of number, time and account.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'

export type Promo = {
  readonly code: string
  readonly credits: Credits
  readonly redemptionsMax: number
  readonly startsAt: Date
  readonly endsAt: Date
  readonly by: string
  readonly note: string
}

/** Inserts a code; false when it exists already. */
export async function promoInsert(db: Executor, p: Promo): Promise<boolean> {
  const { rows } = await db.query(
    `insert into promo_codes (code, credits, redemptions_max, starts_at, ends_at, created_by, note)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict do nothing
     returning code`,
    [p.code, p.credits, p.redemptionsMax, p.startsAt, p.endsAt, p.by, p.note],
  )
  return rows.length > 0
}

/** All codes, newest first, with how often each was used. Reads without a lock. */
export async function promoList(db: Executor): Promise<(Promo & { readonly redeemed: number })[]> {
  const { rows } = await db.query(
    `select code, credits, redemptions_max as "redemptionsMax", redeemed, starts_at as "startsAt",
       ends_at as "endsAt", created_by as by, note
     from promo_codes order by created_at desc limit 1000`,
    [],
  )
  return rows as (Promo & { redeemed: number })[]
}

/**
 * Ends a code that is in force or has not started; false when there is none. Locks its row. For one
 * that has not started, `starts_at` is set a second back, because it must be before `ends_at`.
 */
export async function promoEnd(db: Executor, code: string): Promise<boolean> {
  const { rows } = await db.query(
    `update promo_codes
     set starts_at = least(starts_at, ledger_now() - interval '1 second'), ends_at = ledger_now()
     where code = $1 and ends_at > ledger_now()
     returning code`,
    [code],
  )
  return rows.length > 0
}

/**
 * Takes one redemption of a code in force; undefined when none is left or there is no such code.
 * Locks the code's row, so that the last redemption goes to one account.
 */
export async function promoTake(
  tx: Tx,
  code: string,
): Promise<{ readonly credits: Credits } | undefined> {
  const { rows } = await tx.query(
    `update promo_codes set redeemed = redeemed + 1
     where code = $1 and redeemed < redemptions_max
       and starts_at <= ledger_now() and ledger_now() < ends_at
     returning credits`,
    [code],
  )
  return rows[0] as { credits: Credits } | undefined
}

/** False when the account has used the code before. Locks the new row. */
export async function redemptionInsert(tx: Tx, code: string, book: BookId): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into promo_redemptions (code, book_id) values ($1, $2)
     on conflict do nothing
     returning code`,
    [code, book],
  )
  return rows.length > 0
}

/** Counts a try and returns the number within the hour. Locks the account's row. */
export async function attemptCount(db: Executor, book: BookId): Promise<number> {
  const { rows } = await db.query(
    `insert into promo_attempts (book_id, since, tries) values ($1, ledger_now(), 1)
     on conflict (book_id) do update set
       since = case when promo_attempts.since < ledger_now() - interval '1 hour'
         then ledger_now() else promo_attempts.since end,
       tries = case when promo_attempts.since < ledger_now() - interval '1 hour'
         then 1 else promo_attempts.tries + 1 end
     returning tries`,
    [book],
  )
  return (rows[0] as { tries: number }).tries
}
