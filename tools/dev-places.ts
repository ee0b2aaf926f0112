// The resources of a development run: its own database or the one at DATABASE_URL, free ports, and
// the directory for data that later runs use again: .tollgate, or TOLLGATE_STATE.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { answer, startPostgres } from './postgres.ts'
import { urlAs } from './program-roles.ts'

export const state = resolve(import.meta.dirname, '..', process.env.TOLLGATE_STATE ?? '.tollgate')

export type Database = { readonly url: string; readonly what: string; stop(): Promise<void> }

export async function findDatabase(): Promise<Database> {
  const named = process.env.DATABASE_URL
  if (named !== undefined && named !== '') {
    const { version } = await answer(named).catch((error: unknown) => {
      throw new Error(`nothing answers at DATABASE_URL: ${error}`)
    })
    return {
      url: named,
      what: `PostgreSQL ${version} of DATABASE_URL`,
      stop: async () => undefined,
    }
  }
  const started = await startIn(join(state, 'postgres')).catch((error: unknown) => {
    // As root, the server runs as another user, who cannot enter a checkout in /root.
    if (!/to whom .* is closed/.test(`${error}`)) throw error
    const name = createHash('sha256').update(state).digest('hex').slice(0, 12)
    return startIn(join('/var/lib/tollgate-dev', name))
  })
  const url = new URL(started.url)
  url.pathname = '/tollgate'
  const client = new pg.Client({ connectionString: started.url })
  await client.connect()
  const { rows } = await client.query(`select from pg_database where datname = 'tollgate'`)
  if (rows.length === 0) await client.query('create database tollgate')
  await client.end()
  const what = `PostgreSQL 18 in ${started.dataDirectory}, port ${started.port}`
  return { url: url.href, what, stop: started.stop }
}

/** `migrate` makes the roles without a password, which only a server that asks for none accepts. */
export async function requireRoles(databaseUrl: string): Promise<void> {
  await answer(urlAs(databaseUrl, 'tollgate_gateway')).catch((error: unknown) => {
    throw new Error(
      `tollgate_gateway cannot connect (${error}): give the roles of migrations/roles.sql the ` +
        'password of DATABASE_URL, or let every program run as its user with DATABASE_ROLES=one',
    )
  })
}

async function startIn(dataDirectory: string) {
  mkdirSync(dataDirectory, { recursive: true })
  return startPostgres({ dataDirectory })
}

/** The usual port, or a free one when it is taken. */
export async function portFor(usual: number): Promise<number> {
  for (const port of [usual, 0]) {
    const server = createServer()
    try {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : port
    } catch {
      // The port is taken.
    } finally {
      await new Promise((closed) => server.close(closed))
    }
  }
  throw new Error('there is no free port')
}
