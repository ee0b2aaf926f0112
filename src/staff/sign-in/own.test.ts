// What operators change about their own sign-in: password, recovery codes and sessions.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createStaffStage, type StaffStage } from '../../../test/stages/staff.ts'
import { isRefusal } from '../../platform/refusal.ts'

let stage: StaffStage
beforeEach(async () => {
  stage = await createStaffStage()
})
afterEach(() => stage.end())

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)
const NEXT = 'another long sentence 2'

test('a new password needs the present one, ends the other sessions and replaces it', async () => {
  const olga = await stage.operator('olga', 'viewer')
  const first = await stage.signIn(olga)
  stage.clock.turn(60_000)
  const { session, token } = await stage.signIn(olga)
  const change = (present: string, next: string) =>
    stage.staff.changePassword(session, { present, next })
  await assert.rejects(change('a wrong sentence', NEXT), refuses('sign_in_wrong'))
  await assert.rejects(change(olga.password, 'short'), refuses('operator_password_weak'))
  assert.notEqual(await stage.staff.findSession(first.token), undefined)
  await change(olga.password, NEXT)
  assert.equal(await stage.staff.findSession(first.token), undefined)
  assert.notEqual(await stage.staff.findSession(token), undefined)
  const signIn = (password: string) =>
    stage.staff.signIn({ ...stage.caller, email: olga.email, password })
  await assert.rejects(signIn(olga.password), refuses('sign_in_wrong'))
  assert.equal((await signIn(NEXT)).session.missing, 'factor')
})

test('wrong present passwords are counted, and the right one waits too', async () => {
  const olga = await stage.operator('olga', 'viewer')
  const { session } = await stage.signIn(olga)
  const staff = stage.withSettings({ wrongPerOperator: 2 })
  for (const code of ['sign_in_wrong', 'sign_in_wrong', 'sign_in_throttled']) {
    const change = staff.changePassword(session, { present: 'a wrong sentence', next: NEXT })
    await assert.rejects(change, refuses(code))
  }
})

test('new recovery codes replace the former ones', async () => {
  const olga = await stage.operator('olga', 'viewer')
  const { session } = await stage.signIn(olga)
  const codes = await stage.staff.renewRecoveryCodes(session)
  assert.deepEqual(await stage.staff.readFactors(session), { hasApp: true, recoveryCodes: 10 })
  const prove = async (code = '') => {
    const { token } = await stage.staff.signIn({ ...olga, ...stage.caller })
    return stage.staff.proveFactor(token, code)
  }
  await assert.rejects(prove(olga.recoveryCodes[0]), refuses('second_factor_wrong'))
  assert.equal((await prove(codes[0])).session.missing, null)
  assert.equal((await stage.staff.readFactors(session)).recoveryCodes, 9)
})

test('ten minutes after a proof nothing is added until another one', async () => {
  const olga = await stage.operator('olga', 'viewer')
  const { token } = await stage.signIn(olga)
  await stage.db.query(`update operator_sessions set code_at = code_at - interval '11 minutes'`)
  const stale = await stage.staff.findSession(token)
  assert.ok(stale)
  const missing = refuses('second_factor_missing')
  await assert.rejects(stage.staff.renewRecoveryCodes(stale), missing)
  await assert.rejects(stage.staff.beginPasskeyRegistration(token), missing)
  await assert.rejects(stage.staff.enrolTotp(token), missing)
  stage.clock.turn(60_000)
  const proven = await stage.staff.proveFactor(token, olga.code())
  assert.equal((await stage.staff.renewRecoveryCodes(proven.session)).length, 10)
})
