// Tests of verifying keys on a real PostgreSQL: the cost of each kind of key, and faults of ours
// that must not refuse a key as unknown.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  serverUrl,
  settingsOf,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { type Db, openDatabase } from '../platform/db/db.ts'
import { createLog } from '../platform/log.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { KeyCheckRefusalCode, KeysOptions } from './keys.ts'

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

/** The keys module of one process, with its clock, its number of queries and its log lines. */
function startProcess(changes: Partial<KeysOptions> = {}) {
  const seen = { ms: 0, queries: 0, lines: [] as string[] }
  const { db } = at.database
  const counted: Db = {
    ...db,
    query: (text, values) => {
      if (!text.includes('wrong_keys')) seen.queries += 1
      return (changes.db ?? db).query(text, values)
    },
  }
  const keys = createTestKeys(counted, at.ledger, {
    clock: { nowMs: () => seen.ms, spanMs: () => seen.ms },
    log: createLog({ level: 'trace', destination: { write: (line) => seen.lines.push(line) } }),
    ...changes,
    db: counted,
  })
  return { seen, keys, ...keys }
}

async function activeKey() {
  const { keys } = startProcess()
  const book = await at.ledger.createBook(at.database.db)
  return at.database.db.transaction(async (tx) => {
    const key = await keys.issue(tx, book)
    await keys.confirm(tx, book, key.keyId)
    return { ...key, book }
  })
}

const importable = () => `sk-vendor-03-${randomBytes(24).toString('base64url')}`

async function importedKey(plain = importable()) {
  const book = await at.ledger.createBook(at.database.db)
  await at.database.db.transaction((tx) => startProcess().keys.importKey(tx, book, plain))
  return { plain, book }
}

const refused = (code: KeyCheckRefusalCode) => (error: unknown) => isRefusal(error, code)

async function codeOf(answer: Promise<unknown>): Promise<string> {
  try {
    await answer
    return 'verified'
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}

test('refuses ten thousand made-up keys without a query and without Argon2id', async () => {
  const { seen, verify, stats } = startProcess()
  const madeUp = Array.from(
    { length: 10_000 },
    () => `sk-vendor-api03-AA${randomBytes(50).toString('base64url').slice(0, 66)}`,
  )
  const started = process.cpuUsage()
  for (const [n, plain] of madeUp.entries()) {
    await assert.rejects(verify(plain, `10.0.${n >> 8}.${n & 255}`), refused('key_unknown'))
  }
  const { user, system } = process.cpuUsage(started)
  const eachMicroseconds = (user + system) / madeUp.length
  // About 25 µs with the error's stack; Argon2id would take 1,500.
  assert.ok(eachMicroseconds < 300, `${eachMicroseconds} µs each`)
  assert.equal(seen.queries, 0)
  const { argon2, queries, forged, wrong } = stats()
  assert.deepEqual([argon2.runs, queries, forged, wrong], [0, 0, 10_000, 0])
})

test('checks a key once for a hundred requests that use it at the same time', async () => {
  const { plain, keyId } = await activeKey()
  const { seen, verify, stats } = startProcess()
  const callers = await Promise.all(Array.from({ length: 100 }, () => verify(plain, clientAddress)))
  assert.ok(callers.every((caller) => caller.keyId === keyId))
  assert.equal((await verify(plain, clientAddress)).keyId, keyId)
  assert.equal(seen.queries, 1)
  assert.deepEqual([stats().argon2.runs, stats().joined, stats().hits], [1, 99, 1])
})

test('looks an unknown issued key up once, and again after 30 seconds', async () => {
  const { keys: elsewhere } = startProcess()
  const book = await at.ledger.createBook(at.database.db)
  const { plain } = await at.database.db.transaction(async (tx) => {
    const replaced = await elsewhere.issue(tx, book)
    await elsewhere.issue(tx, book)
    return replaced
  })
  const { seen, verify, stats } = startProcess()
  for (const queries of [1, 1, 1]) {
    await assert.rejects(verify(plain, clientAddress), refused('key_unknown'))
    assert.equal(seen.queries, queries)
  }
  seen.ms = 30_000
  await assert.rejects(verify(plain, clientAddress), refused('key_unknown'))
  assert.equal(seen.queries, 2)
  assert.deepEqual([stats().argon2.runs, stats().addresses], [0, 0])
})

test('refuses malformed keys with key_malformed and without a query', async () => {
  const { seen, verify } = startProcess()
  for (const plain of [
    '',
    'hello',
    'sk-other-api03-abc',
    'sk-vendor-03-short',
    'x'.repeat(99_999),
  ]) {
    await assert.rejects(verify(plain, clientAddress), refused('key_malformed'))
  }
  assert.equal(seen.queries, 0)
})

test('refuses guesses of an address above its limit, but no known or issued keys', async () => {
  // Other tests of this file send wrong keys from theirs, and the database adds them up.
  const guesser = '192.0.2.9'
  const [known, cold, imported] = [await activeKey(), await activeKey(), await importedKey()]
  const { seen, verify, stats } = startProcess()
  await verify(known.plain, guesser)
  const before = seen.queries
  const codes: string[] = []
  for (let n = 0; n < 30; n++) codes.push(await codeOf(verify(importable(), guesser)))
  assert.deepEqual(new Set(codes.slice(0, 20)), new Set(['key_unknown']))
  assert.deepEqual(new Set(codes.slice(20)), new Set(['key_attempts_exceeded']))
  assert.equal(seen.queries - before, 20)
  assert.equal(stats().throttled, 10)

  assert.equal(await codeOf(verify(known.plain, guesser)), 'verified')
  // A key with a valid tag is not a guess; an imported key has no tag.
  assert.equal(await codeOf(verify(cold.plain, guesser)), 'verified')
  assert.equal(await codeOf(verify(imported.plain, guesser)), 'key_attempts_exceeded')
  assert.equal(await codeOf(verify('hello', guesser)), 'key_attempts_exceeded')
  assert.equal(await codeOf(verify(importable(), '192.0.2.10')), 'key_unknown')
  seen.ms = 60_000
  assert.equal(await codeOf(verify(imported.plain, guesser)), 'verified')
  assert.equal(seen.lines.filter((line) => line.includes('sends wrong keys')).length, 1)
})

test('does not count a revoked key as a guess', async () => {
  const [issued, imported] = [await activeKey(), await importedKey()]
  const { keys, verify, stats } = startProcess({ wrongPerMinute: 1 })
  for (const { book } of [issued, imported]) {
    await at.database.db.transaction((tx) => keys.revoke(tx, book))
  }
  for (const { plain } of [issued, imported, issued, imported]) {
    await assert.rejects(verify(plain, clientAddress), refused('key_revoked'))
  }
  // The tag identifies an issued key; an imported key needs one Argon2id check.
  assert.deepEqual([stats().addresses, stats().argon2.runs, stats().queries], [0, 1, 2])
})

test('refuses keys that do not fit the queue as overloaded, not as unknown', async () => {
  const imported = await Promise.all(Array.from({ length: 12 }, () => importedKey()))
  const { verify, stats } = startProcess({ verifyQueue: 1 })
  const codes = await Promise.all(imported.map(({ plain }) => codeOf(verify(plain, clientAddress))))
  assert.deepEqual(new Set(codes), new Set(['verified', 'key_checks_overloaded']))
  assert.equal(stats().argon2.overflows, codes.filter((code) => code !== 'verified').length)
  for (const { plain } of imported)
    assert.equal(await codeOf(verify(plain, clientAddress)), 'verified')
})

test('refuses with ledger_unavailable while the database is unavailable', async () => {
  const { plain } = await activeKey()
  const nowhere = openDatabase(settingsOf('postgres://postgres@localhost:1/none'), 'test', () => {})
  const line = { db: nowhere as Pick<Db, 'query'> }
  const db: Db = { ...at.database.db, query: (text, values) => line.db.query(text, values) }
  const { verify, recheck, keys } = startProcess({ db })
  await assert.rejects(verify(plain, clientAddress), refused('ledger_unavailable'))
  await assert.rejects(verify(importable(), clientAddress), refused('ledger_unavailable'))
  assert.equal(keys.stats().addresses, 0)

  line.db = at.database.db
  const caller = await verify(plain, clientAddress)
  line.db = nowhere
  assert.equal(await verify(plain, clientAddress), caller)
  await assert.rejects(recheck(caller), refused('ledger_unavailable'))
  await nowhere.end()
})

test('checks a key that it does not know when the database is back', async () => {
  const { plain } = await activeKey()
  const nowhere = openDatabase(settingsOf('postgres://postgres@localhost:1/none'), 'test', () => {})
  const state = { attempts: 0 }
  const query: Db['query'] = (text, values) => {
    state.attempts += 1
    return (state.attempts < 3 ? nowhere : at.database.db).query(text, values)
  }
  const { verify } = startProcess({ db: { ...at.database.db, query }, unavailableWaitMs: 20_000 })
  assert.equal(await codeOf(verify(plain, clientAddress)), 'verified')
  assert.equal(state.attempts, 3)
  await nowhere.end()
})

test('refuses with ledger_unavailable while the table is locked', async () => {
  const { plain } = await activeKey()
  const { verify } = startProcess()
  await at.database.db.transaction(async (tx) => {
    await tx.query('lock table keys in access exclusive mode')
    await assert.rejects(verify(plain, clientAddress), refused('ledger_unavailable'))
  })
  assert.equal(await codeOf(verify(plain, clientAddress)), 'verified')
})

test('throws the error of a wrong SQL statement, and no refusal', async () => {
  const { plain } = await activeKey()
  const empty = openDatabase(settingsOf(serverUrl), 'test', () => {})
  const { verify } = startProcess({ db: empty })
  await assert.rejects(verify(plain, clientAddress), { name: 'error', code: '42883' })
  await empty.end()
})

test('shows no key in logs and refusals', async () => {
  const { plain } = await activeKey()
  const { seen, verify } = startProcess({ wrongPerMinute: 1 })
  const texts: string[] = []
  for (const key of [`${plain.slice(0, -1)}~`, importable(), plain.replace('api03', 'api04')]) {
    const error = await verify(key, clientAddress).catch((refusal: Error) => refusal)
    texts.push(JSON.stringify(error), String(error), JSON.stringify(Object.values(error)))
  }
  const all = [...texts, ...seen.lines].join('\n')
  assert.ok(seen.lines.length > 0)
  assert.equal(all.includes(plain.slice(20, 40)), false)
  assert.equal(/sk-vendor-/.test(all), false)
})
