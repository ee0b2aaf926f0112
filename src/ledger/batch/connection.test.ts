// Tests of one connection of the ledger: which answers are accepted. Otherwise the outcome is
// unknown, and the next call uses a new connection.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase } from '../../../test/support/harness.ts'
import { createTestDatabase, settingsOf } from '../../../test/support/harness.ts'
import { isTransient, OutcomeUnknown } from '../../platform/db/database-errors.ts'
import { openClient } from '../../platform/db/db.ts'
import type { Connection } from './connection.ts'
import { createConnection } from './connection.ts'

let database: TestDatabase
let connection: Connection
/** Gives up on a call that the server has not answered within a second. */
let shortDeadline: Connection

before(async () => {
  database = await createTestDatabase()
  await database.db.query(
    `create function say(level text) returns text language plpgsql as $$
     begin
       if level = 'warning' then
         raise warning 'canceling wait for synchronous replication due to user request';
       else
         raise notice 'nothing to worry about';
       end if;
       return level;
     end $$`,
  )
  connection = createConnection({
    open: () => openClient(settingsOf(database.url), 'test', {}),
    deadlineMs: 10_000,
  })
  shortDeadline = createConnection({
    open: () => openClient(settingsOf(database.url), 'test', {}),
    deadlineMs: 1_000,
  })
})
after(async () => {
  await connection.close()
  await shortDeadline.close()
  await database.drop()
})

const run = (text: string, on = connection) => on.run({ name: '', text, values: [] })
const backend = async (on = connection) => (await run('select pg_backend_pid()', on))[0]

test('treats an answer with a warning as unknown, and drops its connection', async () => {
  const before = await backend()
  await assert.rejects(run(`select say('warning')`), OutcomeUnknown)
  assert.notEqual(await backend(), before)
})

test('accepts an answer with a notice', async () => {
  assert.deepEqual(await run(`select say('notice')`), ['notice'])
})

test('prepares a named statement once, and sends every kind of value', async () => {
  const values = [-(2n ** 63n), 7, true, 'ключ, "key" \\ ', null, Buffer.from([0, 255])]
  const kinds = {
    name: 'kinds',
    text: 'select $1::int8, $2::int4, $3::boolean, $4::text, $5::text, $6::bytea',
    values,
  }
  const expected = ['-9223372036854775808', '7', 't', 'ключ, "key" \\ ', null, '\\x00ff']
  assert.deepEqual(await Promise.all([connection.run(kinds), connection.run(kinds)]), [
    expected,
    expected,
  ])
  const prepared = `select count(*) from pg_prepared_statements where name = 'kinds'`
  assert.deepEqual(await run(prepared), ['1'])
})

test('prepares a statement again whose first preparation failed', async () => {
  const late = { name: 'late', text: 'select count(*) from late_marks', values: [] }
  await assert.rejects(connection.run(late), { code: '42P01' })
  await database.db.query('create table late_marks ()')
  assert.deepEqual(await connection.run(late), ['0'])
})

test('prepares a statement again after the server deallocated it and refused it once', async () => {
  const kept = { name: 'kept', text: 'select 7', values: [] }
  assert.deepEqual(await connection.run(kept), ['7'])
  await run('deallocate all')
  await assert.rejects(connection.run(kept), { code: '26000' })
  assert.deepEqual(await connection.run(kept), ['7'])
})

test('treats a missed deadline as unknown, and cancels nothing', async () => {
  await database.db.query('create table slow_marks (at timestamptz)')
  await assert.rejects(
    run(
      'with slept as (select pg_sleep(1.5)) insert into slow_marks select now() from slept',
      shortDeadline,
    ),
    OutcomeUnknown,
  )
  // The statement ran to its end, although its caller gave up.
  for (let i = 0; i < 500; i++) {
    const { rows } = await database.db.query('select from slow_marks')
    if (rows.length === 1) return
    await run('select pg_sleep(0.02)')
  }
  assert.fail('the statement was cancelled')
})

test('passes on an error of the server and keeps the connection', async () => {
  const before = await backend()
  await assert.rejects(run('select 1 / 0'), { code: '22012' })
  assert.equal(await backend(), before)
})

test('runs calls on one connection in order, each in its own transaction', async () => {
  const fresh = createConnection({
    open: () => openClient(settingsOf(database.url), 'test', {}),
    deadlineMs: 5_000,
  })
  const who = 'select pg_backend_pid(), pg_current_xact_id()'
  const [first, refused, third] = await Promise.allSettled(
    [who, 'select 1 / 0', who].map((text) => fresh.run({ name: '', text, values: [] })),
  )
  assert.equal(refused?.status, 'rejected')
  assert.ok(first?.status === 'fulfilled' && third?.status === 'fulfilled')
  assert.equal(first.value[0], third.value[0])
  assert.ok(BigInt(first.value[1] ?? 0) < BigInt(third.value[1] ?? 0))
  await fresh.close()
})

test('treats all calls in flight on a lost connection as unknown', async () => {
  const before = await backend(shortDeadline)
  const calls = ['select pg_sleep(5)', 'select 1'].map((text) => run(text, shortDeadline))
  for (const one of await Promise.allSettled(calls)) {
    assert.ok(one.status === 'rejected' && isTransient(one.reason))
  }
  assert.notEqual(await backend(shortDeadline), before)
})

test('closes without waiting for a call in flight', async () => {
  const leaving = createConnection({
    open: () => openClient(settingsOf(database.url), 'test', {}),
    deadlineMs: 60_000,
  })
  await leaving.run({ name: '', text: 'select 1', values: [] })
  const lost = leaving.run({ name: '', text: 'select pg_sleep(60)', values: [] })
  const rejected = assert.rejects(lost, (error) => isTransient(error))
  await new Promise((resolve) => setImmediate(resolve)) // it has been sent
  await leaving.close()
  await rejected
})

test('opens a new connection after the server ended one', async () => {
  const before = await backend()
  const rejected = assert.rejects(run('select pg_sleep(10)'), (error) => isTransient(error))
  await database.db.query('select pg_terminate_backend($1)', [before])
  await rejected
  assert.notEqual(await backend(), before)
})

test('treats every error while connecting as transient', async () => {
  const closed = createConnection({
    open: () =>
      openClient(settingsOf(database.url.replace(database.name, 'no_such_database')), 'test', {}),
    deadlineMs: 5_000,
  })
  const asked = closed.run({ name: 'none', text: 'select 1', values: [] })
  await assert.rejects(asked, (error) => error instanceof OutcomeUnknown && isTransient(error))
  await closed.close()
})
