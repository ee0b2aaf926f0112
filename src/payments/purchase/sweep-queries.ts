// The SQL of sweeps: one row per provider and shop has the lease, the watermark and what the last
// complete sweep covered.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { InstanceId } from '../../platform/ids.ts'

export type Shop = { readonly provider: string; readonly shop: string }

export type ClaimedSweep = {
  readonly watermark: Date
  readonly now: Date
  /** The last 25 hours are read, whatever the watermark was. */
  readonly isWide: boolean
  /** The watermark that was later than the database's time; null if it was not. */
  readonly ahead: Date | null
}

/**
 * Claims the sweep of a shop for this process; undefined when another process has it or has just
 * finished. In four cases the last 25 hours are read, because no clock is wrong by more and no
 * order is polled for longer: in the first sweep ever; after ten minutes without a complete sweep,
 * because a wrong clock or an early version may have left a watermark that hides a payment; when
 * the watermark is later than the database's time; and after another trigger credited what the
 * sweep should have credited, but then at most every five minutes, because a wrong clock would make
 * every credit look like that. A lease that ends later than any lease can was set before the clock
 * was set back, and is ignored. A row without a shop is from before shops were stored, so it is the
 * earliest shop's.
 */
export async function sweepClaim(
  db: Executor,
  p: Shop & {
    readonly instance: InstanceId
    readonly leaseSeconds: number
    readonly leaseSecondsMax: number
    readonly isEarliest: boolean
  },
): Promise<ClaimedSweep | undefined> {
  await db.query(
    `update payment_sweeps set shop = $2 where $3 and provider = $1 and shop = ''
       and not exists (select from payment_sweeps where provider = $1 and shop = $2)`,
    [p.provider, p.shop, p.isEarliest],
  )
  await db.query(
    `insert into payment_sweeps (provider, shop, watermark)
     select $1, $2, ledger_now()
     where not exists (select from payment_sweeps where provider = $1 and shop = $2)
     on conflict do nothing`,
    [p.provider, p.shop],
  )
  const { rows } = await db.query(
    `with due as (
       select watermark, not (watermark <= ledger_now()
           and coalesce(swept_at > ledger_now() - interval '10 minutes', false)
           and (missed_at is null or (wide_at is not null
             and (wide_at >= missed_at or wide_at > ledger_now() - interval '5 minutes'))))
         as wide
       from payment_sweeps
       where provider = $1 and shop = $2 and (leased_until <= ledger_now()
         or leased_until > ledger_now() + make_interval(secs => $5))
       for update
     )
     update payment_sweeps s
     set leased_by = $3, leased_until = ledger_now() + make_interval(secs => $4),
       wide_at = case when due.wide then ledger_now() else s.wide_at end,
       watermark = case when due.wide
         then least(s.watermark, ledger_now() - interval '25 hours') else s.watermark end
     from due
     where s.provider = $1 and s.shop = $2
     returning s.watermark, ledger_now() as now, due.wide as "isWide",
       case when due.watermark > ledger_now() and s.swept_at is not null
         then due.watermark end as ahead`,
    [p.provider, p.shop, p.instance, p.leaseSeconds, p.leaseSecondsMax],
  )
  return rows[0] as ClaimedSweep | undefined
}

/** Makes a claimed sweep read the last 25 hours. Locks the row. */
export async function sweepWiden(db: Executor, p: Shop): Promise<ClaimedSweep> {
  const { rows } = await db.query(
    `update payment_sweeps
     set wide_at = ledger_now(), watermark = ledger_now() - interval '25 hours'
     where provider = $1 and shop = $2
     returning watermark, ledger_now() as now, true as "isWide", null as ahead`,
    [p.provider, p.shop],
  )
  return rows[0] as ClaimedSweep
}

/** Renews the lease after each page. Locks the row. */
export async function sweepRenew(
  db: Executor,
  p: Shop & { readonly instance: InstanceId; readonly leaseSeconds: number },
): Promise<void> {
  await db.query(
    `update payment_sweeps set leased_until = ledger_now() + make_interval(secs => $4)
     where provider = $1 and shop = $2 and leased_by = $3`,
    [p.provider, p.shop, p.instance, p.leaseSeconds],
  )
}

/**
 * Ends a sweep that began at `began`; the next one may begin `pauseSeconds` after that, however
 * long this one took. The watermark only grows, and only when everything was applied; null leaves
 * it unchanged, because PostgreSQL's `greatest` ignores nulls. Locks the row.
 */
export async function sweepEnd(
  db: Executor,
  p: Shop & {
    readonly instance: InstanceId
    readonly isDone: boolean
    readonly began: Date
    readonly watermark: Date | null
    readonly pauseSeconds: number
  },
): Promise<{ readonly failures: number }> {
  const { rows } = await db.query(
    `update payment_sweeps
     set failures = case when $4 then 0 else failures + 1 end,
       swept_at = case when $4 then ledger_now() else swept_at end,
       began_at = case when $4 then $7::timestamptz else began_at end,
       watermark = case when $4 then greatest(watermark, $5::timestamptz) else watermark end,
       leased_until = case when leased_by = $3
         then $7::timestamptz + make_interval(secs => $6) else leased_until end
     where provider = $1 and shop = $2
     returning failures`,
    [p.provider, p.shop, p.instance, p.isDone, p.watermark, p.pauseSeconds, p.began],
  )
  return rows[0] as { failures: number }
}

/**
 * Whether a sweep that began `marginSeconds` after the capture is complete: it should have credited
 * the payment. Called in the transaction that credits it. Reads without a lock.
 */
export async function sweepHasPassed(
  tx: Tx,
  p: Shop & { readonly capturedAt: Date; readonly marginSeconds: number },
): Promise<boolean> {
  const { rows } = await tx.query(
    `select from payment_sweeps
     where provider = $1 and shop = $2 and swept_at <= ledger_now()
       and began_at > $3::timestamptz + make_interval(secs => $4)`,
    [p.provider, p.shop, p.capturedAt, p.marginSeconds],
  )
  return rows.length > 0
}

/** The next sweep reads the last 25 hours. Locks the row. */
export async function sweepSetMissed(db: Executor, p: Shop): Promise<void> {
  await db.query(
    'update payment_sweeps set missed_at = ledger_now() where provider = $1 and shop = $2',
    [p.provider, p.shop],
  )
}
