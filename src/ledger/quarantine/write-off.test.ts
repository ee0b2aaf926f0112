// Tests of what ends a quarantined settle: it is either charged or written off, never both, and one
// that is refused again does not delay the others.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import type { SettleInput } from '../calls.ts'
import { settleText } from '../settle-text.ts'
import { line } from '../spool/files.ts'
import type { QuarantineRow } from './queries.ts'

let database: TestDatabase
let ledger: TestLedger
let customer: LedgerCustomer
let directory: string

beforeEach(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  customer = await createLedgerCustomer(ledger)
  directory = await mkdtemp(join(tmpdir(), 'tollgate-write-off-'))
})
afterEach(async () => {
  await ledger.end()
  await rm(directory, { recursive: true, force: true })
  await database.drop()
})

/** A charge of 30 in quarantine, whose hold is there. */
async function quarantined(from = customer): Promise<{ input: SettleInput; row: QuarantineRow }> {
  const input = from.settleInput(await from.hold())
  await ledger.quarantine.add({ input, reason: '42883 a test' })
  const [row] = await ledger.quarantine.list({ limit: 1, hold: input.id })
  assert.ok(row !== undefined)
  return { input, row }
}

/** As if its process had died after the insert, before it removed the settle from its spool. */
async function replayCopy(input: SettleInput): Promise<void> {
  await writeFile(join(directory, '1111.spool'), line(settleText(input)))
  const { settles } = await ledger.replayDirectory(directory)
  assert.equal(settles, 1)
}

async function outcomes(): Promise<unknown> {
  const { rows } = await database.db.query(
    'select outcome, attempts from quarantine order by book_id',
  )
  return rows
}

test('a write-off frees the credits, and no copy in a spool is charged afterwards', async () => {
  const { input, row } = await quarantined()
  assert.equal(await ledger.quarantine.writeOff(row), true)
  assert.equal(await customer.balance(), '1000 0 0')
  await replayCopy(input)
  assert.equal(await customer.balance(), '1000 0 0')
  assert.deepEqual(await outcomes(), [{ outcome: 'written_off', attempts: 0 }])
  assert.deepEqual(await ledger.audit('all'), [])
})

test('a write-off holds too when the hold was swept before', async () => {
  const { input, row } = await quarantined()
  await customer.void(input.id, 'overdue')
  assert.equal(await ledger.quarantine.writeOff(row), true)
  await replayCopy(input)
  assert.equal(await customer.balance(), '1000 0 0')
  assert.deepEqual(await outcomes(), [{ outcome: 'written_off', attempts: 0 }])
  assert.deepEqual(await ledger.audit('all'), [])
})

test('a settle that a worker charged meanwhile is not written off', async () => {
  const { row } = await quarantined()
  await ledger.quarantine.retry(null)
  assert.equal(await ledger.quarantine.writeOff(row), false)
  assert.equal(await customer.balance(), '970 0 0')
  assert.deepEqual(await outcomes(), [{ outcome: 'charged', attempts: 0 }])
})

test('a settle whose copy in a spool was charged is not written off', async () => {
  const { input, row } = await quarantined()
  await replayCopy(input)
  assert.equal(await ledger.quarantine.writeOff(row), false)
  assert.equal(await customer.balance(), '970 0 0')
  assert.deepEqual(await outcomes(), [{ outcome: 'charged', attempts: 0 }])
})

test('a settle that is refused because a disk is full does not delay the others', async () => {
  const other = await createLedgerCustomer(ledger)
  await quarantined()
  await quarantined(other)
  await database.db.query(
    `create function refuse_book() returns trigger language plpgsql as $$
       begin raise exception 'a test' using errcode = '53100'; end $$;
     create trigger refuse_book before insert on entries for each row
       when (new.book_id = ${customer.book}) execute function refuse_book()`,
  )
  await turnClock(database.db, '10 minutes')
  const retried = await ledger.quarantine.retryDue()
  assert.deepEqual(
    retried.map(({ outcome }) => outcome),
    ['53100 a test', 'charged'],
  )
  assert.equal(await other.balance(), '970 0 0')
  assert.deepEqual(await ledger.quarantine.retryDue(), [], 'the next attempt is ten minutes later')
  assert.deepEqual(await outcomes(), [
    { outcome: null, attempts: 1 },
    { outcome: 'charged', attempts: 0 },
  ])
})
