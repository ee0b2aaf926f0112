// The sweeper: frees the holds of processes that are gone. Nobody compares clocks: a process is
// dead when this one, itself unbroken, has watched its heartbeat stand still for long enough. A
// wrong guess costs nothing but a late settle: a process that comes back still charges what it
// served.
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { FreeEnding, VoidAsk } from '../calls.ts'
import type { OpenHold } from './upkeep.ts'
import * as upkeep from './upkeep.ts'

/** Holds voided in one round of a dead process; the next tick goes on. */
const HOLDS_MAX = 5_000
/**
 * Overdue holds are looked for among those made up to this long before the youngest that can be.
 */
const OVERDUE_WINDOW_SECONDS = 7_200

type Watched = { beat: bigint; beatAt: Date; sinceMs: number }

export function createSweeper(options: {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly holdSeconds: number
  readonly deadSeconds: number
  readonly voidHold: (ask: VoidAsk) => Promise<unknown>
}) {
  const { db, clock, log } = options
  const deadMs = options.deadSeconds * 1_000
  const watched = new Map<InstanceId, Watched>()
  const state = { lastTickMs: Number.NEGATIVE_INFINITY }

  async function free(holds: OpenHold[], ending: FreeEnding, reason: string): Promise<number> {
    await Promise.all(holds.map((hold) => options.voidHold({ ...hold, ending, reason })))
    return holds.length
  }

  /** Who has stood still long enough, as seen without a gap by this process. */
  function observe(
    instances: readonly { id: InstanceId; beat: bigint; beatAt: Date }[],
    nowMs: number,
  ): { id: InstanceId; beatAt: Date }[] {
    const dead: { id: InstanceId; beatAt: Date }[] = []
    const seen = new Set(instances.map((one) => one.id))
    for (const id of watched.keys()) if (!seen.has(id)) watched.delete(id)
    for (const { id, beat, beatAt } of instances) {
      const before = watched.get(id)
      if (before === undefined || before.beat !== beat) {
        watched.set(id, { beat, beatAt, sinceMs: nowMs })
      } else if (nowMs - before.sinceMs >= deadMs) dead.push({ id, beatAt })
    }
    return dead
  }

  /** One look. Call it every few seconds. */
  async function tick(): Promise<{ freed: number }> {
    const instances = await upkeep.instanceList(db)
    const nowMs = clock.spanMs()
    // A gap in this process's own watch (it was stopped, or the database was away) proves nothing
    // about the others: they could not beat either. Start watching anew.
    if (nowMs - state.lastTickMs > deadMs / 4) watched.clear()
    state.lastTickMs = nowMs

    let freed = 0
    for (const { id, beatAt } of observe(instances, nowMs)) {
      const holds = await upkeep.holdFindOfInstance(db, {
        instance: id,
        lastBeat: beatAt,
        holdSeconds: options.holdSeconds,
        limit: HOLDS_MAX,
      })
      freed += await free(holds, 'process_lost', 'the process serving it was lost')
      if (holds.length === 0) {
        await upkeep.instanceDelete(db, id)
        // Should it come back, it counts from its first beat again.
        watched.delete(id)
      } else log.warn({ instance: id, holds: holds.length }, 'freed the holds of a lost process')
    }
    const overdue = await upkeep.holdFindOverdue(db, {
      holdSeconds: options.holdSeconds,
      windowSeconds: OVERDUE_WINDOW_SECONDS,
      limit: HOLDS_MAX,
    })
    if (overdue.length > 0) log.error({ holds: overdue.length }, 'holds outlived their deadline')
    freed += await free(overdue, 'overdue', 'the hold passed its deadline')
    return { freed }
  }

  return { tick, summarize: () => upkeep.holdSummarize(db) }
}

export type Sweeper = ReturnType<typeof createSweeper>
