// Migration 0045 on acts of the version before: it takes the addresses out, once, and begins the
// chain with the oldest act.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyTriggers } from '../../src/acts/triggers.ts'
import { verifyChain } from '../../src/acts/verify.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { settingsOf } from '../support/harness.ts'
import { createDatabaseBefore } from '../support/version-before.ts'

test('older acts lose their addresses and become the beginning of the chain', async (t) => {
  const database = await createDatabaseBefore('0045')
  t.after(() => database.drop())
  const { db, url } = database
  await db.query(
    `insert into accounts (id, email, book_id)
     values ('acc_annaannaannaanna', 'anna@example.org', 1)`,
  )
  const write = (command: string, of: number | null, outcome: string, detail: string) =>
    db.query(
      `insert into operator_acts (of_act, acted_by, os_user, command, outcome, detail)
       values ($1, 'olga', 'olga@desk-1', $2, $3, $4)`,
      [of, command, outcome, detail],
    )
  await write('grant anna@example.org 700', null, 'done', 'entry 1')
  await write('mail test me@example.org', null, 'begun', '')
  await write('mail test me@example.org', 2, 'failed', '550 no such user me@example.org')
  await migrate(settingsOf(url))
  const { rows } = await db.query(
    'select number, of_act as of, command, detail from operator_acts order by id',
  )
  assert.deepEqual(rows, [
    { number: 1n, of: null, command: 'grant acc_annaannaannaanna 700', detail: 'entry 1' },
    { number: 2n, of: null, command: 'mail test [address]', detail: '' },
    { number: 3n, of: 2n, command: 'mail test [address]', detail: '550 no such user [address]' },
  ])
  await write('grant anna@example.org 800', null, 'done', '')
  const { last, findings } = await db.snapshot((tx) => verifyChain(tx))
  assert.deepEqual([last.number, findings], [4n, []])
  assert.deepEqual(await verifyTriggers(db), [])
  await assert.rejects(db.query('delete from operator_acts'), /never changed or removed/)
})
