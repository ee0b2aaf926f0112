// migrations/schema.sql is what the migrations make: the first file a reader opens must not lie.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { migrate } from '../../src/platform/db/migrate.ts'
import { dumpSchema } from '../../tools/schema.ts'
import { createTestDatabase, onServer, serverUrl, settingsOf } from '../support/harness.ts'

test('schema.sql shows what the migrations make', async (t) => {
  const database = await createTestDatabase()
  try {
    const { rows } = await database.db.query('show server_version_num')
    const version = Number((rows[0] as { server_version_num: string }).server_version_num)
    // The view is kept as PostgreSQL 15 prints it; 18 prints the same things in other words.
    if (version >= 160_000) return t.skip(`the view is of version 15, this server is ${version}`)
    const text = await dumpSchema(database.url)
    if (text === undefined) return t.skip('no pg_dump of this server’s version')
    const kept = await readFile(join(import.meta.dirname, '../../migrations/schema.sql'), 'utf8')
    assert.equal(kept, text, 'run: npm run dump-schema')
  } finally {
    await database.drop()
  }
})

test('every constraint of a freshly migrated database is validated', async () => {
  const database = await createTestDatabase()
  try {
    const { rows } = await database.db.query(
      `select conrelid::regclass || ' ' || conname as name from pg_constraint
       where not convalidated order by name`,
    )
    assert.deepEqual(rows, [])
  } finally {
    await database.drop()
  }
})

test('three processes that start at once apply each migration once', async () => {
  const name = `tollgate_migrate_${process.pid}`
  await onServer((client) => client.query(`create database ${name}`))
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    const applied = await Promise.all([1, 2, 3].map(() => migrate(settingsOf(url.href))))
    const names = applied.flat()
    assert.ok(names.length > 0)
    assert.equal(new Set(names).size, names.length, 'none was applied twice')
    assert.deepEqual(await migrate(settingsOf(url.href)), [], 'nothing is left')
  } finally {
    await onServer((client) => client.query(`drop database ${name} (force)`))
  }
})
