// Lost connections fail the statements under way but not the process. And snapshots.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createTestDatabase, type TestDatabase } from '../../../test/support/harness.ts'

const at = { database: undefined as unknown as TestDatabase }
before(async () => {
  at.database = await createTestDatabase()
})
after(() => at.database.drop())

test('a connection lost between statements fails the transaction, not the process', async () => {
  const { db } = at.database
  const lost = db.transaction(async (tx) => {
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    const { pid } = rows[0] as { pid: number }
    await db.query('select pg_terminate_backend($1)', [pid])
    // No statement runs meanwhile, so that none is waiting when the connection ends.
    for (let looks = 0; looks < 500; looks++) {
      const seen = await db.query('select from pg_stat_activity where pid = $1', [pid])
      if (seen.rows.length === 0) break
      await pause(10)
    }
    // Without this it would pass as well, but might find the connection before its end does.
    await pause(50)
    await tx.query('select 1')
  })
  await assert.rejects(lost, /terminat|closed|not queryable/i)
  const { rows } = await db.query('select 1 as one')
  assert.deepEqual(rows, [{ one: 1 }])
})

test('a connection is reused after a transaction, committed or not', async () => {
  const { db } = at.database
  const pids = new Set<number>()
  for (let i = 0; i < 20; i++) {
    const work = db.transaction(async (tx) => {
      const { rows } = await tx.query('select pg_backend_pid() as pid')
      pids.add((rows[0] as { pid: number }).pid)
      if (i % 2 === 1) throw new Error('changed its mind')
    })
    await work.catch((error: Error) => assert.equal(error.message, 'changed its mind'))
  }
  assert.equal(pids.size, 1)
})

test('a snapshot sees one moment, and a transaction sees the newest data', async () => {
  const { db } = at.database
  await db.query('create table seen (n int4)')
  for (const [way, expected] of [
    ['snapshot', [0, 0]],
    ['transaction', [1, 2]],
  ] as const) {
    const seen = await db[way](async (tx) => {
      const count = async () => {
        const { rows } = await tx.query('select count(*)::int4 as n from seen')
        return (rows[0] as { n: number }).n
      }
      const first = await count()
      await db.query('insert into seen values (1)')
      return [first, await count()]
    })
    assert.deepEqual(seen, expected)
  }
})
