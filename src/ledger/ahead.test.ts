// Holds that are told ahead of their commit: what is known when, and what becomes of a hold whose
// commit fails, or is lost with its connection.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Commits, commitsOf, SLOW_MS } from '../../test/commits.ts'
import { type Customer, createCustomer } from '../../test/customer.ts'
import {
  createTestDatabase,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../test/harness.ts'

let database: TestDatabase
let ledger: TestLedger
let commits: Commits
let alice: Customer

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  commits = await commitsOf(database.db)
})
after(async () => {
  await ledger.end()
  await database.drop()
})
beforeEach(async () => {
  alice = await createCustomer(ledger, 1_000)
})
afterEach(async () => {
  await commits.become('quick')
  assert.deepEqual(await ledger.audit('all'), [])
})

const isSeen = async (id: string) =>
  (await database.db.query('select from holds where id = $1', [id])).rows.length === 1

const endLedgerCalls = () =>
  database.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'tollgate ledger'
       and state = 'active'`,
  )

for (const many of [1, 20]) {
  test(`a grant is told before its commit, which nobody sees yet (${many} at once)`, async () => {
    await commits.become('slow')
    const asks = Array.from({ length: many }, () => alice.holdAsk(10))
    const holds = await Promise.all(asks.map((ask) => ledger.holdAhead(ask)))
    const seenAhead = await Promise.all(asks.map(({ id }) => isSeen(id)))
    assert.ok(!seenAhead.includes(true))
    await Promise.all(holds.map(({ committed }) => committed))
    const seen = await Promise.all(asks.map(({ id }) => isSeen(id)))
    assert.ok(!seen.includes(false))
    assert.equal(await alice.balance(), `${1_000 - 10 * many} ${10 * many} 0`)
  })
}

test('a hold that need not go ahead is there when it is told', async () => {
  await commits.become('slow')
  const ask = alice.holdAsk(10)
  await ledger.hold(ask)
  assert.equal(await isSeen(ask.id), true)
})

test('a hold whose commit fails came to nothing', async () => {
  await commits.become('failing')
  const ask = alice.holdAsk(10)
  const { committed } = await ledger.holdAhead(ask)
  await assert.rejects(committed, { code: 'TG999' })
  assert.equal(await isSeen(ask.id), false)
  assert.equal(await alice.balance(), '1000 0 0')
})

test('a hold whose connection is lost before its commit is asked again, once', async () => {
  await commits.become('slow')
  const ask = alice.holdAsk(10)
  const { granted, committed } = await ledger.holdAhead(ask)
  assert.equal(granted, ask.worst)
  await endLedgerCalls()
  await committed
  assert.equal(await isSeen(ask.id), true)
  assert.equal(await alice.balance(), '990 10 0')
})

test('a hold that is decided anew and otherwise is refused where it is waited for', async () => {
  await commits.become('slow')
  const ask = alice.holdAsk(10)
  const { committed } = await ledger.holdAhead(ask)
  const refused = assert.rejects(committed, { code: 'owner_suspended' })
  await Promise.all([
    // Waits for the book, and gets it before the hold is asked again.
    database.db.query(`select ledger_block($1, 'owner_suspended')`, [alice.book]),
    wait(50).then(endLedgerCalls),
  ])
  await refused
  assert.equal(await alice.balance(), '1000 0 0')
})

test('a refusal is told when it is certain', async () => {
  const poor = await createCustomer(ledger, 0)
  await commits.become('slow')
  const fromMs = performance.now()
  await assert.rejects(ledger.holdAhead(poor.holdAsk()), { code: 'credits_insufficient' })
  // It leaves a mark on the book, for the letter to its owner.
  assert.ok(performance.now() - fromMs >= SLOW_MS)
})
