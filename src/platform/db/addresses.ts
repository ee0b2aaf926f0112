// The two addresses of the database, and the check at the start of every command that both are what
// the configuration says. The pool may go through a connection pooler in transaction mode; the
// ledger's connections, jobs (LISTEN) and migrations need PostgreSQL itself.
import type { Masked } from '../masked.ts'
import { markTransient } from './database-errors.ts'
import {
  type DatabaseSettings,
  type Executor,
  openClient,
  openDatabase,
  poolSession,
} from './db.ts'
import {
  explainConnectError,
  type SessionSettings,
  UnfitDatabase,
  verifyTransaction,
} from './session.ts'

type Configured = Omit<DatabaseSettings, 'url' | 'urlName'> & {
  readonly url: Masked<string>
  /** `none`: `url` is PostgreSQL itself. */
  readonly directUrl: Masked<string>
  readonly poolSize: number
}

export type Addresses = ReturnType<typeof addressesOf>

export function addressesOf<Settings extends Configured>(database: Settings) {
  const url = database.url.reveal()
  const directUrl = database.directUrl.reveal()
  const isPooler = directUrl !== 'none'
  return {
    /** For the pool. */
    pool: { ...database, url, isPooler },
    /** For everything that needs a session of its own. */
    direct: {
      ...database,
      url: isPooler ? directUrl : url,
      urlName: isPooler ? 'database.directUrl' : 'database.url',
    },
  }
}

/**
 * Throws UnfitDatabase if a session is not as asked for, or an error marked as transient if the
 * database is unavailable. `inspect` may look at the database itself.
 */
export async function checkSessions(
  { pool, direct }: Addresses,
  session: SessionSettings,
  inspect: (executor: Executor) => Promise<void>,
): Promise<void> {
  const client = openClient(direct, 'check', session)
  // A lost connection fails the statement under way; without a listener it would end the process.
  client.on('error', () => undefined)
  // A server that accepts connections may still answer no statement.
  const timer = setTimeout(() => client.destroy(), 2 * direct.connectTimeoutMs)
  try {
    await markTransient(
      client.connect().catch((error: unknown) => {
        throw explainConnectError(error, direct.urlName)
      }),
    )
    await markTransient(client.verify())
    await markTransient(inspect(client))
    if (pool.isPooler) await checkPool(pool, await markTransient(identityOf(client)), inspect)
  } finally {
    await client.end().catch(() => undefined)
    clearTimeout(timer)
  }
}

/** The pool's transactions have its settings, and are in the same database as the ledger's. */
async function checkPool(
  pool: Addresses['pool'],
  identity: string,
  inspect: (executor: Executor) => Promise<void>,
): Promise<void> {
  const db = openDatabase({ ...pool, poolSize: 1 }, 'check', () => undefined)
  try {
    await db.transaction(async (tx) => {
      await verifyTransaction(tx, poolSession(pool))
      // The address of the pooler may have another user than that of PostgreSQL itself.
      if ((await identityOf(tx)) === identity) return inspect(tx)
      throw new UnfitDatabase(
        'database.url and database.directUrl lead to different databases; both must lead to the ' +
          'same database of one primary',
      )
    })
  } finally {
    await db.end()
  }
}

/** A standby has the cluster and the database of its primary, but is in recovery. */
async function identityOf(executor: Executor): Promise<string> {
  const { rows } = await executor.query(
    `select concat_ws(' ', system_identifier, oid, pg_is_in_recovery()) as identity
     from pg_control_system(), pg_database where datname = current_database()`,
  )
  return (rows[0] as { identity: string }).identity
}
