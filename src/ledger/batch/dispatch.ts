// Sends one batch over a connection. Afterwards each of its operations has its outcome, or waits
// again: in the queue while the database is away, in its book's lane when the book is locked or its
// page is damaged. Every operation is repeatable by its id, so a batch whose outcome is unknown is
// sent again.

import { isLockTimeout, isServerFault, isTransient } from '../../platform/db/database-errors.ts'
import type { Log } from '../../platform/log.ts'
import type { Backoff } from './backoff.ts'
import type { Connection } from './connection.ts'
import type { Lanes } from './lanes.ts'
import type { AnyOperation, Queue } from './queue.ts'

export function createDispatch(options: {
  readonly queue: Queue
  readonly lanes: Lanes
  /** Of the database as a whole. */
  readonly backoff: Backoff
  readonly log: Log
}) {
  const { queue, lanes, backoff, log } = options
  // Not a Set: there is one for each connection, or two.
  const flying: (readonly AnyOperation[])[] = []

  /** Never rejects: every operation ends with its outcome, or waits again. */
  async function send(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    flying.push(batch)
    for (const operation of batch) operation.wasSent = true
    try {
      await call(connection, batch, isLane)
      backoff.succeed()
      const { lane } = (batch[0] as AnyOperation).book
      lane?.backoff.succeed()
    } catch (error) {
      if (isLockTimeout(error)) lanes.join(batch)
      else if (isTransient(error)) waitAgain(error, batch, isLane)
      else await sendOneByOne(connection, batch, error)
    } finally {
      flying.splice(flying.indexOf(batch), 1)
    }
  }

  async function call(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    const { verb, ask } = batch[0] as AnyOperation
    const isOne = batch.length === 1 && !isLane
    const asks = isOne ? [ask] : batch.map((operation) => operation.ask)
    const row = await connection.run(isOne ? verb.one(ask) : verb.many(asks, isLane))
    const replies = isOne ? [verb.readOne(row)] : verb.readMany(row, asks)
    for (let i = 0; i < batch.length; i++) {
      const operation = batch[i] as AnyOperation
      if (replies[i]?.outcome === 'busy') {
        lanes.join([operation])
        continue
      }
      queue.leave(operation)
      operation.resolve(replies[i])
    }
  }

  // A damaged page fails every array that touches its book: in lanes of their own, that book waits
  // and the others of the array go on.
  function waitAgain(error: unknown, batch: AnyOperation[], isLane: boolean): void {
    const isKnown = backoff.isFailing() || batch.some(({ book }) => book.lane?.backoff.isFailing())
    if (!isKnown) log.warn({ err: error }, 'the ledger waits for its database')
    backoff.fail()
    if (isServerFault(error)) for (const lane of lanes.join(batch)) lane.backoff.fail()
    else if (isLane) lanes.join(batch)
    else queue.putBack(batch)
  }

  // An array the database refuses for its content: one element is a bug, the others are innocent.
  async function sendOneByOne(connection: Connection, batch: AnyOperation[], cause: unknown) {
    for (const [i, operation] of batch.entries()) {
      try {
        if (batch.length === 1) throw cause
        await call(connection, [operation], false)
      } catch (error) {
        if (isTransient(error)) {
          queue.putBack(batch.slice(i))
          return
        }
        queue.leave(operation)
        operation.reject(error)
      }
    }
  }

  return {
    send,
    isEmpty: () => flying.length === 0,
    *operations(): Iterable<AnyOperation> {
      for (const batch of flying) yield* batch
    },
  }
}
