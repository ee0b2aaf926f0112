// The orders, refunds, disputes and reviews that figures of money are made of. Each selects what
// the sum of the same name in queries.ts adds up.
import type { Executor } from '../../platform/db/db.ts'
import { type RowPage, readRowPage } from '../../platform/db/row-page.ts'

const ORDER = `id, book_id as book, pack_title as text, state::text`

const sources = {
  /** Credited payments by the time of their capture. */
  captured: `select ${ORDER}, coalesce(captured_at, credited_at) as at,
       coalesce(captured_kopecks, price_kopecks) as amount
     from orders
     where credited_at is not null and (captured_at >= $1 and captured_at < $2
       or captured_at is null and credited_at >= $1 and credited_at < $2)`,
  credited: `select ${ORDER}, credited_at as at, price_kopecks as amount
     from orders where credited_at >= $1 and credited_at < $2`,
  /** Without payments that were never credited: those sold nothing. */
  refunded: `select r.id, o.book_id as book, o.pack_title as text, r.state::text,
       r.ended_at as at, r.amount_kopecks as amount
     from refunds r join orders o on o.id = r.order_id
     where r.ended_at >= $1 and r.ended_at < $2 and r.state = 'succeeded' and r.review_id is null`,
  disputesLost: `select d.id, o.book_id as book, o.pack_title as text, d.state::text,
       d.closed_at as at, d.amount_kopecks as amount
     from disputes d join orders o on o.id = d.order_id
     where d.state = 'lost' and d.closed_at >= $1 and d.closed_at < $2`,
  /** What waits now, of whatever day. */
  reviews: `select coalesce(v.order_id, v.provider_payment_id) as id, o.book_id as book,
       v.reason as text, null::text as state, v.opened_at as at, coalesce(v.amount_kopecks, 0)
         as amount
     from payment_reviews v left join orders o on o.id = v.order_id
     where v.closed_at is null and v.has_money and $1::timestamptz < $2::timestamptz`,
} as const

export type TakingsRows = keyof typeof sources

export const takingsRows = (db: Executor, of: TakingsRows, p: RowPage) =>
  readRowPage(db, sources[of], p)
