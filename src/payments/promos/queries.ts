// The SQL of promo codes. The tables enforce the limits of number, time and account.
import { assert } from '../../platform/assert.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'

export type Promo = {
  readonly code: string
  readonly credits: Credits
  readonly redemptionsMax: number
  /** Purchases without a refund that an account needs; 0: the code is for everybody. */
  readonly purchasesMin: number
  readonly startsAt: Date
  readonly endsAt: Date
  readonly by: string
  readonly note: string
}

/** A new code; without `purchasesMin` it is for everybody. */
export type PromoInput = Omit<Promo, 'purchasesMin'> & Partial<Pick<Promo, 'purchasesMin'>>

/** Inserts a code; false when it exists already. */
export async function promoInsert(db: Executor, p: Promo): Promise<boolean> {
  const { rows } = await db.query(
    `insert into promo_codes
       (code, credits, redemptions_max, purchases_min, starts_at, ends_at, created_by, note)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict do nothing
     returning code`,
    [p.code, p.credits, p.redemptionsMax, p.purchasesMin, p.startsAt, p.endsAt, p.by, p.note],
  )
  return rows.length > 0
}

/** All codes, newest first, with how often each was used. Reads without a lock. */
export async function promoList(db: Executor): Promise<(Promo & { readonly redeemed: number })[]> {
  const { rows } = await db.query(
    `select code, credits, redemptions_max as "redemptionsMax", purchases_min as "purchasesMin",
       redeemed, starts_at as "startsAt", ends_at as "endsAt", created_by as by, note
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

/** Undefined when there is no such code. Reads without a lock. */
export async function promoPurchasesMin(db: Executor, code: string): Promise<number | undefined> {
  const { rows } = await db.query('select purchases_min as min from promo_codes where code = $1', [
    code,
  ])
  return (rows[0] as { min: number } | undefined)?.min
}

/**
 * False when the account or its address has used the code before. The digest of the address stays
 * when the account is erased. Locks the new row.
 */
export async function redemptionInsert(
  tx: Tx,
  p: { readonly code: string; readonly book: BookId; readonly addressDigest: Buffer },
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into promo_redemptions (code, book_id, address_digest) values ($1, $2, $3)
     on conflict do nothing
     returning code`,
    [p.code, p.book, p.addressDigest],
  )
  return rows.length > 0
}

/**
 * The oldest purchases that can open a code: nothing of them was refunded, is being refunded or is
 * disputed, and they opened no other code. Locks the orders, so that a refund of one waits; a
 * refund that was first has changed the order's state, which PostgreSQL checks after the wait.
 */
export async function purchasesLock(tx: Tx, book: BookId, limit: number): Promise<OrderId[]> {
  const { rows } = await tx.query(
    `select o.id from orders o
     where o.book_id = $1 and o.state in ('credited', 'dispute_won') and o.refunded_kopecks = 0
       and not exists (select from promo_purchases p where p.order_id = o.id)
     order by o.id
     limit $2
     for update`,
    [book, limit],
  )
  return (rows as { id: OrderId }[]).map(({ id }) => id)
}

/** Records the purchases that opened a code. Rejects when one has opened another code. */
export async function purchasesInsert(
  tx: Tx,
  p: { readonly code: string; readonly book: BookId; readonly orders: readonly OrderId[] },
): Promise<void> {
  await tx.query(
    `insert into promo_purchases (order_id, code, book_id) select unnest($1::text[]), $2, $3`,
    [p.orders, p.code, p.book],
  )
}

/**
 * Adds the credits of a redemption, once. The caller's transaction inserted the redemption and the
 * purchases that opened the code. The ledger's lock is the last one taken.
 */
export async function promoCredit(tx: Tx, code: string, book: BookId): Promise<void> {
  const { rows } = await tx.query('select outcome from promos_credit($1, $2)', [code, book])
  const { outcome } = rows[0] as { outcome: string }
  assert(outcome === 'posted', `the credit of ${code} for book ${book} answered ${outcome}`)
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
