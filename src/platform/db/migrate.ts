// Applies migrations/*.sql in order, each once and in its own transaction; then makes the tables of
// graphile-worker, and gives the roles that programs connect as their rights. Several processes may
// do so at the same time: one does everything under a lock, and the others find nothing to do.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Logger, runMigrations } from 'graphile-worker'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import type { DatabaseSettings } from './db.ts'
import { clientSettings } from './db.ts'
import { explainMissingGrants } from './missing-grants.ts'
import {
  applyRoles,
  ROLES_FILE,
  type RolesMode,
  readRolesSql,
  requireRolesPossible,
} from './roles.ts'

/** Migrations wait for locks longer than requests do, but with a limit. */
const LOCK_TIMEOUT_MS = 10_000
/** Another process may be migrating. */
const OTHERS_TIMEOUT = '60s'

export type MigrateOptions = {
  readonly directory?: string
  /** `one`: no roles; every program connects as the user that migrates. */
  readonly roles?: RolesMode
  /** Where the SQL for a superuser is printed, if this user may not make the roles. */
  readonly print?: (line: string) => void
}

/** Brings a database up to date; returns the names applied by this call. */
export async function migrate(
  settings: DatabaseSettings,
  options: MigrateOptions = {},
): Promise<string[]> {
  const directory = options.directory ?? join(import.meta.dirname, '../../../migrations')
  // A folder of migrations of an older version has no file of roles.
  const hasRoles = (await readdir(directory)).includes(ROLES_FILE)
  const isSeparate = hasRoles && options.roles !== 'one'
  const pool = new pg.Pool({
    ...clientSettings({ ...settings, lockTimeoutMs: LOCK_TIMEOUT_MS }, 'migrate'),
    max: 2,
  })
  // Ignore errors of connections that the server closes while the pool ends.
  pool.on('error', () => undefined)
  pool.on('connect', explainMissingGrants)
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    if (isSeparate) await requireRolesPossible(pool, options.print ?? (() => undefined))
    // Under one lock: kysely looks for its tables among all, and graphile-worker drops some of its
    // own while it makes the others.
    return await withMigrationLock(pool, async (client) => {
      const applied = await applyMigrations(db, directory)
      if (hasRoles) await migrateJobs(settings.url)
      if (isSeparate) await applyRoles(client, readRolesSql(directory))
      return applied
    })
  } finally {
    await db.destroy()
  }
}

async function applyMigrations(db: Kysely<unknown>, directory: string): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => readAll(directory) } })
  const applied: string[] = []
  for (;;) {
    // One transaction for all would keep the lock of `entries` while a later migration waits for
    // `books`, which requests lock in the other order: a deadlock beside any traffic.
    const { error, results = [] } = await migrator.migrateUp()
    if (error !== undefined) {
      const failed = results.find((one) => one.status === 'Error')?.migrationName
      throw new Error(`migration ${failed ?? ''} failed`, { cause: error })
    }
    if (results.length === 0) return applied
    applied.push(...results.map((one) => one.migrationName))
  }
}

/** Runs the work while no other process that migrates this database does. */
async function withMigrationLock<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query(`set lock_timeout = '${OTHERS_TIMEOUT}'`)
    await client.query(`select pg_advisory_lock(hashtext('tollgate migrate'))`)
    return await work(client)
  } finally {
    client.release(true)
  }
}

/** graphile-worker's own tables. Without any change if they are as this version needs them. */
async function migrateJobs(connectionString: string): Promise<void> {
  const logger = new Logger(() => () => undefined)
  await runMigrations({ connectionString, logger })
}

async function readAll(directory: string) {
  const names = (await readdir(directory)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort()
  const entries = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(directory, name), 'utf8')
      const up = async (db: Kysely<unknown>) => {
        await sql.raw(text).execute(db)
      }
      return [name.replace(/\.sql$/, ''), { up }] as const
    }),
  )
  return Object.fromEntries(entries)
}
