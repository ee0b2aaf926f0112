// Batching without a timer: when a connection becomes idle, all waiting operations go in one call.
// So a single operation is sent at once, and a busy process sends arrays of up to 256. This file
// decides when a connection is used; queue.ts what a call contains, lanes.ts where operations of
// locked books wait, dispatch.ts handles the result of a call, backoff.ts the pause after failures.
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Verb } from '../calls.ts'
import { createBackoff } from './backoff.ts'
import type { Connection } from './connection.ts'
import { createDispatch } from './dispatch.ts'
import { createLanes } from './lanes.ts'
import type { AnyOperation, Lane, Operation, OperationKey } from './queue.ts'
import { BATCH_MAX, createQueue } from './queue.ts'

/** A connection and its number of calls in flight. */
type Carrier = { readonly connection: Connection; calls: number }

export type Batcher = {
  submit<Input extends OperationKey, Result>(
    verb: Verb<Input, Result>,
    input: Input,
  ): Operation<Input, Result> & {
    readonly result: Promise<Result>
  }
  /** Every operation without an outcome, oldest first within its queue. */
  pending(): Iterable<AnyOperation>
  /** True while the last call to the database failed with a transient error. */
  isUnavailable(): boolean
  /** Resolves when no operation waits or is in flight. */
  idle(): Promise<void>
  close(): Promise<void>
}

export function createBatcher(options: {
  readonly connections: readonly Connection[]
  readonly laneConnections: readonly Connection[]
  readonly clock: Clock
  readonly log: Log
}): Batcher {
  const queue = createQueue()
  const lanes = createLanes(options.laneConnections)
  const backoff = createBackoff()
  const dispatch = createDispatch({ ...options, queue, lanes, backoff })
  const carriers = options.connections.map((connection): Carrier => ({ connection, calls: 0 }))
  const idleWaiters: (() => void)[] = []
  const state = { isClosed: false, isScheduled: false }

  function submit<Input extends OperationKey, Result>(verb: Verb<Input, Result>, input: Input) {
    const operation = queue.add(verb, input, options.clock.spanMs())
    schedule()
    return operation
  }

  // Waits for the end of this turn of the event loop: thirty requests read from thirty sockets in
  // one poll become one array instead of thirty calls.
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
    // A second call is sent behind the first, so that the connection is not idle while we read the
    // result. Only a full array, since a smaller one would still grow while it waits.
    for (const carrier of carriers) if (carrier.calls === 1) send(carrier, BATCH_MAX)
    for (let next = lanes.next(); next !== undefined; next = lanes.next()) {
      void sendLane(next.lane, next.connection)
    }
    if (queue.isEmpty() && dispatch.isEmpty() && lanes.isEmpty()) {
      for (const wake of idleWaiters.splice(0)) wake()
    }
  }

  function send(carrier: Carrier, sizeMin: number): void {
    const batch = queue.takeFor(carrier.connection, sizeMin)
    if (batch.length === 0) return
    carrier.calls += 1
    void dispatch.send(carrier.connection, batch, false).then(() => {
      queue.release(batch)
      backoff.rest(() => {
        carrier.calls -= 1
        pump()
      })
    })
  }

  async function sendLane(lane: Lane, connection: Connection): Promise<void> {
    const batch = queue.takeLane(lane)
    // Empty when all its operations were given up: nothing is sent, and the lane ends.
    await (batch.length === 0 ? undefined : dispatch.send(connection, batch, true))
    // The connection does not wait for the lane's pause: other books need it.
    lane.backoff.rest(() => {
      lanes.resume(lane)
      pump()
    })
    backoff.rest(() => {
      lanes.release(connection)
      pump()
    })
  }

  return {
    submit,
    *pending() {
      yield* dispatch.operations()
      yield* queue.operations()
      yield* lanes.operations()
    },
    isUnavailable: backoff.isFailing,
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
