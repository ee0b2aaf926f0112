// The SQL of the orders of top-ups: what they cost in a day and a month, when they were sent, and
// how they are canceled. order/queries.ts has what they share with purchases.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'

export type TopUpSums = {
  /** What top-ups cost in this UTC day and month. */
  readonly daySpent: Kopecks
  readonly monthSpent: Kopecks
  /** The first of the UTC day and month, such as 2026-11-17 and 2026-11-01. */
  readonly day: string
  readonly month: string
  /** Whether another top-up of the book may still be charged. */
  readonly hasOpen: boolean
  /** How many top-ups the book has had. */
  readonly count: number
}

/** An order of a top-up for the owner's history. */
export type TopUpCharge = {
  readonly id: OrderId
  readonly mandate: bigint | null
  readonly state: OrderState
  readonly price: Kopecks
  readonly refunded: Kopecks
  readonly credits: Credits
  readonly cancelReason: string | null
  readonly createdAt: Date
  readonly creditedAt: Date | null
  /** Set while an announced charge has not been sent. */
  readonly chargeAfter: Date | null
}

/**
 * What the book's top-ups cost, without `except`. A paid one counts when it was credited, which is
 * never before its charge; an open one counts now, because it may be charged any moment. So no
 * charge of this day or month is missed. Refunded ones count, canceled and failed ones do not.
 * Locks nothing: a caller that decides by it must hold the mandate's lock.
 */
export async function topUpSum(
  db: Executor,
  book: BookId,
  except: OrderId | null = null,
): Promise<TopUpSums> {
  const { rows } = await db.query(
    `with periods as (
       select date_trunc('day', ledger_now() at time zone 'UTC') at time zone 'UTC' as day,
         date_trunc('month', ledger_now() at time zone 'UTC') at time zone 'UTC' as month
     ), top_ups_of as (
       select price_kopecks, state in ('created', 'pending', 'expired', 'review') as is_open,
         case when state not in ('canceled', 'failed')
           then coalesce(credited_at, ledger_now()) end as counted_at
       from orders where book_id = $1 and is_top_up and id is distinct from $2
     )
     select to_char(p.day at time zone 'UTC', 'YYYY-MM-DD') as day,
       to_char(p.month at time zone 'UTC', 'YYYY-MM-DD') as month,
       coalesce(sum(o.price_kopecks) filter (where o.counted_at >= p.day), 0)::int8 as "daySpent",
       coalesce(sum(o.price_kopecks) filter (where o.counted_at >= p.month), 0)::int8
         as "monthSpent",
       coalesce(bool_or(o.is_open), false) as "hasOpen", count(o.*)::int4 as count
     from periods p left join top_ups_of o on true
     group by p.day, p.month`,
    [book, except],
  )
  return rows[0] as TopUpSums
}

/** A book's top-ups, newest first. Locks nothing. */
export async function topUpList(db: Executor, book: BookId, limit: number): Promise<TopUpCharge[]> {
  const { rows } = await db.query(
    `select id, consent_id as mandate, state, price_kopecks as price,
       refunded_kopecks as refunded, credits, cancel_reason as "cancelReason",
       created_at as "createdAt", credited_at as "creditedAt",
       case when state = 'created' and posted_at is null then charge_after end as "chargeAfter"
     from orders where book_id = $1 and is_top_up order by id desc limit $2`,
    [book, limit],
  )
  return rows as TopUpCharge[]
}

/**
 * Makes open top-ups due that have no `next_at`, because an earlier version left them unscheduled:
 * the next top-up waits for them. Locks only those rows, which the index of open top-ups finds.
 */
export async function topUpScheduleUnpolled(db: Executor): Promise<void> {
  await db.query(
    `update orders set next_at = ledger_now()
     where is_top_up and state in ('pending', 'expired') and next_at is null`,
  )
}

/**
 * Announces a charge: the order is sent after `seconds`. Returns the moment. The caller has
 * inserted the order.
 */
export async function topUpAnnounce(tx: Tx, order: OrderId, seconds: number): Promise<Date> {
  const { rows } = await tx.query(
    `update orders set charge_after = ledger_now() + make_interval(secs => $2),
       next_at = ledger_now() + make_interval(secs => $2)
     where id = $1
     returning charge_after as "chargeAfter"`,
    [order, seconds],
  )
  return (rows[0] as { chargeAfter: Date }).chargeAfter
}

/** Stores the time of sending, just before the order is sent. The caller holds the row's lock. */
export async function topUpMarkSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1', [order])
}

/**
 * Sets a missing `posted_at` to now: an earlier version created the order and may have sent it just
 * now. The caller holds the row's lock.
 */
export async function topUpAssumeSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1 and posted_at is null', [
    order,
  ])
}

/**
 * Cancels the book's top-ups, or only `order`, if certainly never sent. Locks the rows and skips
 * those that another transaction locked: that one checks the mandate before sending.
 */
export async function topUpCancelUnsent(
  tx: Tx,
  book: BookId,
  order: OrderId | null = null,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update orders
     set state = 'canceled', cancel_reason = 'top_up_ended', request_body = null, next_at = null
     where id in (
       select id from orders
       where book_id = $1 and ($2::text is null or id = $2) and is_top_up and state = 'created'
         and consent_id is not null and posted_at is null
       for update skip locked
     )
     returning id`,
    [book, order],
  )
  return rows.length > 0
}

/**
 * Cancels a top-up that the provider does not have, if it was last sent more than `seconds` ago.
 * False if it was sent later: the payment may still appear. Locks its row.
 */
export async function topUpCancelAbsent(
  db: Executor,
  order: OrderId,
  seconds: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `update orders
     set state = 'canceled', cancel_reason = 'top_up_ended', request_body = null, next_at = null
     where id = $1 and state = 'created'
       and coalesce(posted_at, created_at) < ledger_now() - make_interval(secs => $2)
     returning id`,
    [order, seconds],
  )
  return rows.length > 0
}
