// The SQL of erasing the names that a client gave; src/ledger/sql/usage.sql has what is erased.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'

/** Locks the entries. */
export async function namesErase(
  db: Executor,
  p: { readonly book: BookId; readonly from: bigint; readonly to: bigint },
): Promise<void> {
  await db.query('select ledger_erase_names($1, $2, $3)', [p.book, p.from, p.to])
}

/** Deletes the figures by session, label and agent. Locks their rows. */
export async function usageNamesErase(db: Executor, book: BookId): Promise<void> {
  await db.query('select usage_erase_names($1)', [book])
}

/** The number of the book's newest entry; 0 without one. Reads without a lock. */
export async function entryLastNumber(db: Executor, book: BookId): Promise<bigint> {
  const { rows } = await db.query('select seq from books where id = $1', [book])
  return (rows[0] as { seq: bigint } | undefined)?.seq ?? 0n
}
