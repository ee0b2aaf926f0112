// The review after a password reset: a passkey that a thief has planted gains nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  ageProofs,
  createStage,
  errorOf,
  expect,
  nextCode,
  PASSWORD,
  type Stage,
  totpCode,
} from '../../../test/stages/accounts.ts'
import { passkeySteps } from '../../../test/stages/passkeys.ts'
import { isRefusal } from '../../platform/refusal.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const NEW = 'a storm from the west'
const eventContext = { atMs: 0, address: '', device: '' }
const { addPasskey, signInWith } = passkeySteps

/** An owner with an own and a planted passkey who has reset the password. */
async function afterReset(name: string) {
  const owner = await stage.person(name)
  const { passkey: own } = await addPasskey(owner, 'Own')
  const { passkey: planted } = await addPasskey(owner, 'Planted')
  const thief = stage.browser({ address: '192.0.2.66' })
  expect((await signInWith(planted, thief)).reply, 200)
  expect(await stage.browser().post('/request-password-reset', { email: owner.email }), 200)
  const code = await stage.emailedCode(owner.email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  return { owner, thief, own, planted }
}

test('a reset ends every session, and no passkey signs in before the review', async () => {
  const { owner, thief, planted } = await afterReset('planted')
  assert.equal(await thief.session(), undefined)
  assert.equal(await owner.session(), undefined)
  const { reply } = await signInWith(planted, thief)
  assert.deepEqual([reply.status, errorOf(reply)], [401, 'passkey_suspended'])
  assert.equal(await thief.session(), undefined)
  const { rows } = await stage.db.query(
    'select from sessions where account_id = (select id from accounts where email = $1)',
    [owner.email],
  )
  assert.equal(rows.length, 0)
})

test('the owner drops the planted passkey and keeps the own one', async () => {
  const { owner, own, planted } = await afterReset('reviewer')
  expect(await owner.signIn(owner.email, NEW), 200)
  const other = stage.browser()
  expect(await other.signIn(owner.email, NEW), 200)
  const session = stage.accounts.requireSession(await owner.session())
  const passkeys = await stage.accounts.passkeys(session)
  const dropped = passkeys.filter(({ name }) => name === 'Planted').map(({ id }) => id)
  const finish = () =>
    stage.db.transaction((tx) =>
      stage.accounts.finishReview(tx, session, { passkeys: dropped, eventContext }),
    )
  assert.equal(await finish(), true)
  assert.equal(await finish(), false, 'the review is over')
  assert.match((await stage.lastEmail(owner.email, 'passkey-removed')).text, /“Planted”/)
  assert.equal(await other.session(), undefined, 'the other sessions end')
  assert.notEqual(await owner.session(), undefined)
  const thief = await signInWith(planted, stage.browser())
  assert.equal(errorOf(thief.reply), 'passkey_unknown')
  expect((await signInWith(own, stage.browser())).reply, 200)
})

test('before the review a passkey proves nothing inside a session either', async () => {
  const { owner, planted } = await afterReset('stepping')
  expect(await owner.signIn(owner.email, NEW), 200)
  await ageProofs(stage.db, '1 day', owner.email)
  const response = await passkeySteps.passkeyAnswer(planted, owner)
  assert.equal(errorOf(await owner.post('/step-up', { response })), 'passkey_suspended')
  const session = stage.accounts.requireSession(await owner.session())
  await assert.rejects(
    stage.db.transaction((tx) =>
      stage.accounts.finishReview(tx, session, { passkeys: [], eventContext }),
    ),
    (error) => isRefusal(error, 'step_up_needed'),
  )
})

test('the review removes no passkey of another owner', async () => {
  const { owner } = await afterReset('greedy')
  const other = await stage.person('bystander')
  await addPasskey(other, 'Theirs')
  const theirs = await stage.accounts.passkeys(stage.accounts.requireSession(await other.session()))
  expect(await owner.signIn(owner.email, NEW), 200)
  const session = stage.accounts.requireSession(await owner.session())
  const passkeys = theirs.map(({ id }) => id)
  await stage.db.transaction((tx) =>
    stage.accounts.finishReview(tx, session, { passkeys, eventContext }),
  )
  const left = await stage.accounts.passkeys(stage.accounts.requireSession(await other.session()))
  assert.equal(left.length, 1)
})

/** Lets a request add its session only after `reset` has ended, or waits for it in vain. */
async function overtake(request: () => Promise<unknown>, reset: () => Promise<unknown>) {
  await stage.db.query(
    `create or replace function sessions_wait() returns trigger language plpgsql as
     'begin perform pg_advisory_xact_lock(42); return new; end'`,
  )
  await stage.db.query(
    `create or replace trigger sessions_wait before insert on sessions
     for each row execute function sessions_wait()`,
  )
  const both = await stage.db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(42)')
    const requested = request()
    await waitForBlocked()
    const done = reset()
    await Promise.race([done, pause(1_000)])
    return { requested, done }
  })
  await both.requested
  await both.done
  await stage.db.query('drop trigger sessions_wait on sessions')
}

async function waitForBlocked(): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const { rows } = await stage.db.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
       where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
    )
    if (rows.length > 0) return
    await pause(10)
  }
  throw new Error('no session was added')
}

async function resetOf(email: string, newPassword: string) {
  expect(await stage.browser().post('/request-password-reset', { email }), 200)
  const code = await stage.emailedCode(email, 'reset-password')
  return async () =>
    expect(await stage.browser().post('/reset-password', { code, newPassword }), 200)
}

test('no session of a second factor survives a reset that overtakes it', async () => {
  const owner = await stage.person('factored')
  const { email } = owner
  const { body } = expect(await owner.post('/two-factor/enable', { password: PASSWORD }), 200)
  const { uri, recoveryCodes } = body as { uri: string; recoveryCodes: string[] }
  const enabling = () => owner.post('/two-factor/verify-totp', { code: totpCode(uri) })
  await overtake(enabling, await resetOf(email, `${NEW} 1`))
  assert.equal(await owner.session(), undefined, 'switched on')

  const thief = stage.browser()
  expect(await thief.signIn(email, `${NEW} 1`), 200)
  const code = nextCode(uri)
  const proving = () => thief.post('/two-factor/verify-totp', { code })
  await overtake(proving, await resetOf(email, `${NEW} 2`))
  assert.equal(await thief.session(), undefined, 'signed in with a code')

  expect(await thief.signIn(email, `${NEW} 2`), 200)
  const recovering = () => thief.post('/two-factor/verify-backup-code', { code: recoveryCodes[0] })
  await overtake(recovering, await resetOf(email, `${NEW} 3`))
  assert.equal(await thief.session(), undefined, 'signed in with a recovery code')

  expect(await thief.signIn(email, `${NEW} 3`), 200)
  expect(await thief.post('/two-factor/verify-backup-code', { code: recoveryCodes[1] }), 200)
  const disabling = () => thief.post('/two-factor/disable', { password: `${NEW} 3` })
  await overtake(disabling, await resetOf(email, `${NEW} 4`))
  assert.equal(await thief.session(), undefined, 'switched off')
})

test('a passkey that the review removes makes no session that was under way', async () => {
  const { owner, planted } = await afterReset('swift')
  expect(await owner.signIn(owner.email, NEW), 200)
  const session = stage.accounts.requireSession(await owner.session())
  const passkeys = (await stage.accounts.passkeys(session)).map(({ id }) => id)
  const thief = stage.browser()
  const response = await passkeySteps.passkeyAnswer(planted, thief)
  await overtake(
    () => thief.post('/passkey/verify-authentication', { response }),
    () =>
      stage.db.transaction((tx) =>
        stage.accounts.finishReview(tx, session, { passkeys, eventContext }),
      ),
  )
  assert.equal(await thief.session(), undefined)
})

test('a sign-in with the old password that a reset overtakes makes no session', async () => {
  const owner = await stage.person('overtaken')
  const { email } = owner
  const left: (string | undefined)[] = []
  for (const round of [1, 2, 3, 4]) {
    expect(await stage.browser().post('/request-password-reset', { email }), 200)
    const code = await stage.emailedCode(email, 'reset-password')
    const old = round === 1 ? undefined : `${NEW} ${round - 1}`
    const thieves = Array.from({ length: 4 }, () => stage.browser())
    const reset = { code, newPassword: `${NEW} ${round}` }
    await Promise.all([
      ...thieves.map((thief) =>
        old === undefined ? thief.signIn(email) : thief.signIn(email, old),
      ),
      stage.browser().post('/reset-password', reset),
    ])
    for (const thief of thieves) left.push((await thief.session())?.id)
  }
  assert.deepEqual([...new Set(left)], [undefined])
})
