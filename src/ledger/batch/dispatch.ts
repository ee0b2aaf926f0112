// Sends one batch over a connection. Afterwards each operation has its outcome, or waits again: in
// the queue while the database is unavailable, in its book's lane when the book's row is locked or
// on a damaged page. Every operation is repeatable by its id, so a batch whose outcome is unknown
// is sent again.

import type { Clock } from '../../platform/clock.ts'
import {
  isFromServer,
  isLockTimeout,
  isServerFault,
  isTransient,
} from '../../platform/db/database-errors.ts'
import type { Log } from '../../platform/log.ts'
import type { Backoff } from './backoff.ts'
import type { Connection } from './connection.ts'
import type { Lanes } from './lanes.ts'
import type { AnyOperation, Queue } from './queue.ts'

/** Failed calls after which an operation waits in the lane of its book. */
const FAILURES_MAX = 3

export function createDispatch(options: {
  readonly queue: Queue
  readonly lanes: Lanes
  /** For failures of the database as a whole. */
  readonly backoff: Backoff
  readonly clock: Clock
  readonly log: Log
}) {
  const { queue, lanes, backoff, clock, log } = options
  // An array is fast enough: each connection has at most two batches in flight.
  const inFlight: (readonly AnyOperation[])[] = []

  /** Never rejects: every operation is resolved or rejected, or waits again. */
  async function send(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    inFlight.push(batch)
    for (const operation of batch) operation.wasSent = true
    try {
      await call(connection, batch, isLane)
      backoff.succeed()
      const { lane } = (batch[0] as AnyOperation).book
      lane?.backoff.succeed()
    } catch (error) {
      if (isLane && isFromServer(error)) noteFault(error, batch)
      if (isLockTimeout(error)) lanes.join(batch)
      else if (isTransient(error)) waitAgain(error, batch, isLane)
      else await sendOneByOne(connection, batch, error)
    } finally {
      inFlight.splice(inFlight.indexOf(batch), 1)
    }
  }

  async function call(connection: Connection, batch: AnyOperation[], isLane: boolean) {
    const { verb, input } = batch[0] as AnyOperation
    const isOne = batch.length === 1 && !isLane
    const inputs = isOne ? [input] : batch.map((operation) => operation.input)
    const row = await connection.run(
      isOne ? verb.statement(input) : verb.arrayStatement(inputs, isLane),
    )
    const results = isOne ? [verb.readResult(row)] : verb.readResults(row, inputs)
    for (let i = 0; i < batch.length; i++) {
      const operation = batch[i] as AnyOperation
      if (results[i]?.outcome === 'busy') {
        lanes.join([operation])
        continue
      }
      queue.leave(operation)
      operation.resolve(results[i])
    }
  }

  // After an error of the server each book waits in its own lane. If one damaged page was the
  // cause, every array with that book fails; in lanes only that book waits. So it is with other
  // errors that the server reports again and again, such as a disk without room for one table.
  function waitAgain(error: unknown, batch: AnyOperation[], isLane: boolean): void {
    const isKnown = backoff.isFailing() || batch.some(({ book }) => book.lane?.backoff.isFailing())
    if (!isKnown) log.warn({ err: error }, 'the ledger waits for its database')
    backoff.fail()
    for (const operation of batch) operation.failures += 1
    const isRepeated = batch.some(({ failures }) => failures >= FAILURES_MAX)
    if (isServerFault(error) || (isRepeated && isFromServer(error))) {
      for (const lane of lanes.join(batch)) lane.backoff.fail()
    } else if (isLane) lanes.join(batch)
    else queue.putBack(batch)
  }

  function noteFault(error: unknown, batch: readonly AnyOperation[]): void {
    for (const operation of batch) {
      const lastMs = clock.spanMs()
      operation.serverFault = { sinceMs: operation.serverFault?.sinceMs ?? lastMs, lastMs, error }
    }
  }

  // The database refused the array because of one element: sends each alone to find it.
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
    isEmpty: () => inFlight.length === 0,
    *operations(): Iterable<AnyOperation> {
      for (const batch of inFlight) yield* batch
    },
  }
}
