// What stops every request of a book, whatever the request costs: a block, or a debt. Holds find it
// out in the database; `expectActive` is for requests without a hold.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { type Book, bookBlock, bookFind, bookResume, stopFindAfterUnblock } from './queries.ts'
import { BOOK_UNKNOWN, holdRefusal, type StopCode, stopSentences } from './refusals.ts'

export function createStops({ db }: { readonly db: Executor }) {
  /** In the order in which a hold looks; undefined: nothing stops its requests. */
  function stopOf({ blockedReason, debt }: Book): StopCode | undefined {
    return blockedReason ?? (debt > 0n ? 'debt_outstanding' : undefined)
  }

  return {
    /**
     * Stops a book: its next hold is refused. An operator's stop has precedence: another stop is
     * kept, and is in force again when the operator's is lifted.
     */
    block: bookBlock,

    /**
     * Lifts this stop and no other; true if it was in force. A stop that is kept while an
     * operator's is in force is lifted too, but the result is then false.
     */
    resume: bookResume,

    /** The stop that is in force again when the operator's is lifted, or null. */
    stopAfterUnblock: (book: BookId) => stopFindAfterUnblock(db, book),

    /** The stop of a book; undefined: none. */
    stopOf,

    /**
     * Refuses as every hold would: operator_blocked, owner_suspended, velocity_stopped,
     * debt_outstanding, book_unknown.
     */
    async expectActive(book: BookId): Promise<void> {
      const found = await bookFind(db, book)
      if (found === undefined) throw holdRefusal('book_unknown', BOOK_UNKNOWN, { book })
      const stop = stopOf(found)
      if (stop !== undefined) throw holdRefusal(stop, stopSentences[stop], { book })
    },
  }
}
