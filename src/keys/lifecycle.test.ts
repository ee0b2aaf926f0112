// Tests of issuing, confirming and revoking keys on a real PostgreSQL with a real ledger.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import { type BookId, newHoldId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { Credits } from '../units/credits.ts'
import { millionths } from '../units/price.ts'
import type {
  Caller,
  KeyCheckRefusalCode,
  KeyImportRefusalCode,
  KeyLifeRefusalCode,
  Keys,
} from './keys.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  ledger: undefined as unknown as TestLedger,
}
const clientAddress = '192.0.2.1'

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

/** The keys module of one more process. */
function startProcess(db: Db = at.database.db): Keys {
  return createTestKeys(db, at.ledger, { wrongPerMinute: 1_000 })
}

const issue = (keys: Keys, book: BookId) => at.database.db.transaction((tx) => keys.issue(tx, book))
const confirm = (keys: Keys, book: BookId, keyId: string) =>
  at.database.db.transaction((tx) => keys.confirm(tx, book, keyId))
const revoke = (keys: Keys, book: BookId) =>
  at.database.db.transaction((tx) => keys.revoke(tx, book))
const fenceOf = async (book: BookId) => (await at.ledger.balance(book))?.fence
type Code = KeyCheckRefusalCode | KeyImportRefusalCode | KeyLifeRefusalCode
const refused = (code: Code) => (error: unknown) => isRefusal(error, code)

async function activeKey(keys: Keys, book: BookId) {
  const key = await issue(keys, book)
  await confirm(keys, book, key.keyId)
  return key
}

/** A book with credits, and a function that holds some of them for a caller. */
async function fundedBook() {
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  await db.transaction((tx) =>
    at.ledger.credit(tx, {
      book,
      kind: 'promo',
      ref: `promo ${book}`,
      amount: 1_000_000n as Credits,
      contra: 'promo',
      note: '',
    }),
  )
  const zero = millionths(0)
  const price = {
    input: zero,
    coefficient: zero,
    cacheRead: zero,
    cacheWrite5m: zero,
    cacheWrite1h: zero,
  }
  const tariff = await at.ledger.tariff({ catalogueVersion: 1, model: 'model-small', price })
  const hold = ({ book: of, fence }: Caller) => {
    const id = newHoldId(0, systemClock.nowMs())
    const amount = 10n as Credits
    return at.ledger.hold({ id, book: of, tariff, fence, worst: amount, floor: amount })
  }
  return { book, hold }
}

test('refuses a pending key and accepts it after its confirmation', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const { keyId, plain, last4 } = await issue(keys, book)
  await assert.rejects(keys.verify(plain, clientAddress), refused('key_unknown'))
  assert.equal((await keys.find(book)).pending?.keyId, keyId)

  await confirm(keys, book, keyId)
  const caller = await keys.verify(plain, clientAddress)
  assert.deepEqual([caller.keyId, caller.last4, caller.book], [keyId, last4, book])
  assert.equal(caller.fence, await fenceOf(book))
  assert.deepEqual(await hold(caller), { granted: 10n })
  assert.deepEqual(await keys.recheck(caller), caller)
  const found = await keys.find(book)
  assert.deepEqual(found, { active: { keyId, last4, createdAt: caller.createdAt } })
})

test('stops a reissued key on every node at the commit of its successor', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const { book, hold } = await fundedBook()
  const old = await activeKey(here, book)
  const caller = await there.verify(old.plain, clientAddress)

  const next = await issue(here, book)
  assert.deepEqual(await hold(caller), { granted: 10n })
  await at.database.db.transaction(async (tx) => {
    await here.confirm(tx, book, next.keyId)
    assert.deepEqual(await there.recheck(caller), caller)
  })

  // The other node still has the key in its cache, but its holds are refused.
  assert.equal(await there.verify(old.plain, clientAddress), caller)
  await assert.rejects(hold(caller), refused('key_revoked'))
  await assert.rejects(there.recheck(caller), refused('key_revoked'))
  there.forget(old.plain)
  await assert.rejects(there.verify(old.plain, clientAddress), refused('key_revoked'))
  assert.deepEqual(await hold(await there.verify(next.plain, clientAddress)), { granted: 10n })
})

test('gives an old key no new fence when a reissue commits during its check', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const old = await activeKey(keys, book)
  const next = await issue(keys, book)
  const overtaken = startProcess({
    ...at.database.db,
    async query(text, values) {
      const answer = await at.database.db.query(text, values)
      await confirm(keys, book, next.keyId)
      return answer
    },
  })
  const caller = await overtaken.verify(old.plain, clientAddress)
  assert.equal((await keys.find(book)).active?.keyId, next.keyId)
  await assert.rejects(hold(caller), refused('key_revoked'))
})

test('confirms a key once when confirmations repeat or run at the same time', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const book = await at.ledger.createBook(at.database.db)
  const { keyId } = await issue(here, book)
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => confirm(n % 2 === 0 ? here : there, book, keyId)),
  )
  assert.equal(answers.filter(({ isRepeat }) => !isRepeat).length, 1)
  assert.equal(await fenceOf(book), 1n)
  assert.equal((await confirm(there, book, keyId)).isRepeat, true)
  assert.equal(await fenceOf(book), 1n)
})

test('keeps one of six keys that are issued at once, and confirms only that one', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const book = await at.ledger.createBook(at.database.db)
  const issued = await Promise.all(
    Array.from({ length: 6 }, (_, n) => issue(n % 2 === 0 ? here : there, book)),
  )
  const outcomes = await Promise.allSettled(
    issued.map(({ keyId }, n) => confirm(n % 2 === 0 ? there : here, book, keyId)),
  )
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') assert.ok(isRefusal(outcome.reason, 'key_pending_missing'))
  }
})

test('refuses to confirm a key of another book, or an unknown key', async () => {
  const keys = startProcess()
  const [mine, yours] = [
    await at.ledger.createBook(at.database.db),
    await at.ledger.createBook(at.database.db),
  ]
  const { keyId } = await issue(keys, mine)
  const missing = refused('key_pending_missing')
  await assert.rejects(confirm(keys, yours, keyId), missing)
  await assert.rejects(confirm(keys, mine, 'key_AAAAAAAAAAAAAA'), missing)
  await assert.rejects(confirm(keys, mine, "key_' or \0"), missing)
})

test('revokes the active key and deletes the pending one, for good', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const { keyId, plain } = await activeKey(keys, book)
  const caller = await keys.verify(plain, clientAddress)
  const waiting = await issue(keys, book)

  assert.deepEqual(await revoke(keys, book), { revoked: keyId })
  await assert.rejects(hold(caller), refused('key_revoked'))
  await assert.rejects(confirm(keys, book, waiting.keyId), refused('key_pending_missing'))
  await assert.rejects(confirm(keys, book, keyId), refused('key_pending_missing'))
  assert.deepEqual(await keys.find(book), {})
  const fence = await fenceOf(book)
  assert.deepEqual(await revoke(keys, book), { revoked: undefined })
  assert.equal(await fenceOf(book), fence)
})

test('changes nothing when a confirmation is rolled back', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const old = await activeKey(keys, book)
  const next = await issue(keys, book)
  await assert.rejects(
    at.database.db.transaction(async (tx) => {
      await keys.confirm(tx, book, next.keyId)
      throw new Error('the e-mail was not queued')
    }),
    /the e-mail/,
  )
  assert.deepEqual(await hold(await keys.verify(old.plain, clientAddress)), { granted: 10n })
  await assert.rejects(keys.verify(next.plain, clientAddress), refused('key_unknown'))
})

test('refuses to issue a key for an unknown book', async () => {
  const unknownBook = 999_999_999n as BookId
  await assert.rejects(issue(startProcess(), unknownBook), refused('book_unknown'))
})

test('refuses in the table a second active key, and any change of a revoked key', async () => {
  const keys = startProcess()
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  const old = await activeKey(keys, book)
  const { keyId } = await activeKey(keys, book)
  const copy = (id: string, state: string, times: string) =>
    db.query(
      `insert into keys (id, book_id, state, fence, last4, hash, activated_at, revoked_at)
       select '${id}', book_id, '${state}', ${times} from keys where id = '${keyId}'`,
    )
  const active = 'fence, last4, hash, activated_at, revoked_at'
  const pending = 'null, last4, hash, null, null'
  await assert.rejects(copy('key_AAaaaaaaaaaaaa', 'active', active), /keys_active_are_one_per_book/)
  await copy('key_AAbbbbbbbbbbbb', 'pending', pending)
  await assert.rejects(
    copy('key_AAcccccccccccc', 'pending', pending),
    /keys_pending_are_one_per_book/,
  )
  for (const [where, change] of [
    [old.keyId, `state = 'active', revoked_at = null`],
    [keyId, `state = 'pending', activated_at = null, fence = null`],
    [keyId, `state = 'revoked', revoked_at = now(), book_id = book_id + 1`],
    [keyId, `state = 'revoked', revoked_at = now(), fence = fence + 1`],
    [keyId, 'hash = hash'],
  ]) {
    await assert.rejects(
      db.query(`update keys set ${change} where id = '${where}'`),
      /nothing else of it changes/,
    )
  }
  await assert.rejects(db.query(`delete from keys where id = '${keyId}'`), /nothing else/)
  await assert.rejects(
    copy('key_AAdddddddddddd', 'revoked', active),
    /keys_states_have_their_times/,
  )
})

test('refuses in the table a plain key, and any hash but Argon2id', async () => {
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  const plain = `sk-vendor-03-${'p'.repeat(43)}`
  for (const value of [plain, createHash('sha256').update(plain).digest('hex')]) {
    await assert.rejects(
      db.query(
        `insert into keys (id, book_id, state, last4, hash)
         values ('key_AAeeeeeeeeeeee', $1, 'pending', 'pppp', $2)`,
        [book, value],
      ),
      /keys_are_kept_only_as_argon2id/,
    )
  }
})

test('stores neither the plain value of a key nor a fast hash of it in any table', async () => {
  const keys = startProcess()
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  const { plain } = await activeKey(keys, book)
  const other = await at.ledger.createBook(db)
  const imported = `sk-vendor-03-canary-${createHash('sha256').update(plain).digest('base64url')}`
  await db.transaction((tx) => keys.importKey(tx, other, imported))
  await issue(keys, book)

  const needles = [
    plain.slice('sk-vendor-api03-'.length + 14, -11),
    imported.slice('sk-vendor-03-'.length, 'sk-vendor-03-'.length + 12),
    imported.slice(-12),
    ...[plain, imported].flatMap((text) =>
      ['sha256', 'sha1', 'md5', 'sha512'].flatMap((name) => [
        createHash(name).update(text).digest('hex').slice(0, 20),
        createHash(name).update(text).digest('base64').slice(0, 16),
        createHash(name).update(text).digest('base64url').slice(0, 16),
      ]),
    ),
    Buffer.from(imported.slice(-12)).toString('hex'),
  ]
  const tables = await db.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  assert.ok(tables.rows.length > 10)
  for (const { name } of tables.rows as { name: string }[]) {
    const { rows } = await db.query(
      `select needle from ${name} as row, unnest($1::text[]) as needle
       where position(needle in row::text) > 0`,
      [needles],
    )
    assert.deepEqual(rows, [], name)
  }
  const { rows } = await db.query('select from keys as row where row::text ~ $1', [plain.slice(-4)])
  assert.equal(rows.length, 1)
})

test('imports a key for one book only, and one key for a book', async () => {
  const keys = startProcess()
  const { db } = at.database
  const [first, second] = [await at.ledger.createBook(db), await at.ledger.createBook(db)]
  const plain = 'sk-vendor-03-onekeyforonebook-0123456789'
  const importFor = (book: BookId, key: string) =>
    db.transaction((tx) => keys.importKey(tx, book, key))
  await importFor(first, plain)
  await assert.rejects(importFor(second, plain), refused('key_import_refused'))
  await assert.rejects(importFor(first, `${plain}-another`), refused('key_import_refused'))
})
