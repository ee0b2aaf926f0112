// Partitions over a month of days turned by hand: made ahead, taken away behind, and nothing lost
// at midnight, at the end of a week, or when nobody made them.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Customer } from '../../../test/support/customer.ts'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import type { HoldId } from '../../platform/ids.ts'

const DAY_MS = 86_400_000
const startMs = Date.now()
let database: TestDatabase
let ledger: TestLedger
let customer: Customer

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createCustomer(ledger)
})
afterEach(async () => {
  await ledger.end()
  await database.drop()
})

test('days are made a week ahead, once, whoever asks', async () => {
  await turnClock(database.db, '40 days')
  const made = await Promise.all([ledger.makePartitions(), ledger.makePartitions()])
  const days = Array.from({ length: 9 }, (_, i) => `entries_${dateOf(39 + i)}`)
  const weeks = [weekOf(40), weekOf(47)]
  assert.deepEqual(
    made.toSorted((a, b) => b.length - a.length),
    [[...days, ...weeks], []],
  )
})

test('over a month holds have at most four partitions, and each day lands in its own', async () => {
  const dropped: string[] = []
  let carried: HoldId | undefined
  for (let day = 0; day <= 31; day++) {
    await liveTo(day)
    dropped.push(...(await ledger.dropHoldsBefore()))
    // Each day settles what the day before left open, so one request crosses every midnight.
    const fresh = await hold(day)
    if (carried !== undefined) await customer.settle(carried, 3)
    carried = fresh
    const partitions = await partitionsOf('holds')
    assert.ok(partitions.length <= 4, `day ${day}: ${partitions}`)
  }
  assert.ok(dropped.length >= 2, `dropped: ${dropped}`)
  for (const table of ['holds_default', 'entries_default']) {
    assert.deepEqual((await database.db.query(`select * from ${table}`)).rows, [])
  }
  assert.deepEqual(await ledger.audit('all'), [])
})

test('an open hold keeps its partition until it is closed', async () => {
  const id = await hold(0)
  await liveTo(21)
  assert.equal((await ledger.dropHoldsBefore()).includes(weekOf(0)), false)
  await customer.void(id, 'overdue')
  assert.equal((await ledger.dropHoldsBefore()).includes(weekOf(0)), true)
})

test('a request that crosses midnight is charged on the new day, once', async () => {
  const id = await hold(0)
  await liveTo(1)
  await customer.settle(id, 3)
  await liveTo(2)
  await customer.settle(id, 3)
  const charges = await ledger.statement({ book: customer.book, beforeSeq: null, limit: 10 })
  assert.deepEqual(
    charges.filter((entry) => entry.kind === 'charge').map((entry) => dayText(entry.at)),
    [dateOf(1)],
  )
  assert.equal((await ledger.balance(customer.book))?.daySpent, 0n)
})

test('an id of yesterday or tomorrow goes by its own day', async () => {
  for (let day = 0; day <= 14; day += 7) await liveTo(day)
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

test('a day that nobody made lands in the default, and the next days are made', async () => {
  await turnClock(database.db, '60 days')
  await customer.settle(await hold(60), 3)
  assert.equal(await countIn('holds_default'), 1)
  assert.equal(await countIn('entries_default'), 1)
  const made = await ledger.makePartitions()
  assert.equal(made.includes(`entries_${dateOf(60)}`), false)
  assert.equal(made.includes(`entries_${dateOf(61)}`), true)
  await turnClock(database.db, '61 days')
  await customer.settle(await hold(61), 3)
  assert.equal(await countIn('entries_default'), 1)
  assert.deepEqual(await ledger.audit('all'), [])
})

async function liveTo(day: number): Promise<void> {
  await turnClock(database.db, `${day} days`)
  await ledger.makePartitions()
}

/** A hold whose id says a day. */
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
