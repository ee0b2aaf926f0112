// The SQL of the numbers behind the alarms. Nothing here locks.
import type { Executor } from '../../platform/db/db.ts'
import type { Shop } from '../purchase/sweep-queries.ts'
import { eventRules } from '../watch/findings.ts'

export type Health = {
  /** Of the last hour; null if nothing was credited. */
  readonly delayP99: number | null
  readonly credited: number
  readonly byWebhook: number
  readonly reviews: number
  readonly createdOld: number
  readonly noticesOld: number
  /** Since the last complete sweep. */
  readonly sweepSeconds: number | null
  readonly sweepFailures: number
  readonly refundsOld: number
  readonly refundsCanceled: number
  readonly receiptsFailed: number
  /**
   * Since the capture of the oldest payment that was seen and is not credited, or since the oldest
   * announcement of one should have been read. Those that wait because an account sent many do not
   * count: an owner of an unpaid order could ring the alarm for hours.
   */
  readonly uncreditedSeconds: number
  /** Of the last hour. */
  readonly blindSweeps: number
  /** Open findings, except those so young that the next sweep may clear them. */
  readonly findings: number
  /** Since orders were last compared with postings. */
  readonly tiedSeconds: number | null
  /** Since the end of the last whole day that was compared with the provider. */
  readonly comparedSeconds: number | null
}

/** Eight sweeps at the default interval: what the next ones credit or refund is no alarm yet. */
const YOUNG_SECONDS = 120

/**
 * Of the shop that waits longest, as an absolute value: a time in the future is wrong as well.
 * Before the first time since the shop's first order, so that a job which never ran is noticed;
 * null if there is no order.
 */
const SECONDS_SINCE = (column: string) => `
  max(abs(extract(epoch from ledger_now() - coalesce(${column},
    (select o.created_at from orders o
     where o.provider = s.provider and o.shop = s.shop order by o.id limit 1)))))::float8`

/** The numbers behind the alarms, read from the tables: the same in every process. */
export async function healthRead(db: Executor, shops: readonly Shop[]): Promise<Health> {
  const { rows } = await db.query(
    `with shops as (select * from unnest($1::text[], $2::text[]) as s (provider, shop))
     select
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
          and greatest(created_at, charge_after) < ledger_now() - interval '10 minutes')
         as "createdOld",
       (select count(*)::int4 from payment_notices where next_at is not null and handled = 0
          and received_at < ledger_now() - interval '5 minutes') as "noticesOld",
       (select ${SECONDS_SINCE('p.swept_at')}
        from shops s left join payment_sweeps p on (p.provider, p.shop) = (s.provider, s.shop))
         as "sweepSeconds",
       (select coalesce(max(failures), 0) from payment_sweeps
        where (provider, shop) in (select * from shops)) as "sweepFailures",
       (select count(*)::int4 from refunds where ended_at is null
          and created_at < ledger_now() - interval '4 days') as "refundsOld",
       (select count(*)::int4 from refunds where state = 'canceled'
          and ended_at > ledger_now() - interval '1 day') as "refundsCanceled",
       (select count(*)::int4 from orders where credited_at > ledger_now() - interval '1 day'
          and receipt_state = 'canceled' and not exists (
            select from receipts r where r.order_id = orders.id and r.kind = 'prepayment'))
         + (select count(*)::int4 from receipts where state = 'failed'
              or (state in ('created', 'pending')
                and created_at < ledger_now() - interval '1 day')) as "receiptsFailed",
       (select coalesce(max(extract(epoch from ledger_now() - at)), 0)::float8 from (
          select paid_at as at from orders where paid_at is not null and credited_at is null
            and state in ('created', 'pending', 'expired', 'canceled', 'failed')
          union all
          select n.next_at from payment_notices n
          where n.next_at <= ledger_now() and n.tries = 0 and n.event = 'payment.succeeded'
            and exists (select from orders o where o.provider = n.provider
              and o.provider_payment_id = n.provider_payment_id and o.credited_at is null)
        ) paid) as "uncreditedSeconds",
       (select count(*)::int4 from payment_findings where rule = any ($3)
          and found_at > ledger_now() - interval '1 hour') as "blindSweeps",
       (select count(*)::int4 from payment_findings where cleared_at is null
          and (rule not in ('payment_not_credited', 'payment_refunded')
            or found_at < ledger_now() - make_interval(secs => $4))) as findings,
       (select ${SECONDS_SINCE('c.done_at')}
        from shops s left join payment_checks c on c.name = 'ties') as "tiedSeconds",
       (select ${SECONDS_SINCE('c.mark')}
        from shops s left join payment_checks c
          on c.name = 'days ' || s.provider || ' ' || s.shop) as "comparedSeconds"`,
    [
      shops.map(({ provider }) => provider),
      shops.map(({ shop }) => shop),
      eventRules,
      YOUNG_SECONDS,
    ],
  )
  return rows[0] as Health
}
