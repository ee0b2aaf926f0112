// Clocks that step and workers that stay away: a book's day never goes back, every day has its
// table, and old days leave the ledger whatever happened on them.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import pg from 'pg'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { credits } from '../../units/credits.ts'

const DAY_MS = 86_400_000
const startMs = Date.now()
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

for (const [step, back] of [
  ['300 ms', '23:59:59.9'],
  ['two hours', '22:00:00'],
] as const) {
  test(`audits and retires days after a clock stepped back ${step} over midnight`, async () => {
    await setClock(1, '00:00:00.2')
    const repeated = await customer.hold(10)
    await customer.settle(repeated, 3)
    assert.deepEqual(await ledger.audit('new'), [])
    await setClock(0, back)
    // Everything that writes an entry: a charge, a void, a posting, and a charge in an array.
    const early = await customer.hold(10)
    await customer.settle(early, 3)
    await customer.void(await customer.hold(10), 'upstream_failed')
    await customer.credit('promo', 'late', 5)
    const ids = await Promise.all([1, 2, 3].map(() => customer.hold(10)))
    await Promise.all(ids.map((id) => customer.settle(id, 3)))
    assert.deepEqual(await ledger.audit('new'), [])
    await setClock(1, '00:00:05')
    await customer.settle(await customer.hold(10), 3)
    assert.deepEqual(await ledger.audit('new'), [])
    assert.deepEqual(await ledger.audit('all'), [])
    // A repeat finds the entry on its later day and is charged once.
    for (const id of [repeated, early, ...ids]) {
      assert.equal((await customer.settle(id, 3)).isSpooled, false)
      assert.equal((await ledger.usage.find(customer.book, id))?.holdId, id)
    }
    assert.deepEqual(await ledger.quarantine.list({ limit: 1, hold: null }), [])
    await setClock(3, '12:00:00')
    await ledger.makePartitions()
    await customer.settle(await customer.hold(10), 3)
    await ledger.days.retire(0)
    assert.equal(await isAttached(1), false)
    assert.deepEqual(await ledger.audit('all'), [])
    const { rows } = await database.db.query(
      `select count(*)::int4 as n from (
         select day < lag(day) over (partition by book_id order by seq) as is_back from entries
       ) e where is_back`,
    )
    assert.deepEqual(rows, [{ n: 0 }])
  })
}

test('lists the entries of a day that are on a later day of their book', async () => {
  await setClock(1, '00:00:00.2')
  await customer.settle(await customer.hold(10), 3)
  await setClock(0, '23:59:59.9')
  const early = await customer.hold(10)
  await customer.settle(early, 3)
  const [from, to] = [0, 1].map((day) => new Date(`${dateOf(day)}T00:00:00Z`)) as [Date, Date]
  const period = { book: customer.book, from, to }
  const listed = async () => {
    const last = await ledger.usage.lastDay({ ...period, day: dateOf(0) })
    assert.equal(last, dateOf(1))
    const query = { ...period, day: last, afterSeq: 0n, untilSeq: 100n, limit: 100 }
    return (await ledger.usage.entriesOfDay(query)).map(({ holdId }) => holdId)
  }
  assert.deepEqual(await listed(), [early])
  await ledger.aggregateUsage()
  assert.deepEqual(await listed(), [early])
  const later = { ...period, from: to, to: new Date(to.getTime() + DAY_MS) }
  assert.equal(await ledger.usage.lastDay({ ...later, day: dateOf(1) }), dateOf(1))
})

test('counts the daily limit on when the clock steps back over midnight', async () => {
  const { book } = customer
  const limits = { dayLimit: credits(1), velocityLimit: null, velocitySeconds: 60 }
  await ledger.setLimits(database.db, book, limits)
  await setClock(1, '00:00:00.2')
  await customer.settle(await customer.hold(1), 1)
  await setClock(0, '23:59:59.9')
  await assert.rejects(customer.hold(1), { code: 'day_limit_reached' })
  assert.equal((await ledger.balance(book))?.daySpent, credits(1))
  const [status] = await ledger.listStatus([book])
  assert.equal(status?.isDayLimitMet, true)
  await setClock(2, '00:00:01')
  await customer.void(await customer.hold(1), 'upstream_failed')
  assert.equal((await ledger.balance(book))?.daySpent, 0n)
})

test('has a partition for each day after 50 days without a worker', async () => {
  for (const day of [1, 9, 30, 50]) {
    await turnClock(database.db, `${day} days`)
    await customer.settle(await customer.hold(10, startMs + day * DAY_MS), 3)
  }
  assert.deepEqual(await inDefault('entries'), [])
  await ledger.makePartitions()
  await turnClock(database.db, '51 days')
  await customer.settle(await customer.hold(10, startMs + 51 * DAY_MS), 3)
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.days.retire(11)
  assert.equal(await isAttached(30), false)
  assert.equal(await isAttached(50), true)
  assert.deepEqual(await ledger.audit('all'), [])
})

test('delays no request while a reader is open and partitions are created', async () => {
  const reader = new pg.Client({ connectionString: database.url })
  await reader.connect()
  await reader.query('begin isolation level repeatable read')
  await reader.query('select count(*) from entries')
  await reader.query('select count(*) from holds')
  await turnClock(database.db, '8 days')
  const state = { isOver: false, longestMs: 0, pairs: 0 }
  const load = async () => {
    while (!state.isOver) {
      const startedMs = performance.now()
      await customer.settle(await customer.hold(2), 1)
      state.longestMs = Math.max(state.longestMs, performance.now() - startedMs)
      state.pairs += 1
    }
  }
  const loads = [load(), load()]
  try {
    await ledger.makePartitions().catch(() => undefined)
  } finally {
    state.isOver = true
    await Promise.all(loads)
    await reader.end()
  }
  // Hold and settle each wait at most for the lock timeout and the change itself, some 200 ms; a
  // busy machine adds more. Waiting for the reader would take as long as the reader is open, 5 s
  // and more; npm run faults -- partitions measures it.
  assert.ok(state.longestMs < 3_000, `a pair took ${state.longestMs} ms`)
  assert.equal(await isAttached(9), true)
  await ledger.makePartitions()
  assert.equal(await isHoldsWeek(15), true)
})

test('accepts holds of a gateway whose clock runs 20 days ahead', async () => {
  const ahead = await customer.hold(10, startMs + 20 * DAY_MS)
  await customer.settle(ahead, 3)
  const open = await customer.hold(10, startMs + 20 * DAY_MS)
  for (const day of [7, 14, 19]) {
    await turnClock(database.db, `${day} days`)
    await ledger.makePartitions()
  }
  assert.equal(await isHoldsWeek(20), true)
  assert.deepEqual(await inDefault('holds'), [])
  await customer.settle(open, 3)
  await customer.settle(ahead, 3)
  assert.deepEqual(await ledger.audit('all'), [])
  // Ids of a week that was never made are deleted when their week would be dropped.
  await customer.settle(await customer.hold(10, startMs + 60 * DAY_MS), 3)
  const kept = await customer.hold(10, startMs + 60 * DAY_MS)
  await turnClock(database.db, '90 days')
  await ledger.makePartitions()
  await ledger.dropHoldsBefore()
  assert.deepEqual(await inDefault('holds'), [kept])
  await customer.void(kept, 'overdue')
  await ledger.dropHoldsBefore()
  assert.deepEqual(await inDefault('holds'), [])
})

function dateOf(day: number): string {
  return new Date(startMs + day * DAY_MS).toISOString().slice(0, 10)
}

/** The database's clock stands still at a time of a day, counted from today. */
async function setClock(day: number, time: string): Promise<void> {
  const date = dateOf(day)
  await database.db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as $$ select timestamptz '${date} ${time}+00' $$`,
  )
}

async function isAttached(day: number): Promise<boolean> {
  const name = `entries_${dateOf(day).replaceAll('-', '')}`
  return (await partitionsOf('entries')).includes(name)
}

async function isHoldsWeek(day: number): Promise<boolean> {
  const week = Math.floor((startMs / DAY_MS + day) / 7)
  return (await partitionsOf('holds')).includes(`holds_${week}`)
}

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await database.db.query(
    'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::text::regclass',
    [table],
  )
  return (rows as { name: string }[]).map(({ name }) => name)
}

/** The ids, or numbers, of the rows that no partition of a day or week has. */
async function inDefault(table: 'entries' | 'holds'): Promise<unknown[]> {
  const name = `${table}_default`
  if (!(await partitionsOf(table)).includes(name)) return []
  const column = table === 'holds' ? 'id' : 'seq'
  const { rows } = await database.db.query(`select ${column} as one from ${name}`)
  return (rows as { one: unknown }[]).map(({ one }) => one)
}
