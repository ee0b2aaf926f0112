// How operators sign in: password and code, invitations, throttles, and what a session may do.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createStaffStage, type StaffStage } from '../../../test/stages/staff.ts'
import { isRefusal } from '../../platform/refusal.ts'

let stage: StaffStage
before(async () => {
  stage = await createStaffStage()
})
after(() => stage.end())

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)

test('an operator signs in with password and code, and the session has its role', async () => {
  const olga = await stage.operator('olga', 'finance')
  const { staff } = stage
  const begun = await staff.signIn({ ...olga, ...stage.caller })
  assert.equal(begun.session.missing, 'factor')
  const { token, session } = await staff.proveFactor(begun.token, olga.code())
  assert.equal(session.missing, null)
  assert.equal(session.operator.role, 'finance')
  assert.equal(await staff.findSession(begun.token), undefined, 'the first token is worth nothing')
  assert.equal((await staff.findSession(token))?.operator.email, olga.email)
  assert.equal(staff.requirePermission(session, 'credits.adjust'), session)
  assert.throws(
    () => staff.requirePermission(session, 'prices.change'),
    refuses('permission_missing'),
  )
  await staff.signOut(token)
  assert.equal(await staff.findSession(token), undefined)
})

test('a session without its second factor may prove it and nothing else', async () => {
  const nina = await stage.operator('nina', 'admin')
  const { staff } = stage
  const { token, session } = await staff.signIn({ ...nina, ...stage.caller })
  const missing = refuses('second_factor_missing')
  assert.throws(() => staff.requirePermission(session, 'self.use'), missing)
  assert.throws(() => staff.listPasskeys(session), missing)
  assert.throws(() => staff.listSessions(session), missing)
  await assert.rejects(staff.enrolTotp(token), missing)
  await assert.rejects(staff.confirmTotp(token, '000000'), missing)
  await assert.rejects(staff.beginPasskeyRegistration(token), missing)
})

test('a code is accepted once, and not an older one after it', async () => {
  const vera = await stage.operator('vera', 'viewer')
  const { staff } = stage
  const code = vera.code()
  const first = await staff.signIn({ ...vera, ...stage.caller })
  await staff.proveFactor(first.token, code)
  const second = await staff.signIn({ ...vera, ...stage.caller })
  const wrong = refuses('second_factor_wrong')
  await assert.rejects(staff.proveFactor(second.token, code), wrong)
  stage.clock.turn(30_000)
  await staff.proveFactor(second.token, vera.code())
  const third = await staff.signIn({ ...vera, ...stage.caller })
  await assert.rejects(staff.proveFactor(third.token, code), wrong, 'of the step before')
})

test('a recovery code works once, also in capitals', async () => {
  const anton = await stage.operator('anton', 'viewer')
  const { staff } = stage
  const [recovery = ''] = anton.recoveryCodes
  const first = await staff.signIn({ ...anton, ...stage.caller })
  const { session } = await staff.proveFactor(first.token, recovery.toUpperCase())
  assert.ok(session.proofs.recovery)
  const again = await staff.signIn({ ...anton, ...stage.caller })
  await assert.rejects(staff.proveFactor(again.token, recovery), refuses('second_factor_wrong'))
})

test('two uses of one code at once: one passes', async () => {
  const inna = await stage.operator('inna', 'viewer')
  const { staff } = stage
  const tokens = [
    await staff.signIn({ ...inna, ...stage.caller }),
    await staff.signIn({ ...inna, ...stage.caller }),
  ]
  const code = inna.code()
  const ends = await Promise.allSettled(tokens.map(({ token }) => staff.proveFactor(token, code)))
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('wrong passwords are refused alike, then wait, by operator and by address', async () => {
  const petr = await stage.operator('petr', 'viewer')
  const { staff } = stage
  const wrong = refuses('sign_in_wrong')
  const attempt = (email: string, address: string) =>
    staff.signIn({ ...stage.caller, address, email, password: 'not the password' })
  await assert.rejects(attempt('stranger@gate.example', '10.1.0.1'), wrong)
  for (let i = 0; i < 10; i += 1) await assert.rejects(attempt(petr.email, `10.2.0.${i}`), wrong)
  const throttled = refuses('sign_in_throttled')
  await assert.rejects(staff.signIn({ ...petr, ...stage.caller, address: '10.2.1.1' }), throttled)
  for (let i = 0; i < 20; i += 1)
    await assert.rejects(attempt(`${i}@gate.example`, '10.3.0.1'), wrong)
  await assert.rejects(attempt('one-more@gate.example', '10.3.0.1'), throttled)
})

test('the addresses of one IPv6 network share a count, for every way to begin', async () => {
  const { staff } = stage
  const address = (i: number) => `2001:db8:4:5::${i.toString(16)}`
  for (let i = 0; i < 20; i += 1) await staff.beginPasskeySignIn({ address: address(i) })
  const throttled = refuses('sign_in_throttled')
  await assert.rejects(staff.beginPasskeySignIn({ address: address(20) }), throttled)
  const given = { email: 'six@gate.example', password: 'not the password' }
  await assert.rejects(staff.signIn({ ...stage.caller, ...given, address: address(21) }), throttled)
  await staff.beginPasskeySignIn({ address: '2001:db8:4:6::1' })
})

test('wrong codes wait too, whatever the session', async () => {
  const zoya = await stage.operator('zoya', 'viewer')
  const { staff } = stage
  for (let i = 0; i < 10; i += 1) {
    const { token } = await staff.signIn({ ...zoya, ...stage.caller })
    await assert.rejects(staff.proveFactor(token, '12345'), refuses('second_factor_wrong'))
  }
  const { token } = await staff.signIn({ ...zoya, ...stage.caller })
  await assert.rejects(staff.proveFactor(token, zoya.code()), refuses('sign_in_throttled'))
})

test('a session ends when it was idle, and after its hours in any case', async () => {
  const ilya = await stage.operator('ilya', 'viewer')
  const { staff, db } = stage
  const { token } = await stage.signIn(ilya)
  await db.query(`update operator_sessions set seen_at = seen_at - interval '29 minutes'`)
  assert.ok(await staff.findSession(token), 'and this use begins the half hour anew')
  await db.query(`update operator_sessions set seen_at = seen_at - interval '31 minutes'`)
  assert.equal(await staff.findSession(token), undefined)
  stage.clock.turn(60_000)
  const other = await stage.signIn(ilya)
  await db.query(`update operator_sessions set ends_at = ends_at - interval '12 hours'`)
  assert.equal(await staff.findSession(other.token), undefined)
  await assert.rejects(staff.enrolTotp(other.token), refuses('operator_session_missing'))
})

test('the database has no token, password, seed or recovery code as it is', async () => {
  const lida = await stage.operator('lida', 'viewer')
  const { token } = await stage.signIn(lida)
  const tables = ['operators', 'operator_factors', 'operator_sessions', 'operator_challenges']
  const stored = await Promise.all(
    tables.map(async (name) => (await stage.db.query(`select t::text from ${name} t`)).rows),
  )
  const text = JSON.stringify(stored)
  const secrets = [token, lida.password, lida.seed, ...lida.recoveryCodes, lida.invitation]
  for (const secret of secrets) {
    assert.ok(!text.includes(secret))
    assert.ok(!text.includes(Buffer.from(secret).toString('hex')))
  }
})

test('an invitation sets a password once, needs a good one, and ends', async () => {
  const { staff } = stage
  const { code } = await stage.invite('maria', 'support')
  const given = { ...stage.caller, code, password: 'a sentence of maria 1' }
  await assert.rejects(
    staff.acceptInvitation({ ...given, password: 'password123' }),
    refuses('operator_password_weak'),
  )
  const { token, session } = await staff.acceptInvitation(given)
  assert.equal(session.missing, 'enrolment')
  await assert.rejects(
    staff.signIn({ ...given, email: 'maria@gate.example' }),
    refuses('sign_in_wrong'),
    'a password alone sets up no factor',
  )
  await assert.rejects(staff.proveFactor(token, '000000'), refuses('second_factor_not_set_up'))
  await stage.enrol(token)
  await assert.rejects(staff.acceptInvitation(given), refuses('invitation_wrong'), 'used')
  const late = await stage.invite('late', 'support')
  await stage.db.query(
    `update operators set invitation_ends_at = clock_timestamp() where state = 'invited'`,
  )
  await assert.rejects(
    staff.acceptInvitation({ ...given, code: late.code }),
    refuses('invitation_wrong'),
    'expired',
  )
})

test('an app replaces another only in a whole session, and ends the other sessions', async () => {
  const egor = await stage.operator('egor', 'viewer')
  const { staff } = stage
  const one = await stage.signIn(egor)
  stage.clock.turn(60_000)
  const two = await stage.signIn(egor)
  const { recoveryCodes, token } = await stage.enrol(two.token)
  assert.equal(recoveryCodes.length, 10)
  assert.ok(await staff.findSession(token))
  assert.equal(await staff.findSession(one.token), undefined)
  const again = await staff.signIn({ ...egor, ...stage.caller })
  stage.clock.turn(60_000)
  await assert.rejects(
    staff.proveFactor(again.token, egor.codeNow()),
    refuses('second_factor_wrong'),
    'of the former app',
  )
})

test('a seed under a former secret works, and is encrypted anew at its use', async () => {
  const foma = await stage.operator('foma', 'viewer')
  const successor = stage.withSecret('2:another operators secret of the tests,1:first')
  const { token } = await successor.signIn({ ...foma, ...stage.caller })
  await successor.proveFactor(token, foma.code())
  const { rows } = await stage.db.query(
    `select f.secret from operator_factors f join operators o on o.id = f.operator_id
     where o.email = $1`,
    [foma.email],
  )
  assert.match((rows[0] as { secret: string }).secret, /^2\$/)
  const without = stage.withSecret('3:a third operators secret of the tests,')
  const next = await without.signIn({ ...foma, ...stage.caller })
  stage.clock.turn(60_000)
  await assert.rejects(
    without.proveFactor(next.token, foma.codeNow()),
    refuses('second_factor_not_set_up'),
  )
})
