// The conditions of the alarms, read from the modules. Each check says what it found, in numbers
// and names of upstreams and models; nothing of a customer is among them.
import type { UpstreamLine } from '../../upstreams/upstreams.ts'
import type { OperatorModules } from '../desk/modules.ts'
import type { AlarmName } from './table.ts'

export type Firing = { readonly name: AlarmName; readonly detail: string }
type Check = (modules: OperatorModules) => Promise<readonly Firing[]>

// The numbers are those of deploy/prometheus/alerts.yml.
const BACKUP_SECONDS_MAX = 26 * 3_600
const ARCHIVE_SECONDS_MAX = 600
const PARTITION_DAYS_MIN = 30
const UNSHIPPED_SECONDS_MAX = 300
const EMAIL_SECONDS_MAX = 600
const EMAILS_FAILED_MAX = 10
const BILL_SECONDS_MAX = 50 * 3_600
/** The page has said `unknown` for eight minutes by then. */
const PROBE_SECONDS_MAX = 600
/** Fifteen runs of the job `usage`. */
const USAGE_SECONDS_MAX = 900

export const checks: Readonly<Record<string, Check>> = {
  async charges({ ledger }) {
    const { settles, oldestSeconds } = await ledger.quarantine.count()
    const spools = await ledger.lostSpools()
    return [
      ...when(
        settles > 0,
        'charges_refused',
        `charges: ${settles}, the oldest ${ago(oldestSeconds)}`,
      ),
      ...when(spools.length > 0, 'spool_lost', `spools out of reach: ${spools.length}`),
    ]
  },

  async database({ ledger, entriesKeptDays }) {
    const { backup, archive } = await ledger.backupAge()
    const ahead = await ledger.partitionDaysAhead()
    const overdue = await ledger.days.overdue(entriesKeptDays)
    const isOld = (seconds: number, most: number) => seconds < 0 || seconds > most
    return [
      ...when(isOld(archive, ARCHIVE_SECONDS_MAX), 'archive_old', `the last WAL: ${ago(archive)}`),
      ...when(isOld(backup, BACKUP_SECONDS_MAX), 'backup_old', `the last one: ${ago(backup)}`),
      ...when(ahead < PARTITION_DAYS_MIN, 'partitions_end', `for ${ahead} more days`),
      ...when(overdue > 0, 'days_stay', `the oldest day is ${overdue} days late`),
    ]
  },

  async worker({ ledger }) {
    const lag = await ledger.aggregationLagSeconds()
    return when(lag > USAGE_SECONDS_MAX, 'worker_away', `the job usage last ran ${ago(lag)}`)
  },

  async acts({ acts }) {
    const { breakGlass, unshippedSeconds: unshipped } = await acts.health()
    return [
      ...when(breakGlass > 0, 'break_glass', `within a day: ${breakGlass}`),
      ...when(
        unshipped > UNSHIPPED_SECONDS_MAX,
        'acts_not_shipped',
        `the oldest: ${ago(unshipped)}`,
      ),
    ]
  },

  async upstreams({ upstreams }) {
    return upstreamAlarms(await upstreams.overview())
  },

  async emails({ mail }) {
    const { oldestSeconds, failed } = await mail.stats()
    return [
      ...when(
        oldestSeconds > EMAIL_SECONDS_MAX,
        'emails_wait',
        `the oldest: ${ago(oldestSeconds)}`,
      ),
      ...when(failed > EMAILS_FAILED_MAX, 'emails_failed', `today: ${failed}`),
    ]
  },

  async vendorBill({ vendorBill }) {
    const { alarm = 0, difference = 0, age_seconds: age = 0 } = await vendorBill.status()
    const percent = (difference * 100).toFixed(2)
    return [
      ...when(alarm > 0, 'vendor_bill_differs', `by ${percent} % of a day’s cost`),
      ...when(age > BILL_SECONDS_MAX, 'vendor_bill_missing', `the last time: ${ago(age)}`),
    ]
  },

  async closings({ accounts }) {
    const { old, days } = await accounts.closings.health()
    return when(old > 0, 'closings_waiting', `accounts: ${old}, for more than ${days} days`)
  },

  async erasures({ accounts }) {
    const overdue = await accounts.erasuresOverdue()
    return when(overdue > 0, 'erasures_overdue', `accounts: ${overdue}, for two days or more`)
  },

  async status({ status }) {
    const { outages, doubtful, silentSeconds } = await status.health()
    return [
      ...outages.flatMap((one) => when(true, 'status_outage', `${one.component}: ${one.reason}`)),
      ...doubtful.flatMap((one) =>
        when(true, 'status_doubtful', `${one.component}: ${one.reason}`),
      ),
      ...when(
        silentSeconds !== null && silentSeconds > PROBE_SECONDS_MAX,
        'status_silent',
        `the last probe: ${ago(silentSeconds ?? -1)}`,
      ),
    ]
  },

  payments: ({ payments }) => payments.alarms(),
}

/** What all processes see of the upstreams together. */
export function upstreamAlarms(all: readonly UpstreamLine[]): Firing[] {
  const lines = all.filter(({ isConfigured }) => isConfigured)
  if (lines.length > 0 && lines.every(({ state }) => state === 'unseen')) {
    return when(true, 'gateway_silent', 'no process reported within half a minute')
  }
  const used = lines.filter(({ isDrained, weight }) => !isDrained && weight > 0)
  const isAway = !used.some(({ state, out }) => state === 'closed' && out === null)
  return [
    ...when(lines.length > 0 && isAway, 'upstreams_away', `credentials in use: ${used.length}`),
    ...lines.flatMap(({ target, out }) => when(out !== null, 'upstream_out', `${target}: ${out}`)),
    ...lines.flatMap(({ target, models }) =>
      models
        .filter(({ state, isFree }) => !isFree && (state === 'sick' || state === 'forbidden'))
        .flatMap(({ model, state }) => when(true, 'upstream_sick', `${target} ${model}: ${state}`)),
    ),
    ...coolingModels(used),
    ...lines.flatMap(({ target, problems }) =>
      problems.flatMap((one) => when(true, 'credential_unusable', `${target}: ${one.problem}`)),
    ),
  ]
}

/** Models whose every credential in use was asked to pause. */
function coolingModels(used: readonly UpstreamLine[]): Firing[] {
  const seen = used.flatMap(({ models }) => models.filter(({ isFree }) => !isFree))
  return [...Map.groupBy(seen, ({ model }) => model)].flatMap(([model, views]) =>
    when(
      views.every(({ state }) => state === 'cooling'),
      'upstream_cooling',
      `${model}: every credential, for ${Math.min(...views.map((one) => one.coolingSeconds))} s`,
    ),
  )
}

function when(isOn: boolean, name: AlarmName, detail: string): Firing[] {
  return isOn ? [{ name, detail }] : []
}

/** `90 s ago`, `12 min ago`, `30 h ago`; a negative number means that it never happened. */
function ago(seconds: number): string {
  if (seconds < 0) return 'never'
  if (seconds < 120) return `${Math.round(seconds)} s ago`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min ago`
  return `${Math.round(seconds / 3_600)} h ago`
}
