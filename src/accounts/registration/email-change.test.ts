// A change of the e-mail address over /api/auth.
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

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

test('the address changes when the new mailbox confirms it, and both get an e-mail', async () => {
  const owner = await stage.person('mover')
  const [oldEmail, newEmail] = [owner.email, 'moved@example.org']
  expect(await owner.post('/email/change', { newEmail }), 200)
  await stage.lastEmail(oldEmail, 'email-change-asked')
  const code = await stage.emailedCode(newEmail, 'confirm-new-email')
  assert.equal((await owner.session())?.email, oldEmail, 'nothing has changed yet')

  expect(await stage.browser().post('/request-password-reset', { email: oldEmail }), 200)
  const reset = await stage.emailedCode(oldEmail, 'reset-password')
  expect(await owner.post('/email/confirm', { code }), 200)
  assert.equal((await owner.session())?.email, newEmail)
  assert.match((await stage.lastEmail(newEmail, 'email-changed')).text, /mover@.*|moved@.*/)
  await stage.lastEmail(oldEmail, 'email-change-undo')
  assert.equal(errorOf(await owner.post('/email/confirm', { code })), 'code_wrong')
  const late = { code: reset, newPassword: 'from the old mailbox' }
  assert.equal(errorOf(await stage.browser().post('/reset-password', late)), 'code_wrong')
  expect(await stage.browser().signIn(newEmail), 200)
  assert.equal(errorOf(await stage.browser().signIn(oldEmail)), 'sign_in_wrong')
})

test('a change to a known address gets the same answer as any other, without effect', async () => {
  const owner = await stage.person('nosy')
  const { email } = await stage.person('taken')
  const known = await owner.post('/email/change', { newEmail: email })
  const unknown = await owner.post('/email/change', { newEmail: 'free@example.org' })
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
  await stage.lastEmail(email, 'already-registered')
})

test('a code works only for the account that requested it', async () => {
  const owner = await stage.person('asker')
  expect(await owner.post('/email/change', { newEmail: 'elsewhere@example.org' }), 200)
  const code = await stage.emailedCode('elsewhere@example.org', 'confirm-new-email')
  const nobody = await stage.browser().post('/email/confirm', { code })
  assert.equal(errorOf(nobody), 'session_missing')
  const other = await stage.person('other')
  assert.equal(errorOf(await other.post('/email/confirm', { code })), 'code_wrong')
  assert.equal((await other.session())?.email, other.email)
  expect(await owner.post('/email/confirm', { code }), 200)
  assert.equal((await owner.session())?.email, 'elsewhere@example.org')
})

test('an account that registers the address meanwhile keeps it', async () => {
  const owner = await stage.person('slow')
  const newEmail = 'contested@example.org'
  expect(await owner.post('/email/change', { newEmail }), 200)
  const code = await stage.emailedCode(newEmail, 'confirm-new-email')
  const rival = stage.browser()
  const body = { email: newEmail, password: PASSWORD, consents: requiredConsents }
  expect(await rival.post('/register', body), 200)
  const confirmation = await stage.emailedCode(newEmail, 'confirm-email')
  expect(await rival.post('/confirm', { code: confirmation, password: PASSWORD }), 200)
  assert.equal(errorOf(await owner.post('/email/confirm', { code })), 'code_wrong')
  assert.equal((await owner.session())?.email, owner.email)
})

test('a change requires a recent proof', async () => {
  const owner = await stage.person('sleepy')
  await ageProofs(stage.db, '11 minutes')
  const reply = await owner.post('/email/change', { newEmail: 'awake@example.org' })
  assert.deepEqual([reply.status, errorOf(reply)], [403, 'step_up_needed'])
  assert.deepEqual(await stage.emailsTo('awake@example.org'), [])
})
