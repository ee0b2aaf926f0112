// Metrics that read their numbers from modules: those of every process, and those of a worker.
import type { Acts } from './acts/acts.ts'
import type { Keys } from './keys/keys.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Payments } from './payments/payments.ts'
import { standardOutput } from './platform/log-output.ts'
import type { Mail } from './platform/mail/mail.ts'
import type { Metrics } from './platform/metrics/metrics.ts'
import type { StatusPage } from './status/status.ts'
import type { Upstreams } from './upstreams/upstreams.ts'
import type { VendorBill } from './vendor-bill/vendor-bill.ts'

/** Registers metrics that read their numbers from modules. */
export function watchModules(
  metrics: Metrics,
  { ledger, keys, upstreams }: { ledger: Ledger; keys: Keys; upstreams: Upstreams },
): void {
  const of =
    <Key extends keyof ReturnType<Upstreams['views']>[number]>(key: Key) =>
    () =>
      Object.fromEntries(upstreams.views().map((view) => [view.target, Number(view[key])]))
  metrics.counter(
    'gateway_log_lines_dropped_total',
    'Log lines dropped because nobody read the log',
    standardOutput.dropped,
  )
  metrics.gauge('gateway_ledger_away', '1 while the database does not answer', () =>
    Number(ledger.health().isUnavailable),
  )
  metrics.gauge(
    'gateway_ledger_spooled',
    'Charges on disk, not yet in the database',
    () => ledger.health().spooled,
  )
  metrics.gauge(
    'gateway_ledger_refused',
    'Charges that the database refuses, on disk and sent again',
    () => ledger.health().refused.waiting,
  )
  metrics.counter(
    'gateway_charge_log_lost_total',
    'Lines of the charge log that were not written',
    () => ledger.health().logLinesLost,
  )
  metrics.counter(
    'gateway_ledger_refusals_total',
    'Charges that the database refused, ever since the process started',
    () => ledger.health().refused.total,
  )
  metrics.counter(
    'gateway_keys_argon2_runs',
    'Keys checked by Argon2id',
    () => keys.stats().argon2.runs,
  )
  metrics.gauge('gateway_upstream_under_way', 'Requests under way', of('underWay'))
  metrics.counter('gateway_upstream_answered', 'Requests that were answered', of('succeeded'))
  metrics.counter('gateway_upstream_failed', 'Requests that failed', of('failed'))
  watchUpstreams(metrics, upstreams)
  const ofCredentials = (value: (one: ReturnType<Upstreams['credentials']>[number]) => number) =>
    Object.fromEntries(upstreams.credentials().map((one) => [one.target, value(one)]))
  metrics.gauge(
    'gateway_upstream_credential_usable',
    '1 while every process has read the secret and it is valid',
    () => ofCredentials(({ isUsable }) => Number(isUsable)),
    'min',
  )
  metrics.counter(
    'gateway_upstream_credential_failures',
    'Attempts to read a credential that failed',
    () => ofCredentials(({ failures }) => failures),
  )
  metrics.gauge('gateway_upstreams_away', '1 while no upstream is well', () =>
    Number(upstreams.areAllAway()),
  )
  metrics.gauge('gateway_upstream_closed', '1 while a target is in service and serves', () =>
    Object.fromEntries(
      upstreams.views().map((view) => [view.target, Number(view.state === 'closed')]),
    ),
  )
}

/** The state of targets by model; labels are targets of the configuration, models, and limits. */
function watchUpstreams(metrics: Metrics, upstreams: Upstreams): void {
  const paidModels = () =>
    upstreams
      .views()
      .flatMap(({ target, details }) =>
        details.models.filter(({ isFree }) => !isFree).map((one) => ({ target, ...one })),
      )
  const byModel = (read: (one: ReturnType<typeof paidModels>[number]) => number) => () =>
    Object.fromEntries(paidModels().map((one) => [`${one.target} ${one.model}`, read(one)]))
  const { gauge } = metrics
  gauge('gateway_upstream_out_of_service', '1 while the upstream refuses the credential', () =>
    Object.fromEntries(
      upstreams.views().map(({ target, details }) => [target, Number(details.out !== null)]),
    ),
  )
  const sick = byModel(({ state }) => Number(state === 'sick'))
  gauge('gateway_upstream_sick', '1 while a target fails for a model', sick)
  const forbidden = byModel(({ state }) => Number(state === 'forbidden'))
  gauge('gateway_upstream_forbidden', '1 while a target forbids a model', forbidden)
  const cooling = byModel((one) => one.coolingSeconds)
  gauge('gateway_upstream_cooling_seconds', 'How much longer a pause lasts', cooling, 'max')
  const left = () =>
    Object.fromEntries(
      paidModels().flatMap(({ target, model, limits }) =>
        Object.entries(limits).map(([kind, { limit, left }]) => [
          `${target} ${model} ${kind}`,
          left / limit,
        ]),
      ),
    )
  gauge('gateway_upstream_limit_left', 'The part of a limit that is left', left, 'min')
  const most = () =>
    Object.fromEntries(
      paidModels().flatMap(({ target, model, most }) =>
        most === null ? [] : [[`${target} ${model}`, most]],
      ),
    )
  gauge('gateway_upstream_most', 'How many requests at a time a target takes', most)
  gauge('gateway_upstream_waiting', 'Requests that wait for a target', upstreams.waitingForTarget)
}

type WorkerModules = {
  readonly acts: Acts
  readonly mail: Mail
  readonly ledger: Ledger
  readonly payments: Payments
  readonly status: StatusPage
  readonly vendorBill: VendorBill
}

/** Metrics that a worker reads from the database; a fleet of gateways would add them up. */
export function watchAsWorker(
  metrics: Metrics,
  { acts, mail, ledger, payments, status, vendorBill }: WorkerModules,
  { entriesKeptDays }: { readonly entriesKeptDays: number },
) {
  payments.exportWatch()
  acts.exportWatch(metrics)
  status.exportWatch(metrics)
  metrics.asyncGauge('gateway_letters', 'E-mails that wait, and that failed today', async () => {
    const { queued, failed } = await mail.stats()
    return { queued, failed }
  })
  metrics.asyncGauge(
    'gateway_letters_oldest_seconds',
    'Age of the oldest that waits',
    async () => ({
      queued: (await mail.stats()).oldestSeconds,
    }),
  )
  metrics.asyncGauge('gateway_usage_lag_seconds', 'Age of what is not yet added up', async () => ({
    sums: await ledger.aggregationLagSeconds(),
  }))
  metrics.asyncGauge('gateway_quarantine', 'Charges in quarantine', async () => {
    const { settles, oldestSeconds } = await ledger.quarantine.count()
    return { settles, oldest_seconds: oldestSeconds }
  })
  metrics.asyncGauge('gateway_lost_spools', 'Spools of lost processes, out of reach', async () => ({
    spools: (await ledger.lostSpools()).length,
  }))
  metrics.asyncGauge(
    'gateway_backup_age_seconds',
    'Since the last backup, and since WAL was last archived; -1: never',
    ledger.backupAge,
  )
  metrics.asyncGauge(
    'gateway_partition_days_ahead',
    'Days with a partition of entries',
    async () => ({
      entries: await ledger.partitionDaysAhead(),
    }),
  )
  metrics.asyncGauge('gateway_days_overdue', 'Days since a day should have left', async () => ({
    entries: await ledger.days.overdue(entriesKeptDays),
  }))
  metrics.asyncGauge(
    'gateway_vendor_bill',
    "Difference of the vendor's bill from our counts",
    vendorBill.status,
  )
}
