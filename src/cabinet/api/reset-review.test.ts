// The review after a password reset, and what a changed address forbids, over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ageProofs, PASSWORD } from '../../../test/stages/accounts.ts'
import {
  type CabinetBrowser,
  type CabinetStage,
  createCabinetStage,
} from '../../../test/stages/cabinet.ts'
import type * as contract from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

const NEW = 'a storm from the west'

async function emailedCode(recipient: string): Promise<string> {
  const { rows } = await at.stage.db.query(
    `select body_text as text from letters where recipient = $1 order by posted_at desc limit 1`,
    [recipient],
  )
  return /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1] ?? ''
}

async function reset(own: CabinetBrowser, email: string): Promise<void> {
  await own.expectOk('POST /api/auth/request-password-reset', { email })
  const code = await emailedCode(email)
  await own.expectOk('POST /api/auth/reset-password', { code, newPassword: NEW })
  await own.expectOk('POST /api/auth/sign-in/email', { email, password: NEW })
}

async function issueKey(own: CabinetBrowser): Promise<string> {
  const { body } = await own.expectOk<contract.NewKey>('POST /api/key')
  await own.expectOk(`POST /api/key/${body.id}/confirm`)
  return body.id
}

test('after a reset the owner sees the key and may revoke it; it works until then', async () => {
  const { stage } = at
  const own = await stage.person('reviewing')
  await stage.buyPack(own)
  const key = await issueKey(own)
  assert.equal(
    await own.refusal('POST /api/reset-review', { passkeys: [], keys: [] }),
    '409 review_not_due',
  )
  await reset(own, own.email)
  const { body: me } = await own.expectOk<contract.Me>('GET /api/me')
  assert.ok(me.resetAt !== null)
  const { body: review } = await own.expectOk<contract.ResetReview>('GET /api/reset-review')
  assert.deepEqual([review.resetAt, review.keys.map(({ id }) => id)], [me.resetAt, [key]])
  const { body: state } = await own.expectOk<contract.KeyState>('GET /api/key')
  assert.equal(state.state, 'active')

  await ageProofs(stage.db, '1 day', own.email)
  const choice = { passkeys: ['pk_unknown'], keys: [key, 'unknown'] }
  assert.equal(await own.refusal('POST /api/reset-review', choice), '403 step_up_needed')
  await own.expectOk('POST /api/auth/step-up', { password: NEW })
  const done = await own.expectOk<contract.ResetReview>('POST /api/reset-review', choice)
  assert.deepEqual(done.body, { resetAt: null, passkeys: [], keys: [] })
  const { body: after } = await own.expectOk<contract.KeyState>('GET /api/key')
  assert.equal(after.state, 'none')
  assert.equal((await stage.emailKindsTo(own.email)).at(-1), 'key-revoked')
})

test('an owner who only forgot the password keeps the key', async () => {
  const { stage } = at
  const own = await stage.person('forgetful')
  await stage.buyPack(own)
  await issueKey(own)
  await reset(own, own.email)
  await own.expectOk('POST /api/reset-review', { passkeys: [], keys: [] })
  const { body: state } = await own.expectOk<contract.KeyState>('GET /api/key')
  assert.equal(state.state, 'active')
  const { body: me } = await own.expectOk<contract.Me>('GET /api/me')
  assert.equal(me.resetAt, null)
})

test('while a change of address can be undone, the account cannot be closed', async () => {
  const { stage } = at
  const own = await stage.person('moving')
  await stage.buyPack(own)
  const newEmail = 'moved@example.org'
  await own.expectOk('POST /api/auth/email/change', { newEmail })
  await own.expectOk('POST /api/auth/email/confirm', { code: await emailedCode(newEmail) })
  const { body: me } = await own.expectOk<contract.Me>('GET /api/me')
  assert.equal(me.emailChange?.oldEmail, own.email)
  const refused = await own.refusal('POST /api/closing', { unspent: 'refund' })
  assert.equal(refused, '409 email_change_recent')
  const { rows } = await stage.db.query('select from refunds')
  assert.equal(rows.length, 0, 'nothing was refunded before the refusal')
  const again = await own.refusal('POST /api/auth/email/change', { newEmail: 'third@example.org' })
  assert.equal(again, '409 email_change_recent')
})

test('the refusal says what is missing, and a password proves it', async () => {
  const own = await at.stage.person('asked')
  await ageProofs(at.stage.db, '1 day', own.email)
  const { body } = await own.send<contract.ErrorBody>('GET /api/export')
  assert.deepEqual([body.error.code, body.error.needs], ['step_up_needed', ['password']])
  await own.expectOk('POST /api/auth/step-up', { password: PASSWORD })
  await own.expectOk('GET /api/export')
})
