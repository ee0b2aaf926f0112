// Tests of days that leave the ledger: their checkpoints, rows that do not verify, crashes between
// the steps, the exported files, and loading them again.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import type { TestDatabase, TestLedger } from '../../../../test/support/harness.ts'
import {
  createTestDatabase,
  createTestLedger,
  onServer,
  turnClock,
} from '../../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../../test/support/ledger-customer.ts'
import { ONE } from '../../../units/price.ts'
import { noTokens } from '../../../units/tokens.ts'
import { claimCell } from '../../ledger.ts'

const DAY_MS = 86_400_000
const startMs = Date.now()
let database: TestDatabase
let directory: string
let ledger: TestLedger
let alice: LedgerCustomer
let bob: LedgerCustomer

beforeEach(async () => {
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-days-'))
  ledger = await createTestLedger(database.url)
  alice = await createLedgerCustomer(ledger)
  bob = await createLedgerCustomer(ledger)
  for (const day of [0, 1, 2, 3]) {
    await turnClock(database.db, `${day} days`)
    for (const customer of [alice, bob]) {
      for (let i = 0; i < 3; i++) await customer.settle(await customer.hold(10), 3)
      await customer.void(await customer.hold(10), 'upstream_failed')
    }
    if (day === 1) await settleExplained()
  }
})
afterEach(async () => {
  await ledger.end()
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

/** A charge with parts and details. */
async function settleExplained(): Promise<void> {
  const each = { cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE }
  const price = { input: ONE, coefficient: ONE, ...each }
  await ledger.settle({
    ...alice.settleInput(await alice.hold(10), 3),
    parts: { passes: [{ model: 'other', list: '', counts: noTokens, price }] },
    details: { firstByteMs: 12, isStream: true, status: 200, label: 'nightly' },
  })
}

test('moves a book that does not verify aside, and retires the day of the others', async () => {
  const change = (by: number, table: string) =>
    plant(`update ${table} set amount = amount + ${by} where book_id = ${bob.book} and seq = 1`)
  await change(1, 'entries')
  const isFound = async () =>
    (await findings()).some(({ rule, book }) => rule === 'balance_chain' && book === bob.book)
  assert.equal(await isFound(), true)
  const { detached } = await ledger.days.retire(0)
  assert.deepEqual(detached.slice(-3), [0, 1, 2].map(dateOf))
  // The finding stays, and nothing is found in other books.
  assert.equal(await isFound(), true)
  assert.deepEqual(
    (await findings()).filter(({ book }) => book !== bob.book),
    [],
  )
  assert.deepEqual(
    (await ledger.days.list()).slice(-3).map(({ state, unverified }) => `${state} ${unverified}`),
    ['detached 5', 'detached 4', 'detached 4'],
  )
  // An operator repairs the row; the next day takes the book's rows in.
  await change(-1, 'entries_unverified')
  assert.deepEqual(await findings(), [])
  await turnClock(database.db, '5 days')
  await ledger.days.retire(0)
  assert.deepEqual(await count('entries_unverified'), 0)
  assert.deepEqual(await findings(), [])
})

test('continues after a crash between any two steps', async () => {
  await ledger.aggregateUsage()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`select ledger_day_checkpoint('${dateOf(-1)}')`)
  // The checkpoints are committed, and the day is still attached.
  assert.deepEqual(await findings(), [])
  await client.query(`select ledger_day_checkpoint('${dateOf(0)}')`)
  assert.deepEqual(await findings(), [])
  // A reader stays open, so the detachment of a day begins and does not end.
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read')
  await reader.query('select count(*) from entries')
  const first = await ledger.days.retire(0)
  assert.deepEqual(first.detached, [])
  assert.equal(await countPending(), 1)
  // Charges and new partitions do not mind a day that is half detached.
  await alice.settle(await alice.hold(10), 3)
  await turnClock(database.db, '4 days')
  assert.deepEqual((await ledger.makePartitions()).waiting, [])
  await alice.settle(await alice.hold(10), 3)
  assert.deepEqual(await findings(), [])
  await reader.query('commit')
  await reader.end()
  // A process that died after the detachment and before its record.
  await client.query(`alter table entries detach partition ${tableOf(-1)} finalize`)
  await client.end()
  const second = await ledger.days.retire(1)
  assert.deepEqual(second.detached, [-1, 0, 1, 2].map(dateOf))
  assert.deepEqual(second.checkpointed, [1, 2].map(dateOf))
  assert.equal(await countPending(), 0)
  assert.deepEqual(await findings(), [])
})

test('names the day that an open reader keeps, and counts for how long it is overdue', async () => {
  assert.equal(await ledger.days.overdue(3), 1)
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read')
  await reader.query('select count(*) from entries')
  assert.deepEqual((await ledger.days.retire(1)).waiting, [dateOf(-1)])
  assert.equal(await ledger.days.overdue(1), 3)
  await reader.query('commit')
  await reader.end()
  const { detached, waiting } = await ledger.days.retire(1)
  assert.deepEqual([detached, waiting], [[-1, 0, 1].map(dateOf), []])
  assert.equal(await ledger.days.overdue(1), 0)
  // With a directory, a day that is not exported and dropped is overdue, too.
  await withExports(async (exporting) => {
    assert.equal(await exporting.days.overdue(1), 3)
    await exporting.days.retire(1)
    assert.equal(await exporting.days.overdue(1), 0)
  })
})

test('exports a day, drops it, and loads it again unchanged', async () => {
  const { rows } = await database.db.query(
    `select to_jsonb(e)::text as row from entries e where day = '${dateOf(1)}' order by 1`,
  )
  await withExports(async (exporting) => {
    const done = await exporting.days.retire(0)
    assert.deepEqual(done.exported, done.detached)
    assert.deepEqual(done.dropped, done.detached)
    assert.equal(await exists(tableOf(1)), false)
    assert.deepEqual((await readdir(await folderOf(1))).sort(), [
      '000001.jsonl.gz',
      'manifest.json',
    ])
    // Not for other users of the machine: what every customer spent, and their labels.
    for (const [file, most] of [
      ['', 0o750],
      ['000001.jsonl.gz', 0o640],
      ['manifest.json', 0o640],
    ] as const) {
      const { mode } = await stat(join(await folderOf(1), file))
      assert.equal(mode & 0o777 & ~most, 0, file)
    }
    const { table, rows: restoredRows } = await exporting.days.restore(dateOf(1))
    assert.equal(restoredRows, BigInt(rows.length))
    const restored = await database.db.query(
      `select to_jsonb(e)::text as row from ${table} e order by 1`,
    )
    assert.deepEqual(restored.rows, rows)
    const explained = await database.db.query(
      `select first_byte_ms, streamed, status, label, parts #>> '{passes,0,model}' as model
       from ${table} where parts is not null`,
    )
    assert.deepEqual(explained.rows, [
      { first_byte_ms: 12, streamed: true, status: 200, label: 'nightly', model: 'other' },
    ])
    assert.deepEqual(await findings(), [])
    await assert.rejects(exporting.days.restore(dateOf(1)), /already exists/)
    await writeFile(join(await folderOf(2), '000001.jsonl.gz'), 'x')
    await assert.rejects(exporting.days.restore(dateOf(2)))
    assert.equal(await exists(`entries_restored_${dateOf(2).replaceAll('-', '')}`), false)
  })
})

test('drops no day whose export differs, and writes a damaged part again', async () => {
  await ledger.days.retire(0)
  await withExports(async (exporting) => {
    const [day] = (await exporting.days.list()).filter((one) => one.day === dateOf(1))
    assert.ok(day)
    assert.equal(await exporting.days.export(day), true)
    const folder = await folderOf(1)
    // Somebody exported it in part before, and a part was damaged.
    await database.db.query(`update days set state = 'detached' where day = '${dateOf(1)}'`)
    await writeFile(join(folder, '000001.jsonl.gz'), 'damaged')
    assert.equal(await exporting.days.export(day), true)
    await exporting.days.restore(dateOf(1))
    // A row that came or went after the checkpoints.
    await database.db.query(
      `update days set state = 'detached', rows = rows + 1 where day = '${dateOf(2)}'`,
    )
    await assert.rejects(exporting.days.retire(0), /rows differ/)
    assert.equal(await exists(tableOf(2)), true)
    await database.db.query(`update days set rows = rows - 1 where day = '${dateOf(2)}'`)
    assert.deepEqual((await exporting.days.retire(0)).dropped.at(-1), dateOf(2))
  })
})

test('keeps detached days as tables without a directory', async () => {
  const done = await ledger.days.retire(0)
  assert.deepEqual([done.exported, done.dropped], [[], []])
  assert.equal(await exists(tableOf(1)), true)
  assert.equal(ledger.days.directory(), undefined)
})

test('works for the version before: its function detaches a day', async () => {
  await ledger.aggregateUsage()
  for (const day of [-1, 0]) {
    await database.db.query(`select ledger_entries_detach('${tableOf(day)}')`)
  }
  assert.deepEqual(
    (await ledger.days.list()).map(({ state }) => state),
    ['detached', 'detached'],
  )
  assert.deepEqual(await findings(), [])
})

test('drops an exported day only after a look at its files', async () => {
  await ledger.days.retire(0)
  await withExports(async (exporting) => {
    for (const day of [1, 2]) {
      const found = await exporting.days.find(dateOf(day))
      assert.ok(found)
      assert.equal(await exporting.days.export(found), true)
    }
    // The files of one day are gone, and somebody changed those of the other.
    await rm(await folderOf(1), { recursive: true })
    const part = join(await folderOf(2), '000001.jsonl.gz')
    await writeFile(part, gzipSync('{}\n'))
    await assert.rejects(exporting.days.retire(0), /has other rows/)
    assert.equal(await exists(tableOf(2)), true)
    await exporting.days.restore(dateOf(1))
    await rm(part)
    assert.ok((await exporting.days.retire(0)).dropped.includes(dateOf(2)))
    await exporting.days.restore(dateOf(2))
  })
})

test('restores only what was exported, whatever the manifest says', async () => {
  await withExports(async (exporting) => {
    await exporting.days.retire(0)
    const manifest = join(await folderOf(1), 'manifest.json')
    const content = JSON.parse(await readFile(manifest, 'utf8'))
    const text = '{}\n'
    await writeFile(join(await folderOf(1), '000001.jsonl.gz'), gzipSync(text))
    const digest = createHash('sha256').update(text).digest('hex')
    const parts = [{ ...content.parts[0], rows: 1, digest }]
    for (const changed of [
      { parts, rows: '1' },
      { parts: [], rows: '0' },
    ]) {
      await writeFile(manifest, JSON.stringify({ ...content, ...changed }))
      await assert.rejects(exporting.days.restore(dateOf(1)), /not contain what was exported/)
    }
  })
})

test('keeps the days of two cells apart in one directory', async () => {
  await withExports(async (exporting) => {
    await exporting.days.retire(0)
    const other = await createTestDatabase()
    await claimCell(other.db, 1)
    const one = await createTestLedger(other.url, { exportDirectory: directory, cell: 1 })
    try {
      await createLedgerCustomer(one)
      await turnClock(other.db, '3 days')
      await one.days.retire(0)
      assert.notEqual((await one.days.find(dateOf(1)))?.folder, await folderOf(1))
    } finally {
      await one.end()
      await other.drop()
    }
    await exporting.days.restore(dateOf(1))
  })
})

/** Where a day was exported. */
async function folderOf(day: number): Promise<string> {
  return (await ledger.days.find(dateOf(day)))?.folder ?? ''
}

async function withExports(work: (exporting: TestLedger) => Promise<void>): Promise<void> {
  const exporting = await createTestLedger(database.url, { exportDirectory: directory })
  try {
    await work(exporting)
  } finally {
    await exporting.end()
  }
}

/** A change that triggers would refuse. */
async function plant(sql: string): Promise<void> {
  await onServer(async (client) => {
    await client.query('set session_replication_role = replica')
    await client.query(sql)
  }, database.url)
}

async function findings() {
  return ledger.audit('all')
}

async function count(table: string): Promise<number> {
  return (await database.db.query(`select from ${table}`)).rows.length
}

async function countPending(): Promise<number> {
  return (await database.db.query('select from pg_inherits where inhdetachpending')).rows.length
}

async function exists(table: string): Promise<boolean> {
  const { rows } = await database.db.query('select from pg_class where relname = $1', [table])
  return rows.length > 0
}

function dateOf(day: number): string {
  return new Date(startMs + day * DAY_MS).toISOString().slice(0, 10)
}

function tableOf(day: number): string {
  return `entries_${dateOf(day).replaceAll('-', '')}`
}
