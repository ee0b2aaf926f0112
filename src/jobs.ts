// The table of jobs: name, schedule, time limit, function. Work that cannot wait for cron's next
// minute is not here but runs in interval loops: the sweeper, which keeps the heartbeats it saw in
// memory (main.ts), the notices, polls, sweeps and top-ups of payments, and e-mails about a stopped
// book.
import type { Accounts } from './accounts/accounts.ts'
import type { Guards } from './guards/guards.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Payments } from './payments/payments.ts'
import type { Log } from './platform/log.ts'
import { EMAILS_AT_ONCE, type Mail } from './platform/mail/mail.ts'
import type { Job } from './platform/worker/worker.ts'
import type { StatusPage } from './status/status.ts'
import type { Summaries } from './summaries/summaries.ts'
import type { VendorBill } from './vendor-bill/vendor-bill.ts'

const MINUTE_MS = 60_000

const EACH_MINUTE = '* * * * *'

/** The schedule is a cron expression in UTC; the limit is in minutes. */
function job(name: string, every: string, limit: number, work: () => Promise<unknown>): Job {
  const run = async () => {
    await work()
  }
  return { name, every, limitMs: limit * MINUTE_MS, run }
}

/** A job that waits for the payment provider, which may take minutes when that is slow. */
function providerJob(...args: Parameters<typeof job>): Job {
  return { ...job(...args), waitsFor: 'payment provider' }
}

export function createJobs(modules: {
  readonly ledger: Ledger
  readonly mail: Mail
  readonly accounts: Accounts
  readonly guards: Guards
  readonly payments: Payments
  readonly vendorBill: VendorBill
  readonly status: StatusPage
  readonly summaries: Summaries
  readonly log: Log
  readonly entriesKeptDays: number
}): Job[] {
  const { ledger, mail, accounts, log } = modules
  const { jobs: payments } = modules.payments

  async function audit(scope: 'new' | 'all'): Promise<void> {
    const findings = await ledger.audit(scope)
    for (const finding of findings.slice(0, 100)) log.fatal({ ...finding }, 'the audit found this')
    if (findings.length > 0) throw new Error(`the audit found ${findings.length} things`)
  }

  async function rotatePartitions(): Promise<void> {
    const { made, waiting } = await ledger.makePartitions()
    if (waiting.length > 0) log.warn({ waiting }, 'partitions wait for a lock until the next run')
    const dropped = await ledger.dropHoldsBefore()
    const { waiting: kept, ...days } = await ledger.days.retire(modules.entriesKeptDays)
    if (kept.length > 0) log.warn({ day: kept[0] }, 'an open transaction keeps an old day')
    if ([made, dropped, ...Object.values(days)].some((names) => names.length > 0)) {
      log.info({ made, dropped, days }, 'partitions changed')
    }
  }

  async function compareVendorBill(): Promise<void> {
    for (const { day, money } of await modules.vendorBill.compareLately()) {
      const { differenceMillionths } = money
      log.error({ day, differenceMillionths }, 'the vendor’s bill differs from our counts')
    }
  }

  return [
    job('audit', EACH_MINUTE, 1, () => audit('new')),
    job('audit-all', '20 3 * * *', 60, () => audit('all')),
    job('quarantine', EACH_MINUTE, 1, () => ledger.quarantine.retryDue()),
    job('usage', EACH_MINUTE, 1, () => ledger.aggregateUsage()),
    job('usage-sessions', '15 3 * * *', 10, () => ledger.removeOldSessions()),
    job('partitions', '7 * * * *', 1, rotatePartitions),
    job('refused-requests', '10 3 * * *', 10, () => ledger.usage.refused.removeOld()),
    {
      name: 'letter',
      waitsFor: 'SMTP server',
      limitMs: MINUTE_MS,
      concurrency: EMAILS_AT_ONCE,
      run: (payload) => mail.deliver((payload as { id: string }).id),
    },
    job('letters', EACH_MINUTE, 1, () => mail.maintain()),
    // The vendor completes a day's report within hours of its end.
    job('vendor-bill', '30 6 * * *', 30, compareVendorBill),
    job('accounts-sweep', '*/5 * * * *', 1, () => accounts.sweep()),
    job('accounts-erase', '40 3 * * *', 10, () => accounts.erase()),
    // Reminders are half a day apart at least; the e-mail about the end of a wait takes minutes.
    job('accounts-recoveries', '*/5 * * * *', 5, () => accounts.recovery.run()),
    // In the morning of the seller's and most owners' day; west of Greenwich a day later.
    job('month-summaries', '10 6 * * *', 60, () => modules.summaries.run()),
    job('guards-watch', EACH_MINUTE, 5, () => modules.guards.jobs.checkBalances()),
    job('payments-expire', EACH_MINUTE, 1, () => payments.expire()),
    providerJob('payments-refunds', EACH_MINUTE, 5, () => payments.pollRefunds()),
    job('payments-used-up', EACH_MINUTE, 1, () => payments.findUsedUp()),
    providerJob('payments-refund-sweep', '17 * * * *', 10, () => payments.sweepRefunds()),
    job('payments-alarms', EACH_MINUTE, 1, () => payments.watch()),
    job('payments-tie', EACH_MINUTE, 5, () => payments.tie()),
    job('payments-tie-all', '35 3 * * *', 60, () => payments.tieAll()),
    providerJob('payments-recheck', EACH_MINUTE, 5, () => payments.recheck()),
    providerJob('payments-days', '25 * * * *', 60, () => payments.compareDays()),
    job('status-forget', '55 3 * * *', 10, () => modules.status.forget()),
    job('payments-forget', '50 3 * * *', 10, () => payments.forget()),
  ]
}
