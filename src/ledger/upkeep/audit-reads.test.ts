// Tests of how the audit reads: on a connection of its own, without a statement limit, in parts,
// and from a standby. The standby is a copy of the database at an earlier moment, as a standby is
// that has fallen behind.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import {
  createTestDatabase,
  createTestLedger,
  onServer,
  serverUrl,
  settingsOf,
} from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { openDatabase } from '../../platform/db/db.ts'
import { openLongReads } from '../../platform/db/long-reads.ts'
import { createLog } from '../../platform/log.ts'
import { credits } from '../../units/credits.ts'

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

test('has no statement limit, and needs no connection of the pool', async () => {
  // The only connection of the pool is in use, and a check takes longer than its statement limit.
  const limits = { statementTimeoutMs: 100, poolSize: 1 }
  const db = openDatabase({ ...settingsOf(database.url), ...limits }, 'test', () => undefined)
  const limited = await createTestLedger(database.url, { db })
  await database.db.query(
    `create or replace function ledger_audit_holds() returns setof finding language sql volatile
     as $$ select null::finding from pg_sleep(0.5) where false $$`,
  )
  await onServer(
    (client) => client.query(`alter database ${database.name} set statement_timeout = 200`),
    serverUrl,
  )
  await db.transaction(async () => assert.deepEqual(await limited.audit('all'), []))
  await limited.end()
})

test('reports corruptions in every part of a large ledger, and nothing else', async () => {
  const others = await Promise.all([1, 2, 3].map(() => createLedgerCustomer(ledger)))
  await database.db.query(
    `update books set requests = requests + 1 where id in (select min(id) from books union
       select max(id) from books)`,
  )
  assert.deepEqual(
    (await ledger.audit('all')).map(({ rule, book }) => ({ rule, book })),
    [
      customer.book,
      others
        .map(({ book }) => book)
        .sort()
        .at(-1),
    ].map((book) => ({
      rule: 'requests',
      book,
    })),
  )
})

test('refuses a second audit while the first has not ended', async () => {
  const first = ledger.audit('all')
  await assert.rejects(ledger.audit('all'), /has not ended yet/)
  assert.deepEqual(await first, [])
  assert.deepEqual(await ledger.audit('all'), [])
})

test('marks on the primary only what the snapshot of the standby showed', async () => {
  await ledger.end()
  const standby = await createTestDatabase(serverUrl, database.name)
  const standbyReads = openLongReads(settingsOf(standby.url), 'test standby')
  ledger = await createTestLedger(database.url, { standbyReads })
  await ledger.db.transaction((tx) =>
    ledger.adjust(tx, { ...customer, ref: 'x', amount: credits(1), contra: 'loss', note: '' }),
  )
  assert.deepEqual(await ledger.audit('new'), [])
  assert.equal(await markOf(customer), 1n)
  assert.deepEqual(await ledger.audit('all'), [])
  await ledger.end()
  await standby.drop()
  // Without a standby, audits read from the primary.
  ledger = await createTestLedger(database.url)
  assert.deepEqual(await ledger.audit('new'), [])
  assert.equal(await markOf(customer), 2n)
})

test('reads from the primary when the standby is more than five minutes behind', async () => {
  await ledger.end()
  const standby = await createTestDatabase(serverUrl, database.name)
  const standbyReads = openLongReads(settingsOf(standby.url), 'test standby')
  ledger = await createTestLedger(database.url, { standbyReads })
  await database.db.query('update books set available = available + 1')
  assert.deepEqual(await ledger.audit('new'), [])
  await standby.db.query(`update instances set beat_at = beat_at - interval '6 minutes'`)
  assert.notDeepEqual(await ledger.audit('new'), [])
  assert.notDeepEqual(await ledger.audit('all'), [])
  await standby.drop()
})

test('reads from the primary, and says why, when the address of the standby is wrong', async () => {
  await ledger.end()
  await database.db.query('update books set available = available + 1')
  const refused = new URL(database.url)
  refused.port = '1'
  const elsewhere = new URL(database.url)
  elsewhere.pathname = '/postgres' // has none of our tables
  const unknown = new URL(database.url)
  unknown.pathname = '/no-such-database'
  for (const [url, reason] of [
    [refused, /ECONNREFUSED/],
    [elsewhere, /42P01 relation "instances" does not exist/],
    [unknown, /3D000 database "no-such-database" does not exist/],
  ] as const) {
    const standbyReads = openLongReads(settingsOf(url.href), 'test standby')
    const lines: string[] = []
    const log = createLog({ level: 'error', destination: { write: (line) => lines.push(line) } })
    ledger = await createTestLedger(database.url, { standbyReads, log })
    assert.notDeepEqual(await ledger.audit('all'), [])
    assert.match(lines.join(''), /standbyUrl fails: the audit reads from the primary/)
    assert.match(JSON.parse(lines[0] ?? '{}').reason, reason)
    await ledger.end()
  }
  ledger = await createTestLedger(database.url)
})

async function markOf({ book }: LedgerCustomer): Promise<bigint | undefined> {
  const { rows } = await ledger.db.query('select seq from audit_marks where book_id = $1', [book])
  return (rows[0] as { seq: bigint } | undefined)?.seq
}
