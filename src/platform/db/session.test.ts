// A session that is not as asked for is refused with a sentence; the pool's settings hold in each
// transaction, also where no session keeps them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  onServer,
  settingsOf,
  type TestDatabase,
} from '../../../test/support/harness.ts'
import { createLimitedDbUser } from '../../../test/support/limited-db-user.ts'
import { pgBouncerVersion, startPgBouncer } from '../../../test/support/pgbouncer.ts'
import { Masked } from '../masked.ts'
import { addressesOf, checkSessions } from './addresses.ts'
import { type Db, openClient, openDatabase } from './db.ts'
import { UnfitDatabase } from './session.ts'

const at = { database: undefined as unknown as TestDatabase }
before(async () => {
  at.database = await createTestDatabase()
})
after(() => at.database.drop())

const NAMES = [
  'TimeZone',
  'default_transaction_isolation',
  'idle_in_transaction_session_timeout',
  'jit',
  'lock_timeout',
  'statement_timeout',
]
const POOL_SETTINGS = {
  TimeZone: 'UTC',
  default_transaction_isolation: 'read committed',
  idle_in_transaction_session_timeout: '60000',
  jit: 'off',
  lock_timeout: '5000',
  statement_timeout: '60000',
}

async function settingsSeenBy(executor: Pick<Db, 'query'>) {
  const { rows } = await executor.query(
    'select json_object_agg(name, setting) as found from pg_settings where name = any ($1)',
    [NAMES],
  )
  return (rows[0] as { found: Record<string, string> }).found
}

/** Opens a connection as the ledger does, and verifies it. */
async function verify(url: string, session: Record<string, string> = {}): Promise<void> {
  const client = openClient(settingsOf(url), 'test', session)
  await client.connect()
  await client.verify().finally(() => client.end())
}

const check = (url: string, directUrl = 'none') =>
  checkSessions(
    addressesOf({ ...settingsOf(url), url: new Masked(url), directUrl: new Masked(directUrl) }),
    {},
    async () => undefined,
  )

function unfit(sentence: RegExp) {
  return (error: Error) => error instanceof UnfitDatabase && sentence.test(error.message)
}

test('accepts only values of synchronous_commit that survive the loss of a machine', async () => {
  const dbUser = await createLimitedDbUser(at.database)
  const name = new URL(dbUser.url).username
  const set = (value: string) =>
    onServer((client) => client.query(`alter role ${name} set synchronous_commit = ${value}`))
  for (const value of ['on', 'remote_apply', 'remote_write']) {
    await set(value)
    await verify(dbUser.url)
  }
  for (const value of ['off', 'local']) {
    await set(value)
    const sentence = new RegExp(`synchronous_commit = ${value}, .* loses charges.*ALTER ROLE`)
    await assert.rejects(verify(dbUser.url), unfit(sentence))
  }
  await dbUser.drop()
})

test('refuses a session in which a setting did not arrive, and names it', async () => {
  const client = openClient(settingsOf(at.database.url), 'test', { enable_seqscan: 'off' })
  await client.connect()
  await client.verify()
  for (const [name, value] of [
    ['enable_seqscan', 'on'],
    ['lock_timeout', '0'],
    ['jit', 'on'],
    ['TimeZone', 'Asia/Tokyo'],
    ['default_transaction_isolation', 'serializable'],
  ]) {
    await client.query(`set ${name} = '${value}'`)
    await assert.rejects(client.verify(), unfit(new RegExp(`has ${name} = ${value}, but `)))
    await client.query(`reset ${name}`)
  }
  await client.verify()
  await client.end()
})

test('options in the address are kept and do not replace ours', async () => {
  const url = new URL(at.database.url)
  url.searchParams.set('options', '-c work_mem=7MB -c lock_timeout=1')
  await verify(url.href)
  const db = openDatabase(settingsOf(url.href), 'test', () => undefined)
  assert.deepEqual(await settingsSeenBy(db), POOL_SETTINGS)
  const { rows } = await db.query(`select current_setting('work_mem') as memory`)
  assert.deepEqual(rows, [{ memory: '7MB' }])
  await db.end()
})

test('behind a pooler every statement and transaction begins with the settings', async () => {
  const settings = { ...settingsOf(at.database.url), poolSize: 1, isPooler: true }
  const db = openDatabase(settings, 'test', () => undefined)
  assert.deepEqual(await settingsSeenBy(db), POOL_SETTINGS)
  assert.deepEqual(await db.transaction(settingsSeenBy), POOL_SETTINGS)
  assert.deepEqual(await db.snapshot(settingsSeenBy), POOL_SETTINGS)
  await db.end()
})

test('refuses two addresses that lead to different databases', async () => {
  const other = await createTestDatabase()
  await check(at.database.url, at.database.url)
  await assert.rejects(check(at.database.url, other.url), unfit(/lead to different databases/))
  await other.drop()
})

const version = pgBouncerVersion()
const skip = version === undefined ? 'PgBouncer is not installed' : false

test('recognises PgBouncer, whether it drops our settings or refuses them', { skip }, async () => {
  for (const ignored of [[], ['options', 'extra_float_digits']]) {
    const bouncer = await startPgBouncer(at.database.url, ignored)
    const url = bouncer.urlOf(at.database.url)
    try {
      await assert.rejects(
        check(url),
        unfit(/^database\.url leads to a connection pooler .*set da/),
      )
      await assert.rejects(
        check(url, url),
        unfit(/^database\.directUrl leads to a connection pool/),
      )
      await check(url, at.database.url)
    } finally {
      await bouncer.stop()
    }
  }
})

test('through PgBouncer the pool has its settings in shared sessions', { skip }, async () => {
  const bouncer = await startPgBouncer(at.database.url)
  const url = bouncer.urlOf(at.database.url)
  const db = openDatabase({ ...settingsOf(url), isPooler: true }, 'test', () => undefined)
  try {
    // Eight connections of ours share four sessions.
    const seen = await Promise.all(
      Array.from({ length: 64 }, (_, i) =>
        i % 2 === 0 ? settingsSeenBy(db) : db.snapshot(settingsSeenBy),
      ),
    )
    for (const one of seen) assert.deepEqual(one, POOL_SETTINGS)
  } finally {
    await db.end()
    await bouncer.stop()
  }
})
