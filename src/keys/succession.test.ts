// A tag or lookup secret gets a successor: keys made under either are verified, step by step, by
// processes that have taken the step and by those that have not.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { Masked } from '../platform/masked.ts'
import { isRefusal } from '../platform/refusal.ts'

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

const [FIRST, SECOND] = ['the first secret of this installation', 'the second, in its place']
/** What the setting says: before, while both are accepted, while the second makes, at the end. */
const STEPS = [FIRST, `1:${FIRST},2:${SECOND}`, `2:${SECOND},1:${FIRST}`, `2:${SECOND},`] as const

/** The keys module of one process, with the same text for both secrets. */
function startProcess(text: string) {
  const secret = new Masked(text)
  return createTestKeys(at.database.db, at.ledger, { tagSecret: secret, lookupSecret: secret })
}

type Process = ReturnType<typeof startProcess>

async function issuedBy(keys: Process): Promise<string> {
  const book = await at.ledger.createBook(at.database.db)
  return at.database.db.transaction(async (tx) => {
    const key = await keys.issue(tx, book)
    await keys.confirm(tx, book, key.keyId)
    return key.plain
  })
}

async function importedBy(keys: Process): Promise<string> {
  const plain = `sk-vendor-03-${randomBytes(24).toString('base64url')}`
  const book = await at.ledger.createBook(at.database.db)
  await at.database.db.transaction((tx) => keys.importKey(tx, book, plain))
  return plain
}

const isUnknown = (error: unknown) => isRefusal(error, 'key_unknown')

test('verifies a key of the former secret while that is accepted', async () => {
  const before = startProcess(STEPS[0])
  const keys = [await issuedBy(before), await importedBy(before)]
  for (const step of [STEPS[1], STEPS[2]]) {
    for (const key of keys) await startProcess(step).verify(key, '')
  }
  for (const key of keys) await assert.rejects(startProcess(STEPS[3]).verify(key, ''), isUnknown)
})

test('verifies a key of either step in the processes of the step before and after', async () => {
  for (const [i, step] of STEPS.entries()) {
    const maker = startProcess(step)
    const keys = [await issuedBy(maker), await importedBy(maker)]
    const beside = [STEPS[i - 1], STEPS[i + 1]].filter((one) => one !== undefined)
    // Keys of the first secret end with it; the operator knows their number beforehand.
    const accepting = beside.filter((one) => i > 1 || one !== STEPS[3])
    for (const other of accepting) {
      for (const key of keys) await startProcess(other).verify(key, '')
    }
  }
})

test('refuses a made-up key under two secrets without a query', async () => {
  const keys = startProcess(STEPS[2])
  const madeUp = `sk-vendor-api03-AA${randomBytes(50).toString('base64url').slice(0, 66)}`
  await assert.rejects(keys.verify(madeUp, ''), isUnknown)
  assert.deepEqual([keys.stats().queries, keys.stats().forged], [0, 1])
})

test('a key that was imported under the former secret cannot be imported again', async () => {
  const book = await at.ledger.createBook(at.database.db)
  const other = await at.ledger.createBook(at.database.db)
  const plain = `sk-vendor-03-${randomBytes(24).toString('base64url')}`
  const { db } = at.database
  await db.transaction((tx) => startProcess(STEPS[0]).importKey(tx, book, plain))
  const later = startProcess(STEPS[2])
  const again = await db.transaction((tx) => later.importKey(tx, book, plain))
  assert.equal(again.isRepeat, true)
  const stolen = db.transaction((tx) => later.importKey(tx, other, plain))
  await assert.rejects(stolen, (error) => isRefusal(error, 'key_import_refused'))
})

test('a key says which secret made it, and one without an id counts as the first', async () => {
  const [old, made] = [
    await issuedBy(startProcess(STEPS[0])),
    await issuedBy(startProcess(STEPS[2])),
  ]
  const idOf = async (plain: string) => {
    const { rows } = await at.database.db.query(
      'select secret_id as "secretId" from keys where id = $1',
      [`key_${plain.slice('sk-vendor-api03-'.length).slice(0, 14)}`],
    )
    return (rows[0] as { secretId: number | null }).secretId
  }
  assert.deepEqual([await idOf(old), await idOf(made)], [1, 2])
  await assert.rejects(
    at.database.db.query('update keys set secret_id = 2 where secret_id = 1'),
    /nothing else of it changes/,
  )
})
