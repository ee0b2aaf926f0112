// A connection of the ledger takes calls only from a database of the configured cell and with a
// session that keeps charges; the call waits, and goes on when somebody has corrected it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  createTestDatabase,
  createTestLedger,
  onServer,
  type TestDatabase,
} from '../../test/support/harness.ts'
import { createLedgerCustomer } from '../../test/support/ledger-customer.ts'
import { createLimitedDbUser } from '../../test/support/limited-db-user.ts'
import { UnfitDatabase } from '../platform/db/session.ts'
import { cellOfBook } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { claimCell, requireCell } from './ledger.ts'

const at = { database: undefined as unknown as TestDatabase }
before(async () => {
  at.database = await createTestDatabase()
})
after(() => at.database.drop())

/** A log whose lines can be counted. */
function recordingLog() {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } })
  return { log, count: (text: string) => lines.filter((line) => line.includes(text)).length }
}

test('numbers a database without books, whose books then contain the number', async () => {
  const database = await createTestDatabase()
  const { db } = database
  assert.equal(await claimCell(db, 5), true)
  assert.equal(await claimCell(db, 5), false)
  const ledger = await createTestLedger(database.url, { cell: 5 })
  assert.equal(cellOfBook(await ledger.createBook(db)), 5)
  await requireCell(db, 5)
  const isRefused = (error: Error) =>
    error instanceof UnfitDatabase && /says 6, but the database is cell 5/.test(error.message)
  await assert.rejects(claimCell(db, 6), isRefused)
  await assert.rejects(requireCell(db, 6), isRefused)
  await claimCell(db, 5)
  await ledger.end()
  await database.drop()
})

test('charges nothing in a database of another cell', async () => {
  const { log, count } = recordingLog()
  const home = await createTestLedger(at.database.url)
  const customer = await createLedgerCustomer(home)
  const foreign = await createTestLedger(at.database.url, { cell: 5, log, holdWaitMs: 500 })
  await assert.rejects(foreign.hold(customer.holdInput()), { code: 'ledger_unavailable' })
  assert.equal(foreign.health().isUnavailable, true)
  assert.equal(count('the configuration says 5, but the database is cell 0'), 1, 'one log line')
  assert.equal(await customer.balance(), '1000 0 0')
  await foreign.stop(100)
  await foreign.db.end()
  await home.end()
})

test('a call waits while its session would lose charges, and then goes on', async () => {
  const { log, count } = recordingLog()
  const dbUser = await createLimitedDbUser(at.database)
  const name = new URL(dbUser.url).username
  const alter = (text: string) =>
    onServer((client) => client.query(`alter role ${name} ${text} synchronous_commit`))
  await onServer((client) => client.query(`alter role ${name} set synchronous_commit = off`))
  const ledger = await createTestLedger(dbUser.url, { log })
  const customer = await createLedgerCustomer(ledger)
  const held = customer.hold(100)
  await pause(500)
  assert.equal(await customer.balance(), '1000 0 0', 'no call was sent')
  await alter('reset')
  const id = await held
  assert.equal(await customer.balance(), '900 100 0')
  await ledger.settle(customer.settleInput(id, 30))
  assert.equal(await customer.balance(), '970 0 0')
  assert.equal(count('synchronous_commit = off'), 1, 'one log line')
  await ledger.end()
  await dbUser.drop()
})
