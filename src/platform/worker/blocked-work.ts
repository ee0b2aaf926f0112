// Which jobs and loops of a worker cannot run because the database role lacks a grant or may not
// log in. A process with such a job is not ready until the job has run again, and logs the reason
// once, not at each run.
import { watchMissingGrants } from '../db/missing-grants.ts'
import type { Log } from '../log.ts'
import type { Health } from '../metrics/metrics.ts'

export type BlockedWork = ReturnType<typeof createBlockedWork>

export function createBlockedWork(log: Log) {
  /** The message of the missing grant by the name of the work. */
  const blocked = new Map<string, string>()

  function fail(name: string, error: Error): void {
    if (blocked.get(name) === error.message) return
    blocked.set(name, error.message)
    log.error({ work: name, err: error }, 'work cannot run: the database refuses our role')
  }

  function succeed(name: string): void {
    if (blocked.delete(name)) log.info({ work: name }, 'work that the database refused runs again')
  }

  return {
    fail,
    succeed,

    /** Runs the work. Throws its error, or the missing grant that the work met and handled. */
    async run(name: string, work: () => Promise<unknown>): Promise<void> {
      const { missing } = await watchMissingGrants(work)
      if (missing === undefined) return succeed(name)
      fail(name, missing)
      throw missing
    },

    health(): Health {
      if (blocked.size === 0) return { isReady: true, why: 'ready' }
      const lines = [...blocked].map(([name, message]) => `${name}: ${message}`)
      return { isReady: false, why: lines.join('\n') }
    },
  }
}
