// The SQL of the server itself; the data that it shows belongs to other modules.
import type { Executor } from '../db/db.ts'

/** Resolves when the database answers. Reads nothing, locks nothing. */
export async function pingDatabase(db: Executor): Promise<void> {
  await db.query('select 1')
}
