// Migrations beside an older version that still serves: they take their locks in the order in which
// payments and refunds do, and what waits for one table does not stop the readers of another.
import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { migrate } from '../../src/platform/db/migrate.ts'
import { settingsOf, type TestDatabase } from '../support/harness.ts'
import { createDatabaseBefore } from '../support/version-before.ts'

const FIRST = '0036'
const migrations = join(import.meta.dirname, '../../migrations')
const open = {
  database: undefined as unknown as TestDatabase,
  client: undefined as unknown as pg.Client,
}

beforeEach(async () => {
  open.database = await createDatabaseBefore(FIRST)
  open.client = new pg.Client({ connectionString: open.database.url })
  await open.client.connect()
  await open.client.query(`set lock_timeout = '3s'`)
})
afterEach(async () => {
  await open.client.end()
  await open.database.drop()
})

/** Resolves when the migration waits for a lock, with the table; undefined when it has ended. */
async function tableWaitedFor(running: Promise<unknown>): Promise<string | undefined> {
  const state = { isOver: false }
  const end = () => Object.assign(state, { isOver: true })
  running.then(end, end)
  for (;;) {
    const { rows } = await open.database.db.query(
      `select l.relation::regclass::text as name
       from pg_locks l join pg_stat_activity a using (pid)
       where not l.granted and l.relation is not null
         and a.datname = current_database() and a.application_name like '%migrate%'`,
    )
    if (rows.length > 0) return (rows[0] as { name: string }).name
    if (state.isOver) return undefined
    await pause(10)
  }
}

test('while an index waits for postings, orders can be read', async () => {
  const { client } = open
  await client.query('begin')
  await client.query('lock table postings in row exclusive mode')
  const running = migrate(settingsOf(open.database.url))
  assert.equal(await tableWaitedFor(running), 'postings')
  const reader = new pg.Client({ connectionString: open.database.url })
  await reader.connect()
  await reader.query(`set lock_timeout = '500ms'`)
  const read = await reader.query('select from orders limit 1').then(
    () => 'read',
    (error: Error) => error.message,
  )
  await reader.end()
  await client.query('commit')
  await running
  assert.equal(read, 'read')
})

/** What a payment and a refund lock before and after a migration began to wait for them. */
const transactions = {
  payment: [['orders row share'], ['orders row exclusive', 'postings row exclusive']],
  refund: [['orders row share', 'refunds row exclusive'], ['orders row exclusive']],
} as const

for (const [name, [first, later]] of Object.entries(transactions)) {
  test(`no migration and no ${name} wait for each other`, async () => {
    const { client } = open
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-migrations-'))
    for (const file of (await readdir(migrations)).sort()) {
      if (!/^\d{4}-.*\.sql$/.test(file)) continue
      await cp(join(migrations, file), join(folder, file))
      if (file < FIRST) continue
      await client.query('begin')
      for (const one of first) await lock(one)
      const running = migrate(settingsOf(open.database.url), { directory: folder })
      await tableWaitedFor(running)
      for (const one of [...later, 'books row exclusive']) {
        await lock(one).catch((error: Error) => assert.fail(`${file}, ${one}: ${error.message}`))
      }
      await client.query('commit')
      await running
    }
    await rm(folder, { recursive: true, force: true })
  })
}

function lock(text: string): Promise<unknown> {
  const [table, ...mode] = text.split(' ')
  return open.client.query(`lock table ${table} in ${mode.join(' ')} mode`)
}
