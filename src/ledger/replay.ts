// Replays the spools of dead processes, and reports in the database that nothing is left in them:
// until then, a lost process raises an alarm.
import { access } from 'node:fs/promises'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Settlement } from './settlement.ts'
import { createSpool, type Spool } from './spool/spool.ts'

const TICK_MS = 250
/** A settle that the database refuses is sent again after 1, 2, 4, 8, 16 and 32 s. */
const NO_PROGRESS_MS = 60_000

export type Replayed = {
  /** Charges that are in the ledger or in quarantine, and those that the database refuses. */
  readonly settles: number
  readonly unsent: number
  readonly files: number
  /** Files that stay because of charges that this process cannot send. */
  readonly left: number
}

export function createReplay(options: {
  readonly settlement: Settlement
  readonly spool: Spool
  readonly owner: string
  readonly clock: Clock
  readonly log: Log
  /** Reports that the settles in the spool of `process` were taken over or sent. */
  readonly report: (process: string) => Promise<void>
}) {
  const { settlement, spool, owner, clock, log } = options
  const unreported = new Set<string>()

  /** Also reports claims that an earlier call could not, because the database was unavailable. */
  async function replayOrphans(): Promise<void> {
    for (const one of (await settlement.replay(spool)).processes) unreported.add(one)
    for (const one of unreported) {
      await options.report(one)
      unreported.delete(one)
    }
  }

  return {
    replayOrphans,

    /** For a timer: the next call repeats what fails. */
    async tick(): Promise<void> {
      await replayOrphans().catch((error: unknown) => {
        log.warn({ err: error }, 'spools could not be claimed; the next attempt follows')
      })
    },

    /**
     * Replays the spool files in a directory. Ends when no settle is left, or when none was
     * stored for a minute: the rest stays in the files. Works without the timers of the ledger.
     */
    async replayDirectory(directory: string): Promise<Replayed> {
      await access(directory)
      const other = await createSpool({ directory, owner, log })
      try {
        const { files, processes, settles } = await settlement.replay(other)
        const unsent = await waitFor(settles)
        if (unsent === 0) for (const one of processes) await options.report(one)
        return { settles: settles.length - unsent, unsent, files, left: other.left() }
      } finally {
        await other.close()
      }
    },

    waitFor,
  }

  /** Resolves with the number of settles that are neither charged nor in quarantine. */
  async function waitFor(settles: readonly Promise<unknown>[]): Promise<number> {
    let unsent = settles.length
    let progressMs = clock.spanMs()
    const all = settles.map((one) =>
      one.then(() => {
        unsent -= 1
        progressMs = clock.spanMs()
      }),
    )
    while (unsent > 0 && clock.spanMs() - progressMs < NO_PROGRESS_MS) {
      await settlement.tick()
      await Promise.race([Promise.all(all), new Promise((resolve) => setTimeout(resolve, TICK_MS))])
    }
    return unsent
  }
}
