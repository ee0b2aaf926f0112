// Tests of a database clock that ran ahead by more than the kept days and was corrected: today
// stays in the ledger, and if today left because both clocks were wrong, it comes again.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../../test/support/harness.ts'
import {
  createTestDatabase,
  createTestLedger,
  turnClock,
} from '../../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../../test/support/ledger-customer.ts'
import { systemClock } from '../../../platform/clock.ts'

const KEPT_DAYS = 14
const AHEAD = '20 days'
const DAYS_MADE = 61
const today = new Date().toISOString().slice(0, 10)
let database: TestDatabase
let directory: string
let ledger: TestLedger

beforeEach(async () => {
  database = await createTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-ahead-'))
})
afterEach(async () => {
  await ledger.end()
  await database.drop()
  await rm(directory, { recursive: true, force: true })
})

test('retires no day and drops no hold while only the database runs ahead', async () => {
  ledger = await createTestLedger(database.url, { clock: systemClock })
  const customer = await createLedgerCustomer(ledger)
  await customer.settle(await customer.hold(10), 3)
  await turnClock(database.db, AHEAD)
  await ledger.makePartitions()
  assert.deepEqual((await ledger.days.retire(KEPT_DAYS)).checkpointed, [])
  assert.deepEqual(await ledger.dropHoldsBefore(), [])
  await turnClock(database.db, '0')
  assert.equal(await ledger.partitionDaysAhead(), DAYS_MADE + 20)
  await customer.settle(await customer.hold(10), 3)
  assert.deepEqual(await ledger.audit('all'), [])
})

for (const isExported of [false, true]) {
  const what = isExported
    ? 'makes the table of a dropped day anew'
    : 'attaches a detached day again'
  test(`${what} when the clock is right again`, async () => {
    const exportDirectory = isExported ? directory : 'none'
    ledger = await createTestLedger(database.url, { exportDirectory })
    const old = await createLedgerCustomer(ledger)
    await old.settle(await old.hold(10), 3)
    await turnClock(database.db, AHEAD)
    await ledger.makePartitions()
    assert.ok((await ledger.days.retire(KEPT_DAYS)).detached.includes(today))
    await turnClock(database.db, '0')
    assert.ok((await ledger.makePartitions()).made.length > 0)
    assert.equal(await ledger.partitionDaysAhead(), DAYS_MADE + 20)
    const pay = async () => {
      for (const customer of [old, await createLedgerCustomer(ledger)]) {
        await customer.settle(await customer.hold(10), 3)
      }
    }
    await pay()
    // The day is not due again, and its new entries stay.
    assert.deepEqual((await ledger.days.retire(KEPT_DAYS)).detached, [])
    await pay()
    assert.deepEqual(await ledger.audit('all'), [])
    assert.equal(await ledger.days.find(today), undefined)
    // It leaves when it is old, and its rows are counted once.
    await turnClock(database.db, AHEAD)
    assert.ok((await ledger.days.retire(KEPT_DAYS)).detached.includes(today))
    assert.equal((await ledger.days.find(today))?.unverified, 0n)
    assert.deepEqual(await ledger.audit('all'), [])
  })
}
