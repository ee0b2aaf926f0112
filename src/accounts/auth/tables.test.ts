// Our tables have what better-auth expects, and their constraints refuse wrong rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { getMigrations } from 'better-auth/db/migration'
import pg from 'pg'
import {
  accountSettings,
  CABINET,
  createStage,
  expect,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { quiet } from '../../../test/support/harness.ts'
import { systemClock } from '../../platform/clock.ts'
import { createPasswords } from '../../platform/passwords/passwords.ts'
import { authOptions } from './auth.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

test('better-auth finds no table, column or index missing', async () => {
  const options = authOptions({
    db: stage.db,
    clock: systemClock,
    log: quiet,
    brand: { name: 'Gate', supportEmail: 'help@example.org', cabinetUrl: CABINET },
    settings: accountSettings,
    passwords: createPasswords({ waitingMax: 1 }),
    sendReset: async () => undefined,
    onReset: async () => undefined,
  })
  const pool = new pg.Pool({ connectionString: stage.database.url })
  try {
    const plan = await getMigrations({ ...options, database: pool }, { throwOnUnsafe: false })
    assert.deepEqual(plan.toBeCreated, [])
    assert.deepEqual(plan.toBeAdded, [])
    assert.deepEqual(plan.toBeAddedIndexes, [])
    assert.deepEqual(plan.unsafeChanges, [])
    assert.deepEqual(plan.schemaProblems, [])
    await stage.accounts.check()
  } finally {
    await pool.end()
  }
})

test('the startup check fails when a table is missing', async () => {
  await stage.db.query('alter table passkeys rename to passkeys_elsewhere')
  try {
    await assert.rejects(stage.createAccountsWith().check(), /passkeys/)
  } finally {
    await stage.db.query('alter table passkeys_elsewhere rename to passkeys')
  }
})

test('constraints refuse rows that no code should write', async () => {
  const owner = await stage.person('constrained')
  const refused = async (constraint: string, statement: string) => {
    const own = statement.replaceAll('OWN', `(select id from accounts where email = $1)`)
    await assert.rejects(stage.db.query(own, [owner.email]), { constraint })
  }
  await refused('accounts_have_a_book', `update accounts set book_id = null where id = OWN`)
  await refused(
    'accounts_exist_only_confirmed',
    `update accounts set email_confirmed = false
    where id = OWN`,
  )
  await refused(
    'accounts_emails_are_lower_case',
    `update accounts set email = upper(email)
    where id = OWN`,
  )
  await refused(
    'credentials_are_passwords',
    `update credentials set kind = 'google'
    where account_id = OWN`,
  )
  await refused(
    'credentials_know_no_other_service',
    `update credentials set oauth_access = 'x'
    where account_id = OWN`,
  )
  await refused(
    'credentials_passwords_are_argon2id',
    `update credentials
    set password_hash = 'plain' where account_id = OWN`,
  )
})

test('a better-auth transaction commits or rolls back as a whole', async () => {
  const { createConnections } = await import('./connection.ts')
  const count = async () => {
    const { rows } = await stage.db.query(`select key from account_throttles where key = 'tx'`)
    return rows.length
  }
  const insert = `insert into account_throttles values ('tx', 1, clock_timestamp())`
  for (const [ending, left] of [['rollback', 0] as const, ['commit', 1] as const]) {
    const client = await createConnections(stage.db).connect()
    await client.query('begin')
    assert.equal((await client.query(insert)).rowCount, 1)
    assert.equal(await count(), 0, 'other connections do not see the row yet')
    assert.equal((await client.query(ending)).command, ending.toUpperCase())
    assert.equal(await count(), left)
    client.release()
  }
})

test('an owner can be found by book, by address and by id', async () => {
  const owner = await stage.person('found')
  const session = stage.accounts.requireSession(await owner.session())
  const { accounts } = stage
  for (const found of [
    await accounts.ownerOf(session.book),
    await accounts.findByEmail(' FOUND@example.org '),
    await accounts.find(session.account),
  ]) {
    assert.equal(found?.id, session.account)
  }
})

test('the e-mail about a key is written in the transaction that changes the key', async () => {
  const owner = await stage.person('key-holder')
  const { book } = stage.accounts.requireSession(await owner.session())
  const facts = { atMs: Date.now(), address: '', device: '', last4: 'wxYZ' }
  const kinds = ['key-created', 'key-reissued', 'key-revoked'] as const
  for (const kind of kinds) {
    await stage.db.transaction((tx) => stage.accounts.emailOwner(tx, book, { kind, facts }))
    assert.match((await stage.lastEmail(owner.email, kind)).text, /wxYZ/)
  }
  const undone = stage.db.transaction(async (tx) => {
    await stage.accounts.emailOwner(tx, book, { kind: 'key-created', facts })
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  assert.equal((await stage.emailsTo(owner.email)).length, 1 + kinds.length)
  expect(await owner.post('/sign-out'), 200)
})
