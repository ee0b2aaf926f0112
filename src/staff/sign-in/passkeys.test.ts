// Passkeys of operators: registering, signing in, and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { CONSOLE, createStaffStage, type StaffStage } from '../../../test/stages/staff.ts'
import { createAuthenticator } from '../../../test/support/authenticator.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { passwordIsStill } from '../queries.ts'
import type { Staff } from '../staff.ts'

let stage: StaffStage
before(async () => {
  stage = await createStaffStage()
})
after(() => stage.end())

const wrong = (error: unknown) => isRefusal(error, 'operator_passkey_wrong')

type Registration = Parameters<Staff['finishPasskeyRegistration']>[1]['response']
type Answer = Parameters<Staff['finishPasskeySignIn']>[0]['response']

/** The authenticator sends what a browser would; the library's types are narrower. */
function registrationOf(
  passkey: ReturnType<typeof createAuthenticator>,
  { challenge }: { readonly challenge: string },
): Registration {
  const rp = { id: new URL(CONSOLE).hostname }
  return passkey.register({ challenge, rp }) as unknown as Registration
}

async function register(token: string, passkey = createAuthenticator(CONSOLE)) {
  const { ticket, options } = await stage.staff.beginPasskeyRegistration(token)
  const response = registrationOf(passkey, options)
  const given = { ticket, response, name: 'Phone' }
  return { passkey, given, done: await stage.staff.finishPasskeyRegistration(token, given) }
}

async function answer(passkey: ReturnType<typeof createAuthenticator>) {
  const { ticket, options } = await stage.staff.beginPasskeySignIn(stage.caller)
  const response = passkey.authenticate(options) as unknown as Answer
  return { ...stage.caller, ticket, response }
}

test('a passkey signs in alone, with a challenge that works once', async () => {
  const olga = await stage.operator('olga', 'admin')
  const { token } = await stage.signIn(olga)
  const { passkey, done } = await register(token)
  const given = await answer(passkey)
  const { session } = await stage.staff.finishPasskeySignIn(given)
  assert.equal(session.operator.email, olga.email)
  assert.equal(session.missing, null)
  assert.ok(session.proofs.passkey)
  await assert.rejects(stage.staff.finishPasskeySignIn(given), wrong)
  const list = await stage.staff.listPasskeys(done.session)
  assert.deepEqual(
    list.map(({ name }) => name),
    ['Phone'],
  )
})

test('a session adds a factor only within minutes after it proved one', async () => {
  const rita = await stage.operator('rita', 'viewer')
  const { token, session } = await stage.signIn(rita)
  await stage.db.query(
    `update operator_sessions set code_at = code_at - interval '11 minutes' where id = $1`,
    [session.id],
  )
  const old = (error: unknown) => isRefusal(error, 'second_factor_missing')
  await assert.rejects(stage.staff.beginPasskeyRegistration(token), old)
  await assert.rejects(stage.staff.enrolTotp(token), old)
})

test('a password that was reset while it was compared opens no session', async () => {
  const { id } = await stage.operator('sveta', 'viewer')
  const { rows } = await stage.db.query(
    'select password_hash as hash from operators where id = $1',
    [id],
  )
  const { hash } = rows[0] as { hash: string }
  const isStill = () => stage.db.transaction((tx) => passwordIsStill(tx, { id, hash }))
  assert.equal(await isStill(), true)
  await stage.db.transaction((tx) => stage.staff.people.reset(tx, id, true))
  assert.equal(await isStill(), false)
})

test('a passkey that does not verify its owner, or of another site, is refused', async () => {
  const nina = await stage.operator('nina', 'viewer')
  const { token } = await stage.signIn(nina)
  const careless = createAuthenticator(CONSOLE, { isOwnerVerified: false })
  await assert.rejects(register(token, careless), wrong)
  await assert.rejects(register(token, createAuthenticator('http://127.0.0.1:8081')), wrong)
  const { passkey } = await register(token)
  passkey.state.isOwnerVerified = false
  await assert.rejects(stage.staff.finishPasskeySignIn(await answer(passkey)), wrong)
})

test('a challenge of another session, or an expired one, registers nothing', async () => {
  const one = await stage.signIn(await stage.operator('ivan', 'viewer'))
  const two = await stage.signIn(await stage.operator('anna', 'viewer'))
  const { ticket, options } = await stage.staff.beginPasskeyRegistration(one.token)
  const passkey = createAuthenticator(CONSOLE)
  const response = registrationOf(passkey, options)
  const given = { ticket, response, name: '' }
  await assert.rejects(stage.staff.finishPasskeyRegistration(two.token, given), wrong)
  await stage.db.query('update operator_challenges set ends_at = clock_timestamp()')
  await assert.rejects(stage.staff.finishPasskeyRegistration(one.token, given), wrong)
})

test('a passkey may be the first factor, and the last one cannot be removed', async () => {
  const { code } = await stage.invite('vera', 'support')
  const begun = await stage.staff.acceptInvitation({
    ...{ ...stage.caller, code, password: 'a sentence of vera 1' },
  })
  const { passkey, done } = await register(begun.token)
  assert.equal(done.session.missing, null)
  const [own] = await stage.staff.listPasskeys(done.session)
  await assert.rejects(stage.staff.removePasskey(done.session, own?.id ?? ''), (error: unknown) =>
    isRefusal(error, 'second_factor_missing'),
  )
  const { session } = await stage.staff.finishPasskeySignIn(await answer(passkey))
  await stage.db.transaction((tx) => stage.staff.people.disable(tx, session.operator.id))
  await assert.rejects(stage.staff.finishPasskeySignIn(await answer(passkey)), wrong, 'disabled')
})

test('two removals at the same moment leave one passkey to whoever has no app', async () => {
  for (let round = 1; round <= 10; round += 1) {
    const { code, operator } = await stage.invite(`pair-${round}`, 'viewer')
    const password = 'a sentence of a pair 1'
    const begun = await stage.staff.acceptInvitation({ ...stage.caller, code, password })
    const one = await register(begun.token)
    const { session } = (await register(one.done.token)).done
    const list = await stage.staff.listPasskeys(session)
    await Promise.allSettled(list.map(({ id }) => stage.staff.removePasskey(session, id)))
    assert.equal((await stage.staff.people.requireOperator(operator.id)).passkeys, 1)
  }
})

test('a passkey that is added while the operator is reset does not outlast the reset', async () => {
  const zoya = await stage.operator('zoya', 'viewer')
  const { token, session } = await stage.signIn(zoya)
  const { ticket, options } = await stage.staff.beginPasskeyRegistration(token)
  const response = registrationOf(createAuthenticator(CONSOLE), options)
  const given = { ticket, response, name: 'Thief' }
  const ends = await stage.db.transaction(async (last) => {
    const { adding } = await stage.db.transaction(async (first) => {
      await first.query('select from operator_challenges where id = $1 for update', [ticket])
      const begun = stage.staff.finishPasskeyRegistration(token, given)
      await waitFor('delete from operator_challenges')
      await last.query('select from operator_sessions where id = $1 for update', [session.id])
      return { adding: begun }
    })
    // The passkey is inserted, and its transaction waits for the lock of the session.
    await waitFor('update operator_sessions set passkey_at')
    const resetting = stage.db.transaction((tx) => stage.staff.people.reset(tx, zoya.id))
    await waitFor('operator', 2)
    return [adding, resetting]
  })
  await Promise.allSettled(ends)
  const { state, passkeys } = await stage.staff.people.requireOperator(zoya.id)
  assert.deepEqual([state, passkeys], ['invited', 0])
})

/** Until so many statements with this text wait for a lock. */
async function waitFor(text: string, count = 1): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await stage.db.query(
      `select from pg_stat_activity where datname = current_database()
         and wait_event_type = 'Lock' and position($1 in query) > 0`,
      [text],
    )
    if (rows.length >= count) return
    await setTimeout(10)
  }
  assert.fail(`nothing waits: ${text}`)
}
