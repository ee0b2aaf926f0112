// Partitions: made ahead, taken away behind. Entries go by day and leave only in the transaction
// that writes checkpoints, so a book's chain always starts somewhere known. Holds go by week and
// are dropped when every hold in them is closed and no spool can still be that old.
import type { Db } from '../../platform/db/db.ts'
import {
  entriesPartitionDetach,
  entriesPartitionList,
  holdsPartitionDrop,
  holdsPartitionList,
  partitionsMake,
} from './upkeep.ts'

/** Makes what is missing of the coming week; repeatable, and safe from several processes. */
export function makePartitions(db: Db): Promise<string[]> {
  return db.transaction((tx) => partitionsMake(tx))
}

/**
 * Detaches entries older than a day, oldest first; returns the tables, now free-standing. Their
 * usage is added up before: the database refuses to let go of what is in no sum.
 */
export async function detachEntriesBefore(
  db: Db,
  day: string,
  addUp: () => Promise<unknown>,
): Promise<string[]> {
  const detached: string[] = []
  for (const partition of await entriesPartitionList(db)) {
    if (partition.until > day) break
    if (detached.length === 0) await addUp()
    await db.transaction((tx) => entriesPartitionDetach(tx, partition.name))
    detached.push(partition.name)
  }
  return detached
}

/** Drops weeks of holds that ended a week ago or longer; one with an open hold stays. */
export async function dropHoldsBefore(db: Db): Promise<string[]> {
  const dropped: string[] = []
  for (const name of await holdsPartitionList(db)) {
    if (await db.transaction((tx) => holdsPartitionDrop(tx, name))) dropped.push(name)
  }
  return dropped
}
