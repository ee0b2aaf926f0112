// Closing and erasing an account, the copy of its data, and the job that deletes expired rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ageProofs,
  createStage,
  errorOf,
  expect,
  PASSWORD,
  requiredConsents,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { isRefusal, Refusal } from '../../platform/refusal.ts'
import type { ClosingHooks } from '../accounts.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const nothing: ClosingHooks = { onClose: async () => {}, onErase: async () => {}, exports: {} }

test('closing ends every way to sign in at once and runs the hook of other modules', async () => {
  const calls: unknown[] = []
  const closing: ClosingHooks['onClose'] = async (tx, owner) => {
    const { rows } = await tx.query('select 1 as one')
    calls.push([owner.unspent, owner.book, rows.length])
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...nothing, onClose: closing } })
  const owner = await stage.person('leaver')
  const phone = stage.browser()
  expect(await phone.signIn(owner.email), 200)
  const session = stage.accounts.requireSession(await owner.session())
  await accounts.close(session, 'refund')

  assert.deepEqual(calls, [['refund', session.book, 1]])
  for (const browser of [owner, phone]) assert.equal(await browser.session(), undefined)
  assert.equal(errorOf(await stage.browser().signIn(owner.email)), 'sign_in_wrong')
  assert.equal(await stage.accounts.ownerOf(session.book), undefined)
  const email = await stage.lastEmail(owner.email, 'account-closed')
  assert.match(email.text, /asked for a refund of your unspent credits/)
  await assert.rejects(accounts.close(session, 'refund'), (error) =>
    isRefusal(error, 'session_missing'),
  )
})

test('a refusal of another module leaves the account as it was', async () => {
  const closing = async () => {
    throw new Refusal('debt_outstanding', 'Pay first.')
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...nothing, onClose: closing } })
  const owner = await stage.person('debtor')
  const session = await owner.session()
  await assert.rejects(accounts.close(session, 'forfeit'), (error) =>
    isRefusal(error, 'debt_outstanding'),
  )
  assert.equal((await owner.session())?.email, owner.email)
  const kinds = (await stage.emailsTo(owner.email)).map(({ kind }) => kind)
  assert.ok(!kinds.includes('account-closed'))
})

test('closing and the copy require a recent proof', async () => {
  const owner = await stage.person('hasty')
  await ageProofs(stage.db, '11 minutes')
  const stale = await owner.session()
  for (const act of [stage.accounts.close(stale, 'refund'), stage.accounts.copy(stale)]) {
    await assert.rejects(act, (error) => isRefusal(error, 'step_up_needed'))
  }
})

test('the address of a closed account can register again and gets a new book', async () => {
  const owner = await stage.person('returner')
  const first = stage.accounts.requireSession(await owner.session())
  await stage.accounts.close(first, 'forfeit')
  const body = { email: owner.email, password: PASSWORD, consents: requiredConsents }
  expect(await owner.post('/register', body), 200)
  const code = await stage.emailedCode(owner.email, 'confirm-email')
  expect(await owner.post('/confirm', { code, password: PASSWORD }), 200)
  const second = await owner.session()
  assert.equal(second?.email, owner.email)
  assert.notEqual(second?.book, first.book)
  await stage.accounts.close(second, 'forfeit')
})

test('after the term the personal data is erased and the book stays without an owner', async () => {
  const erased: unknown[] = []
  const erasing: ClosingHooks['onErase'] = async (_, { account }) => {
    erased.push(account)
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...nothing, onErase: erasing } })
  const owner = await stage.person('forgotten')
  const { account, book } = stage.accounts.requireSession(await owner.session())
  await accounts.close(await owner.session(), 'forfeit')
  await accounts.erase()
  assert.deepEqual(erased, [], 'not before the term is over')

  const row = async () => {
    const { rows } = await stage.db.query(
      `select accounts::text as text, (select count(*)::int4 from account_consents
         where account_id = accounts.id) as consents from accounts where id = $1`,
      [account],
    )
    return rows[0] as { text: string; consents: number }
  }
  assert.match((await row()).text, /forgotten@example\.org/)
  await stage.db.query(`update accounts set erase_at = clock_timestamp() where id = $1`, [account])
  await accounts.erase()
  await accounts.erase()
  assert.deepEqual(erased, [account])
  assert.doesNotMatch((await row()).text, /forgotten/)
  assert.equal((await row()).consents, 0)
  const { rows } = await stage.db.query('select id from books where id = $1', [book])
  assert.equal(rows.length, 1)
})

test('the copy holds everything we know about the person, and no secret', async () => {
  const exports = { ledger: async () => ({ entries: [1, 2] }), payments: async () => [] }
  const accounts = stage.createAccountsWith({ closingHooks: { ...nothing, exports } })
  const owner = await stage.person('copied', { address: '198.51.100.44' })
  const session = await owner.session()
  const copy = await accounts.copy(session)
  assert.deepEqual(Object.keys(copy).toSorted(), [
    ...['account', 'browsers', 'consents', 'emailChange', 'ledger', 'passkeys'],
    ...['passwordChangedAt', 'payments', 'sessions'],
  ])
  const account = copy.account as Record<string, unknown>
  assert.deepEqual([account.email, account.id], [owner.email, session?.account])
  assert.equal((copy.consents as unknown[]).length, requiredConsents.length)
  const text = JSON.stringify(copy)
  assert.match(text, /198\.51\.100\.44/)
  assert.doesNotMatch(text, /argon2id|secret|hash/i)
})

test('the sweep deletes expired rows and no others', async () => {
  const owner = await stage.person('swept')
  const other = stage.browser()
  expect(await other.signIn(owner.email), 200)
  expect(await other.post('/request-password-reset', { email: owner.email }), 200)
  const body = { email: 'swept-too@example.org', password: PASSWORD, consents: requiredConsents }
  expect(await other.post('/register', body), 200)
  await stage.accounts.sweep()
  assert.notEqual(await other.session(), undefined)

  const late = `clock_timestamp() - interval '1 second'`
  const session = await other.session()
  await stage.db.query(`update sessions set expires_at = ${late} where id = $1`, [session?.id])
  await stage.db.query(`update account_codes set expires_at = ${late}`)
  await stage.db.query(`update registrations set expires_at = ${late}`)
  await stage.db.query(`update account_throttles set ends_at = ${late}`)
  await stage.db.query(
    `update account_devices set last_seen_at = clock_timestamp() - interval '401 days'`,
  )
  assert.ok((await stage.accounts.sweep()) > 4)
  for (const table of ['account_codes', 'registrations', 'account_throttles', 'account_devices']) {
    const { rows } = await stage.db.query(`select from ${table}`)
    assert.equal(rows.length, 0, table)
  }
  assert.equal(await other.session(), undefined)
  assert.notEqual(await owner.session(), undefined)
  assert.equal(await stage.accounts.sweep(), 0)
})
