// Applies migrations/*.sql in order, each once and in its own transaction. Several processes may do
// so at the same time: kysely's Migrator takes a lock, one process applies them, and the others
// find nothing to do.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import pg from 'pg'
import type { DatabaseSettings } from './db.ts'
import { clientSettings } from './db.ts'

/** Migrations wait for locks longer than requests do, but with a limit. */
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
  // Ignore errors of connections that the server closes while the pool ends.
  pool.on('error', () => undefined)
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  try {
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
