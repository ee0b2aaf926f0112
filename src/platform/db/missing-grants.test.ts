// A statement without its grant: the message names the role and the object, on every kind of
// connection, and is never taken for an absent database.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  settingsOf,
  type TestDatabase,
} from '../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createPlainDbUser, type PlainDbUser } from '../../../test/support/plain-db-user.ts'
import { isDatabaseUnavailable } from './database-errors.ts'
import { type Db, openDatabase } from './db.ts'
import { openLongReads } from './long-reads.ts'
import { isMissingGrant, missingGrantSentence, watchMissingGrants } from './missing-grants.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  dbUser: undefined as unknown as PlainDbUser,
  db: undefined as unknown as Db,
}
before(async () => {
  at.database = await createTestDatabase()
  at.dbUser = await createPlainDbUser(at.database)
  await at.dbUser.run('revoke select on letters from NAME')
  at.db = openDatabase(settingsOf(at.dbUser.url), 'test', () => undefined)
})
after(async () => {
  await at.db.end()
  await at.dbUser.drop()
  await at.database.drop()
})

function namesTheGrant(error: unknown): boolean {
  assert.ok(isMissingGrant(error))
  assert.match(error.message, new RegExp(`role ${at.dbUser.name} .* on table letters`))
  assert.ok(error.stack?.includes(error.message))
  assert.equal(isDatabaseUnavailable(error), false)
  return true
}

test('the pool, a transaction and a long read name the role and the table', async () => {
  const text = 'select from letters'
  await assert.rejects(at.db.query(text), namesTheGrant)
  await assert.rejects(
    at.db.transaction((tx) => tx.query(text)),
    namesTheGrant,
  )
  const longReads = openLongReads(settingsOf(at.dbUser.url), 'test')
  await assert.rejects(
    longReads((reader) => reader.query(text)),
    namesTheGrant,
  )
})

test('names the privilege by the kind of the object, and keeps an unknown message', () => {
  const said = (text: string) => missingGrantSentence(text, 'worker')
  assert.match(said('permission denied for function f'), /role worker .* EXECUTE on function f\./)
  assert.match(said('permission denied for schema s'), /USAGE or CREATE on schema s\./)
  assert.match(said('нет доступа к таблице letters'), /: нет доступа к таблице letters\. migrate/)
})

test('notices a missing grant that the work has handled itself', async () => {
  const handled = await watchMissingGrants(async () => {
    await at.db.query('select from letters').catch(() => undefined)
  })
  assert.equal(namesTheGrant(handled.missing), true)
  assert.deepEqual(await watchMissingGrants(() => at.db.query('select from orders')), {})
  const failure = new Error('another error')
  await assert.rejects(
    watchMissingGrants(() => Promise.reject(failure)),
    failure,
  )
})

test('a hold without a grant fails at once and does not wait for the database', async () => {
  const ledger = await createTestLedger(at.dbUser.url)
  const customer = await createLedgerCustomer(ledger)
  try {
    // Each connection of the ledger reads it before its first call.
    await at.dbUser.run('revoke select on cell from NAME')
    const startedMs = performance.now()
    await assert.rejects(ledger.hold(customer.holdInput()), (error) => isMissingGrant(error))
    assert.ok(performance.now() - startedMs < 10_000, 'a hold waits 30 s for an absent database')
    assert.equal(ledger.health().isUnavailable, false)
  } finally {
    await ledger.end()
    await at.dbUser.run('grant select on cell to NAME')
  }
})
