// Partitions: creates coming ones, drops old ones of holds. Entries have daily partitions, holds
// weekly ones. Each is made or dropped in a short transaction of its own that waits 100 ms for a
// lock, so that an open reader or a dump cannot make requests wait; what was not possible now is
// done by the next run. Old days of entries leave the ledger by days/days.ts.
import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, dateAt } from '../../platform/clock.ts'
import { isLockTimeout } from '../../platform/db/database-errors.ts'
import type { Db } from '../../platform/db/db.ts'
import {
  holdsDefaultDelete,
  holdsPartitionDrop,
  holdsPartitionList,
  holdsWeekExclude,
  holdsWeekInclude,
  holdsWeekValidate,
  type MissingPartition,
  partitionDaysAhead,
  partitionListMissing,
  partitionMake,
} from './partition-queries.ts'

/**
 * Entries have no default partition, so a missing day would refuse every charge. Two months without
 * a worker are survived; the alarm comes below 30 days, when a month is left to act.
 */
const DAYS_AHEAD = 60
/** Plans of the ledger lock every partition of holds: this and the next week, so at most four. */
const WEEKS_AHEAD = 1
const ATTEMPTS = 3
/** Requests that waited behind an attempt have ended by the next. */
const PAUSE_MS = 500
const DELETED_AT_ONCE = 5_000
/** 100,000 holds an hour, in 20 transactions of about 60 ms. */
const DELETES_MAX = 20

export type Made = {
  readonly made: readonly string[]
  /** Partitions whose table was locked all the time; the next run makes them. */
  readonly waiting: readonly string[]
}

export function createPartitions(options: {
  readonly db: Db
  /** As the owner of the partitioned tables. */
  readonly keeper: Db
  readonly clock: Clock
}) {
  const { db, keeper, clock } = options
  return {
    makePartitions: () => makePartitions(keeper),
    dropHoldsBefore: () => dropHoldsBefore(keeper, dateAt(clock.nowMs())),
    /** For how many days from today on, without a gap, entries have partitions. */
    partitionDaysAhead: () => partitionDaysAhead(db),
  }
}

/** Creates missing partitions; repeatable, also by several processes at once. */
async function makePartitions(db: Db): Promise<Made> {
  const made: string[] = []
  const waiting: string[] = []
  const missing = await partitionListMissing(db, {
    daysAhead: DAYS_AHEAD,
    weeksAhead: WEEKS_AHEAD,
  })
  for (const one of missing) {
    // If the table was locked for one partition, the others are not tried in this run.
    if (waiting.some((name) => name.startsWith(`${one.table}_`))) waiting.push(one.name)
    else {
      const isMade = await (one.table === 'holds' ? makeHoldsWeek(db, one) : make(db, one))
      if (isMade === undefined) waiting.push(one.name)
      else if (isMade) made.push(one.name)
    }
  }
  return { made, waiting }
}

function make(db: Db, one: MissingPartition): Promise<boolean | undefined> {
  return unlessLocked(() => db.transaction((tx) => partitionMake(tx, one)))
}

/**
 * Beside a large default partition the week is excluded from it first, so that ATTACH need not scan
 * it while every request waits.
 */
async function makeHoldsWeek(db: Db, one: MissingPartition): Promise<boolean | undefined> {
  const isExcluded = await unlessLocked(() => db.transaction((tx) => holdsWeekExclude(tx, one)))
  if (!isExcluded) return isExcluded === undefined ? undefined : make(db, one)
  try {
    const isValid = await unlessLocked(() =>
      db.transaction((tx) => holdsWeekValidate(tx, one)).then(() => true),
    )
    return isValid && (await make(db, one))
  } finally {
    // If the week was not made, the default partition must take its holds when it begins.
    await unlessLocked(() => db.transaction((tx) => holdsWeekInclude(tx, one)))
  }
}

/**
 * Drops weekly partitions of holds that ended at least a week ago, if no hold in them is open, and
 * deletes closed holds of that age that are in the default partition. A clock that runs ahead drops
 * nothing: the database's clock and `now`, this process's, must agree.
 */
async function dropHoldsBefore(db: Db, now: Date): Promise<string[]> {
  const dropped: string[] = []
  for (const name of await holdsPartitionList(db, now)) {
    const isDropped = await unlessLocked(() => db.transaction((tx) => holdsPartitionDrop(tx, name)))
    if (isDropped === undefined) break
    if (isDropped) dropped.push(name)
  }
  for (let i = 0; i < DELETES_MAX; i++) {
    const deleted = await holdsDefaultDelete(db, { now, max: DELETED_AT_ONCE })
    if (deleted < DELETED_AT_ONCE) break
  }
  return dropped
}

/** Tries a few times; undefined when a lock was never free in time. */
async function unlessLocked<T>(work: () => Promise<T>): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      if (attempt === ATTEMPTS) return undefined
      await pause(PAUSE_MS)
    }
  }
}
