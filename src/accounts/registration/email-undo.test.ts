// Undoing a change of the e-mail address from the old mailbox, and what is limited meanwhile.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createStage,
  enableSecondFactor,
  errorOf,
  expect,
  PASSWORD,
  requiredConsents,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { passkeySteps } from '../../../test/stages/passkeys.ts'
import { isRefusal } from '../../platform/refusal.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const NEW = 'a storm from the west'

/** The account of an owner whose address a thief, who has everything, has changed. */
async function robbed(name: string) {
  const thief = await stage.person(name)
  const oldEmail = thief.email
  const newEmail = `${name}-thief@example.org`
  expect(await thief.post('/email/change', { newEmail }), 200)
  const code = await stage.emailedCode(newEmail, 'confirm-new-email')
  expect(await thief.post('/email/confirm', { code }), 200)
  const undo = await stage.emailedCode(oldEmail, 'email-change-undo')
  return { thief, oldEmail, newEmail, undo }
}

test('the old mailbox undoes the change: address back, no session, a new password', async () => {
  const { thief, oldEmail, newEmail, undo } = await robbed('robbed')
  const { passkey } = await passkeySteps.addPasskey(thief)
  expect(await stage.browser().post('/request-password-reset', { email: newEmail }), 200)
  const resetOfThief = await stage.emailedCode(newEmail, 'reset-password')

  expect(await stage.browser().post('/email/undo', { code: undo }), 200)
  assert.equal(await thief.session(), undefined)
  assert.equal((await stage.accounts.findByEmail(oldEmail))?.email, oldEmail)
  assert.equal(await stage.accounts.findByEmail(newEmail), undefined)
  for (const email of [oldEmail, newEmail]) {
    assert.equal(errorOf(await stage.browser().signIn(email)), 'sign_in_wrong', email)
  }
  const byPasskey = await passkeySteps.signInWith(passkey, stage.browser())
  assert.equal(errorOf(byPasskey.reply), 'passkey_suspended')
  const late = { code: resetOfThief, newPassword: NEW }
  assert.equal(errorOf(await stage.browser().post('/reset-password', late)), 'code_wrong')

  const code = await stage.emailedCode(oldEmail, 'reset-password')
  await stage.lastEmail(newEmail, 'email-change-undone')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  const owner = stage.browser()
  expect(await owner.signIn(oldEmail, NEW), 200)
  assert.ok(
    (await owner.session())?.unreviewedResetAt instanceof Date,
    'passkeys are reviewed next',
  )
})

test('an undo link works once, and not after a week', async () => {
  const { undo } = await robbed('twice')
  const both = await Promise.all(
    [1, 2].map(() => stage.browser().post('/email/undo', { code: undo })),
  )
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400])
  assert.equal(errorOf(await stage.browser().post('/email/undo', { code: undo })), 'code_wrong')
  assert.equal(errorOf(await stage.browser().post('/email/undo', {})), 'body_wrong')

  const { thief, newEmail, undo: late } = await robbed('late')
  await stage.db.query(`update email_changes set changed_at = changed_at - interval '8 days',
    undo_until = undo_until - interval '8 days'`)
  assert.equal(errorOf(await stage.browser().post('/email/undo', { code: late })), 'code_wrong')
  assert.equal((await thief.session())?.email, newEmail)
})

test('an undo e-mails a reset, however many were requested and registered before', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 3 } })
  const stranger = stage.browser({ accounts })
  const email = 'flooded-old@example.org'
  const thief = await stage.person('flooded-old')
  for (const _ of [1, 2, 3, 4]) {
    expect(await stranger.post('/request-password-reset', { email }), 200)
  }
  const newEmail = 'flooded-thief@example.org'
  expect(await thief.post('/email/change', { newEmail }), 200)
  const confirmation = await stage.emailedCode(newEmail, 'confirm-new-email')
  expect(await thief.post('/email/confirm', { code: confirmation }), 200)
  const undo = await stage.emailedCode(email, 'email-change-undo')
  const body = { email, password: PASSWORD, consents: requiredConsents, language: 'en' }
  for (const _ of [1, 2, 3, 4]) expect(await stranger.post('/register', body), 200)

  expect(await stage.browser({ accounts }).post('/email/undo', { code: undo }), 200)
  const code = await stage.emailedCode(email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  expect(await stage.browser().signIn(email, NEW), 200)
})

test('during the week the address cannot change again, nor the account be closed', async () => {
  const { thief, oldEmail } = await robbed('hasty')
  const again = await thief.post('/email/change', { newEmail: 'hasty-third@example.org' })
  assert.deepEqual([again.status, errorOf(again)], [409, 'email_change_recent'])
  const session = await thief.session()
  const isRecent = (error: unknown) => isRefusal(error, 'email_change_recent')
  await assert.rejects(stage.accounts.closings.begin(session, 'forfeit'), isRecent)
  const present = stage.accounts.requireSession(session)
  assert.equal((await stage.accounts.emailChange(present))?.oldEmail, oldEmail)

  await stage.db.query(`update email_changes set changed_at = changed_at - interval '8 days',
    undo_until = undo_until - interval '8 days'`)
  expect(await thief.post('/email/change', { newEmail: 'hasty-third@example.org' }), 200)
  const code = await stage.emailedCode('hasty-third@example.org', 'confirm-new-email')
  expect(await thief.post('/email/confirm', { code }), 200)
})

test('two changes that were requested before cannot both be confirmed', async () => {
  const owner = await stage.person('double')
  const targets = ['double-one@example.org', 'double-two@example.org']
  for (const newEmail of targets) expect(await owner.post('/email/change', { newEmail }), 200)
  const codes = await Promise.all(
    targets.map((email) => stage.emailedCode(email, 'confirm-new-email')),
  )
  expect(await owner.post('/email/confirm', { code: codes[0] }), 200)
  assert.equal(errorOf(await owner.post('/email/confirm', { code: codes[1] })), 'code_wrong')
  assert.equal((await owner.session())?.email, targets[0])
})

test('the old address stays reserved for the account until it cannot be undone', async () => {
  const { oldEmail, undo } = await robbed('reserved')
  const rival = stage.browser()
  const body = { email: oldEmail, password: PASSWORD, consents: requiredConsents, language: 'en' }
  const reserved = expect(await rival.post('/register', body), 200)
  const free = await stage.browser().post('/register', { ...body, email: 'free-one@example.org' })
  assert.deepEqual([reserved.status, reserved.body], [free.status, free.body])
  await stage.lastEmail(oldEmail, 'email-reserved')
  const other = await stage.person('wanting')
  expect(await other.post('/email/change', { newEmail: oldEmail }), 200)
  await stage.lastEmail(oldEmail, 'email-reserved')
  expect(await stage.browser().post('/email/undo', { code: undo }), 200)
})

test('a registration that waited for its confirmation cannot take a reserved address', async () => {
  const owner = await stage.person('waiting')
  // It began when the address belonged to the account, as a registration of an older version.
  await stage.db.query(
    `insert into registrations (id, email, password_hash, language, consents, address, code_hash,
       expires_at)
     select 'reg_0123456789abcdef', $1, password_hash, 'en', '[]', '',
       sha256('a code of twenty characters'),
       clock_timestamp() + interval '1 day'
     from credentials where account_id = (select id from accounts where email = $1)`,
    [owner.email],
  )
  expect(await owner.post('/email/change', { newEmail: 'waited@example.org' }), 200)
  const code = await stage.emailedCode('waited@example.org', 'confirm-new-email')
  expect(await owner.post('/email/confirm', { code }), 200)
  const confirmation = { code: 'a code of twenty characters', password: PASSWORD }
  assert.equal(errorOf(await stage.browser().post('/confirm', confirmation)), 'code_wrong')
  assert.equal(await stage.accounts.findByEmail(owner.email), undefined)
})

test('undoing keeps the owner’s second factor and drops one that was added since', async () => {
  const owner = await stage.person('factored')
  await enableSecondFactor(owner)
  expect(await owner.post('/email/change', { newEmail: 'factored-two@example.org' }), 200)
  const confirmation = await stage.emailedCode('factored-two@example.org', 'confirm-new-email')
  expect(await owner.post('/email/confirm', { code: confirmation }), 200)
  const undo = await stage.emailedCode(owner.email, 'email-change-undo')
  expect(await stage.browser().post('/email/undo', { code: undo }), 200)
  assert.equal((await stage.accounts.findByEmail(owner.email))?.hasSecondFactor, true)

  const { thief, oldEmail, undo: second } = await robbed('planted')
  await enableSecondFactor(thief)
  expect(await stage.browser().post('/email/undo', { code: second }), 200)
  assert.equal((await stage.accounts.findByEmail(oldEmail))?.hasSecondFactor, false)
})

test('undoing drops a second factor that took the place of the owner’s', async () => {
  const thief = await stage.person('replaced')
  await enableSecondFactor(thief)
  expect(await thief.post('/email/change', { newEmail: 'replaced-two@example.org' }), 200)
  const code = await stage.emailedCode('replaced-two@example.org', 'confirm-new-email')
  expect(await thief.post('/email/confirm', { code }), 200)
  const undo = await stage.emailedCode(thief.email, 'email-change-undo')
  expect(await thief.post('/two-factor/disable', { password: PASSWORD }), 200)
  await enableSecondFactor(thief)
  expect(await stage.browser().post('/email/undo', { code: undo }), 200)
  const reset = await stage.emailedCode(thief.email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code: reset, newPassword: NEW }), 200)
  const { body } = expect(await stage.browser().signIn(thief.email, NEW), 200)
  assert.equal(body.status, 'signed_in', 'the owner has no code of the thief’s app')
})

test('the job deletes changes that cannot be undone any more', async () => {
  const { thief } = await robbed('swept')
  await stage.db.query(`update email_changes set changed_at = changed_at - interval '8 days',
    undo_until = undo_until - interval '8 days'`)
  await stage.accounts.sweep()
  const { rows } = await stage.db.query('select from email_changes')
  assert.equal(rows.length, 0)
  assert.notEqual(await thief.session(), undefined)
})
