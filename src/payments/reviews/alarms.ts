// The alarms for operators, computed from the tables every minute. docs/payments.md says what to do
// about each. Rates need a minimum of payments: one slow payment in a quiet night is no alarm.
import type { Db } from '../../platform/db/db.ts'
import type { Log } from '../../platform/log.ts'
import type { Shop } from '../purchase/sweep-queries.ts'
import { type Health, healthRead } from './alarm-queries.ts'

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
  | 'uncredited_old'
  | 'sweep_blind'
  | 'money_differs'
  | 'watch_stopped'

export type Alarm = { readonly name: AlarmName; readonly detail: string }

/** Three quarters of the promised minute. */
const DELAY_SECONDS_MAX = 45
/** Below half, the webhook address at the provider is probably wrong; the sweep credits anyway. */
const WEBHOOK_SHARE_MIN = 0.5
const CREDITED_MIN = 10
const SWEEP_FAILURES_MAX = 2
/** Eight sweeps at the default interval. */
const SWEEP_SECONDS_MAX = 120
/** The promised minute and half of it. */
const UNCREDITED_SECONDS_MAX = 90
/** Ten runs: the check runs every minute. */
const TIED_SECONDS_MAX = 600
/**
 * Usually 27 at most: a day is compared in the third hour after its end, and until then the day
 * before is the last. The job runs every hour and may fail for most of another day.
 */
const COMPARED_SECONDS_MAX = 50 * 3_600

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
      `${health.byWebhook} of ${health.credited} credits of the last day came by a notification`,
    ],
    [
      'sweeps_failing',
      health.sweepFailures > SWEEP_FAILURES_MAX || (health.sweepSeconds ?? 0) > SWEEP_SECONDS_MAX,
      sweepsText(health),
    ],
    ['reviews_waiting', health.reviews > 0, `wait for a person: ${health.reviews}`],
    ['orders_stuck', health.createdOld > 0, `orders without an answer: ${health.createdOld}`],
    ['notices_stuck', health.noticesOld > 0, `notifications not confirmed: ${health.noticesOld}`],
    ['refunds_stuck', health.refundsOld > 0, `refunds open for 4 days: ${health.refundsOld}`],
    ['refunds_canceled', health.refundsCanceled > 0, `in the last day: ${health.refundsCanceled}`],
    ['receipts_failed', health.receiptsFailed > 0, `not registered: ${health.receiptsFailed}`],
    ...watchChecks(health),
  ]
  return checks.flatMap(([name, isOn, detail]) => (isOn ? [{ name, detail }] : []))
}

function sweepsText({ sweepFailures, sweepSeconds }: Health): string {
  return `failed: ${sweepFailures}, the last complete one: ${ago(sweepSeconds)}`
}

function ago(seconds: number | null): string {
  return seconds === null ? 'never' : `${Math.round(seconds)} s ago`
}

function watchChecks(health: Health): [AlarmName, boolean, string][] {
  const { uncreditedSeconds, blindSweeps, findings, tiedSeconds, comparedSeconds } = health
  return [
    [
      'uncredited_old',
      uncreditedSeconds > UNCREDITED_SECONDS_MAX,
      `a payment is not credited ${Math.round(uncreditedSeconds)} s after its capture`,
    ],
    ['sweep_blind', blindSweeps > 0, `in the last hour: ${blindSweeps}`],
    ['money_differs', findings > 0, `findings: ${findings}, see op audit`],
    [
      'watch_stopped',
      (tiedSeconds ?? 0) > TIED_SECONDS_MAX || (comparedSeconds ?? 0) > COMPARED_SECONDS_MAX,
      `postings compared: ${ago(tiedSeconds)}, the provider’s days until: ${ago(comparedSeconds)}`,
    ],
  ]
}

/** The gauge that every process exports: 0 when all is well. */
export function watchNumbers(health: Health): Record<string, number> {
  const alarms = new Set(alarmsOf(health).map(({ name }) => name))
  return {
    uncredited_seconds: health.uncreditedSeconds,
    // Before the first sweep there is nothing that it could have missed.
    sweep_seconds: health.sweepSeconds ?? 0,
    blind_sweeps: health.blindSweeps,
    findings: health.findings,
    stopped: Number(alarms.has('watch_stopped')),
  }
}

/** Computes the alarms, logs and returns them. */
export async function watchAlarms(db: Db, log: Log, shops: readonly Shop[]): Promise<Alarm[]> {
  const alarms = alarmsOf(await healthRead(db, shops))
  for (const alarm of alarms) log.error({ alarm: alarm.name, why: alarm.detail }, 'payments alarm')
  return alarms
}
