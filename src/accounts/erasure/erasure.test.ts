// What is stored of a text that names a person, and when a person may be erased.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createStage, emptyBooks, type Stage } from '../../../test/stages/accounts.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Owner } from '../accounts.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
  await stage.db.query(
    `insert into accounts (id, email, book_id) values ('${ANNA}', 'anna.forget@example.org', 4200),
       ('${BORIS}', 'a=b@example.org', 4300), ('${REASON}', 'reason@example.org', 4400)`,
  )
})
after(() => stage.end())

const ANNA = 'acc_annaannaannaanna'
const BORIS = 'acc_borisborisborisb'
const REASON = 'acc_reasonreasonreas'

const cases: [typed: string, stored: string][] = [
  ['ANNA.Forget@example.ORG called', `${ANNA} called`],
  ['anna%2Eforget%40example.org', ANNA],
  ['/?email=anna.forget%40example.org&x=1', `/?email=${ANNA}&x=1`],
  ['nobody%40example.org', '[address]'],
  ['"anna.forget"@example.org', ANNA],
  ['anna.forget＠example.org', ANNA],
  ['to a=b@example.org, x=anna.forget@example.org', `to ${BORIS}, x=${ANNA}`],
  ['grant 4200 10: Anna Forget called', `grant 4200 10: ${ANNA} called`],
  [`${ANNA} is Forget, Anna`, `${ANNA} is ${ANNA}`],
  [`anna_forget of ${ANNA}`, `${ANNA} of ${ANNA}`],
  [
    'Anna Forget, of whom nothing leads to an account',
    'Anna Forget, of whom nothing leads to an account',
  ],
  [`${REASON} --reason 'Reason it is'`, `${REASON} --reason '${REASON} it is'`],
]
for (const [typed, expected] of cases) {
  test(`${typed} is stored as ${expected}`, async () => {
    const { rows } = await stage.db.query('select accounts_depersonalize($1, 2000, null) as text', [
      typed,
    ])
    assert.equal((rows[0] as { text: string }).text, expected)
  })
}

test('a search by a part of an address is stored as the accounts that it finds', async () => {
  const { rows } = await stage.db.query(
    `select array[accounts_searched('anna.for'), accounts_searched('pay_12'),
       accounts_searched('WELCOME-1'), accounts_searched('somebody')] as texts`,
  )
  assert.deepEqual((rows[0] as { texts: string[] }).texts, [ANNA, 'pay_12', 'WELCOME-1', '[text]'])
})

async function owner(name: string): Promise<Owner & { close(): Promise<void> }> {
  const own = await stage.person(name)
  const session = await own.session()
  const { account, book } = stage.accounts.requireSession(session)
  const { closings } = stage.accounts
  const close = async () => {
    await closings.begin(session, 'forfeit')
    await closings.run()
  }
  return { account, book, close }
}

test('an erasure needs a closed account, whose data nothing needs, and happens once', async () => {
  const needed: string[] = ['the refund rfd_1 is under way']
  const accounts = stage.createAccountsWith({
    closingHooks: { ...emptyBooks, needs: async () => needed },
  })
  const own = await owner('anna.once')
  const erase = () => stage.db.transaction((tx) => accounts.eraseNow(tx, own))
  await assert.rejects(erase, (error) => isRefusal(error, 'account_not_closed'))
  await own.close()
  await assert.rejects(erase, (error) => isRefusal(error, 'erasure_waits'))
  await stage.db.query(`update accounts set erase_at = clock_timestamp() where id = $1`, [
    own.account,
  ])
  assert.equal(await accounts.erase(), 0, 'the daily job waits too')
  assert.deepEqual(await accounts.erasureNeeds(own), needed)
  needed.length = 0
  await erase()
  await assert.rejects(erase, (error) => isRefusal(error, 'account_erased'))
  const { rows } = await stage.db.query(
    'select accounts::text as text from accounts where id = $1',
    [own.account],
  )
  assert.doesNotMatch((rows[0] as { text: string }).text, /anna\.once/)
})

test('an account that cannot be erased keeps no other, and counts as overdue', async () => {
  const broken: { book?: bigint } = {}
  const accounts = stage.createAccountsWith({
    closingHooks: {
      ...emptyBooks,
      onErase: async (_, { book }) => {
        if (book === broken.book) throw new Error('planted')
      },
    },
  })
  const owners = [await owner('first.due'), await owner('second.due'), await owner('third.due')]
  for (const own of owners) await own.close()
  await stage.db.query(
    `update accounts set erase_at = clock_timestamp() - interval '3 days' where id = any ($1)`,
    [owners.map(({ account }) => account)],
  )
  assert.equal(await accounts.erasuresOverdue(), 3)
  const [first] = owners.toSorted((one, other) => (one.account < other.account ? -1 : 1))
  if (first !== undefined) broken.book = first.book
  assert.equal(await accounts.erase(), 2)
  assert.equal(await accounts.erasuresOverdue(), 1)
  delete broken.book
  assert.equal(await accounts.erase(), 1)
  assert.equal(await accounts.erasuresOverdue(), 0)
})

test('the copy is written in parts, however long a list, and says that it is whole', async () => {
  async function* entries() {
    for (let seq = 0; seq < 20_000; seq += 1) yield { seq, note: 'x'.repeat(50) }
  }
  const accounts = stage.createAccountsWith({
    closingHooks: {
      ...emptyBooks,
      exports: { ledger: () => ({ entries: entries(), last: () => 7 }) },
    },
  })
  const own = await owner('many')
  const parts = await Array.fromAsync(accounts.export(own))
  const copy = JSON.parse(parts.join('')) as {
    ledger: { entries: unknown[]; last: number }
    isWhole: boolean
  }
  assert.deepEqual([copy.ledger.entries.length, copy.ledger.last, copy.isWhole], [20_000, 7, true])
  assert.ok(Math.max(...parts.map((part) => part.length)) < 100_000, 'no part has everything')
})
