// A worker job that adds new entries to sums and spans, so that a year's chart reads thousands of
// rows instead of millions. A book's entries are numbered without gaps under its lock, so the mark,
// the last number added, is exact; it moves in the transaction that adds. When a worker dies, that
// transaction is rolled back; several workers share the books by locking the marks.
import type { Clock } from '../../../platform/clock.ts'
import type { Db, Executor, Tx } from '../../../platform/db/db.ts'
import type { BookId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log.ts'
import { deleteOld } from '../delete-old.ts'
import type { MarkTable } from '../queries.ts'
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
import { sessionDeleteOld, splitMarkEnsure, splitSumDeleteOld } from './split-queries.ts'
import { addSplits } from './split-rollup.ts'

/**
 * Entries in one transaction: about 0.6 s of database work. Fewer for the splits, because an entry
 * whose session and label are its own makes eight sums, each of about 1 KB in Node.
 */
const ENTRIES_MAX = { usage_marks: 50_000, usage_split_marks: 10_000 } as const
const BOOKS_MAX = 500
/** Books per search; a search reads all books, so it returns many at once. */
const DUE_MAX = 10_000
/** A run ends before the next one starts, a minute later; the next one continues. */
const ROUND_MS = 50_000

/** One set of tables that the job adds to, with a mark of its own. */
type Addition = {
  readonly marks: MarkTable
  readonly ensureMarks: (db: Executor, books: readonly BookId[]) => Promise<void>
  /** Adds the ranges and moves their marks; returns the books that moved. */
  readonly add: (tx: Tx, ranges: readonly RollupRange[]) => Promise<BookId[]>
}

export type RollupOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly sessionsKeptDays: number
}

export function createRollup({ db, clock, log, sessionsKeptDays }: RollupOptions) {
  const additions: readonly Addition[] = [
    { marks: 'usage_marks', ensureMarks: markEnsure, add: usageAdd },
    {
      marks: 'usage_split_marks',
      ensureMarks: splitMarkEnsure,
      add: (tx, ranges) => addSplits(tx, ranges, sessionsKeptDays),
    },
  ]

  /** Adds the next range of entries of each of these books, in one transaction. */
  function step(
    { marks, add }: Addition,
    due: readonly DueBook[],
  ): Promise<{ doneCount: number; left: DueBook[] }> {
    return db.transaction(async (tx) => {
      const entriesMax = Math.ceil(ENTRIES_MAX[marks] / due.length)
      const locked = new Map(
        (await markLock(tx, { marks, due, entriesMax })).map((range) => [range.book, range]),
      )
      const ranges = [...locked.values()].filter(({ seq, until }) => until > seq)
      const added = await addAnywhere(tx, ranges, add)
      for (const { book, seq } of ranges.filter((range) => !added.has(range.book))) {
        log.error({ book, seq, marks }, 'entries are missing: the usage of this book stands still')
        locked.delete(book)
      }
      // Skip books that another worker has locked, or whose entries are missing.
      const left = due.filter(({ book, seq }) => (locked.get(book)?.until ?? seq) < seq)
      return { doneCount: locked.size - left.length, left }
    })
  }

  /** False when some entries were left to another worker or the next run, or are missing. */
  async function addAll(addition: Addition, isOver: () => boolean): Promise<boolean> {
    const { marks } = addition
    for (;;) {
      const due = await bookListDue(db, { marks, limit: DUE_MAX })
      let doneCount = 0
      // Each book gets a step before any gets a second one: a book with a million entries must not
      // use up the run of those that come after it.
      for (let left: readonly DueBook[] = due; left.length > 0; ) {
        const again: DueBook[] = []
        for (let at = 0; at < left.length; at += BOOKS_MAX) {
          if (isOver()) return false
          const some = left.slice(at, at + BOOKS_MAX)
          const books = some.map(({ book }) => book)
          if (left === due) await addition.ensureMarks(db, books)
          const stepped = await step(addition, some)
          doneCount += stepped.doneCount
          again.push(...stepped.left)
        }
        left = again
      }
      if (doneCount < due.length) return false
      if (due.length < DUE_MAX) return true
    }
  }

  /**
   * Adds the new entries of all books. False when some were left to another worker or the next run,
   * or when entries are missing.
   */
  async function aggregate(): Promise<boolean> {
    const startedMs = clock.spanMs()
    const isOver = () => clock.spanMs() - startedMs > ROUND_MS
    const began = await roundBegin(db)
    let isDone = true
    for (const addition of additions) isDone = (await addAll(addition, isOver)) && isDone
    if (isDone) await roundEnd(db, began)
    return isDone
  }

  /** Removes old sessions and labels and their sums; returns how many of both. */
  async function removeOldSessions(): Promise<number> {
    let removed = 0
    for (const remove of [splitSumDeleteOld, sessionDeleteOld]) {
      removed += await deleteOld((limit) => remove(db, { keptDays: sessionsKeptDays, limit }))
    }
    return removed
  }

  return { aggregate, removeOldSessions, lagSeconds: () => roundLag(db) }
}

export type Rollup = ReturnType<typeof createRollup>

/** Searches from the mark's day on; for books with entries missing there, on all days. */
async function addAnywhere(
  tx: Tx,
  ranges: readonly RollupRange[],
  add: Addition['add'],
): Promise<Set<BookId>> {
  const added = new Set(await add(tx, ranges))
  const others = ranges.filter(({ book }) => !added.has(book))
  const anywhere = others.map((range) => ({ ...range, day: '-infinity' }))
  for (const book of await add(tx, anywhere)) added.add(book)
  return added
}
