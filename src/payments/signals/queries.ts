// The SQL of signals: who paid for which order, and what several accounts have in common.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'

/** What several accounts have in common, from the first time to the last. */
export type Shared = {
  readonly books: readonly BookId[]
  readonly payments: number
  readonly first: Date
  readonly last: Date
}
export type SharedCard = Shared & {
  /** The beginning of the card's digest, which is the same for all of its payments. */
  readonly card: string
}
export type SharedBank = Shared & { readonly bank: string; readonly code: string }
export type ManyRefunds = {
  readonly book: BookId
  readonly refunds: number
  readonly amount: Kopecks
  readonly first: Date
  readonly last: Date
}
export type ManyTries = { readonly book: BookId; readonly tries: number; readonly since: Date }

/** The driver returns the numbers of an array as text. */
function withBooks<T extends Shared>(row: T): T {
  return { ...row, books: row.books.map((book) => BigInt(book) as BookId) }
}

/** Stores who paid, once per order. Locks the new row. */
export async function payerInsert(
  tx: Tx,
  p: {
    readonly order: OrderId
    readonly book: BookId
    readonly cardDigest: Buffer | null
    readonly bank: string | null
  },
): Promise<void> {
  await tx.query(
    `insert into payment_payers (order_id, book_id, card_digest, bank) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [p.order, p.book, p.cardDigest, p.bank],
  )
}

/** Cards that paid for two accounts or more, the most accounts first. Reads without a lock. */
export async function cardListShared(
  db: Executor,
  p: { readonly days: number; readonly limit: number },
): Promise<SharedCard[]> {
  const { rows } = await db.query(
    `select left(encode(card_digest, 'hex'), 12) as card,
       array_agg(distinct book_id order by book_id) as books, count(*)::int4 as payments,
       min(seen_at) as first, max(seen_at) as last
     from payment_payers
     where card_digest is not null and seen_at > ledger_now() - make_interval(days => $1)
     group by card_digest
     having count(distinct book_id) > 1
     order by count(distinct book_id) desc, max(seen_at) desc
     limit $2`,
    [p.days, p.limit],
  )
  return (rows as SharedCard[]).map(withBooks)
}

/**
 * Banks from which `min` accounts or more paid that used the same promo code. A bank alone says
 * nothing: a large one has a third of all payers. Reads without a lock.
 */
export async function bankListShared(
  db: Executor,
  p: { readonly days: number; readonly min: number; readonly limit: number },
): Promise<SharedBank[]> {
  const { rows } = await db.query(
    `select p.bank, r.code, array_agg(distinct p.book_id order by p.book_id) as books,
       count(*)::int4 as payments, min(p.seen_at) as first, max(p.seen_at) as last
     from payment_payers p join promo_redemptions r on r.book_id = p.book_id
     where p.bank is not null and p.seen_at > ledger_now() - make_interval(days => $1)
     group by p.bank, r.code
     having count(distinct p.book_id) >= $2
     order by count(distinct p.book_id) desc, max(p.seen_at) desc
     limit $3`,
    [p.days, p.min, p.limit],
  )
  return (rows as SharedBank[]).map(withBooks)
}

/** Accounts whose owners requested `min` refunds or more. Reads without a lock. */
export async function refundListMany(
  db: Executor,
  p: { readonly days: number; readonly min: number; readonly limit: number },
): Promise<ManyRefunds[]> {
  const { rows } = await db.query(
    `select o.book_id as book, count(*)::int4 as refunds, sum(r.amount_kopecks)::int8 as amount,
       min(r.created_at) as first, max(r.created_at) as last
     from refunds r join orders o on o.id = r.order_id
     where r.owner_digest is not null and r.state <> 'canceled'
       and r.created_at > ledger_now() - make_interval(days => $1)
     group by o.book_id
     having count(*) >= $2
     order by count(*) desc, max(r.created_at) desc
     limit $3`,
    [p.days, p.min, p.limit],
  )
  return rows as ManyRefunds[]
}

/** Accounts that tried `min` promo codes or more within their last hour of trying. */
export async function promoListTries(
  db: Executor,
  p: { readonly days: number; readonly min: number; readonly limit: number },
): Promise<ManyTries[]> {
  const { rows } = await db.query(
    `select book_id as book, tries, since from promo_attempts
     where tries >= $2 and since > ledger_now() - make_interval(days => $1)
     order by tries desc, since desc
     limit $3`,
    [p.days, p.min, p.limit],
  )
  return rows as ManyTries[]
}

/** What is stored about the payers of a book's orders. Reads without a lock. */
export async function payerListByBook(db: Executor, book: BookId) {
  const { rows } = await db.query(
    `select order_id as "order", bank, encode(card_digest, 'hex') as card, seen_at as "seenAt"
     from payment_payers where book_id = $1 order by order_id`,
    [book],
  )
  return rows as {
    readonly order: OrderId
    readonly bank: string | null
    readonly card: string | null
    readonly seenAt: Date
  }[]
}

/** Deletes rows older than `days`. Locks them. */
export async function payerDeleteOld(db: Executor, days: number): Promise<void> {
  await db.query(
    `delete from payment_payers where seen_at < ledger_now() - make_interval(days => $1)`,
    [days],
  )
}
