// The SQL of the cabinet itself; what it shows belongs to other rooms.
import type { Executor } from '../platform/db/db.ts'

/** Resolves when the database answers. Reads nothing, locks nothing. */
export async function databaseAnswer(db: Executor): Promise<void> {
  await db.query('select 1')
}
