// Erases what a client called its sessions, agents and requests: such a name may be a person's.
// The charges stay. Days that have left the ledger for files keep theirs, as docs/personal-data.md
// says.
import type { Db } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { entryLastNumber, namesErase, usageNamesErase } from './erase-queries.ts'

/** Entries per transaction: half a second of locks that nobody else wants. */
const ENTRIES_PER_STEP = 10_000n

/** May be repeated. */
export async function eraseNames(db: Db, book: BookId): Promise<void> {
  const last = await entryLastNumber(db, book)
  for (let from = 1n; from <= last; from += ENTRIES_PER_STEP) {
    await namesErase(db, { book, from, to: from + ENTRIES_PER_STEP - 1n })
  }
  await usageNamesErase(db, book)
}
