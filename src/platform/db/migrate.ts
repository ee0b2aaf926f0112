// Applies migrations/*.sql in order, each once. Several processes may start at the same moment:
// kysely's Migrator holds a lock, one applies, the others find nothing left to do.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import type { DatabaseSettings } from './db.ts'
import { clientSettings } from './db.ts'

/** Migrations wait for locks longer than requests do, but not for ever. */
const LOCK_TIMEOUT_MS = 10_000

/** Brings a database up to date; returns the names applied by this call. */
export async function migrate(
  settings: DatabaseSettings,
  directory: string = join(import.meta.dirname, '../../../migrations'),
): Promise<string[]> {
  const pool = new pg.Pool({
    ...clientSettings({ ...settings, lockTimeoutMs: LOCK_TIMEOUT_MS }, 'migrate'),
    max: 2,
  })
  // A connection that the server closes while the pool ends has nobody left to tell.
  pool.on('error', () => undefined)
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: () => readAll(directory) } })
    const { error, results } = await migrator.migrateToLatest()
    if (error !== undefined) {
      const failed = results?.find((one) => one.status === 'Error')?.migrationName
      throw new Error(`migration ${failed ?? ''} failed`, { cause: error })
    }
    return (results ?? []).map((one) => one.migrationName)
  } finally {
    await db.destroy()
  }
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
