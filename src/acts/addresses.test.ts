// No writer can store an e-mail address in an act: the database replaces it before the digest.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../test/support/harness.ts'

const ANNA = 'acc_annaannaannaanna'
const BRIEN = 'acc_brienbrienbrienb'
const CLARA = 'acc_claraclaraclarac'
const open = { database: undefined as unknown as TestDatabase }

before(async () => {
  open.database = await createTestDatabase()
  await open.database.db.query(
    `insert into accounts (id, email, book_id, closed_at, erase_at, unspent, former_email)
     values ('${ANNA}', 'anna@example.org', 1, null, null, null, null),
       ('${BRIEN}', 'o''brien@example.org', 2, null, null, null, null),
       ('${CLARA}', 'closed', 3, now(), now() + interval '1 year', 'forfeit', 'clara@example.org')`,
  )
})
after(() => open.database.drop())

/** An act as the version before writes it, and what was stored. */
async function stored(command: string, detail = ''): Promise<{ command: string; detail: string }> {
  const { rows } = await open.database.db.query(
    `insert into operator_acts (of_act, acted_by, os_user, command, outcome, detail)
     values (null, 'olga', 'olga@desk-1.example.org', $1, 'done', $2)
     returning command, detail, os_user as "osUser"`,
    [command, detail],
  )
  const { osUser, ...act } = rows[0] as { command: string; detail: string; osUser: string }
  assert.equal(osUser, 'olga@desk-1.example.org', 'who acted keeps the name')
  return act
}

const cases: [typed: string, stored: string][] = [
  ['grant anna@example.org 700', `grant ${ANNA} 700`],
  ['grant Anna@Example.ORG 700', `grant ${ANNA} 700`],
  ['say anna@example.org, anna@example.org.', `say ${ANNA}, ${ANNA}.`],
  ['to <anna@example.org>', `to <${ANNA}>`],
  ['mailto:anna@example.org', `mailto:${ANNA}`],
  ['email=anna@example.org', `email=${ANNA}`],
  [`--reason 'asked by anna@example.org'`, `--reason 'asked by ${ANNA}'`],
  [`grant 'o'\\''brien@example.org' 1`, `grant '${BRIEN}' 1`],
  [`that is o'brien@example.org`, `that is ${BRIEN}`],
  ['joanna@example.org and anna@example.org', `[address] and ${ANNA}`],
  ['clara@example.org', CLARA],
  ['nobody+tag@sub.example.co.uk!', '[address]!'],
  ['почта@пример.рф', '[address]'],
  ['cut anna@exam…', 'cut [address]…'],
  ['cut anna@', 'cut [address]'],
  ['postgres://user:word@db.example.org/x', 'postgres://user:[address]/x'],
  ['at 12:00 @ the desk', 'at 12:00 @ the desk'],
  ['no address', 'no address'],
]
for (const [typed, expected] of cases) {
  test(`an act with ${typed} is stored as ${expected}`, async () => {
    assert.deepEqual(await stored(typed, typed), { command: expected, detail: expected })
  })
}

test('texts that grow by the replacement are cut to what the table allows', async () => {
  const { command, detail } = await stored('a@b.co '.repeat(280), 'anna@example.org '.repeat(58))
  assert.deepEqual([command.length, detail.length], [2_000, 1_000])
  assert.doesNotMatch(`${command} ${detail}`, /@/)
  assert.ok(detail.endsWith('…'))
})

test('an act of an erased person still names the account', async () => {
  const { db } = open.database
  const { command } = await stored('grant clara@example.org 700')
  await db.query(`update accounts set former_email = null, erased_at = now() where id = '${CLARA}'`)
  const { rows } = await db.query('select command from operator_acts where command = $1', [command])
  assert.deepEqual(rows, [{ command: `grant ${CLARA} 700` }])
  assert.deepEqual((await stored('clara@example.org')).command, '[address]')
})
