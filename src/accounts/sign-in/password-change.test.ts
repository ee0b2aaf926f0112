// A new password over /api/auth: by a link from an e-mail, or with the old password.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createStage,
  errorOf,
  expect,
  PASSWORD,
  type Stage,
} from '../../../test/stages/accounts.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const NEW = 'a loud morning in june'

test('a reset works once per code, ends every session and e-mails the owner', async () => {
  const owner = await stage.person('reset')
  expect(await stage.browser().post('/request-password-reset', { email: owner.email }), 200)
  const code = await stage.emailedCode(owner.email, 'reset-password')
  const common = { code, newPassword: 'password123' }
  assert.equal(errorOf(await stage.browser().post('/reset-password', common)), 'password_common')

  const body = { code, newPassword: NEW }
  const replies = await Promise.all(
    [1, 2, 3].map(() => stage.browser().post('/reset-password', body)),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400, 400])
  assert.equal(errorOf(await stage.browser().post('/reset-password', body)), 'code_wrong')
  await stage.lastEmail(owner.email, 'password-changed')
  assert.equal(await owner.session(), undefined)
  assert.equal(errorOf(await stage.browser().signIn(owner.email)), 'sign_in_wrong')
  expect(await stage.browser().signIn(owner.email, NEW), 200)
})

test('a request for a reset gets the same answer for known and unknown addresses', async () => {
  const { email } = await stage.person('asked')
  const known = await stage.browser().post('/request-password-reset', { email })
  const unknown = await stage.browser().post('/request-password-reset', { email: 'no@example.org' })
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
  assert.deepEqual([...known.headers], [...unknown.headers])
  assert.deepEqual(await stage.emailsTo('no@example.org'), [])
})

test('a reset clears the count of wrong passwords', async () => {
  const { email } = await stage.person('kept-out')
  for (const _ of Array.from({ length: 11 })) await stage.browser().signIn(email, 'wrong one')
  assert.equal(errorOf(await stage.browser().signIn(email)), 'attempts_exceeded')
  expect(await stage.browser().post('/request-password-reset', { email }), 200)
  const code = await stage.emailedCode(email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  expect(await stage.browser().signIn(email, NEW), 200)
})

test('the table does not hold the e-mailed code, and an expired code is refused', async () => {
  const { email } = await stage.person('hashed')
  expect(await stage.browser().post('/request-password-reset', { email }), 200)
  const code = await stage.emailedCode(email, 'reset-password')
  const { rows } = await stage.db.query('select account_codes::text as row from account_codes')
  assert.ok(rows.length > 0)
  for (const { row } of rows as { row: string }[]) assert.ok(!row.includes(code))

  await stage.db.query(`update account_codes set expires_at = clock_timestamp() - interval '1 s'`)
  const late = await stage.browser().post('/reset-password', { code, newPassword: NEW })
  assert.equal(errorOf(late), 'code_wrong')
})

test('a change requires the old password and ends other sessions and earlier links', async () => {
  const owner = await stage.person('changed')
  const other = stage.browser()
  expect(await other.signIn(owner.email), 200)
  expect(await other.post('/request-password-reset', { email: owner.email }), 200)
  const code = await stage.emailedCode(owner.email, 'reset-password')

  const wrong = { currentPassword: 'not this one', newPassword: NEW }
  assert.equal(errorOf(await owner.post('/change-password', wrong)), 'password_wrong')
  const before = await owner.session()
  // The other sessions end even if the request says otherwise.
  const right = { currentPassword: PASSWORD, newPassword: NEW, revokeOtherSessions: false }
  assert.deepEqual(expect(await owner.post('/change-password', right), 200).body, { status: true })
  const now = await owner.session()
  assert.ok(now !== undefined && now.id !== before?.id, 'the owner has a new session')
  assert.equal(await other.session(), undefined)
  await stage.lastEmail(owner.email, 'password-changed')
  const late = await stage.browser().post('/reset-password', { code, newPassword: NEW })
  assert.equal(errorOf(late), 'code_wrong')
})

test('a change requires a session and refuses common passwords', async () => {
  const body = { currentPassword: PASSWORD, newPassword: NEW }
  const nobody = await stage.browser().post('/change-password', body)
  assert.deepEqual([nobody.status, errorOf(nobody)], [401, 'session_missing'])
  const owner = await stage.person('choosy')
  for (const newPassword of ['1234567890', owner.email]) {
    const reply = await owner.post('/change-password', { ...body, newPassword })
    assert.equal(errorOf(reply), 'password_common')
  }
})

test('the link of a reset leads to the cabinet, with its code after the hash', async () => {
  const { email } = await stage.person('linked')
  expect(await stage.browser().post('/request-password-reset', { email }), 200)
  const { text } = await stage.lastEmail(email, 'reset-password')
  assert.match(text, /^https:\/\/cabinet\.example\.org\/reset#code=[\w-]{20,}$/m)
})
