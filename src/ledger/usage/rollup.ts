// A worker job that adds new entries to sums and spans, so that a year's chart reads thousands of
// rows instead of millions. A book's entries are numbered without gaps under its lock, so the mark,
// the last number added, is exact; it moves in the transaction that adds. When a worker dies, that
// transaction is rolled back; several workers share the books by locking the marks.
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import {
  bookListDue,
  type DueBook,
  markEnsure,
  markLock,
  type RollupRange,
  roundBegin,
  roundEnd,
  roundLag,
  usageAdd,
} from './rollup-queries.ts'

/** About 0.6 s of database work in one transaction. */
const ENTRIES_MAX = 50_000
const BOOKS_MAX = 500
/** Books per search; a search reads all books, so it returns many at once. */
const DUE_MAX = 10_000
/** A run ends before the next one starts, a minute later; the next one continues. */
const ROUND_MS = 50_000
export function createRollup({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  /** Adds the next range of entries of each of these books, in one transaction. */
  function step(due: readonly DueBook[]): Promise<{ doneCount: number; left: DueBook[] }> {
    return db.transaction(async (tx) => {
      const entriesMax = Math.ceil(ENTRIES_MAX / due.length)
      const locked = new Map(
        (await markLock(tx, { due, entriesMax })).map((range) => [range.book, range]),
      )
      const ranges = [...locked.values()].filter(({ seq, until }) => until > seq)
      const added = await add(tx, ranges)
      for (const { book, seq } of ranges.filter((range) => !added.has(range.book))) {
        log.error({ book, seq }, 'entries are missing: the usage of this book stands still')
        locked.delete(book)
      }
      // Skip books that another worker has locked, or whose entries are missing.
      const left = due.filter(({ book, seq }) => (locked.get(book)?.until ?? seq) < seq)
      return { doneCount: locked.size - left.length, left }
    })
  }

  /**
   * Adds the new entries of all books. False when some were left to another worker or the next run,
   * or when entries are missing.
   */
  async function aggregate(): Promise<boolean> {
    const startedMs = clock.spanMs()
    const isOver = () => clock.spanMs() - startedMs > ROUND_MS
    const began = await roundBegin(db)
    for (;;) {
      const due = await bookListDue(db, DUE_MAX)
      let doneCount = 0
      for (let at = 0; at < due.length; at += BOOKS_MAX) {
        let some: readonly DueBook[] = due.slice(at, at + BOOKS_MAX)
        await markEnsure(
          db,
          some.map(({ book }) => book),
        )
        while (some.length > 0) {
          if (isOver()) return false
          const stepped = await step(some)
          doneCount += stepped.doneCount
          some = stepped.left
        }
      }
      if (doneCount < due.length) return false
      if (due.length < DUE_MAX) break
    }
    await roundEnd(db, began)
    return true
  }

  return { aggregate, lagSeconds: () => roundLag(db) }
}

export type Rollup = ReturnType<typeof createRollup>

/** Searches from the mark's day on; for books with entries missing there, on all days. */
async function add(tx: Tx, ranges: readonly RollupRange[]): Promise<Set<BookId>> {
  const added = new Set(await usageAdd(tx, ranges))
  const others = ranges.filter(({ book }) => !added.has(book))
  const anywhere = others.map((range) => ({ ...range, day: '-infinity' }))
  for (const book of await usageAdd(tx, anywhere)) added.add(book)
  return added
}
