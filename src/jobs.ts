// The table of jobs: name, when, limit, function. The sweeper is not here: it watches heartbeats
// every few seconds and keeps what it saw in memory, so `work` runs it as a loop (main.ts).
import type { Ledger } from './ledger/ledger.ts'
import type { Log } from './platform/log.ts'
import type { Job } from './platform/worker.ts'

const MINUTE_MS = 60_000

export function createJobs(rooms: {
  readonly ledger: Ledger
  readonly log: Log
  readonly entriesKeptDays: number
  /** The day so many days ago, as 2026-11-15. */
  readonly dayBefore: (days: number) => string
}): Job[] {
  const { ledger, log } = rooms

  async function audit(scope: 'new' | 'all'): Promise<void> {
    const findings = await ledger.audit(scope)
    for (const finding of findings.slice(0, 100)) log.fatal({ ...finding }, 'the audit found this')
    if (findings.length > 0) throw new Error(`the audit found ${findings.length} things`)
  }

  return [
    { name: 'audit', every: '* * * * *', limitMs: MINUTE_MS, run: () => audit('new') },
    { name: 'audit-all', every: '20 3 * * *', limitMs: 60 * MINUTE_MS, run: () => audit('all') },
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
  ]
}
