// Connections to PostgreSQL: pools with timeouts, int8 as bigint, one way to run a transaction.
// SQL itself stands in the modules. `openClient` opens the ledger's own few connections, to which
// ledger/batch/connection.ts gives a deadline of another kind.
import pg from 'pg'
import { markTransient } from './database-errors.ts'
import { openPool } from './pool.ts'

/** What a query needs: a pool, or a client inside a transaction. */
export type Executor = {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

declare const inTransaction: unique symbol
/** An executor that is inside a transaction: what a door asks for when its work must be atomic. */
export type Tx = Executor & { readonly [inTransaction]: true }

export type DatabaseSettings = {
  readonly url: string
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

export type Db = Executor & {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** All reads of it see one moment. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  end(): Promise<void>
}

const INT8_OID = 20
/**
 * A payment or a reissue may wait for a busy book this long. The configured lock timeout is the
 * ledger's own, whose lanes take turns and must not wait long in any of them.
 */
const POOL_LOCK_MS = 5_000

// pg gives int8 as text, because a JavaScript number cannot hold it; ours are bigints everywhere.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8_OID && format !== 'binary') return BigInt
    return pg.types.getTypeParser(oid, format)
  },
} as pg.CustomTypesConfig

/** Settings every connection of ours shares. Times are UTC in every session. */
export function clientSettings(settings: DatabaseSettings, name: string): pg.ClientConfig {
  return {
    connectionString: settings.url,
    application_name: `tollgate ${name}`,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
    options: [
      '-c timezone=UTC',
      `-c lock_timeout=${settings.lockTimeoutMs}`,
      '-c default_transaction_isolation=read\\ committed',
      // A plan over a year of partitions looks dear, and compiling it took 660 ms of 670.
      '-c jit=off',
      // A session that lost its client in a transaction must not keep a book locked.
      '-c idle_in_transaction_session_timeout=60000',
    ].join(' '),
  }
}

/** A pool for everything but the ledger's hot verbs. */
export function openDatabase(
  settings: DatabaseSettings & { readonly poolSize: number },
  name: string,
  onError: (error: Error) => void,
): Db {
  const config = {
    ...clientSettings({ ...settings, lockTimeoutMs: POOL_LOCK_MS }, name),
    max: settings.poolSize,
    statement_timeout: settings.statementTimeoutMs,
    // The server's own limit comes first; this one is for a server that no longer answers.
    query_timeout: settings.statementTimeoutMs + 5_000,
    idleTimeoutMillis: 60_000,
  }
  const pool = openPool(config, onError)
  return {
    query: (text, values) => markTransient(pool.query(text, values)),
    transaction: (work) => runTransaction(pool, 'begin', work),
    snapshot: (work) => runTransaction(pool, 'begin isolation level repeatable read', work),
    end: () => pool.end(),
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  begin: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const client = await markTransient(pool.connect())
  try {
    await markTransient(client.query(begin))
    const tx: Executor = { query: (text, values) => markTransient(client.query(text, values)) }
    const result = await work(tx as Tx)
    await markTransient(client.query('commit'))
    client.release()
    return result
  } catch (error) {
    // A client that cannot even roll back is thrown away; PostgreSQL rolls back by itself.
    await client.query('rollback').then(
      () => client.release(),
      (broken: Error) => client.release(broken),
    )
    throw error
  }
}

/**
 * A single connection for a room that keeps its own few, such as the ledger. A statement given to
 * it while another runs is sent at once and done behind it (pipelined), not held back here.
 */
export function openClient(settings: DatabaseSettings, name: string, extra: string): pg.Client {
  const base = clientSettings(settings, name)
  return new pg.Client({ ...base, pipeline: true, options: `${base.options} ${extra}` })
}
