// Tests of the limit on wrong keys over several processes, on a real PostgreSQL: the limit is the
// fleet's, the table has a fixed size, and a process goes on while the database is away.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import type { Db } from '../platform/db/db.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { Keys } from './keys.ts'
import { wrongKeysAdd } from './queries.ts'

const LIMIT = 20
const at = {
  database: undefined as unknown as TestDatabase,
  ledger: undefined as unknown as TestLedger,
}
before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

function startProcess(db: Db = at.database.db): Keys {
  return createTestKeys(db, at.ledger, { wrongPerMinute: LIMIT })
}

/** Sends one wrong key, and waits until the other processes can know of it. */
async function guess(keys: Keys, address: string): Promise<string> {
  const code = await keys.verify('sk-vendor-api03-made-up', address).then(
    () => 'verified',
    (error: unknown) => (isRefusal(error) ? error.code : String(error)),
  )
  await until(() => keys.stats().unsharedAddresses === 0)
  return code
}

async function until(check: () => boolean): Promise<void> {
  for (let i = 0; i < 3_000 && !check(); i++) await new Promise((done) => setTimeout(done, 10))
  assert.ok(check())
  // The answer of the last statement has arrived in the turn after this one.
  await new Promise((done) => setTimeout(done, 50))
}

test('the wrong keys of an address are limited over all processes together', async () => {
  const fleet = [startProcess(), startProcess(), startProcess(), startProcess()]
  const answers: string[] = []
  for (let i = 0; i < 2 * LIMIT; i++) {
    answers.push(await guess(fleet[i % fleet.length] as Keys, '192.0.2.1'))
  }
  const accepted = answers.filter((code) => code === 'key_malformed').length
  // A process learns of the others' counts with its own next wrong key.
  assert.ok(accepted >= LIMIT && accepted < LIMIT + fleet.length, `${accepted} accepted`)
  assert.deepEqual(new Set(answers.slice(-fleet.length)), new Set(['key_attempts_exceeded']))
  // A process that starts later refuses after the first.
  const late = startProcess()
  assert.equal(await guess(late, '192.0.2.1'), 'key_malformed')
  assert.equal(await guess(late, '192.0.2.1'), 'key_attempts_exceeded')
  assert.equal(await guess(late, '192.0.2.2'), 'key_malformed')
})

test('a good key passes from a limited address and causes no shared count', async () => {
  const [busy, other] = [startProcess(), startProcess()]
  for (let i = 0; i < LIMIT; i++) await guess(busy, '192.0.2.3')
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  const issued = await db.transaction((tx) => other.issue(tx, book))
  await db.transaction((tx) => other.confirm(tx, book, issued.keyId))
  const statements: string[] = []
  const watched = startProcess({
    ...db,
    query: (text, values) => {
      statements.push(text)
      return db.query(text, values)
    },
  })
  await watched.verify(issued.plain, '192.0.2.3')
  await watched.verify(issued.plain, '192.0.2.3')
  assert.deepEqual(
    statements.filter((text) => text.includes('wrong_keys')),
    [],
  )
})

test('a process goes on with its own counts while the database is away', async () => {
  const line = { isAway: true, failed: 0 }
  const { db } = at.database
  const keys = startProcess({
    ...db,
    query: (text, values) => {
      if (!line.isAway) return db.query(text, values)
      line.failed += 1
      return Promise.reject(Object.assign(new Error('away'), { code: '57P01' }))
    },
  })
  const codes: string[] = []
  for (let i = 0; i <= LIMIT; i++) {
    await keys.verify('made-up', '192.0.2.4').catch((error) => codes.push(error.code))
  }
  assert.deepEqual(codes, [...Array(LIMIT).fill('key_malformed'), 'key_attempts_exceeded'])
  assert.equal(line.failed, 1, 'one statement, then a pause')
  line.isAway = false
  await until(() => keys.stats().unsharedAddresses === 0)
  const other = startProcess()
  assert.equal(await guess(other, '192.0.2.4'), 'key_malformed')
  assert.equal(await guess(other, '192.0.2.4'), 'key_attempts_exceeded')
})

test('the table has one row for each slot, and begins a new minute with the next key', async () => {
  const { db } = at.database
  const sender = (last: number) => Buffer.from([0xff, 0xff, ...Array(13).fill(0), last])
  const add = async (...of: [number, number][]) =>
    (
      await wrongKeysAdd(
        db,
        of.map(([last, wrong]) => ({ sender: sender(last), wrong })),
      )
    ).map((row) => [row.sender.at(-1), row.wrong])
  assert.deepEqual(await add([1, 3]), [[1, 3]])
  assert.deepEqual(await add([1, 4]), [[1, 7]])
  assert.deepEqual(await add([2, 1]), [[2, 1]], 'another sender takes the row')
  assert.deepEqual(await add([3, 1], [4, 9]), [[4, 9]], 'of two in a statement the heavier one')
  await db.query(`update wrong_keys set ends_at = now() where slot = 65535`)
  assert.deepEqual(await add([4, 2]), [[4, 2]])
  const { rows } = await db.query('select count(*)::int4 as n from wrong_keys where slot = 65535')
  assert.deepEqual(rows, [{ n: 1 }])
})

test('the table names no address', async () => {
  await guess(startProcess(), '203.0.113.77')
  const { rows } = await at.database.db.query(
    `select string_agg(w::text, ' ') || string_agg(encode(sender, 'escape'), ' ') as all
     from wrong_keys w`,
  )
  assert.ok(!String((rows[0] as { all: string }).all).includes('203.0.113'))
})
