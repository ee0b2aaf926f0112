// Tests that a locked book with many settles in quarantine does not delay those of other books.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'

/** More than one run of the job sends. */
const SETTLES = 1_200

test('charges other books in the same run while one book is locked', async (t) => {
  const database = await createTestDatabase()
  const ledger = await createTestLedger(database.url)
  t.after(async () => {
    await ledger.end()
    await database.drop()
  })
  const locked = await createLedgerCustomer(ledger)
  const input = locked.settleInput(await locked.hold(10), 3)
  await ledger.quarantine.add({ input, reason: 'a test' })
  await database.db.query(
    `insert into quarantine (hold_id, settle, book_id, priced, reason, refused_at, tried_at)
     select hold_id, settle || repeat(' ', n), book_id, priced, reason, refused_at, tried_at
     from quarantine, generate_series(2, $1) as n`,
    [SETTLES],
  )
  const other = await createLedgerCustomer(ledger)
  const settle = other.settleInput(await other.hold(10), 3)
  await ledger.quarantine.add({ input: settle, reason: 'a test' })
  await turnClock(database.db, '11 minutes')
  await database.db.transaction(async (tx) => {
    await tx.query('select from books where id = $1 for update', [locked.book])
    const results = await ledger.quarantine.retryDue()
    const outcomes = (book: bigint) =>
      new Set(results.filter(({ row }) => row.book === book).map(({ outcome }) => outcome))
    assert.deepEqual(outcomes(other.book), new Set(['charged']))
    assert.deepEqual(outcomes(locked.book), new Set(['busy']))
  })
})
