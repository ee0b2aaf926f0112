// The operations that wait for a connection, and the books they belong to. The queue decides which
// of them travel together in one call; dispatch.ts sends it.
import type { BookId } from '../../platform/ids.ts'
import type { Verb } from '../calls.ts'
import type { Backoff } from './backoff.ts'
import type { Connection } from './connection.ts'

/** Beyond 256 a pair costs no less, and the locks of one call are held longer. */
export const BATCH_MAX = 256
/** Books without an operation that are still remembered: some 100 bytes each. */
const BOOKS_MAX = 10_000

export type Keyed = { readonly id: string; readonly book: BookId }

/** One operation under way. It leaves the batcher only when its outcome is known. */
export type Operation<Ask extends Keyed = Keyed, Reply = unknown> = {
  readonly verb: Verb<Ask, Reply>
  readonly ask: Ask
  readonly book: Book
  readonly sinceMs: number
  /** True once a call has carried it: from then on the database may know it. */
  wasSent: boolean
  isDropped: boolean
  resolve(reply: Reply): void
  reject(error: unknown): void
}

// Operations of different verbs share queues; a call carries one verb, so its types agree.
// biome-ignore lint/suspicious/noExplicitAny: the queue holds Operation<A, R> of several A and R.
export type AnyOperation = Operation<any, any>

/** A book with operations in the batcher, or which had some. */
export type Book = {
  readonly id: BookId
  operations: number
  /** The connection that carries some of them, and how many: any other finds the book locked. */
  carrier: Connection | undefined
  carried: number
  lane: Lane | undefined
}

/** The queue of one book that is locked, or whose page is damaged: see lanes.ts. */
export type Lane = {
  readonly book: Book
  readonly waiting: AnyOperation[]
  isActive: boolean
  /** Faults of the server that this book met: no other book waits for them. */
  readonly backoff: Backoff
}

export type Queue = ReturnType<typeof createQueue>

export function createQueue() {
  const books = new Map<BookId, Book>()
  const waiting: AnyOperation[] = []

  function bookOf(id: BookId): Book {
    const known = books.get(id)
    if (known !== undefined) return known
    const book: Book = { id, operations: 0, carrier: undefined, carried: 0, lane: undefined }
    books.set(id, book)
    return book
  }

  function leave({ book }: AnyOperation): void {
    book.operations -= 1
    // Kept for its next request; all idle ones go together, seldom.
    if (book.operations === 0 && books.size > BOOKS_MAX) forgetIdle()
  }

  function forgetIdle(): void {
    for (const book of books.values()) if (book.operations === 0) books.delete(book.id)
  }

  return {
    /** A new operation, behind the others of its book's lane or of the common queue. */
    add<Ask extends Keyed, Reply>(verb: Verb<Ask, Reply>, ask: Ask, sinceMs: number) {
      const deferred = Promise.withResolvers<Reply>()
      const book = bookOf(ask.book)
      const operation = {
        verb,
        ask,
        book,
        sinceMs,
        wasSent: false,
        isDropped: false,
        resolve: deferred.resolve,
        reject: deferred.reject,
        reply: deferred.promise,
      }
      book.operations += 1
      const queue = book.lane?.waiting ?? waiting
      queue.push(operation)
      return operation
    },

    /** The next batch that this connection may carry; empty if it is smaller than `sizeMin`. */
    takeFor(connection: Connection, sizeMin: number): AnyOperation[] {
      const batch = take(
        waiting,
        sizeMin,
        ({ carrier }) => carrier === undefined || carrier === connection,
        leave,
      )
      for (const { book } of batch) {
        book.carrier = connection
        book.carried += 1
      }
      return batch
    },

    /** The call with this batch is over: other connections may carry its books. */
    release(batch: readonly AnyOperation[]): void {
      for (const { book } of batch) {
        book.carried -= 1
        if (book.carried === 0) book.carrier = undefined
      }
    },

    /** The next batch of a lane; empty when all of it were given up on. */
    takeLane: (lane: Lane): AnyOperation[] => take(lane.waiting, 1, () => true, leave),

    /** Puts a batch back, before all others: it has waited longest. */
    putBack(batch: readonly AnyOperation[]): void {
      waiting.unshift(...batch)
    },

    /** An operation's outcome is known, or it was given up on. */
    leave,

    isEmpty: () => waiting.length === 0,
    operations: (): Iterable<AnyOperation> => waiting,
  }
}

/**
 * Takes the next batch out of a queue: the oldest operation that may go, and everything of its verb
 * behind it, up to the maximum; nothing if that is less than the minimum. An id goes at most once
 * into an array. Operations given up on leave.
 */
function take(
  queue: AnyOperation[],
  sizeMin: number,
  mayGo: (book: Book) => boolean,
  leave: (operation: AnyOperation) => void,
): AnyOperation[] {
  const batch: AnyOperation[] = []
  // Nearly always so when a full array is asked for: the queue need not be looked through.
  if (queue.length < sizeMin) return batch
  const ids = new Set<string>()
  for (const operation of queue) {
    if (batch.length === BATCH_MAX) break
    if (operation.isDropped || !mayGo(operation.book)) continue
    if (batch.length > 0 && operation.verb !== (batch[0] as AnyOperation).verb) continue
    if (ids.has(operation.ask.id)) continue
    batch.push(operation)
    ids.add(operation.ask.id)
  }
  if (batch.length < sizeMin) batch.length = 0
  let [taken, kept] = [0, 0]
  for (const operation of queue) {
    if (operation === batch[taken]) taken += 1
    else if (operation.isDropped) leave(operation)
    else queue[kept++] = operation
  }
  queue.length = kept
  return batch
}
