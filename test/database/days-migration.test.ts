// Migration 0024 on a database of the version before: rows of the default partition of entries move
// to their days, days that were detached are known, and the ledger goes on.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { migrate } from '../../src/platform/db/migrate.ts'
import { createTestLedger, settingsOf, type TestDatabase, turnClock } from '../support/harness.ts'
import { createDatabaseBefore, createOldCustomer } from '../support/version-before.ts'

const DAY_MS = 86_400_000
const migrations = join(import.meta.dirname, '../../migrations')
const open = { database: undefined as unknown as TestDatabase }

beforeEach(async () => {
  open.database = await createDatabaseBefore('0024')
})
afterEach(() => open.database.drop())

test('moves entries of the default partition to their days', async () => {
  const { db, url } = open.database
  const customer = await createOldCustomer(db)
  await db.query(`select ledger_entries_detach('${tableOf(-1)}')`)
  // The worker stood still for a while, and on some days nobody made a partition.
  for (const day of [0, 9, 10, 20]) {
    await turnClock(db, `${day} days`)
    await customer.request(10, 3)
    await customer.credit('promo', `promo ${day}`, 5)
  }
  assert.equal((await db.query('select from entries_default')).rows.length, 6)
  // Columns of later migrations are null.
  const read = 'select jsonb_strip_nulls(to_jsonb(e))::text as row from entries e order by seq'
  const { rows } = await db.query(read)
  await migrate(settingsOf(url))
  assert.deepEqual((await db.query(read)).rows, rows)
  const { rows: places } = await db.query(
    `select distinct tableoid::regclass::text as name from entries order by 1`,
  )
  assert.deepEqual(
    places.map((row) => (row as { name: string }).name),
    [0, 9, 10, 20].map(tableOf),
  )
  await customer.request(10, 3)

  const ledger = await createTestLedger(url)
  assert.equal(await ledger.partitionDaysAhead(), 61)
  assert.deepEqual(await ledger.audit('all'), [])
  assert.deepEqual(
    (await ledger.days.list()).map(({ day, state, rows: count }) => [day, state, count]),
    [[dateOf(-1), 'detached', null]],
  )
  await turnClock(db, '40 days')
  const { detached } = await ledger.days.retire(1)
  assert.equal(detached.includes(dateOf(20)), true)
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.end()
})

test('waits for a reader of entries while requests go on', async () => {
  const { db, url } = open.database
  const customer = await createOldCustomer(db)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select from entries')
  const migrating = migrate(settingsOf(url))
  // The attempts to lock last 20 s; the reader ends before.
  const deadlineMs = performance.now() + 15_000
  while (!(await isWaitingForEntries(db)) && performance.now() < deadlineMs) await pause(5)
  assert.ok(performance.now() < deadlineMs, 'the migration waits for the reader')
  // A migration that waits in the queue of locks would stop these until the reader ends.
  for (let request = 0; request < 3; request++) await customer.request(2, 1)
  await reader.query('commit')
  await reader.end()
  assert.equal((await migrating).at(-1), (await newest()).replace('.sql', ''))
  const ledger = await createTestLedger(url)
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.end()
})

async function isWaitingForEntries(db: TestDatabase['db']): Promise<boolean> {
  const { rows } = await db.query(
    `select from pg_locks where relation = 'entries'::regclass and not granted`,
  )
  return rows.length > 0
}

async function newest(): Promise<string> {
  return (
    (await readdir(migrations))
      .filter((name) => /^\d{4}-/.test(name))
      .sort()
      .at(-1) ?? ''
  )
}

function dateOf(day: number): string {
  return new Date(Date.now() + day * DAY_MS).toISOString().slice(0, 10)
}

function tableOf(day: number): string {
  return `entries_${dateOf(day).replaceAll('-', '')}`
}
