// What stops every request of a book, whatever the request costs: a block, or a debt. Holds find it
// out in the database; this is for requests without a hold.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import { type Book, bookFind } from './queries.ts'
import { BOOK_UNKNOWN, holdRefusal, type StopCode, stopSentences } from './refusals.ts'

export function createStops({ db }: { readonly db: Executor }) {
  /** In the order in which a hold looks; undefined: nothing stops its requests. */
  function stopOf({ blockedReason, debt }: Book): StopCode | undefined {
    return blockedReason ?? (debt > 0n ? 'debt_outstanding' : undefined)
  }

  return {
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
