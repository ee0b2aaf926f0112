// migrations/definitions.txt, with which workers and `op roles check` compare a live database, is
// what the migrations make, on each version of PostgreSQL that we support.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openDatabase } from '../../src/platform/db/db.ts'
import {
  compareDefinitions,
  DEFINITIONS_FILE,
  definitionsText,
  readDefinitions,
} from '../../src/platform/db/definitions.ts'
import { createTestDatabase, settingsOf, type TestDatabase } from '../support/harness.ts'

const file = join(import.meta.dirname, '../../migrations', DEFINITIONS_FILE)

const open = { database: undefined as unknown as TestDatabase }
before(async () => {
  open.database = await createTestDatabase()
})
after(() => open.database.drop())

test('definitions.txt has what the migrations make', async () => {
  const definitions = await readDefinitions(open.database.db)
  assert.ok(definitions !== undefined)
  assert.equal(readFileSync(file, 'utf8'), definitionsText(definitions), 'run: npm run dump-schema')
})

test('a strange search_path of a role does not mislead the comparison', async () => {
  const { db, name, url } = open.database
  await db.query('create view public.pg_trigger as select * from pg_catalog.pg_trigger where false')
  await db.query(`alter database ${name} set search_path = public, pg_catalog`)
  const other = openDatabase(settingsOf(url), 'test', () => undefined)
  try {
    const { changes } = await compareDefinitions(other)
    assert.deepEqual(changes, [{ name: 'rule pg_trigger._RETURN', change: 'added' }])
  } finally {
    await other.end()
    await db.query(`alter database ${name} reset search_path`)
    await db.query('drop view public.pg_trigger')
  }
})
