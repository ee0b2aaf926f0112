// The SQL of orders that hang and of receipts that failed, for operators.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'
import type { ReceiptKind } from '../port.ts'

export type StuckOrder = {
  readonly id: OrderId
  readonly book: BookId
  readonly state: OrderState
  readonly price: Kopecks
  readonly packTitle: string
  readonly createdAt: Date
  /** Seen as paid at the provider, and not credited; null: the provider has not said so. */
  readonly paidAt: Date | null
}

/** The payer's hour, ten minutes of grace, and the last poll within it. */
const HANGS_MINUTES = 75
/** Nobody asks about an unpaid order for longer; a paid one stays until it is credited. */
const HANGS_DAYS = 7

/**
 * Orders that were paid and are not credited, or that have no end an hour after the payer's time
 * was over. Paid ones first, then the oldest. Reads without a lock.
 */
export async function orderListStuck(db: Executor, limit: number): Promise<StuckOrder[]> {
  const { rows } = await db.query(
    `select id, book_id as book, state, price_kopecks as price, pack_title as "packTitle",
       created_at as "createdAt", paid_at as "paidAt"
     from orders
     where credited_at is null and (
       paid_at is not null and state in ('created', 'pending', 'expired', 'canceled', 'failed')
       or state in ('created', 'pending', 'expired')
         and created_at < ledger_now() - make_interval(mins => $1)
         and created_at > ledger_now() - make_interval(days => $2))
     order by paid_at is null, created_at limit $3`,
    [HANGS_MINUTES, HANGS_DAYS, limit],
  )
  return rows as StuckOrder[]
}

export type FailedReceipt = {
  readonly order: OrderId
  readonly kind: ReceiptKind
  /** Why; null: the payment only says that it was canceled. */
  readonly error: string | null
  /** When a worker makes it again; null: only a person can. */
  readonly againAt: Date | null
  readonly book: BookId
  readonly email: string
  readonly amount: Kopecks
  readonly creditedAt: Date
}

/**
 * Receipts that failed and that nobody has dealt with; orders from before receipts had rows have
 * only the state of their prepayment. Reads without a lock.
 */
export async function receiptListFailed(db: Executor, limit: number): Promise<FailedReceipt[]> {
  const { rows } = await db.query(
    `select * from (
       select id as "order", book_id as book, email, credited_at as "creditedAt",
         coalesce(captured_kopecks, price_kopecks) as amount, 'prepayment' as kind,
         null as error, null::timestamptz as "againAt"
       from orders o
       where receipt_state = 'canceled' and credited_at is not null
         and not exists (select from receipt_decisions d where d.order_id = o.id)
         and not exists (
           select from receipts r where r.order_id = o.id and r.kind = 'prepayment')
       union all
       select o.id, o.book_id, o.email, o.credited_at, r.amount_kopecks, r.kind, r.error, r.next_at
       from receipts r join orders o on o.id = r.order_id
       where r.state = 'failed'
     ) failed order by "creditedAt", kind limit $1`,
    [limit],
  )
  return rows as FailedReceipt[]
}

/** Once for an order; false if somebody has dealt with it before. Locks nothing else. */
export async function receiptDecide(
  db: Executor,
  p: { readonly order: OrderId; readonly by: string; readonly note: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into receipt_decisions (order_id, decided_by, note) values ($1, $2, $3)
     on conflict do nothing returning order_id`,
    [p.order, p.by, p.note],
  )
  return rows.length === 1
}
