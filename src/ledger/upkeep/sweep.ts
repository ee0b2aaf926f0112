// The sweeper: voids the holds of dead processes, and overdue holds (overdue.ts). It compares no
// clocks: a process is dead when the sweeper, itself without a pause, has seen the same heartbeat
// for long enough, and the process created no hold meanwhile. A wrong guess only makes settles
// late: a process that was alive still charges what it served.
import type { Clock } from '../../platform/clock.ts'
import { isLockTimeout } from '../../platform/db/database-errors.ts'
import type { Db } from '../../platform/db/db.ts'
import type { LongReads } from '../../platform/db/long-reads.ts'
import type { InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { VoidInput } from '../calls.ts'
import { createOverdueLook } from './overdue.ts'
import type { OpenHold } from './upkeep.ts'
import * as upkeep from './upkeep.ts'
import { createVoids } from './voids.ts'

/** Holds of a dead process voided per tick; the next tick continues. */
const HOLDS_MAX = 5_000

/** `aliveAt` is the time of the last sign of life by the database's clock. */
type Watched = { beat: bigint; aliveAt: Date; sinceMs: number }
type Instance = { readonly id: InstanceId; readonly beat: bigint; readonly beatAt: Date }

export function createSweeper(options: {
  readonly db: Db
  /** As the owner of the partitioned tables. */
  readonly keeper: Db
  readonly longReads: LongReads
  readonly clock: Clock
  readonly log: Log
  readonly holdSeconds: number
  readonly deadSeconds: number
  readonly voidHold: (input: VoidInput) => Promise<unknown>
}) {
  const { db, clock, log } = options
  const deadMs = options.deadSeconds * 1_000
  const watched = new Map<InstanceId, Watched>()
  const overdueLook = createOverdueLook(options)
  const voidAll = createVoids(options)
  const state = { lastTickMs: Number.NEGATIVE_INFINITY }

  /** The processes whose heartbeat has not changed for long enough. */
  function observe(instances: readonly Instance[], nowMs: number): (Instance & Watched)[] {
    const silent: (Instance & Watched)[] = []
    const seen = new Set(instances.map((one) => one.id))
    for (const id of watched.keys()) if (!seen.has(id)) watched.delete(id)
    for (const instance of instances) {
      const { id, beat, beatAt } = instance
      const before = watched.get(id)
      if (before === undefined || before.beat !== beat) {
        watched.set(id, { beat, aliveAt: beatAt, sinceMs: nowMs })
      } else if (nowMs - before.sinceMs >= deadMs) silent.push({ ...instance, ...before })
    }
    return silent
  }

  /**
   * True if the process may be alive although its heartbeat has not changed. A hold that it created
   * three heartbeats or more after its last sign of life shows that it works; one created sooner
   * may be the last before its death. A row that another session has locked shows nothing.
   */
  async function isPerhapsAlive({ id, beat, aliveAt }: Instance & Watched): Promise<boolean> {
    const newest = await upkeep.holdFindNewest(db, {
      instance: id,
      after: aliveAt,
      seconds: options.deadSeconds / 4,
    })
    if (newest === undefined) return !(await upkeep.instanceIsFree(db, id))
    log.error({ instance: id }, 'a process creates holds, but its heartbeats are not written')
    watched.set(id, { beat, aliveAt: newest, sinceMs: clock.spanMs() })
    return true
  }

  /** The open holds of processes that are dead, by process. */
  async function findLost(silent: readonly (Instance & Watched)[]) {
    const lost: { instance: Instance & Watched; holds: OpenHold[] }[] = []
    for (const instance of silent) {
      if (await isPerhapsAlive(instance)) continue
      const holds = await upkeep.holdFindOfInstance(db, {
        instance: instance.id,
        lastBeat: instance.beatAt,
        holdSeconds: options.holdSeconds,
        limit: HOLDS_MAX,
      })
      lost.push({ instance, holds })
    }
    return lost
  }

  async function voidOfLost(silent: readonly (Instance & Watched)[]): Promise<number> {
    const lost = await findLost(silent)
    const all = lost.flatMap(({ holds }) => holds)
    const closed = new Set(await voidAll(all, 'process_lost', 'the process serving it was lost'))
    for (const { instance, holds } of lost) {
      const { id, beat, aliveAt } = instance
      if (holds.length > 0) {
        log.warn({ instance: id, holds: holds.length }, 'freed the holds of a lost process')
      }
      if (holds.length === HOLDS_MAX) continue
      if (holds.every((hold) => closed.has(hold))) {
        await upkeep.instanceLost(db, id)
        // If the process was alive, it is watched again from its next heartbeat on.
        watched.delete(id)
      } else {
        // A book is locked. The search reads the holds of an hour, so it is not for every tick.
        watched.set(id, { beat, aliveAt, sinceMs: clock.spanMs() - deadMs * 0.75 })
      }
    }
    return closed.size
  }

  /** One check. Call it every few seconds. */
  async function tick(): Promise<{ freed: number }> {
    const instances = await upkeep.instanceList(db)
    const nowMs = clock.spanMs()
    // After a gap in its own ticks (this process was paused, or the database was unavailable) the
    // sweeper starts over: the others may have been unable to write their heartbeats, too.
    if (nowMs - state.lastTickMs > deadMs / 4) watched.clear()
    state.lastTickMs = nowMs

    const freed = await voidOfLost(observe(instances, nowMs))
    const overdue = await overdueLook.find()
    if (overdue.length > 0) log.error({ holds: overdue.length }, 'holds outlived their deadline')
    const closed = await voidAll(overdue, 'overdue', 'the hold passed its deadline')
    await overdueLook.forget(closed)
    return { freed: freed + closed.length }
  }

  return {
    tick,
    /** Keeps the searches of the ticks small. Call it every minute. */
    async summarize(): Promise<void> {
      await options.keeper.transaction(upkeep.holdSummarize).catch((error: unknown) => {
        // An autovacuum runs, which summarizes too.
        if (!isLockTimeout(error)) throw error
      })
    },
  }
}

export type Sweeper = ReturnType<typeof createSweeper>
