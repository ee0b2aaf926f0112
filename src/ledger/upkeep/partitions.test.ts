// Tests of partitions over a month, with the clock set forward day by day: they are created ahead
// and removed later, and no row is lost at midnight, at a week's end or without a partition.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import pg from 'pg'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import type { HoldId } from '../../platform/ids.ts'

const DAY_MS = 86_400_000
const startMs = Date.now()
const LARGE = 300_000
let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createLedgerCustomer(ledger)
})
afterEach(async () => {
  await ledger.end()
  await database.drop()
})

test('creates partitions 60 days ahead, once even if two calls run at the same time', async () => {
  assert.equal(await ledger.partitionDaysAhead(), 61)
  await turnClock(database.db, '40 days')
  assert.equal(await ledger.partitionDaysAhead(), 21)
  const made = await Promise.all([ledger.makePartitions(), ledger.makePartitions()])
  const days = Array.from({ length: 40 }, (_, i) => `entries_${dateOf(61 + i)}`)
  const weeks = [weekOf(40), weekOf(47)]
  assert.deepEqual(made.flatMap((one) => one.made).toSorted(), [...days, ...weeks].toSorted())
  assert.deepEqual(
    made.flatMap(({ waiting }) => waiting),
    [],
  )
  assert.equal(await ledger.partitionDaysAhead(), 61)
})

test('keeps a day that was created ahead append-only, with the rules of entries', async () => {
  await turnClock(database.db, '60 days')
  await customer.settle(await hold(60), 3)
  for (const table of ['entries', `entries_${dateOf(60)}`]) {
    const where = `where day = '${dateOf(60)}'`
    for (const change of [
      `update ${table} set amount = 1 ${where}`,
      `delete from ${table} ${where}`,
    ]) {
      await assert.rejects(database.db.query(change), /is append-only/)
    }
  }
  await assert.rejects(database.db.query('truncate entries'), /is append-only/)
  await assert.rejects(
    database.db.query(
      `insert into entries (book_id, seq, amount, balance, at, day, kind, contra)
       values (1, 99, 1, 1, now(), '${dateOf(60)}', 'promo', 'promo')`,
    ),
    /entries_of_rare_kinds_name_their_posting/,
  )
})

test('keeps at most four partitions of holds, and no rows in default partitions', async () => {
  const dropped: string[] = []
  let carried: HoldId | undefined
  for (let day = 0; day <= 31; day++) {
    await advanceTo(day)
    dropped.push(...(await ledger.dropHoldsBefore()))
    // Each day settles the hold that the day before left open: one request crosses each midnight.
    const fresh = await hold(day)
    if (carried !== undefined) await customer.settle(carried, 3)
    carried = fresh
    const partitions = await partitionsOf('holds')
    assert.ok(partitions.length <= 4, `day ${day}: ${partitions}`)
  }
  assert.ok(dropped.length >= 2, `dropped: ${dropped}`)
  assert.equal(await countIn('holds_default'), 0)
  assert.deepEqual(await ledger.audit('all'), [])
})

test('keeps the partition of an open hold until the hold is closed', async () => {
  const id = await hold(0)
  await advanceTo(21)
  assert.equal((await ledger.dropHoldsBefore()).includes(weekOf(0)), false)
  await customer.void(id, 'overdue')
  assert.equal((await ledger.dropHoldsBefore()).includes(weekOf(0)), true)
})

test('charges a request that crosses midnight once, on the new day', async () => {
  const id = await hold(0)
  await advanceTo(1)
  await customer.settle(id, 3)
  await advanceTo(2)
  await customer.settle(id, 3)
  const charges = await ledger.statement({ book: customer.book, beforeSeq: null, limit: 10 })
  assert.deepEqual(
    charges.filter((entry) => entry.kind === 'charge').map((entry) => dayText(entry.at)),
    [dateOf(1)],
  )
  assert.equal((await ledger.balance(customer.book))?.daySpent, 0n)
})

test('stores a hold by the day in its id, even if that is yesterday or tomorrow', async () => {
  for (let day = 0; day <= 14; day += 7) await advanceTo(day)
  for (const day of [13, 14, 15]) {
    const id = await hold(day)
    await customer.settle(id, 3)
    const { rows } = await database.db.query(
      'select tableoid::regclass::text as partition from holds where id = $1',
      [id],
    )
    assert.deepEqual(rows, [{ partition: weekOf(day) }])
  }
  assert.deepEqual(await ledger.audit('all'), [])
})

test('moves holds from the default partition to their week when it is created', async () => {
  await turnClock(database.db, '60 days')
  const open = await hold(60)
  await customer.settle(await hold(60), 3)
  assert.equal(await countIn('holds_default'), 2)
  const { made } = await ledger.makePartitions()
  assert.equal(made.includes(weekOf(60)), true)
  assert.equal(await countIn('holds_default'), 0)
  assert.equal(await countIn(weekOf(60)), 2)
  await customer.settle(open, 3)
  assert.deepEqual(await ledger.audit('all'), [])
})

test('leaves more than 5,000 holds in the default partition', async () => {
  await turnClock(database.db, '60 days')
  const day = Math.floor(startMs / DAY_MS) + 60
  await database.db.query(
    `insert into holds (id, book_id, instance, worst, floor, granted, fence, created_at,
       deadline_at, day, tariff, state, ending, closed_at)
     select gen_random_uuid(), $1, 1, 0, 0, 0, 0, ledger_now(), ledger_now(), $2, 1, 'voided',
       'refused', ledger_now()
     from generate_series(1, 5001)`,
    [customer.book, day],
  )
  const { made } = await ledger.makePartitions()
  assert.deepEqual(
    made.filter((name) => name.startsWith('holds_')),
    [weekOf(67)],
  )
  await customer.settle(await hold(60), 3)
  await turnClock(database.db, '90 days')
  await ledger.dropHoldsBefore()
  assert.equal(await countIn('holds_default'), 0)
})

test('creates a week beside a large default partition while holds continue', async () => {
  // Weeks without a worker, under load: these holds stay in the default partition for now.
  await fillDefault(LARGE)
  // The next week is made as long as it does not begin tomorrow; weeks begin on Thursdays.
  const isLastDay = Math.floor(startMs / DAY_MS) % 7 === 6
  await turnClock(database.db, isLastDay ? '6 days' : '7 days')
  const state = { isMaking: true, longestMs: 0, holds: 0 }
  const paying = (async () => {
    while (state.isMaking) {
      const startedMs = performance.now()
      await customer.void(await hold(7), 'upstream_failed')
      state.longestMs = Math.max(state.longestMs, performance.now() - startedMs)
      state.holds += 1
    }
  })()
  const { made } = await ledger.makePartitions()
  state.isMaking = false
  await paying
  assert.equal(made.includes(weekOf(14)), true)
  assert.ok(state.holds > 0 && state.longestMs <= 500, `${state.longestMs} ms`)
  assert.equal(await countIn('holds_default'), LARGE)
  assert.deepEqual(await exclusions(), [])
})

test('never scans a large default partition under its lock', async () => {
  await fillDefault(50_000)
  const client = new pg.Client({ connectionString: database.url })
  const notices: string[] = []
  client.on('notice', ({ message }) => notices.push(message ?? ''))
  await client.connect()
  const week = Number(weekOf(14).slice(6))
  const make = async () => {
    const { rows } = await client.query(`select ledger_holds_week_make(${week}) as made`)
    return rows[0].made
  }
  const check = `holds_default_without_${week}`
  try {
    assert.equal(await make(), false)
    await client.query(
      `alter table holds_default add constraint ${check}
       check (not (day >= ${week * 7} and day < ${week * 7 + 7})) not valid`,
    )
    assert.equal(await make(), false)
    await client.query(`alter table holds_default validate constraint ${check}`)
    await client.query('set client_min_messages = debug1')
    assert.equal(await make(), true)
    assert.match(notices.join('\n'), /"holds_default" is implied by existing constraints/)
  } finally {
    await client.end()
  }
})

test('leaves a week that begins tomorrow to a large default partition', async () => {
  await fillDefault(50_000)
  // From now on to the day before a week that has no partition.
  const days = 20 - (Math.floor(startMs / DAY_MS) % 7)
  await turnClock(database.db, `${days} days`)
  const { made } = await ledger.makePartitions()
  assert.equal(made.includes(weekOf(days + 1)), false)
  assert.equal(made.includes(weekOf(days)), false)
  await customer.settle(await hold(days), 3)
  await customer.settle(await hold(days + 1), 3)
  assert.deepEqual(await exclusions(), [])
})

test('goes on after a crash that left a week excluded from the default partition', async () => {
  await fillDefault(50_000)
  await turnClock(database.db, '7 days')
  const name = weekOf(14)
  const first = Number(name.slice(6)) * 7
  await database.db.query(
    `alter table holds_default add constraint holds_default_without_${name.slice(6)}
     check (not (day >= ${first} and day < ${first + 7})) not valid`,
  )
  assert.equal((await ledger.makePartitions()).made.includes(name), true)
  assert.deepEqual(await exclusions(), [])
  await customer.settle(await hold(14), 3)
})

/** Closed holds of a week that has no partition. */
async function fillDefault(rows: number): Promise<void> {
  await database.db.query(
    `insert into holds_default (id, book_id, instance, worst, floor, granted, fence, created_at,
       deadline_at, day, tariff, state, ending, closed_at)
     select gen_random_uuid(), $1, 1, 0, 0, 0, 0, ledger_now(), ledger_now(), 700, 1, 'voided',
       'refused', ledger_now()
     from generate_series(1, $2)`,
    [customer.book, rows],
  )
}

/** Weeks whose holds the default partition refuses. */
async function exclusions(): Promise<unknown[]> {
  const { rows } = await database.db.query(
    `select conname from pg_constraint where conname ~ '^holds_default_without_'`,
  )
  return rows
}

async function advanceTo(day: number): Promise<void> {
  await turnClock(database.db, `${day} days`)
  await ledger.makePartitions()
}

/** A hold whose id contains this day. */
function hold(day: number): Promise<HoldId> {
  return customer.hold(10, startMs + day * DAY_MS)
}

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await database.db.query(
    'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::text::regclass',
    [table],
  )
  return rows.map((row) => (row as { name: string }).name)
}

async function countIn(table: string): Promise<number> {
  return (await database.db.query(`select from ${table}`)).rows.length
}

function dayText(at: Date): string {
  return at.toISOString().slice(0, 10).replaceAll('-', '')
}

function dateOf(day: number): string {
  return dayText(new Date(startMs + day * DAY_MS))
}

function weekOf(day: number): string {
  return `holds_${Math.floor((startMs / DAY_MS + day) / 7)}`
}
