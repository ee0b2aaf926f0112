// The SQL of notifications, of sweeps, and of the numbers behind the alarms.
import type { Executor } from '../../platform/db/db.ts'
import type { InstanceId } from '../../platform/ids.ts'

export type NotificationRow = {
  readonly id: bigint
  readonly provider: string
  readonly event: string
  readonly paymentId: string
  readonly tries: number
  readonly ageSeconds: number
  readonly claimedAt: Date
}

/**
 * A payment normally has two or three notifications. Without this limit a payer could forge
 * different notifications about his own payment and fill the disk. When this many wait, one more is
 * not needed: each of them makes us fetch the payment.
 */
const WAITING_MAX = 20

/**
 * Stores a notification once. A payment is fetched at most every ten seconds, however many
 * notifications name it, so that a payer cannot use up our calls with notifications about his own
 * payment. Locks the new row.
 */
export async function notificationInsert(
  db: Executor,
  p: {
    readonly provider: string
    readonly dedupe: string
    readonly event: string
    readonly paymentId: string
    readonly body: string
    readonly peer: string
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into payment_notices
       (provider, dedupe, event, provider_payment_id, body, peer, next_at)
     select $1, $2, $3, $4, $5, $6,
       greatest(ledger_now(), max(coalesce(done_at, next_at)) + interval '10 seconds')
     from payment_notices where provider = $1 and provider_payment_id = $4
     having count(*) filter (where done_at is null) < $7
     on conflict (provider, dedupe) do nothing
     returning id`,
    [p.provider, p.dedupe, p.event, p.paymentId, p.body, p.peer, WAITING_MAX],
  )
  return rows.length > 0
}

/**
 * Claims the notification that has been due longest. Locks its row; skips rows that others locked.
 */
export async function notificationClaimDue(
  db: Executor,
  leaseSeconds: number,
): Promise<NotificationRow | undefined> {
  const { rows } = await db.query(
    `update payment_notices
     set tries = tries + 1, next_at = ledger_now() + make_interval(secs => $1)
     where id = (
       select id from payment_notices where next_at <= ledger_now()
       order by next_at
       limit 1
       for update skip locked
     )
     returning id, provider, event, provider_payment_id as "paymentId", tries,
       extract(epoch from ledger_now() - received_at)::float8 as "ageSeconds",
       ledger_now() as "claimedAt"`,
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
 * Ends a notification, and all notifications of the same event and payment received before it was
 * claimed: one answer of the provider covers them all. Locks those rows.
 */
export async function notificationEnd(
  db: Executor,
  row: NotificationRow,
  outcome: string,
): Promise<void> {
  await db.query(
    `update payment_notices set outcome = $4, done_at = ledger_now(), next_at = null
     where provider = $1 and provider_payment_id = $2 and event = $3 and done_at is null
       and (id = $5 or received_at <= $6)`,
    [row.provider, row.paymentId, row.event, outcome, row.id, row.claimedAt],
  )
}

/** Deletes processed notifications older than `days`. */
export async function notificationDeleteOld(db: Executor, days: number): Promise<void> {
  await db.query(
    `delete from payment_notices
     where received_at < ledger_now() - make_interval(days => $1) and done_at is not null`,
    [days],
  )
}

/**
 * Claims the sweep for this process; undefined when another process has it or has just finished.
 * In three cases the last 25 hours are read, because no clock is wrong by more and no order is
 * polled for longer: in the first sweep ever; after ten minutes without a complete sweep, because a
 * wrong clock or an early version may have left a watermark that hides a payment; and when the
 * watermark is later than the database's time. A lease that ends later than any lease can was set
 * before the clock was set back, and is ignored.
 */
export async function sweepClaim(
  db: Executor,
  p: {
    readonly provider: string
    readonly instance: InstanceId
    readonly leaseSeconds: number
    readonly leaseSecondsMax: number
  },
): Promise<{ readonly watermark: Date; readonly now: Date } | undefined> {
  await db.query(
    `insert into payment_sweeps (provider, watermark)
     select $1, ledger_now()
     where not exists (select from payment_sweeps where provider = $1)
     on conflict do nothing`,
    [p.provider],
  )
  const { rows } = await db.query(
    `update payment_sweeps
     set leased_by = $2, leased_until = ledger_now() + make_interval(secs => $3),
       watermark = case
         when watermark <= ledger_now() and swept_at > ledger_now() - interval '10 minutes'
         then watermark
         else least(watermark, ledger_now() - interval '25 hours') end
     where provider = $1 and (leased_until <= ledger_now()
       or leased_until > ledger_now() + make_interval(secs => $4))
     returning watermark, ledger_now() as now`,
    [p.provider, p.instance, p.leaseSeconds, p.leaseSecondsMax],
  )
  return rows[0] as { watermark: Date; now: Date } | undefined
}

/** Renews the lease after each page. Locks the row. */
export async function sweepRenew(
  db: Executor,
  p: { readonly provider: string; readonly instance: InstanceId; readonly leaseSeconds: number },
): Promise<void> {
  await db.query(
    `update payment_sweeps set leased_until = ledger_now() + make_interval(secs => $3)
     where provider = $1 and leased_by = $2`,
    [p.provider, p.instance, p.leaseSeconds],
  )
}

/**
 * Ends a sweep. The watermark only grows, and only when everything was applied; null leaves it
 * unchanged, because PostgreSQL's `greatest` ignores nulls. Locks the row.
 */
export async function sweepEnd(
  db: Executor,
  p: {
    readonly provider: string
    readonly instance: InstanceId
    readonly isDone: boolean
    readonly watermark: Date | null
    readonly pauseSeconds: number
  },
): Promise<{ readonly failures: number }> {
  const { rows } = await db.query(
    `update payment_sweeps
     set failures = case when $3 then 0 else failures + 1 end,
       swept_at = case when $3 then ledger_now() else swept_at end,
       watermark = case when $3 then greatest(watermark, $4::timestamptz) else watermark end,
       leased_until = case when leased_by = $2
         then ledger_now() + make_interval(secs => $5) else leased_until end
     where provider = $1
     returning failures`,
    [p.provider, p.instance, p.isDone, p.watermark, p.pauseSeconds],
  )
  return rows[0] as { failures: number }
}

export type Health = {
  /** Of the last hour; null if nothing was credited. */
  readonly delayP99: number | null
  readonly credited: number
  readonly byWebhook: number
  readonly reviews: number
  readonly createdOld: number
  readonly noticesOld: number
  /** Since the last complete sweep, as an absolute value: a time in the future is wrong as well. */
  readonly sweepSeconds: number | null
  readonly sweepFailures: number
  readonly refundsOld: number
  readonly refundsCanceled: number
  readonly receiptsFailed: number
}

/** The numbers behind the alarms, read from the tables: the same in every process. */
export async function healthRead(db: Executor): Promise<Health> {
  const { rows } = await db.query(
    `select
       (select percentile_cont(0.99) within group
          (order by extract(epoch from credited_at - captured_at))
        from orders where credited_at > ledger_now() - interval '1 hour'
          and credited_by <> 'operator') as "delayP99",
       (select count(*)::int4 from orders where credited_at > ledger_now() - interval '1 day'
          and credited_by <> 'operator') as credited,
       (select count(*)::int4 from orders where credited_at > ledger_now() - interval '1 day'
          and credited_by = 'webhook') as "byWebhook",
       (select count(*)::int4 from payment_reviews where closed_at is null) as reviews,
       (select count(*)::int4 from orders where next_at is not null and state = 'created'
          and created_at < ledger_now() - interval '10 minutes') as "createdOld",
       (select count(*)::int4 from payment_notices where next_at is not null
          and received_at < ledger_now() - interval '5 minutes') as "noticesOld",
       (select max(abs(extract(epoch from ledger_now() - swept_at)))::float8
        from payment_sweeps) as "sweepSeconds",
       (select coalesce(max(failures), 0) from payment_sweeps) as "sweepFailures",
       (select count(*)::int4 from refunds where ended_at is null
          and created_at < ledger_now() - interval '4 days') as "refundsOld",
       (select count(*)::int4 from refunds where state = 'canceled'
          and ended_at > ledger_now() - interval '1 day') as "refundsCanceled",
       (select count(*)::int4 from orders where credited_at > ledger_now() - interval '1 day'
          and receipt_state = 'canceled') as "receiptsFailed"`,
    [],
  )
  return rows[0] as Health
}
