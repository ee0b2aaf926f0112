// A connection pool that leaves a server which has become read-only or is shutting down, so that
// after a failover behind the same address the next statement reaches the new server. It notices by
// the error of a statement that writes or, if statements only read, by a parameter that the server
// reports.
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import pg from 'pg'
import { isServerLost } from './database-errors.ts'
import { explainMissingGrants } from './missing-grants.ts'

/** PostgreSQL reports both when a session begins and at the first statement after a change. */
const READ_ONLY_PARAMETERS = ['default_transaction_read_only', 'in_hot_standby']
/**
 * A connection to a read-only server is replaced after this time. A shorter time would burden a
 * standby that is being promoted; all work must have moved within three times this time.
 */
const READ_ONLY_MS = 5_000

export function openPool(
  config: pg.PoolConfig,
  onError: (error: Error) => void,
  readOnlyMs: number = READ_ONLY_MS,
): pg.Pool {
  const oldestFirst = new Set<pg.Client>()
  const leaving = new WeakSet<pg.Client>()

  /**
   * Leaves this connection and all older ones: an address moves from an old server to a new one and
   * never back, so theirs is the same server or an older one. A connection with a statement or a
   * transaction under way is closed when it is released: what began before the switch can still
   * commit. All others are cut at once, also one that listens: no notification would reach it.
   */
  function leaveUpTo(newest: pg.Client): void {
    for (const client of oldestFirst) {
      const { readyForQuery, connection } = partsOf(client)
      if (readyForQuery && client.getTransactionStatus() === 'I') {
        connection.stream.destroy(new Error('its server is read-only or shuts down'))
      } else {
        leaving.add(client)
      }
      if (client === newest) return
    }
  }

  function watch(client: pg.Client): void {
    const { connection } = partsOf(client)
    const timers = new Map<string, NodeJS.Timeout>()
    oldestFirst.add(client)
    explainMissingGrants(client)
    client.once('end', () => {
      oldestFirst.delete(client)
      for (const timer of timers.values()) clearTimeout(timer)
    })
    connection.on('errorMessage', (error: Error) => {
      if (isServerLost(error)) leaveUpTo(client)
    })
    connection.on('parameterStatus', ({ parameterName, parameterValue }: Parameter) => {
      if (!READ_ONLY_PARAMETERS.includes(parameterName)) return
      clearTimeout(timers.get(parameterName))
      if (parameterValue !== 'on') return
      timers.set(parameterName, setTimeout(leaveUpTo, readOnlyMs, client).unref())
    })
    // The pool listens to idle connections only. Without a listener, one that is lost between two
    // statements would end the process; with it, the next statement fails.
    client.on('error', () => undefined)
  }

  /** Watched from its beginning: the first parameters arrive before the pool's event `connect`. */
  class Client extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super(options)
      watch(this)
    }
  }

  const pool = new pg.Pool({ ...config, Client })
  // Without a listener, an idle connection that the server closes would end the process.
  pool.on('error', onError)
  // graphile-worker warns about a pool without this listener: others handle errors of clients here.
  pool.on('connect', () => undefined)
  pool.on('release', (_error, client) => {
    // A statement that exceeded its time limit is still running, and the next would wait for it.
    const isStuck = !partsOf(client).readyForQuery
    // The pool removes a connection that is ending.
    if (isStuck || leaving.has(client)) void client.end()
  })
  return pool
}

type Parameter = { readonly parameterName: string; readonly parameterValue: string }

/** Parts of the driver's client that its types leave out. */
type Parts = {
  /** False while a statement is under way. */
  readonly readyForQuery: boolean
  readonly connection: EventEmitter & { readonly stream: Socket }
}

function partsOf(client: pg.Client): Parts {
  return client as unknown as Parts
}
