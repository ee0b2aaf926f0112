// Verifying keys on a real PostgreSQL: what each kind of key costs, and what is never a 401.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  serverUrl,
  settingsOf,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { type Db, openDatabase } from '../platform/db/db.ts'
import { createLog } from '../platform/log.ts'
import { Masked } from '../platform/masked.ts'
import { isRefusal, type RefusalCode } from '../platform/refusal.ts'
import { createKeys, type KeysOptions } from './keys.ts'

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

/** A process of its own: keys, a clock, a count of the queries sent, and what was logged. */
function startProcess(changes: Partial<KeysOptions> = {}) {
  const seen = { ms: 0, queries: 0, lines: [] as string[] }
  const { db } = at.database
  const counted: Db = {
    ...db,
    query: (text, values) => {
      seen.queries += 1
      return (changes.db ?? db).query(text, values)
    },
  }
  const keys = createKeys({
    ledger: at.ledger,
    clock: { nowMs: () => seen.ms, spanMs: () => seen.ms },
    log: createLog({ level: 'trace', destination: { write: (line) => seen.lines.push(line) } }),
    slug: 'vendor',
    cell: 0,
    tagSecret: new Masked('a tag secret'),
    lookupSecret: new Masked('a lookup secret'),
    verifiedMax: 100,
    wrongMax: 100,
    verifyQueue: 64,
    wrongPerMinute: 20,
    ...changes,
    db: counted,
  })
  return { seen, keys, ...keys }
}

async function activeKey() {
  const { keys } = startProcess()
  const book = await at.ledger.open(at.database.db)
  return at.database.db.transaction(async (tx) => {
    const key = await keys.issue(tx, book)
    await keys.confirm(tx, book, key.keyId)
    return { ...key, book }
  })
}

const importable = () => `sk-vendor-03-${randomBytes(24).toString('base64url')}`

async function importedKey(plain = importable()) {
  const book = await at.ledger.open(at.database.db)
  await at.database.db.transaction((tx) => startProcess().keys.importOne(tx, book, plain))
  return { plain, book }
}

const refused = (code: RefusalCode) => (error: unknown) => isRefusal(error, code)

async function codeOf(answer: Promise<unknown>): Promise<RefusalCode | 'verified'> {
  try {
    await answer
    return 'verified'
  } catch (error) {
    if (isRefusal(error)) return error.code
    throw error
  }
}

test('ten thousand made-up keys cost no query and no Argon2id', async () => {
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
  // Some 25 µs with the error's stack; an Argon2id would be 1,500.
  assert.ok(eachMicroseconds < 300, `${eachMicroseconds} µs each`)
  assert.equal(seen.queries, 0)
  const { argon2, queries, forged, wrong } = stats()
  assert.deepEqual([argon2.runs, queries, forged, wrong], [0, 0, 10_000, 0])
})

test('a hundred requests with one cold key cost one query and one Argon2id', async () => {
  const { plain, keyId } = await activeKey()
  const { seen, verify, stats } = startProcess()
  const callers = await Promise.all(Array.from({ length: 100 }, () => verify(plain, home)))
  assert.ok(callers.every((caller) => caller.keyId === keyId))
  assert.equal((await verify(plain, home)).keyId, keyId)
  assert.equal(seen.queries, 1)
  assert.deepEqual([stats().argon2.runs, stats().joined, stats().hits], [1, 99, 1])
})

test('an unknown issued key is looked up once, and again after half a minute', async () => {
  const { keys: elsewhere } = startProcess()
  const book = await at.ledger.open(at.database.db)
  const { plain } = await at.database.db.transaction(async (tx) => {
    const replaced = await elsewhere.issue(tx, book)
    await elsewhere.issue(tx, book)
    return replaced
  })
  const { seen, verify, stats } = startProcess()
  for (const queries of [1, 1, 1]) {
    await assert.rejects(verify(plain, home), refused('key_unknown'))
    assert.equal(seen.queries, queries)
  }
  seen.ms = 30_000
  await assert.rejects(verify(plain, home), refused('key_unknown'))
  assert.equal(seen.queries, 2)
  assert.deepEqual([stats().argon2.runs, stats().addresses], [0, 0])
})

test('malformed keys are told apart from unknown ones, and cost nothing', async () => {
  const { seen, verify } = startProcess()
  for (const plain of [
    '',
    'hello',
    'sk-other-api03-abc',
    'sk-vendor-03-short',
    'x'.repeat(99_999),
  ]) {
    await assert.rejects(verify(plain, home), refused('key_malformed'))
  }
  assert.equal(seen.queries, 0)
})

test('the address of a guesser is refused before any lookup; right keys pass from it', async () => {
  const [known, cold, brought] = [await activeKey(), await activeKey(), await importedKey()]
  const { seen, verify, stats } = startProcess()
  await verify(known.plain, home)
  const before = seen.queries
  const codes: string[] = []
  for (let n = 0; n < 30; n++) codes.push(await codeOf(verify(importable(), home)))
  assert.deepEqual(new Set(codes.slice(0, 20)), new Set(['key_unknown']))
  assert.deepEqual(new Set(codes.slice(20)), new Set(['key_attempts_exceeded']))
  assert.equal(seen.queries - before, 20)
  assert.equal(stats().throttled, 10)

  assert.equal(await codeOf(verify(known.plain, home)), 'verified')
  // A good tag is no guess, even from here; an imported key carries none.
  assert.equal(await codeOf(verify(cold.plain, home)), 'verified')
  assert.equal(await codeOf(verify(brought.plain, home)), 'key_attempts_exceeded')
  assert.equal(await codeOf(verify('hello', home)), 'key_attempts_exceeded')
  assert.equal(await codeOf(verify(importable(), '192.0.2.2')), 'key_unknown')
  seen.ms = 60_000
  assert.equal(await codeOf(verify(brought.plain, home)), 'verified')
  assert.equal(seen.lines.filter((line) => line.includes('sends wrong keys')).length, 1)
})

test('a revoked key in a loop does not count as guessing', async () => {
  const [issued, brought] = [await activeKey(), await importedKey()]
  const { keys, verify, stats } = startProcess({ wrongPerMinute: 1 })
  for (const { book } of [issued, brought]) {
    await at.database.db.transaction((tx) => keys.revoke(tx, book))
  }
  for (const { plain } of [issued, brought, issued, brought]) {
    await assert.rejects(verify(plain, home), refused('key_revoked'))
  }
  // An issued key shows what it is by its tag; an imported one only under Argon2id, once.
  assert.deepEqual([stats().addresses, stats().argon2.runs, stats().queries], [0, 1, 2])
})

test('more cold keys than the queue takes are put off, not refused as wrong', async () => {
  const brought = await Promise.all(Array.from({ length: 12 }, () => importedKey()))
  const { verify, stats } = startProcess({ verifyQueue: 1 })
  const codes = await Promise.all(brought.map(({ plain }) => codeOf(verify(plain, home))))
  assert.deepEqual(new Set(codes), new Set(['verified', 'key_checks_overloaded']))
  assert.equal(stats().argon2.overflows, codes.filter((code) => code !== 'verified').length)
  for (const { plain } of brought) assert.equal(await codeOf(verify(plain, home)), 'verified')
})

test('a database that is away says nothing about a key', async () => {
  const { plain } = await activeKey()
  const nowhere = openDatabase(settingsOf('postgres://postgres@localhost:1/none'), 'test', () => {})
  const line = { db: nowhere as Pick<Db, 'query'> }
  const db: Db = { ...at.database.db, query: (text, values) => line.db.query(text, values) }
  const { verify, fresh, keys } = startProcess({ db })
  await assert.rejects(verify(plain, home), refused('ledger_unavailable'))
  await assert.rejects(verify(importable(), home), refused('ledger_unavailable'))
  assert.equal(keys.stats().addresses, 0)

  line.db = at.database.db
  const caller = await verify(plain, home)
  line.db = nowhere
  assert.equal(await verify(plain, home), caller)
  await assert.rejects(fresh(caller), refused('ledger_unavailable'))
  await nowhere.end()
})

test('a table that is locked says nothing about a key', async () => {
  const { plain } = await activeKey()
  const { verify } = startProcess()
  await at.database.db.transaction(async (tx) => {
    await tx.query('lock table keys in access exclusive mode')
    await assert.rejects(verify(plain, home), refused('ledger_unavailable'))
  })
  assert.equal(await codeOf(verify(plain, home)), 'verified')
})

test('a statement of ours that is wrong is a fault, not a refusal', async () => {
  const { plain } = await activeKey()
  const empty = openDatabase(settingsOf(serverUrl), 'test', () => {})
  const { verify } = startProcess({ db: empty })
  await assert.rejects(verify(plain, home), { name: 'error', code: '42P01' })
  await empty.end()
})

test('what is logged and refused shows no key', async () => {
  const { plain } = await activeKey()
  const { seen, verify } = startProcess({ wrongPerMinute: 1 })
  const texts: string[] = []
  for (const key of [`${plain.slice(0, -1)}~`, importable(), plain.replace('api03', 'api04')]) {
    const error = await verify(key, home).catch((refusal: Error) => refusal)
    texts.push(JSON.stringify(error), String(error), JSON.stringify(Object.values(error)))
  }
  const all = [...texts, ...seen.lines].join('\n')
  assert.ok(seen.lines.length > 0)
  assert.equal(all.includes(plain.slice(20, 40)), false)
  assert.equal(/sk-vendor-/.test(all), false)
})
