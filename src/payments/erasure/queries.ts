// The SQL of erasing an owner from payments, and of what must be over before;
// src/payments/sql/erasure.sql has what is erased.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'

/** What still needs the owner's address, a sentence for each. Reads without a lock. */
export async function paymentsNeeds(db: Executor, book: BookId): Promise<string[]> {
  const { rows } = await db.query(
    `with own as (select id, state, receipt_state from orders where book_id = $1)
     select 'the order ' || id || ' is ' || state as need from own
     where state in ('created', 'pending', 'review', 'refund_pending', 'disputed')
     union all
     select 'the receipt of ' || id || ' is pending' from own
     where receipt_state = 'pending' and not exists (
       select from receipts r where r.order_id = own.id)
     union all
     select 'the receipt ' || r.id || ' is not registered yet' from receipts r
     where r.order_id in (select id from own) and (r.state in ('created', 'pending')
       or (r.state = 'failed' and r.next_at is not null) or r.check_at is not null)
     union all
     select 'the refund ' || r.id || ' is under way' from refunds r
     where r.order_id in (select id from own) and r.state in ('created', 'pending')
     union all
     select 'the dispute ' || d.id || ' is open' from disputes d
     where d.order_id in (select id from own) and d.state = 'opened'
     union all
     select 'the review ' || v.id || ' waits for a decision' from payment_reviews v
     where v.order_id in (select id from own) and v.closed_at is null
     union all
     select 'a notification of the provider waits' from payment_notices n
     where n.book_id = $1 and n.done_at is null
     order by need`,
    [book],
  )
  return (rows as { need: string }[]).map(({ need }) => need)
}

/** Erases the owner of a book. Locks the rows of its orders. */
export async function paymentsErase(tx: Tx, book: BookId): Promise<void> {
  await tx.query('select payments_erase($1)', [book])
}

/** Deletes the digests of addresses that redeemed a code which has ended. Locks their rows. */
export async function redeemersForget(db: Executor): Promise<void> {
  await db.query('select payments_forget_redeemers()')
}

/** Rows of one statement about a book, as JSON values. Reads without a lock. */
async function listOf(db: Executor, book: BookId, sql: string): Promise<unknown[]> {
  const { rows } = await db.query(
    `select coalesce(json_agg(to_json(found)), '[]') as list from (${sql}) as found`,
    [book],
  )
  return (rows[0] as { list: unknown[] }).list
}

export const orderEmailList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select email, min(created_at) as "firstAt", max(created_at) as "lastAt"
     from orders where book_id = $1 group by email order by min(created_at)`,
  )

export const methodCopy = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select provider, method, title, saved_at as "savedAt" from saved_methods where book_id = $1`,
  )

export const noticeSettingCopy = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select has_advance_notice as "hasAdvanceNotice" from top_up_settings where book_id = $1`,
  )

export const disputeCopyList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select d.id, d.order_id as "order", d.state, d.amount_kopecks::text as "amountKopecks", d.note,
       d.opened_at as "openedAt", d.closed_at as "closedAt"
     from disputes d join orders o on o.id = d.order_id where o.book_id = $1 order by d.id`,
  )

export const reviewCopyList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select v.order_id as "order", v.reason, v.detail, v.amount_kopecks::text as "amountKopecks",
       v.opened_at as "openedAt", v.closed_at as "closedAt", v.decision, v.note
     from payment_reviews v join orders o on o.id = v.order_id where o.book_id = $1 order by v.id`,
  )

export const receiptCopyList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select r.order_id as "order", r.note, r.decided_at as "decidedAt"
     from receipt_decisions r join orders o on o.id = r.order_id where o.book_id = $1
     order by r.order_id`,
  )

export const redemptionCopyList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select code, redeemed_at as "redeemedAt" from promo_redemptions where book_id = $1
     order by redeemed_at`,
  )

export const promoTriesCopy = (db: Executor, book: BookId) =>
  listOf(db, book, 'select since, tries from promo_attempts where book_id = $1')

export const noticeCopyList = (db: Executor, book: BookId) =>
  listOf(
    db,
    book,
    `select event, body, received_at as "receivedAt" from payment_notices where book_id = $1
     order by id`,
  )
