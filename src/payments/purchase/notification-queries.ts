// The SQL of notifications. An order has one row for each event, whatever the number of
// notifications about it, so that an owner cannot fill the table.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { OrderState } from '../order/order.ts'
import type { NotificationEvent } from '../port.ts'

export type NotificationRow = {
  readonly id: bigint
  readonly provider: string
  readonly event: string
  readonly paymentId: string
  readonly tries: number
  readonly ageSeconds: number
  readonly claimedAt: Date
}

/** The order that a notification is about, and the stored row of the same event. */
export type NotificationTarget = {
  readonly order: OrderId
  readonly book: BookId
  readonly state: OrderState
  readonly isCredited: boolean
  /** Null while the provider has not answered the order's creation. */
  readonly paymentId: string | null
  /** Null when no notification about this event was stored. */
  readonly stored: {
    readonly paymentId: string
    readonly digest: string
    readonly isDone: boolean
    /** A worker began to read the payment after the last notification that changed the row. */
    readonly isRead: boolean
  } | null
}

/**
 * What an account's notifications may cost: this many are read at once, each further one two
 * seconds later. An owner pays for one or two orders at a time. At the provider's limit of five
 * calls a second an account with hundreds of orders uses a tenth of them.
 */
const AT_ONCE_MAX = 5
const SPREAD_SECONDS = 2

/**
 * SQL of the pause before the payment is read again, after `handled` notifications about the same
 * event: 10 s, 20 s, 40 s, up to an hour. An order has one success and one cancellation, so a third
 * notification is made up or a refund, which the hourly check of refunds would find as well.
 */
const pause = (handled: string) =>
  `least(interval '1 hour', interval '10 seconds' * power(2, least(${handled}, 9)))`

/**
 * The order that stores this payment's id, else the order that the notification names. Reads
 * without a lock, so that a flood of repeats writes nothing and waits for nothing.
 */
export async function notificationTarget(
  db: Executor,
  p: {
    readonly provider: string
    readonly paymentId: string
    readonly orderRef: string | null
    readonly event: NotificationEvent
  },
): Promise<NotificationTarget | undefined> {
  const { rows } = await db.query(
    `select o.id as order, o.book_id as book, o.state, o.credited_at is not null as "isCredited",
       o.provider_payment_id as "paymentId",
       case when n.id is not null then json_build_object(
         'paymentId', n.provider_payment_id, 'digest', n.digest, 'isDone', n.done_at is not null,
         'isRead', coalesce(n.claimed_at >= n.received_at, false)) end as stored
     from orders o
     left join payment_notices n on n.provider = $1 and n.dedupe = $4 || ' ' || o.id
     where (o.provider = $1 and o.provider_payment_id = $2) or o.id = $3
     order by (o.provider = $1 and o.provider_payment_id = $2) is true desc
     limit 1`,
    [p.provider, p.paymentId, p.orderRef, p.event],
  )
  return rows[0] as NotificationTarget | undefined
}

/**
 * Stores a notification, or opens the row of its event again. False when the row waits already and
 * the notification adds nothing. Locks the row.
 */
export async function notificationStore(
  db: Executor,
  p: {
    readonly provider: string
    readonly event: NotificationEvent
    readonly paymentId: string
    readonly order: OrderId
    readonly book: BookId
    /** The payment is the one that the order stores. */
    readonly isOfOrder: boolean
    readonly digest: string
    readonly peer: string
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into payment_notices as n
       (provider, dedupe, event, provider_payment_id, order_id, book_id, digest, peer, body,
        next_at)
     select $1, $2 || ' ' || $4, $2, $3, $4, $5, $6, $7, '',
       ledger_now() + make_interval(secs => $9 * greatest(0, count(*) - $10 + 1))
     from payment_notices where book_id = $5 and done_at is null
     on conflict (provider, dedupe) do update set
       provider_payment_id = case when n.done_at is null and not $8
         then n.provider_payment_id else excluded.provider_payment_id end,
       digest = excluded.digest, peer = excluded.peer, received_at = ledger_now(),
       next_at = case when n.done_at is null
         then n.next_at else greatest(excluded.next_at, n.done_at + ${pause('n.handled - 1')}) end,
       tries = case when n.done_at is null then n.tries else 0 end,
       outcome = null, done_at = null
     where (n.done_at is not null and n.digest <> excluded.digest)
       or (n.done_at is null and n.claimed_at >= n.received_at)
       or (n.done_at is null and $8 and n.provider_payment_id <> excluded.provider_payment_id)
     returning id`,
    [
      ...[p.provider, p.event, p.paymentId, p.order, p.book, p.digest, p.peer, p.isOfOrder],
      ...[SPREAD_SECONDS, AT_ONCE_MAX],
    ],
  )
  return rows.length > 0
}

/**
 * Claims the notification that has been due longest; those about an event that was handled before
 * come after all others. Locks its row; skips rows that others locked.
 */
export async function notificationClaimDue(
  db: Executor,
  leaseSeconds: number,
): Promise<NotificationRow | undefined> {
  const { rows } = await db.query(
    `update payment_notices
     set tries = tries + 1, claimed_at = ledger_now(),
       next_at = ledger_now() + make_interval(secs => $1)
     where id = (
       select id from payment_notices where next_at <= ledger_now()
       order by handled > 0, next_at
       limit 1
       for update skip locked
     )
     returning id, provider, event, provider_payment_id as "paymentId", tries,
       extract(epoch from ledger_now() - received_at)::float8 as "ageSeconds",
       claimed_at as "claimedAt"`,
    [leaseSeconds],
  )
  return rows[0] as NotificationRow | undefined
}

/** Locks the row. */
export async function notificationRetry(db: Executor, id: bigint, seconds: number): Promise<void> {
  await db.query(
    `update payment_notices set next_at = ledger_now() + make_interval(secs => $2)
     where id = $1 and done_at is null`,
    [id, seconds],
  )
}

/**
 * Records the outcome. If another notification arrived after the claim, the payment may have
 * changed after we read it: then the row stays due. Locks the row.
 */
export async function notificationEnd(
  db: Executor,
  row: NotificationRow,
  outcome: string,
): Promise<void> {
  await db.query(
    `update payment_notices set handled = handled + 1, body = '',
       outcome = case when received_at <= claimed_at then $2 end,
       done_at = case when received_at <= claimed_at then ledger_now() end,
       next_at = case when received_at > claimed_at then ledger_now() + ${pause('handled')} end,
       tries = case when received_at > claimed_at then 0 else tries end
     where id = $1 and done_at is null`,
    [row.id, outcome],
  )
}

/**
 * Deletes handled notifications older than `days`, and the texts that an older version stored:
 * they have the first and last digits of cards.
 */
export async function notificationDeleteOld(db: Executor, days: number): Promise<void> {
  await db.query(
    `delete from payment_notices
     where received_at < ledger_now() - make_interval(days => $1) and done_at is not null`,
    [days],
  )
  await db.query(
    `update payment_notices set body = '' where done_at is not null and body <> ''`,
    [],
  )
}
