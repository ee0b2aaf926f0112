// A key's life on a real PostgreSQL with a real ledger: who stops whom, and what the table refuses.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  quiet,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import { type BookId, newHoldId } from '../platform/ids.ts'
import { Masked } from '../platform/masked.ts'
import { isRefusal, type RefusalCode } from '../platform/refusal.ts'
import type { Credits } from '../units/credits.ts'
import { millionths } from '../units/price.ts'
import { type Caller, createKeys, type Keys } from './keys.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  ledger: undefined as unknown as TestLedger,
}
const home = '192.0.2.1'

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

/** The keys room as one more process would have it. */
function startProcess(db: Db = at.database.db): Keys {
  return createKeys({
    db,
    ledger: at.ledger,
    clock: systemClock,
    log: quiet,
    slug: 'vendor',
    cell: 0,
    tagSecret: new Masked('a tag secret'),
    lookupSecret: new Masked('a lookup secret'),
    verifiedMax: 100,
    wrongMax: 100,
    verifyQueue: 64,
    wrongPerMinute: 1_000,
  })
}

const issue = (keys: Keys, book: BookId) => at.database.db.transaction((tx) => keys.issue(tx, book))
const confirm = (keys: Keys, book: BookId, keyId: string) =>
  at.database.db.transaction((tx) => keys.confirm(tx, book, keyId))
const revoke = (keys: Keys, book: BookId) =>
  at.database.db.transaction((tx) => keys.revoke(tx, book))
const fenceOf = async (book: BookId) => (await at.ledger.balance(book))?.fence
const refused = (code: RefusalCode) => (error: unknown) => isRefusal(error, code)

async function activeKey(keys: Keys, book: BookId) {
  const key = await issue(keys, book)
  await confirm(keys, book, key.keyId)
  return key
}

/** A book with credits, and a way to set some aside in a caller's name. */
async function fundedBook() {
  const { db } = at.database
  const book = await at.ledger.open(db)
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
  const price = { coefficient: zero, cacheRead: zero, cacheWrite5m: zero, cacheWrite1h: zero }
  const tariff = await at.ledger.tariff({ catalogueVersion: 1, model: 'model-small', price })
  const hold = ({ book: of, fence }: Caller) => {
    const id = newHoldId(0, systemClock.nowMs())
    const amount = 10n as Credits
    return at.ledger.hold({ id, book: of, tariff, fence, worst: amount, floor: amount })
  }
  return { book, hold }
}

test('a new key is pending, and works from its confirmation on', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const { keyId, plain, last4 } = await issue(keys, book)
  await assert.rejects(keys.verify(plain, home), refused('key_unknown'))
  assert.equal((await keys.find(book)).pending?.keyId, keyId)

  await confirm(keys, book, keyId)
  const caller = await keys.verify(plain, home)
  assert.deepEqual([caller.keyId, caller.last4, caller.book], [keyId, last4, book])
  assert.equal(caller.fence, await fenceOf(book))
  assert.deepEqual(await hold(caller), { granted: 10n })
  assert.deepEqual(await keys.fresh(caller), caller)
  const found = await keys.find(book)
  assert.deepEqual(found, { active: { keyId, last4, createdAt: caller.createdAt } })
})

test('a reissued key stops on every node at the commit of its successor', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const { book, hold } = await fundedBook()
  const old = await activeKey(here, book)
  const caller = await there.verify(old.plain, home)

  const next = await issue(here, book)
  assert.deepEqual(await hold(caller), { granted: 10n })
  await at.database.db.transaction(async (tx) => {
    await here.confirm(tx, book, next.keyId)
    assert.deepEqual(await there.fresh(caller), caller)
  })

  // The other node still remembers the key; nothing is admitted on the strength of that.
  assert.equal(await there.verify(old.plain, home), caller)
  await assert.rejects(hold(caller), refused('key_revoked'))
  await assert.rejects(there.fresh(caller), refused('key_revoked'))
  there.forget(old.plain)
  await assert.rejects(there.verify(old.plain, home), refused('key_revoked'))
  assert.deepEqual(await hold(await there.verify(next.plain, home)), { granted: 10n })
})

test('a check overtaken by a reissue gives the old key no new fence', async () => {
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
  const caller = await overtaken.verify(old.plain, home)
  assert.equal((await keys.find(book)).active?.keyId, next.keyId)
  await assert.rejects(hold(caller), refused('key_revoked'))
})

test('a confirmation repeated, or raced from two tabs, happens once', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const book = await at.ledger.open(at.database.db)
  const { keyId } = await issue(here, book)
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => confirm(n % 2 === 0 ? here : there, book, keyId)),
  )
  assert.equal(answers.filter(({ isRepeat }) => !isRepeat).length, 1)
  assert.equal(await fenceOf(book), 1n)
  assert.equal((await confirm(there, book, keyId)).isRepeat, true)
  assert.equal(await fenceOf(book), 1n)
})

test('of keys issued at once one is left, and only that one can be confirmed', async () => {
  const [here, there] = [startProcess(), startProcess()]
  const book = await at.ledger.open(at.database.db)
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

test("a key cannot be confirmed for another's book, nor one that never was", async () => {
  const keys = startProcess()
  const [mine, yours] = [await at.ledger.open(at.database.db), await at.ledger.open(at.database.db)]
  const { keyId } = await issue(keys, mine)
  const missing = refused('key_pending_missing')
  await assert.rejects(confirm(keys, yours, keyId), missing)
  await assert.rejects(confirm(keys, mine, 'key_AAAAAAAAAAAAAA'), missing)
  await assert.rejects(confirm(keys, mine, "key_' or \0"), missing)
})

test('a compromised key ends at once, with the one that waited, and stays ended', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const { keyId, plain } = await activeKey(keys, book)
  const caller = await keys.verify(plain, home)
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

test('a confirmation that is rolled back changes nothing', async () => {
  const keys = startProcess()
  const { book, hold } = await fundedBook()
  const old = await activeKey(keys, book)
  const next = await issue(keys, book)
  await assert.rejects(
    at.database.db.transaction(async (tx) => {
      await keys.confirm(tx, book, next.keyId)
      throw new Error('the letter was not queued')
    }),
    /the letter/,
  )
  assert.deepEqual(await hold(await keys.verify(old.plain, home)), { granted: 10n })
  await assert.rejects(keys.verify(next.plain, home), refused('key_unknown'))
})

test('there is no key without a book', async () => {
  const nobody = 999_999_999n as BookId
  await assert.rejects(issue(startProcess(), nobody), refused('book_unknown'))
})

test('the table itself refuses a second key in force, and a key that comes back', async () => {
  const keys = startProcess()
  const { db } = at.database
  const book = await at.ledger.open(db)
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

test('the table itself refuses a plain key, and any hash but Argon2id', async () => {
  const { db } = at.database
  const book = await at.ledger.open(db)
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

test('the plain value of a key is nowhere in the database, nor a fast hash of it', async () => {
  const keys = startProcess()
  const { db } = at.database
  const book = await at.ledger.open(db)
  const { plain } = await activeKey(keys, book)
  const other = await at.ledger.open(db)
  const brought = `sk-vendor-03-canary-${createHash('sha256').update(plain).digest('base64url')}`
  await db.transaction((tx) => keys.importOne(tx, other, brought))
  await issue(keys, book)

  const needles = [
    plain.slice('sk-vendor-api03-'.length + 14, -11),
    brought.slice('sk-vendor-03-'.length, 'sk-vendor-03-'.length + 12),
    brought.slice(-12),
    ...[plain, brought].flatMap((text) =>
      ['sha256', 'sha1', 'md5', 'sha512'].flatMap((name) => [
        createHash(name).update(text).digest('hex').slice(0, 20),
        createHash(name).update(text).digest('base64').slice(0, 16),
        createHash(name).update(text).digest('base64url').slice(0, 16),
      ]),
    ),
    Buffer.from(brought.slice(-12)).toString('hex'),
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

test('a key is imported for one book only, and a book has one key', async () => {
  const keys = startProcess()
  const { db } = at.database
  const [first, second] = [await at.ledger.open(db), await at.ledger.open(db)]
  const plain = 'sk-vendor-03-onekeyforonebook-0123456789'
  const bring = (book: BookId, key: string) => db.transaction((tx) => keys.importOne(tx, book, key))
  await bring(first, plain)
  await assert.rejects(bring(second, plain), refused('key_import_refused'))
  await assert.rejects(bring(first, `${plain}-another`), refused('key_import_refused'))
})
