// Loops that a worker process runs every few seconds, for work that cannot wait for the next minute
// of cron, such as a payment whose payer is looking at the page. A loop never runs twice at a time,
// and a failed run does not end it. While the database is away every run fails with the same error,
// which each loop logs once; so it is with a grant that the role lacks, and with its password.
import { isDatabaseUnavailable } from '../db/database-errors.ts'
import { isRefused } from '../db/missing-grants.ts'
import type { Log } from '../log.ts'
import { type BlockedWork, createBlockedWork } from './blocked-work.ts'

export type IntervalLoop = {
  readonly name: string
  readonly everyMs: number
  /** The first run is at the start: the process before may have died long ago. */
  readonly isImmediate?: boolean
  run(): Promise<unknown>
}

export function createIntervalLoops(
  loops: readonly IntervalLoop[],
  log: Log,
  blockedWork: BlockedWork = createBlockedWork(log),
) {
  const timers: NodeJS.Timeout[] = []
  const running = new Map<string, Promise<void>>()
  const waitingForDatabase = new Set<string>()

  function logFailure(loop: IntervalLoop, error: unknown): void {
    if (isRefused(error)) return // `blockedWork` has logged it
    const isUnavailable = isDatabaseUnavailable(error)
    if (isUnavailable && waitingForDatabase.has(loop.name)) return
    if (isUnavailable) waitingForDatabase.add(loop.name)
    log.warn({ loop: loop.name, err: error }, 'a run of a loop failed')
  }

  function runOnce(loop: IntervalLoop): void {
    if (running.has(loop.name)) return // the next interval starts another run
    const run = blockedWork
      .run(loop.name, loop.run)
      .then(
        () => void waitingForDatabase.delete(loop.name),
        (error: unknown) => logFailure(loop, error),
      )
      .then(() => void running.delete(loop.name))
    running.set(loop.name, run)
  }

  return {
    start(): void {
      for (const loop of loops) {
        timers.push(setInterval(() => runOnce(loop), loop.everyMs))
        if (loop.isImmediate) runOnce(loop)
      }
    },
    /** Starts no more runs; resolves when those under way have ended. */
    async stop(): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(running.values())
    },
  }
}
