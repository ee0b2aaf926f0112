// Adds entries up behind the settles, so that a year's chart reads thousands of rows and not
// millions. A book's entries are numbered without gaps under its lock, so "everything up to this
// number" is exact: the mark says how far, and moves in the transaction that adds. A worker that
// dies leaves all as it was; several at once share the books by the locks of the marks.
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import {
  bookFindDue,
  type Due,
  markEnsure,
  markLock,
  type Piece,
  pieceAdd,
  roundBegin,
  roundEnd,
  roundLag,
} from './rollup-queries.ts'

/** Some 0.6 s of work for the database, in one transaction. */
const ENTRIES_MAX = 50_000
const BOOKS_MAX = 500
/** Books of one look; a look reads all books, so it should not be made for a few. */
const DUE_MAX = 10_000
/** A round is over before the next one is due; what is left is the next one's. */
const ROUND_MS = 50_000
export function createRollup({ db, clock, log }: { db: Db; clock: Clock; log: Log }) {
  /** Adds a piece of each of these books, in one transaction. */
  function step(due: readonly Due[]): Promise<{ doneCount: number; left: Due[] }> {
    return db.transaction(async (tx) => {
      const entriesMax = Math.ceil(ENTRIES_MAX / due.length)
      const locked = new Map(
        (await markLock(tx, { due, entriesMax })).map((piece) => [piece.book, piece]),
      )
      const pieces = [...locked.values()].filter(({ seq, until }) => until > seq)
      const added = await add(tx, pieces)
      for (const { book, seq } of pieces.filter((piece) => !added.has(piece.book))) {
        log.error({ book, seq }, 'entries are missing: the usage of this book stands still')
        locked.delete(book)
      }
      // Nobody waits for a book that another worker has, or that stands still.
      const left = due.filter(({ book, seq }) => (locked.get(book)?.until ?? seq) < seq)
      return { doneCount: locked.size - left.length, left }
    })
  }

  /**
   * Adds what is new in all books. False when some of it was left: to another worker, to the next
   * round, or because entries are missing.
   */
  async function round(): Promise<boolean> {
    const startedMs = clock.spanMs()
    const isOver = () => clock.spanMs() - startedMs > ROUND_MS
    const began = await roundBegin(db)
    for (;;) {
      const due = await bookFindDue(db, DUE_MAX)
      let doneCount = 0
      for (let at = 0; at < due.length; at += BOOKS_MAX) {
        let some: readonly Due[] = due.slice(at, at + BOOKS_MAX)
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

  return { round, lagSeconds: () => roundLag(db) }
}

export type Rollup = ReturnType<typeof createRollup>

/** First on the days that the marks know of; who is not whole there, on all days there are. */
async function add(tx: Tx, pieces: readonly Piece[]): Promise<Set<BookId>> {
  const added = new Set(await pieceAdd(tx, pieces))
  const others = pieces.filter(({ book }) => !added.has(book))
  const anywhere = others.map((piece) => ({ ...piece, day: '-infinity' }))
  for (const book of await pieceAdd(tx, anywhere)) added.add(book)
  return added
}
