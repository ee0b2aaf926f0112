// Every alarm that the product can see by itself, in its own tables: how urgent it is, the alert of
// Prometheus about the same thing, and the section of the documentation that says what to do.

export type Severity = 'page' | 'look'

type AlarmLine = {
  /** `page` wakes a person: customers are refused, or money waits. `look`: in working hours. */
  readonly severity: Severity
  /** In deploy/prometheus/alerts.yml; null when it has none. */
  readonly alert: string | null
  /** A document and the anchor of its section. */
  readonly runbook: string
}

function page(alert: string | null, runbook: string): AlarmLine {
  return { severity: 'page', alert, runbook }
}

function look(alert: string | null, runbook: string): AlarmLine {
  return { severity: 'look', alert, runbook }
}

const PAYMENTS = 'payments#alarms'
const UPSTREAM = 'runbooks#an-upstream-fails'
const BACKUPS = 'deploy#backups-and-restores'
const EMAIL = 'runbooks#e-mail-is-not-sent'
const STATUS = 'runbooks#the-status-page-shows-an-outage'
const BILL = 'runbooks#the-vendors-bill-differs-from-our-counts'

export const alarmTable = {
  charges_refused: page('TollgateChargesRefused', 'runbooks#the-database-refuses-a-charge'),
  spool_lost: page('TollgateSpoolLost', 'operator-commands#op-spool'),
  archive_old: page('TollgateArchiveOld', BACKUPS),
  backup_old: look('TollgateBackupOld', BACKUPS),
  partitions_end: look('TollgatePartitionsEnd', 'runbooks#partitions-are-not-created'),
  days_stay: look('TollgateDaysStay', 'runbooks#old-days-do-not-leave'),
  worker_away: page(null, 'runbooks#the-worker-does-not-run'),
  break_glass: page('TollgateBreakGlass', 'runbooks#a-command-ran-without-signing-in'),
  acts_not_shipped: page('TollgateActsNotShipped', 'runbooks#acts-or-triggers-were-tampered-with'),
  gateway_silent: page('TollgateGone', 'runbooks#a-process-of-the-gateway-freezes-or-dies'),
  upstreams_away: page('TollgateUpstreamsAway', UPSTREAM),
  upstream_out: page('TollgateUpstreamOutOfService', UPSTREAM),
  upstream_sick: look('TollgateUpstreamSick', UPSTREAM),
  upstream_cooling: look('TollgateUpstreamCooling', UPSTREAM),
  credential_unusable: look('TollgateCredentialUnusable', UPSTREAM),
  emails_wait: page('TollgateLettersWait', EMAIL),
  emails_failed: look('TollgateLettersFailed', EMAIL),
  vendor_bill_differs: look('TollgateVendorBillDiffers', BILL),
  vendor_bill_missing: look('TollgateVendorBillMissing', BILL),
  closings_waiting: look(null, 'runbooks#a-closing-waits'),
  erasures_overdue: look(null, 'runbooks#an-erasure-is-overdue'),
  status_outage: page('TollgateStatusOutage', STATUS),
  status_doubtful: look('TollgateStatusDoubtful', STATUS),
  status_silent: look('TollgateStatusSilent', STATUS),
  credits_late: page('TollgatePaidNotCredited', PAYMENTS),
  uncredited_old: page('TollgatePaymentUncredited', PAYMENTS),
  sweeps_failing: page('TollgateSweepOld', PAYMENTS),
  sweep_blind: page('TollgateSweepBlind', PAYMENTS),
  money_differs: page('TollgateMoneyDiffers', PAYMENTS),
  watch_stopped: page('TollgateWatchSilent', PAYMENTS),
  reviews_waiting: look('TollgatePaymentDiffers', PAYMENTS),
  receipts_failed: look('TollgateReceiptFailed', PAYMENTS),
  webhooks_missing: look(null, PAYMENTS),
  orders_stuck: look(null, PAYMENTS),
  notices_stuck: look(null, PAYMENTS),
  refunds_stuck: look(null, PAYMENTS),
  refunds_canceled: look(null, PAYMENTS),
} as const satisfies Record<string, AlarmLine>

export type AlarmName = keyof typeof alarmTable
