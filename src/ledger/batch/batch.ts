// Batching without a timer: whatever waits when a connection becomes idle goes in one call, so a
// lone operation waits for nobody and a busy process sends arrays of up to 256. A book locked by
// someone else gets a lane of its own, where its operations wait for the lock and stay batched,
// while everybody else's go on. Every operation is repeatable by its id, so a batch whose outcome
// is unknown is simply sent again.
import type { Clock } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Verb } from '../calls.ts'
import type { Connection } from './connection.ts'
import { isLockTimeout, isPassing, isServerFault } from './connection.ts'

/** Beyond 256 a pair costs no less, and the locks of one call are held longer. */
const BATCH_MAX = 256
/** Books without an operation that are still remembered: some 100 bytes each. */
const BOOKS_MAX = 10_000
/** A server that refuses connections is asked again after this long, doubling up to the maximum. */
const RETRY_MS = 50
const RETRY_MS_MAX = 1_000

type Keyed = { readonly id: string; readonly book: BookId }

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
type AnyOperation = Operation<any, any>

type Lane = {
  readonly book: Book
  readonly waiting: AnyOperation[]
  isActive: boolean
  /** Faults of the server in a row: only this book waits for them. */
  faults: number
}
/** A connection and how many calls it carries. */
type Carrier = { readonly connection: Connection; calls: number }

/** A book with operations in the batcher, or which had some. */
type Book = {
  readonly id: BookId
  operations: number
  /** Who carries some of them, and how many. Any other connection would find the book locked. */
  carrier: Carrier | undefined
  carried: number
  lane: Lane | undefined
}

export type Batcher = {
  submit<Ask extends Keyed, Reply>(
    verb: Verb<Ask, Reply>,
    ask: Ask,
  ): Operation<Ask, Reply> & {
    readonly reply: Promise<Reply>
  }
  /** Every operation without an outcome, oldest first within its queue. */
  pending(): Iterable<AnyOperation>
  /** True while the last call to the database failed in a way that passes. */
  isAway(): boolean
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
  close(): Promise<void>
}

export function createBatcher(options: {
  readonly connections: readonly Connection[]
  readonly laneConnections: readonly Connection[]
  readonly clock: Clock
  readonly log: Log
}): Batcher {
  const { clock, log } = options
  const books = new Map<BookId, Book>()
  const waiting: AnyOperation[] = []
  const lanes = new Set<Lane>()
  const carriers: readonly Carrier[] = options.connections.map((connection) => ({
    connection,
    calls: 0,
  }))
  // Not a Set: there is one for each connection, or two.
  const flying: (readonly AnyOperation[])[] = []
  const idleLanes = [...options.laneConnections]
  const idleWaiters: (() => void)[] = []
  const state = { isClosed: false, failures: 0, isScheduled: false }

  function submit<Ask extends Keyed, Reply>(verb: Verb<Ask, Reply>, ask: Ask) {
    const settled = Promise.withResolvers<Reply>()
    const book = bookOf(ask.book)
    const operation = {
      verb,
      ask,
      book,
      sinceMs: clock.spanMs(),
      wasSent: false,
      isDropped: false,
      resolve: settled.resolve,
      reject: settled.reject,
      reply: settled.promise,
    }
    book.operations += 1
    const queue = book.lane?.waiting ?? waiting
    queue.push(operation)
    schedule()
    return operation
  }

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

  // One turn of the event loop gathers what arrived together: thirty requests read from thirty
  // sockets in one poll become one array instead of thirty calls.
  function schedule(): void {
    if (state.isScheduled || state.isClosed) return
    state.isScheduled = true
    setImmediate(() => {
      state.isScheduled = false
      pump()
    })
  }

  function pump(): void {
    if (state.isClosed) return
    for (const carrier of carriers) if (carrier.calls === 0) send(carrier, 1)
    // A connection that works need not stand still while we read its answer: a second call is sent
    // behind the first. Only a full array, since a smaller one would still grow while it waits.
    for (const carrier of carriers) if (carrier.calls === 1) send(carrier, BATCH_MAX)
    for (const lane of lanes) {
      if (idleLanes.length === 0) break
      if (!lane.isActive) startLane(lane, idleLanes.pop() as Connection)
    }
    if (waiting.length === 0 && flying.length === 0 && lanes.size === 0) {
      for (const wake of idleWaiters.splice(0)) wake()
    }
  }

  function send(carrier: Carrier, sizeMin: number): void {
    const batch = take(
      waiting,
      sizeMin,
      ({ carrier: other }) => other === undefined || other === carrier,
    )
    if (batch.length === 0) return
    carrier.calls += 1
    for (const { book } of batch) {
      book.carrier = carrier
      book.carried += 1
    }
    void carry(carrier.connection, batch, false).then(() => {
      for (const { book } of batch) {
        book.carried -= 1
        if (book.carried === 0) book.carrier = undefined
      }
      rest(state.failures, () => {
        carrier.calls -= 1
      })
    })
  }

  function startLane(lane: Lane, connection: Connection): void {
    lane.isActive = true
    // Behind all others, so that many locked books share few lane connections fairly.
    lanes.delete(lane)
    lanes.add(lane)
    const batch = take(lane.waiting, 1, () => true)
    // Empty when everyone in it was given up on: nothing is sent, and the lane ends.
    const carried = batch.length === 0 ? Promise.resolve() : carry(connection, batch, true)
    void carried.then(() => {
      // The connection does not wait with the lane: other books need it.
      rest(lane.faults, () => {
        lane.isActive = false
        if (lane.waiting.length > 0) return
        lanes.delete(lane)
        lane.book.lane = undefined
      })
      rest(state.failures, () => idleLanes.push(connection))
    })
  }

  /**
   * Takes the next batch out of a queue: the verb of the oldest operation that may go, and
   * everything of that verb behind it, up to the maximum; nothing if that is less than the minimum.
   * An id goes at most once into an array.
   */
  function take(queue: AnyOperation[], sizeMin: number, mayGo: (book: Book) => boolean) {
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

  // After failures a connection rests before it is used again: a database that is away would
  // otherwise be asked thousands of times a second.
  function rest(failures: number, free: () => void): void {
    if (failures === 0) {
      free()
      pump()
      return
    }
    const backoffMs = Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX)
    setTimeout(() => {
      free()
      pump()
    }, backoffMs)
  }

  /** Never rejects: every operation ends with its outcome, or waits again. */
  async function carry(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    flying.push(batch)
    for (const operation of batch) operation.wasSent = true
    try {
      await call(connection, batch, isLane)
      state.failures = 0
      const { lane } = (batch[0] as AnyOperation).book
      if (lane !== undefined) lane.faults = 0
    } catch (error) {
      if (isLockTimeout(error)) toLanes(batch)
      else if (isPassing(error)) waitFor(error, batch, isLane)
      else await carryOneByOne(connection, batch, error)
    } finally {
      flying.splice(flying.indexOf(batch), 1)
    }
  }

  // A damaged page fails every array that touches its book: in lanes of their own, that book waits
  // and the others of the array go on.
  function waitFor(error: unknown, batch: AnyOperation[], isLane: boolean): void {
    const isKnown = state.failures > 0 || batch.some(({ book }) => (book.lane?.faults ?? 0) > 0)
    if (!isKnown) log.warn({ err: error }, 'the ledger waits for its database')
    state.failures += 1
    if (!isServerFault(error)) requeue(batch, isLane)
    else for (const lane of toLanes(batch)) lane.faults += 1
  }

  async function call(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    const { verb, ask } = batch[0] as AnyOperation
    const isOne = batch.length === 1 && !isLane
    const asks = isOne ? [ask] : batch.map((operation) => operation.ask)
    const row = await connection.run(isOne ? verb.one(ask) : verb.many(asks, isLane))
    const replies = isOne ? [verb.readOne(row)] : verb.readMany(row, asks)
    for (let i = 0; i < batch.length; i++) {
      const operation = batch[i] as AnyOperation
      if (replies[i]?.outcome === 'busy') toLanes([operation])
      else answer(operation, replies[i])
    }
  }

  function answer(operation: AnyOperation, reply: unknown): void {
    leave(operation)
    operation.resolve(reply)
  }

  // An array the database refuses for its content: one element is a bug, the others are innocent.
  async function carryOneByOne(connection: Connection, batch: AnyOperation[], cause: unknown) {
    for (const [i, operation] of batch.entries()) {
      try {
        if (batch.length === 1) throw cause
        await call(connection, [operation], false)
      } catch (error) {
        if (isPassing(error)) {
          requeue(batch.slice(i), false)
          return
        }
        leave(operation)
        operation.reject(error)
      }
    }
  }

  function requeue(batch: AnyOperation[], isLane: boolean): void {
    if (isLane) toLanes(batch)
    else waiting.unshift(...batch)
  }

  function toLanes(batch: AnyOperation[]): Set<Lane> {
    const joined = new Set<Lane>()
    for (const operation of batch) {
      const { book } = operation
      book.lane ??= { book, waiting: [], isActive: false, faults: 0 }
      book.lane.waiting.push(operation)
      lanes.add(book.lane)
      joined.add(book.lane)
    }
    return joined
  }

  return {
    submit,
    *pending() {
      for (const batch of flying) yield* batch
      yield* waiting
      for (const lane of lanes) yield* lane.waiting
    },
    isAway: () => state.failures > 0,
    idle() {
      return new Promise((resolve) => {
        idleWaiters.push(resolve)
        schedule()
      })
    },
    async close() {
      state.isClosed = true
      await Promise.all(
        [...options.connections, ...options.laneConnections].map((one) => one.close()),
      )
    },
  }
}
