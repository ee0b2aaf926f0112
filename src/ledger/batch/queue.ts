// The operations that wait for a connection, and their books. The queue decides which operations
// go together in one call; dispatch.ts sends it.
import type { BookId } from '../../platform/ids.ts'
import type { Verb } from '../calls.ts'
import type { Backoff } from './backoff.ts'
import type { Connection } from './connection.ts'

/** Larger batches cost no less per operation, and their calls hold locks longer. */
export const BATCH_MAX = 256
/** Books without operations that are kept in memory: about 100 bytes each. */
const BOOKS_MAX = 10_000

export type OperationKey = { readonly id: string; readonly book: BookId }

/** One pending operation. It leaves the batcher only when its outcome is known. */
export type Operation<Input extends OperationKey = OperationKey, Result = unknown> = {
  readonly verb: Verb<Input, Result>
  readonly input: Input
  readonly book: Book
  readonly sinceMs: number
  /** True once it was sent: from then on the database may have stored it. */
  wasSent: boolean
  isDropped: boolean
  /** How many calls with it failed with a transient error. */
  failures: number
  /** The server's last error in calls for its book alone; `sinceMs` is the time of the first. */
  serverFault: ServerFault | undefined
  resolve(result: Result): void
  reject(error: unknown): void
}

export type ServerFault = {
  readonly sinceMs: number
  readonly lastMs: number
  readonly error: unknown
}

// Operations of different verbs share queues; a call carries one verb, so its types agree.
// biome-ignore lint/suspicious/noExplicitAny: the queue holds Operation<A, R> of several A and R.
export type AnyOperation = Operation<any, any>

/** A book that has or had operations in the batcher. */
export type Book = {
  readonly id: BookId
  operations: number
  /** The connection whose calls contain this book; other connections would find it locked. */
  carrier: Connection | undefined
  /** How many operations of this book are in these calls. */
  carried: number
  lane: Lane | undefined
}

/** The queue of one book that is locked, or whose page is damaged: see lanes.ts. */
export type Lane = {
  readonly book: Book
  readonly waiting: AnyOperation[]
  isActive: boolean
  /** Pauses this book alone after server faults. */
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
    // The book is kept for its next request; above BOOKS_MAX all idle books are removed at once.
    if (book.operations === 0 && books.size > BOOKS_MAX) forgetIdle()
  }

  function forgetIdle(): void {
    for (const book of books.values()) if (book.operations === 0) books.delete(book.id)
  }

  return {
    /** Appends a new operation to its book's lane, or to the common queue. */
    add<Input extends OperationKey, Result>(
      verb: Verb<Input, Result>,
      input: Input,
      sinceMs: number,
    ) {
      const deferred = Promise.withResolvers<Result>()
      const book = bookOf(input.book)
      const operation = {
        verb,
        input,
        book,
        sinceMs,
        wasSent: false,
        isDropped: false,
        failures: 0,
        serverFault: undefined,
        resolve: deferred.resolve,
        reject: deferred.reject,
        result: deferred.promise,
      }
      book.operations += 1
      const queue = book.lane?.waiting ?? waiting
      queue.push(operation)
      return operation
    },

    /** The next batch that this connection may send; empty if it is smaller than `sizeMin`. */
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

    /** The call with this batch has ended: other connections may send for its books. */
    release(batch: readonly AnyOperation[]): void {
      for (const { book } of batch) {
        book.carried -= 1
        if (book.carried === 0) book.carrier = undefined
      }
    },

    /** The next batch of a lane; empty when all its operations were given up. */
    takeLane: (lane: Lane): AnyOperation[] => take(lane.waiting, 1, () => true, leave),

    /** Puts a batch back at the front: it has waited longest. */
    putBack(batch: readonly AnyOperation[]): void {
      waiting.unshift(...batch)
    },

    /** Removes an operation whose outcome is known, or which was given up. */
    leave,

    isEmpty: () => waiting.length === 0,
    operations: (): Iterable<AnyOperation> => waiting,
  }
}

/**
 * Takes the next batch out of a queue: the oldest allowed operation and the later ones of the same
 * verb, up to BATCH_MAX; nothing if there are fewer than `sizeMin`. No batch contains an id twice.
 * Removes operations that were given up.
 */
function take(
  queue: AnyOperation[],
  sizeMin: number,
  mayGo: (book: Book) => boolean,
  leave: (operation: AnyOperation) => void,
): AnyOperation[] {
  const batch: AnyOperation[] = []
  // The usual case when a full array is wanted: no need to scan the queue.
  if (queue.length < sizeMin) return batch
  const ids = new Set<string>()
  for (const operation of queue) {
    if (batch.length === BATCH_MAX) break
    if (operation.isDropped || !mayGo(operation.book)) continue
    if (batch.length > 0 && operation.verb !== (batch[0] as AnyOperation).verb) continue
    if (ids.has(operation.input.id)) continue
    batch.push(operation)
    ids.add(operation.input.id)
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
