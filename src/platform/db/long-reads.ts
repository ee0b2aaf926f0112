// Reads that may take minutes, such as an audit: each has a connection of its own, opened for it
// and closed after it. It takes no place in the pool and has no statement limit. The address may be
// that of a standby.
import pg from 'pg'
import { markTransient } from './database-errors.ts'
import type { DatabaseSettings, Executor, Tx } from './db.ts'
import { clientSettings } from './db.ts'
import { explainMissingGrants } from './missing-grants.ts'

/** The connection of one long read. */
export type LongReader = Executor & {
  /** All its statements see the database at one moment (repeatable read). It can write nothing. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>
}

/** Opens a connection, runs the work and closes the connection. */
export type LongReads = <T>(work: (reader: LongReader) => Promise<T>) => Promise<T>

const SESSION = [
  // The server or the role may have a limit of its own.
  '-c statement_timeout=0',
  // A long read takes one core of the database and leaves the others to requests.
  '-c max_parallel_workers_per_gather=0',
].join(' ')

export function openLongReads(settings: DatabaseSettings, name: string): LongReads {
  return async (work) => {
    const base = clientSettings(settings, name)
    const client = new pg.Client({ ...base, options: `${base.options} ${SESSION}` })
    explainMissingGrants(client)
    // A lost connection fails the statement; without a listener the event would end the process.
    client.on('error', () => undefined)
    try {
      await markTransient(client.connect())
      const query = (text: string, values?: unknown[]) => markTransient(client.query(text, values))
      return await work({ query, snapshot: (inner) => runSnapshot({ query }, inner) })
    } finally {
      // Closing fails only if the connection is lost, and then the statement has failed too.
      await client.end().catch(() => undefined)
    }
  }
}

/** After an error the caller ends the connection or begins anew, so the rollback may fail. */
async function runSnapshot<T>(client: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  await client.query('begin isolation level repeatable read read only')
  try {
    return await work(client as Tx)
  } finally {
    await client.query('rollback').catch(() => undefined)
  }
}
