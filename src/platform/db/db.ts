// Connections to PostgreSQL: pools with timeouts, int8 as bigint, transactions. The modules contain
// the SQL. `openClient` opens the ledger's own few connections, to which ledger/batch/connection.ts
// gives a deadline of another kind. Only the pool may connect through a connection pooler.
import type { Socket } from 'node:net'
import pg from 'pg'
import { markTransient } from './database-errors.ts'
import { explainMissingGrants } from './missing-grants.ts'
import { openPool } from './pool.ts'
import { localSettings, type SessionSettings, startupOptions, verifySession } from './session.ts'

/** What a query needs: a pool, or a client inside a transaction. */
export type Executor = {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

declare const inTransaction: unique symbol
/** An executor inside a transaction, for functions whose work must be atomic with the caller's. */
export type Tx = Executor & { readonly [inTransaction]: true }

export type DatabaseSettings = {
  readonly url: string
  /** The name of the setting with the address, for messages. */
  readonly urlName?: string
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  readonly lockTimeoutMs: number
}

export type Db = Executor & {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** All its statements see the database at one moment (repeatable read). */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  end(): Promise<void>
}

const INT8_OID = 20
/**
 * How long a payment or a reissue may wait for the lock of a busy book. The configured lock timeout
 * is for the ledger's connections, which serve many books and must not wait long for one.
 */
const POOL_LOCK_MS = 5_000

// pg returns int8 as text, because a JavaScript number cannot hold it; we use bigint everywhere.
const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8_OID && format !== 'binary') return BigInt
    return pg.types.getTypeParser(oid, format)
  },
} as pg.CustomTypesConfig

/** The settings that all our sessions share. Every session uses UTC. */
function sessionOf(lockTimeoutMs: number): SessionSettings {
  return {
    TimeZone: 'UTC',
    lock_timeout: String(lockTimeoutMs),
    default_transaction_isolation: 'read committed',
    // PostgreSQL estimates a high cost for a plan over a year of partitions and would compile it,
    // which took 660 ms of 670.
    jit: 'off',
    // A session whose client died in a transaction must not keep a book locked.
    idle_in_transaction_session_timeout: '60000',
  }
}

/** The settings of the pool's sessions. */
export function poolSession(settings: DatabaseSettings): SessionSettings {
  const statementTimeout = String(settings.statementTimeoutMs)
  return { ...sessionOf(POOL_LOCK_MS), statement_timeout: statementTimeout }
}

function connectionSettings(settings: DatabaseSettings, name: string): pg.ClientConfig {
  return {
    connectionString: settings.url,
    application_name: `tollgate ${name}`,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  }
}

/** The driver prefers options in the address to ours, so they become one text, with ours last. */
function withOptions(config: pg.ClientConfig, session: SessionSettings): pg.ClientConfig {
  const options = startupOptions(session)
  const { connectionString = '' } = config
  if (!/[?&]options=/.test(connectionString)) return { ...config, options }
  const url = new URL(connectionString)
  const given = url.searchParams.getAll('options')
  url.searchParams.delete('options')
  return { ...config, connectionString: url.href, options: [...given, options].join(' ') }
}

/** What all connections to PostgreSQL itself share. */
export function clientSettings(
  settings: DatabaseSettings,
  name: string,
  session: SessionSettings = {},
): pg.ClientConfig {
  const all = { ...sessionOf(settings.lockTimeoutMs), ...session }
  return withOptions(connectionSettings(settings, name), all)
}

/**
 * The pool for everything except the ledger's batches. Behind a pooler that gives each transaction
 * another session, every transaction begins with the settings, and a single statement is a
 * transaction. That costs a single statement two more round trips to the pooler.
 */
export function openDatabase(
  settings: DatabaseSettings & { readonly poolSize: number; readonly isPooler?: boolean },
  name: string,
  onError: (error: Error) => void,
): Db {
  const { isPooler = false } = settings
  const session = poolSession(settings)
  const base = connectionSettings(settings, name)
  const config = {
    ...(isPooler ? base : withOptions(base, session)),
    max: settings.poolSize,
    // The server's own limit is shorter; this one is for a server that no longer answers.
    query_timeout: settings.statementTimeoutMs + 5_000,
    idleTimeoutMillis: 60_000,
  }
  const pool = openPool(config, onError)
  const begin = (isolation: string) =>
    `begin isolation level ${isolation}${isPooler ? `; ${localSettings(session)}` : ''}`
  const transaction: Db['transaction'] = (work) =>
    runTransaction(pool, begin('read committed'), work)
  return {
    query: isPooler
      ? (text, values) => transaction((tx) => tx.query(text, values))
      : (text, values) => markTransient(pool.query(text, values)),
    transaction,
    snapshot: (work) => runTransaction(pool, begin('repeatable read'), work),
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
    // A connection that cannot roll back is closed; PostgreSQL then rolls back by itself.
    await client.query('rollback').then(
      () => client.release(),
      (broken: Error) => client.release(broken),
    )
    throw error
  }
}

/** A connection to PostgreSQL itself that knows which session it asked for. */
export class SessionClient extends pg.Client {
  readonly #settings: SessionSettings
  readonly #url: string

  constructor(config: pg.ClientConfig, settings: SessionSettings, url: string) {
    super(config)
    this.#settings = settings
    this.#url = url
    explainMissingGrants(this)
  }

  /** After the connect: throws UnfitDatabase if the session is not the one asked for. */
  verify(): Promise<void> {
    return verifySession(this, this.#settings, this.#url)
  }

  /** Ends the connection without waiting for statements under way, which fail. */
  destroy(): void {
    // The driver's types leave its socket out.
    const { connection } = this as unknown as { connection: { stream: Socket } }
    connection.stream.destroy()
  }
}

/**
 * A single connection for a module that manages its own, such as the ledger. It is pipelined: a
 * statement given while another runs is sent at once and executed after it.
 */
export function openClient(
  settings: DatabaseSettings,
  name: string,
  extra: SessionSettings,
): SessionClient {
  const session = { ...sessionOf(settings.lockTimeoutMs), ...extra }
  const config = { ...clientSettings(settings, name, extra), pipeline: true }
  return new SessionClient(config, session, settings.urlName ?? 'database.url')
}
