// A pool leaves a read-only server: idle connections close, statements under way may finish.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { until } from '../../../test/stages/mail.ts'
import { createTestDatabase, settingsOf, type TestDatabase } from '../../../test/support/harness.ts'
import { isDatabaseUnavailable } from './database-errors.ts'
import { type Db, openDatabase, type Tx } from './db.ts'
import { openPool } from './pool.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  await database.db.query('create table marks (n int4)')
})
after(() => database.drop())

const pidOf = async ({ query }: Pick<Tx, 'query'>) => {
  const { rows } = await query('select pg_backend_pid() as pid')
  return (rows[0] as { pid: number }).pid
}

/** Opens `count` connections at once, oldest first; the newest is the next to be used. */
async function openConnections(db: Db, count: number): Promise<number[]> {
  if (count === 0) return []
  return db.transaction(async (tx) => [await pidOf(tx), ...(await openConnections(db, count - 1))])
}

/** The error of a read-only server. */
async function failToWrite(db: Db): Promise<void> {
  const work = db.transaction(async (tx) => {
    await tx.query('set transaction read only')
    await tx.query('insert into marks values (0)')
  })
  await assert.rejects(work, (error: Error & { code?: string }) => {
    assert.equal(error.code, '25006')
    return isDatabaseUnavailable(error)
  })
}

const isConnected = async (pid: number) => {
  const { rows } = await database.db.query('select from pg_stat_activity where pid = $1', [pid])
  return rows.length > 0
}

const isGone = (pid: number) => until(`${pid} is gone`, async () => !(await isConnected(pid)))

test('leaves a connection that cannot write, and all older ones', async () => {
  const db = openDatabase(settingsOf(database.url), 'test left', () => undefined)
  // Nested, so the innermost is the newest and is released first.
  const [oldest = 0, middle = 0, newest = 0] = await openConnections(db, 3)
  const used = await db.transaction(async (first) => {
    assert.equal(await pidOf(first), oldest)
    await db.transaction(async (second) => {
      assert.equal(await pidOf(second), middle)
      await failToWrite(db)
    })
    return pidOf(first)
  })
  assert.equal(used, oldest, 'what was under way went on')
  for (const pid of [oldest, middle, newest]) await isGone(pid)
  assert.ok(![oldest, middle, newest].includes(await pidOf(db)))
  await db.end()
})

test('a transaction that began before the switch can still commit', async () => {
  const db = openDatabase(settingsOf(database.url), 'test commits', () => undefined)
  const pid = await db.transaction(async (tx) => {
    await tx.query('insert into marks values (7)')
    await failToWrite(db)
    return pidOf(tx)
  })
  const { rows } = await db.query('select n from marks where n = 7')
  assert.equal(rows.length, 1)
  await isGone(pid)
  await db.end()
})

test('closes idle connections at once, also one that listens for notifications', async () => {
  const lost: Error[] = []
  const pool = openPool({ connectionString: database.url }, (error) => lost.push(error))
  const listening = await pool.connect()
  await listening.query('listen marks')
  const ended = Promise.withResolvers<unknown>()
  listening.once('error', ended.resolve)
  const failing = await pool.connect()
  await failing.query('set default_transaction_read_only = on')
  await assert.rejects(failing.query('insert into marks values (0)'), { code: '25006' })
  failing.release()
  await ended.promise
  listening.release()
  await until('nothing is left', async () => pool.totalCount === 0)
  assert.deepEqual(lost, [], 'the pool had none of them')
  await pool.end()
})

test('replaces a read-only session even when no statement writes', async () => {
  const config = { connectionString: database.url, max: 1, idleTimeoutMillis: 0 }
  const pool = openPool(config, () => undefined, 300)
  const run = async (text: string) => (await pool.query(text)).rows[0]
  const pid = async () => (await run('select pg_backend_pid() as pid')).pid as number
  const first = await pid()
  await run('set default_transaction_read_only = on')
  await run('set default_transaction_read_only = off')
  await new Promise((resolve) => setTimeout(resolve, 400))
  assert.equal(await pid(), first, 'it writes again in time')
  await run('set default_transaction_read_only = on')
  assert.equal(await pid(), first, 'it is used until then')
  await isGone(first)
  assert.notEqual(await pid(), first)
  await pool.end()
})

test('does not reuse a connection that did not answer in time', async () => {
  const config: pg.PoolConfig = { connectionString: database.url, max: 1, query_timeout: 200 }
  const pool = openPool(config, () => undefined)
  const client = await pool.connect()
  await assert.rejects(client.query('select pg_sleep(5)'), /timeout/)
  client.release()
  assert.deepEqual((await pool.query('select 1 as one')).rows, [{ one: 1 }])
  await pool.end()
})
