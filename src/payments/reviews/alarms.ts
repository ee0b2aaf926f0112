// What an operator must be woken for, read from the tables every minute. README.md says what to do
// with each. A number without enough behind it stays silent: one slow payment in a quiet night is
// not a trend.
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import { type Health, healthRead } from '../purchase/upkeep-queries.ts'

export type AlarmName =
  | 'credits_late'
  | 'webhooks_missing'
  | 'sweeps_failing'
  | 'reviews_waiting'
  | 'orders_stuck'
  | 'notices_stuck'
  | 'refunds_stuck'
  | 'refunds_canceled'
  | 'receipts_failed'

export type Alarm = { readonly name: AlarmName; readonly detail: string }

/** The promise is a minute; three quarters of it are the time to act. */
const DELAY_SECONDS_MAX = 45
/** Below half, the address in the provider's cabinet is wrong; the sweep hides it. */
const WEBHOOK_SHARE_MIN = 0.5
const CREDITED_MIN = 10
const SWEEP_FAILURES_MAX = 2
/** Eight sweeps at the default pace. */
const SWEEP_SECONDS_MAX = 120

export function alarmsOf(health: Health): Alarm[] {
  const share = health.credited === 0 ? 1 : health.byWebhook / health.credited
  const checks: [AlarmName, boolean, string][] = [
    [
      'credits_late',
      (health.delayP99 ?? 0) > DELAY_SECONDS_MAX,
      `99 of 100 credits of the last hour took up to ${Math.round(health.delayP99 ?? 0)} s`,
    ],
    [
      'webhooks_missing',
      health.credited >= CREDITED_MIN && share < WEBHOOK_SHARE_MIN,
      `${health.byWebhook} of ${health.credited} credits of the last day came by a notice`,
    ],
    [
      'sweeps_failing',
      health.sweepFailures > SWEEP_FAILURES_MAX || (health.sweepSeconds ?? 0) > SWEEP_SECONDS_MAX,
      `${health.sweepFailures} failed, the last whole one ${health.sweepSeconds ?? 'never'} s away`,
    ],
    ['reviews_waiting', health.reviews > 0, `${health.reviews} payments wait for a person`],
    ['orders_stuck', health.createdOld > 0, `${health.createdOld} orders have no answer`],
    ['notices_stuck', health.noticesOld > 0, `${health.noticesOld} notices are not confirmed`],
    ['refunds_stuck', health.refundsOld > 0, `${health.refundsOld} refunds are open for 4 days`],
    ['refunds_canceled', health.refundsCanceled > 0, `${health.refundsCanceled} in the last day`],
    ['receipts_failed', health.receiptsFailed > 0, `${health.receiptsFailed} in the last day`],
  ]
  return checks.flatMap(([name, isOn, detail]) => (isOn ? [{ name, detail }] : []))
}

/** Reads the numbers, logs what is wrong, and returns it. */
export async function watchAlarms(db: Db, log: Log): Promise<Alarm[]> {
  const alarms = alarmsOf(await healthRead(db))
  for (const alarm of alarms) log.error({ alarm: alarm.name, why: alarm.detail }, 'payments alarm')
  return alarms
}
