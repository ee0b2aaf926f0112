// Invitations by operators, and what operators do about registrations that wait: no account exists
// before the invited person has chosen the password and accepted the documents.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createStage,
  errorOf,
  expect,
  PASSWORD,
  requiredConsents,
  type Stage,
} from '../../../test/stages/accounts.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const invite = (email: string) =>
  stage.db.transaction((tx) =>
    stage.accounts.registrations.invite(tx, { email, language: 'en' }, 'olga'),
  )

const answer = (code: string, more: object = {}) => ({
  ...{ code, password: PASSWORD, consents: requiredConsents },
  ...more,
})

test('an invited person sets the password, accepts the documents and is signed in', async () => {
  const email = 'firm@example.org'
  await invite(email)
  assert.equal(await stage.accounts.findByEmail(email), undefined, 'no account before that')
  const letter = await stage.lastEmail(email, 'invitation')
  assert.match(letter.text, /\/invitation#code=/)
  const code = await stage.emailedCode(email, 'invitation')
  const browser = stage.browser()

  const without = await browser.post('/invitation', answer(code, { consents: [] }))
  assert.equal(errorOf(without), 'consent_missing')
  const short = await browser.post('/invitation', answer(code, { password: 'short' }))
  assert.equal(errorOf(short), 'password_too_short')
  assert.equal(await stage.accounts.findByEmail(email), undefined)

  const { body } = expect(await browser.post('/invitation', answer(code)), 200)
  assert.deepEqual(body, { status: 'signed_in' })
  const session = await browser.session()
  assert.equal(session?.email, email)
  const account = await stage.accounts.findByEmail(email)
  assert.ok(account)
  const consents = await stage.accounts.consentsOf(account.id)
  assert.deepEqual(
    consents.map(({ document }) => document).toSorted(),
    requiredConsents.map(({ document }) => document).toSorted(),
  )
  const again = await stage.browser().post('/invitation', answer(code))
  assert.equal(errorOf(again), 'code_wrong', 'the link works once')
  expect(await stage.browser().signIn(email, PASSWORD), 200)
})

test('two answers to one invitation at once make one account', async () => {
  const email = 'at-once@example.org'
  await invite(email)
  const code = await stage.emailedCode(email, 'invitation')
  const replies = await Promise.all(
    [1, 2, 3].map((n) =>
      stage.browser().post('/invitation', answer(code, { password: `${PASSWORD} ${n}` })),
    ),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400, 400])
})

test('the code of an invitation confirms no registration, and the other way round', async () => {
  const email = 'crossed@example.org'
  await invite(email)
  const invited = await stage.emailedCode(email, 'invitation')
  const wrong = await stage.browser().post('/confirm', { code: invited, password: PASSWORD })
  assert.equal(errorOf(wrong), 'code_wrong')
  const own = { email, password: PASSWORD, language: 'en', consents: requiredConsents }
  expect(await stage.browser().post('/register', own), 200)
  const registered = await stage.emailedCode(email, 'confirm-email')
  const crossed = await stage.browser().post('/invitation', answer(registered))
  assert.equal(errorOf(crossed), 'code_wrong')
  expect(await stage.browser().post('/confirm', { code: registered, password: PASSWORD }), 200)
  const late = await stage.browser().post('/invitation', answer(invited))
  assert.equal(errorOf(late), 'code_wrong', 'confirming ends the invitation')
})

test('an invited address that asks for the e-mail again gets the invitation', async () => {
  const email = 'again@example.org'
  await invite(email)
  const first = await stage.emailedCode(email, 'invitation')
  expect(await stage.browser().post('/register/again', { email }), 200)
  const second = await stage.emailedCode(email, 'invitation')
  assert.notEqual(first, second)
  const { rows } = await stage.db.query(
    `select extract(day from expires_at - clock_timestamp())::int as days from registrations
     where email = $1`,
    [email],
  )
  assert.deepEqual(rows, [{ days: 6 }], 'nobody can shorten the week')
  expect(await stage.browser().post('/invitation', answer(second)), 200)
})

test('an address with an account cannot be invited, nor what is no address', async () => {
  const { registrations } = stage.accounts
  const { email } = await stage.person('known')
  assert.equal(
    (await registrations.check(stage.db, ` ${email.toUpperCase()} `)).problem,
    'has_account',
  )
  assert.equal((await registrations.check(stage.db, 'no address')).problem, 'invalid')
  assert.equal((await registrations.check(stage.db, 'free@example.org')).problem, undefined)
})

test('operators see what waits for a week, send the link again and delete it', async () => {
  const email = 'slow@example.org'
  const body = { email, password: PASSWORD, language: 'en', consents: requiredConsents }
  expect(await stage.browser().post('/register', body), 200)
  const { registrations } = stage.accounts
  const [row] = await registrations.list(10, email)
  assert.deepEqual([row?.email, row?.invitedBy], [email, null])
  const id = row?.id ?? ''
  await stage.db.query(
    `update registrations set expires_at = clock_timestamp() - interval '6 days' where id = $1`,
    [id],
  )
  await stage.accounts.sweep()
  assert.equal((await registrations.list(10, 'slow@')).length, 1, 'found by a part of the address')
  assert.equal(await stage.db.transaction((tx) => registrations.sendAgain(tx, id)), true)
  const code = await stage.emailedCode(email, 'confirm-email')
  assert.equal(await stage.db.transaction((tx) => registrations.remove(tx, id)), true)
  assert.equal(await stage.db.transaction((tx) => registrations.remove(tx, id)), false)
  const gone = await stage.browser().post('/confirm', { code, password: PASSWORD })
  assert.equal(errorOf(gone), 'code_wrong')
})
