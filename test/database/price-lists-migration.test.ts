// Migration 0026 on a database of the version before: its entries still verify, its processes go on
// beside the new ones, and a reader of entries does not make requests wait.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { migrate } from '../../src/platform/db/migrate.ts'
import { credits } from '../../src/units/credits.ts'
import { ONE } from '../../src/units/price.ts'
import { createTestLedger, settingsOf, type TestDatabase, turnClock } from '../support/harness.ts'
import { createLedgerCustomer } from '../support/ledger-customer.ts'
import { createDatabaseBefore, createOldCustomer } from '../support/version-before.ts'

const open = { database: undefined as unknown as TestDatabase }

beforeEach(async () => {
  open.database = await createDatabaseBefore('0026')
})
afterEach(() => open.database.drop())

test('entries of the version before verify, and it goes on beside the new one', async () => {
  const { db, url } = open.database
  const old = await createOldCustomer(db)
  const ids = [await old.request(10, 3)]
  await migrate(settingsOf(url))
  ids.push(await old.request(10, 3))
  const ledger = await createTestLedger(url)
  try {
    const customer = await createLedgerCustomer(ledger)
    await customer.settle(await customer.hold(10), 3)
    ids.push(await old.request(10, 3))
    for (const id of ids) {
      const entry = await ledger.usage.find(old.book as never, id)
      assert.deepEqual([entry?.list, entry?.price?.input, entry?.priced], ['', ONE, credits(3)])
      assert.deepEqual([entry?.parts, entry?.details], [null, {}])
    }
    // The tariff of the version before is the default list of this one.
    const { rows } = await db.query('select from tariffs')
    assert.equal(rows.length, 1)
    assert.deepEqual(await ledger.audit('all'), [])
  } finally {
    await ledger.end()
  }
})

test('days after the migration have the index of unlisted usage', async () => {
  const { db, url } = open.database
  const old = await createOldCustomer(db)
  await old.request(10, 3)
  await migrate(settingsOf(url))
  const ledger = await createTestLedger(url)
  try {
    await turnClock(db, '2 days')
    await ledger.makePartitions()
    await old.request(10, 3)
    const { rows } = await db.query(
      `select c.relname as name, count(i.inhrelid)::int4 as indexes
       from pg_inherits p
       join pg_class c on c.oid = p.inhrelid
       left join pg_index x on x.indrelid = c.oid
       left join pg_inherits i on i.inhrelid = x.indexrelid
         and i.inhparent = 'entries_with_unlisted'::regclass
       where p.inhparent = 'entries'::regclass group by 1 order by 1`,
    )
    const today = `entries_${new Date().toISOString().slice(0, 10).replaceAll('-', '')}`
    for (const { name, indexes } of rows as { name: string; indexes: number }[]) {
      assert.equal(indexes, name > today ? 1 : 0, name)
    }
    assert.ok((rows.at(-1) as { name: string }).name > today)
    await ledger.days.retire(1)
    assert.deepEqual(await ledger.audit('all'), [])
  } finally {
    await ledger.end()
  }
})

test('waits for a reader of entries while requests go on', async () => {
  const { db, url } = open.database
  const old = await createOldCustomer(db)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select from entries')
  const migrating = migrate(settingsOf(url))
  // The attempts to lock last 25 s; the reader ends before.
  const deadlineMs = performance.now() + 15_000
  const isWaiting = async () =>
    (await db.query(`select from pg_locks where relation = 'entries'::regclass and not granted`))
      .rows.length > 0
  while (!(await isWaiting()) && performance.now() < deadlineMs) await pause(5)
  assert.ok(performance.now() < deadlineMs, 'the migration waits for the reader')
  // A migration that waits in the queue of locks would stop these until the reader ends.
  for (let request = 0; request < 3; request++) await old.request(2, 1)
  await reader.query('commit')
  await reader.end()
  assert.equal((await migrating)[0], '0026-price-lists')
})

test('pages that read entries and tariffs go on while the migration waits', async () => {
  const { db, url } = open.database
  const old = await createOldCustomer(db)
  await old.request(10, 3)
  const reader = new pg.Client({ connectionString: url })
  await reader.connect()
  await reader.query('begin')
  await reader.query('select from entries')
  const migrating = migrate(settingsOf(url))
  const deadlineMs = performance.now() + 15_000
  const isWaiting = async () =>
    (await db.query(`select from pg_locks where relation = 'entries'::regclass and not granted`))
      .rows.length > 0
  while (!(await isWaiting()) && performance.now() < deadlineMs) await pause(5)
  // A page locks entries before tariffs: if the migration had tariffs already, each would wait for
  // the other until one of them gave up.
  const startedMs = performance.now()
  const page = db.query('select t.model from entries e join tariffs t on t.id = e.tariff')
  await pause(500)
  await reader.query('commit')
  await reader.end()
  const pageMs = page.then(() => performance.now() - startedMs)
  assert.equal((await migrating)[0], '0026-price-lists')
  assert.ok((await pageMs) < 5_000, `the page took ${await pageMs} ms`)
})

test('requests do not wait long when a day is locked and 0024 runs before it', async () => {
  const { db, url, drop } = await createDatabaseBefore('0023')
  const old = await createOldCustomer(db)
  // The attempts to lock last 25 s, and requests go on meanwhile.
  await old.credit('promo', 'more', 99_000)
  await old.request(10, 3)
  // As a vacuum locks it, without the table of all days.
  const vacuum = new pg.Client({ connectionString: url })
  await vacuum.connect()
  const { rows } = await vacuum.query(
    'select tableoid::regclass::text as name from entries limit 1',
  )
  await vacuum.query('begin')
  await vacuum.query(`lock table ${rows[0].name} in share update exclusive mode`)
  let isOver = false
  const migrating = migrate(settingsOf(url)).finally(() => {
    isOver = true
  })
  migrating.catch(() => undefined)
  let slowestMs = 0
  while (!isOver) {
    const startedMs = performance.now()
    await old.request(2, 1)
    slowestMs = Math.max(slowestMs, performance.now() - startedMs)
  }
  await assert.rejects(migrating, /0026-price-lists failed/)
  assert.ok(slowestMs < 4_500, `a request waited ${slowestMs} ms`)
  await vacuum.query('rollback')
  await vacuum.end()
  assert.ok((await migrate(settingsOf(url))).includes('0026-price-lists'))
  await old.request(2, 1)
  await drop()
})

test('all new migrations together succeed beside requests of the version before', async () => {
  const { db, url } = open.database
  const old = await createOldCustomer(db)
  await old.credit('promo', 'more', 9_000)
  let isOver = false
  const load = [1, 2, 3].map(async () => {
    while (!isOver) await old.request(2, 1)
  })
  const applied = await migrate(settingsOf(url)).finally(() => {
    isOver = true
  })
  // Of requests, none fails either.
  await Promise.all(load)
  assert.ok(applied.length >= 5, applied.join())
})
