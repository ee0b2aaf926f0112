// The table of jobs: name, when, limit, function. The sweeper is not here: it watches heartbeats
// every few seconds and keeps what it saw in memory, so `work` runs it as a loop (main.ts). Neither
// are the notices, polls, sweeps and top-ups of payments, nor letters about a book that was
// stopped: an owner waits for seconds, and cron for a minute.
import type { Accounts } from './accounts/accounts.ts'
import type { Guards } from './guards/guards.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Payments } from './payments/payments.ts'
import type { Log } from './platform/log.ts'
import { LETTERS_AT_ONCE, type Mail } from './platform/mail/mail.ts'
import type { Job } from './platform/worker/worker.ts'

const MINUTE_MS = 60_000

const EACH_MINUTE = '* * * * *'

/** The schedule is cron's, in UTC; the limit is in minutes. */
function job(name: string, every: string, limit: number, work: () => Promise<unknown>): Job {
  const run = async () => {
    await work()
  }
  return { name, every, limitMs: limit * MINUTE_MS, run }
}

export function createJobs(rooms: {
  readonly ledger: Ledger
  readonly mail: Mail
  readonly accounts: Accounts
  readonly guards: Guards
  readonly payments: Payments
  readonly log: Log
  readonly entriesKeptDays: number
  /** The day so many days ago, as 2026-11-15. */
  readonly dayBefore: (days: number) => string
}): Job[] {
  const { ledger, mail, accounts, log } = rooms
  const { jobs: payments } = rooms.payments

  async function audit(scope: 'new' | 'all'): Promise<void> {
    const findings = await ledger.audit(scope)
    for (const finding of findings.slice(0, 100)) log.fatal({ ...finding }, 'the audit found this')
    if (findings.length > 0) throw new Error(`the audit found ${findings.length} things`)
  }

  async function turnPartitions(): Promise<void> {
    const made = await ledger.makePartitions()
    const dropped = await ledger.dropHoldsBefore()
    const detached = await ledger.detachEntriesBefore(rooms.dayBefore(rooms.entriesKeptDays))
    if (made.length + dropped.length + detached.length > 0) {
      log.info({ made, dropped, detached }, 'partitions changed')
    }
  }

  return [
    job('audit', EACH_MINUTE, 1, () => audit('new')),
    job('audit-all', '20 3 * * *', 60, () => audit('all')),
    job('usage', EACH_MINUTE, 1, () => ledger.addUp()),
    job('partitions', '7 * * * *', 1, turnPartitions),
    {
      name: 'letter',
      limitMs: MINUTE_MS,
      places: LETTERS_AT_ONCE,
      run: (payload) => mail.deliver((payload as { id: string }).id),
    },
    job('letters', EACH_MINUTE, 1, () => mail.tend()),
    job('accounts-sweep', '*/5 * * * *', 1, () => accounts.sweep()),
    job('accounts-erase', '40 3 * * *', 10, () => accounts.erase()),
    job('guards-watch', EACH_MINUTE, 5, () => rooms.guards.jobs.watch()),
    job('payments-expire', EACH_MINUTE, 1, () => payments.expire()),
    job('payments-refunds', EACH_MINUTE, 5, () => payments.pollRefunds()),
    job('payments-refund-sweep', '17 * * * *', 10, () => payments.sweepRefunds()),
    job('payments-alarms', EACH_MINUTE, 1, () => payments.watch()),
    job('payments-forget', '50 3 * * *', 10, () => payments.forget()),
  ]
}
