// Deletes the rows of a table that are no longer kept, in portions: each statement holds its locks
// for a moment only, and one run of a job ends even if a year of rows is due.

/** Rows that one statement deletes, and how many statements a run sends. */
const DELETED_MAX = 10_000
const STATEMENTS_MAX = 1_000

/** `deleteSome` deletes at most `limit` rows and returns how many; so does this of all portions. */
export async function deleteOld(deleteSome: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0
  for (let i = 0; i < STATEMENTS_MAX; i++) {
    const rows = await deleteSome(DELETED_MAX)
    deleted += rows
    if (rows < DELETED_MAX) break
  }
  return deleted
}
