// The look for overdue holds: open ones past their deadline, whose process is alive and has lost
// them. Each hold is looked at once, when it has become `holdSeconds` old; those still open then
// are remembered here until they are closed. So a look reads the holds of a few seconds, however
// many there are. The mark in the database is for the next worker: every hold created before it is
// closed.
//
// A hold is overdue only by the earlier of two clocks, the database's and this process's: when the
// database's stepped 70 minutes ahead, the look released the holds of requests that were running.
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { LongReads } from '../../platform/db/long-reads.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { AgedHold } from './upkeep.ts'
import * as upkeep from './upkeep.ts'

/** Old holds remembered at a time: a million would be 200 MB. Later looks continue. */
const HOLDS_MAX = 5_000
/** Of one book: holds of a damaged book cannot be voided and must leave room for others. */
const HOLDS_OF_BOOK_MAX = 500

export function createOverdueLook(options: {
  readonly db: Db
  /** On the primary, for the first look at a database, which reads every hold. */
  readonly longReads: LongReads
  readonly clock: Clock
  readonly holdSeconds: number
}) {
  const { db, longReads } = options
  const old = new Map<HoldId, AgedHold>()
  /** Books with more old holds than are remembered: when the first of the others was created. */
  const skipped = new Map<BookId, Date>()
  /** Holds created before this were looked at. */
  let lookedUntil: Date | undefined

  /** Finds the holds that have become `holdSeconds` old since the last look. */
  async function look({ now, until }: { now: Date; until: Date }): Promise<void> {
    const from = lookedUntil ?? (await upkeep.sweepMarkFind(db))
    // The clock was set back behind what was looked at: holds are now created before it again, and
    // some may have been since the step. One look at all holds finds them.
    const start = from !== undefined && from > now ? undefined : from
    lookedUntil = start
    if (old.size >= HOLDS_MAX || (start !== undefined && until <= start)) return
    const range = { from: start, until, limit: HOLDS_MAX }
    const found = await (start === undefined
      ? longReads((reader) => upkeep.holdListOpen(reader, range))
      : upkeep.holdListOpen(db, range))
    remember(found)
    lookedUntil = found.length < HOLDS_MAX ? until : found.at(-1)?.createdAt
  }

  function remember(found: readonly AgedHold[]): void {
    const counts = countByBook()
    for (const hold of found) {
      if (old.has(hold.id) || skipped.has(hold.book)) continue
      const count = counts.get(hold.book) ?? 0
      if (count >= HOLDS_OF_BOOK_MAX) skipped.set(hold.book, hold.createdAt)
      else {
        old.set(hold.id, hold)
        counts.set(hold.book, count + 1)
      }
    }
  }

  function countByBook(): Map<BookId, number> {
    const counts = new Map<BookId, number>()
    for (const { book } of old.values()) counts.set(book, (counts.get(book) ?? 0) + 1)
    return counts
  }

  /** Looks again at the time of a book's skipped holds, once some of its others are closed. */
  function goBack(): void {
    const counts = countByBook()
    for (const [book, createdAt] of skipped) {
      if ((counts.get(book) ?? 0) >= HOLDS_OF_BOOK_MAX) continue
      skipped.delete(book)
      if (lookedUntil !== undefined && createdAt < lookedUntil) lookedUntil = createdAt
    }
  }

  return {
    /** The holds whose deadline has passed; returned again by each look until `forget`. */
    async find(): Promise<AgedHold[]> {
      const times = await upkeep.lookTimes(db, {
        holdSeconds: options.holdSeconds,
        now: dateAt(options.clock.nowMs()),
      })
      await look(times)
      return [...old.values()].filter(({ deadlineAt }) => deadlineAt < times.now)
    },

    /** Forgets holds that are closed, and stores the mark. */
    async forget(closed: readonly { readonly id: HoldId }[]): Promise<void> {
      for (const { id } of closed) old.delete(id)
      goBack()
      let mark = lookedUntil
      if (mark === undefined) return
      for (const { createdAt } of old.values()) if (createdAt < mark) mark = createdAt
      for (const createdAt of skipped.values()) if (createdAt < mark) mark = createdAt
      await upkeep.sweepMarkStore(db, mark)
    },
  }
}
