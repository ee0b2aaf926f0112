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

/** A job that is over before it is due again. */
function eachMinute(name: string, work: () => Promise<unknown>): Job {
  const run = async () => {
    await work()
  }
  return { name, every: '* * * * *', limitMs: MINUTE_MS, run }
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

  return [
    eachMinute('audit', () => audit('new')),
    { name: 'audit-all', every: '20 3 * * *', limitMs: 60 * MINUTE_MS, run: () => audit('all') },
    eachMinute('usage', () => ledger.addUp()),
    {
      name: 'partitions',
      every: '7 * * * *',
      limitMs: MINUTE_MS,
      run: async () => {
        const made = await ledger.makePartitions()
        const dropped = await ledger.dropHoldsBefore()
        const detached = await ledger.detachEntriesBefore(rooms.dayBefore(rooms.entriesKeptDays))
        if (made.length + dropped.length + detached.length > 0) {
          log.info({ made, dropped, detached }, 'partitions changed')
        }
      },
    },
    {
      name: 'letter',
      limitMs: MINUTE_MS,
      places: LETTERS_AT_ONCE,
      run: (payload) => mail.deliver((payload as { id: string }).id),
    },
    eachMinute('letters', () => mail.tend()),
    {
      name: 'accounts-sweep',
      every: '*/5 * * * *',
      limitMs: MINUTE_MS,
      run: async () => {
        await accounts.sweep()
      },
    },
    {
      name: 'accounts-erase',
      every: '40 3 * * *',
      limitMs: 10 * MINUTE_MS,
      run: async () => {
        await accounts.erase()
      },
    },
    {
      name: 'guards-watch',
      every: '* * * * *',
      limitMs: 5 * MINUTE_MS,
      run: async () => {
        await rooms.guards.jobs.watch()
      },
    },
    eachMinute('payments-expire', () => payments.expire()),
    {
      name: 'payments-refunds',
      every: '* * * * *',
      limitMs: 5 * MINUTE_MS,
      run: () => payments.pollRefunds(),
    },
    {
      name: 'payments-refund-sweep',
      every: '17 * * * *',
      limitMs: 10 * MINUTE_MS,
      run: () => payments.sweepRefunds(),
    },
    {
      name: 'payments-alarms',
      every: '* * * * *',
      limitMs: MINUTE_MS,
      run: async () => {
        await payments.watch()
      },
    },
    {
      name: 'payments-forget',
      every: '50 3 * * *',
      limitMs: 10 * MINUTE_MS,
      run: () => payments.forget(),
    },
  ]
}
