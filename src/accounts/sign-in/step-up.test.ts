// Step-up over /api/auth: a session proves a factor without a new sign-in, and only what is missing
// is asked for.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ageProofs,
  type Browser,
  createStage,
  enableSecondFactor,
  errorOf,
  expect,
  nextCode,
  PASSWORD,
  type Stage,
  totpCode,
} from '../../../test/stages/accounts.ts'
import { passkeySteps } from '../../../test/stages/passkeys.ts'
import { levels, missingProofs, SHARED_MINUTES } from '../levels.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const { addPasskey, passkeyAnswer } = passkeySteps

/** The owner's browser with old proofs, on an account with a second factor. */
async function stalePerson(name: string) {
  const owner = await stage.person(name)
  const factor = await enableSecondFactor(owner)
  await ageProofs(stage.db, '1 day', owner.email)
  return Object.assign(owner, factor)
}

const missing = async (browser: Browser) => (await browser.session())?.missing.second_factor

test('each proof is asked for once, inside the same session', async () => {
  const owner = await stalePerson('stepper')
  const before = await owner.session()
  assert.deepEqual(before?.missing, {
    signed_in: [],
    password: ['password'],
    second_factor: ['password', 'code'],
  })
  const newEmail = 'stepped@example.org'
  const refused = await owner.post('/email/change', { newEmail })
  assert.deepEqual(refused.body.error, {
    code: 'step_up_needed',
    message: 'step up needed',
    needs: ['password', 'code'],
  })

  expect(await owner.post('/step-up', { password: PASSWORD }), 200)
  assert.deepEqual((await owner.session())?.missing.password, [])
  assert.deepEqual(await missing(owner), ['code'])
  expect(await owner.post('/step-up', { code: nextCode(owner.uri) }), 200)
  assert.deepEqual(await missing(owner), [])
  assert.equal((await owner.session())?.id, before?.id, 'no new sign-in')
  expect(await owner.post('/email/change', { newEmail }), 200)
})

test('a recovery code proves the second factor once, and the owner gets an e-mail', async () => {
  const owner = await stalePerson('recoverer')
  const recoveryCode = owner.recoveryCodes[0]
  expect(await owner.post('/step-up', { recoveryCode }), 200)
  assert.deepEqual(await missing(owner), ['password'])
  await stage.lastEmail(owner.email, 'recovery-code-used')
  const again = await owner.post('/step-up', { recoveryCode })
  assert.equal(errorOf(again), 'second_factor_wrong')
})

test('a passkey proves everything, and makes no session of its own', async () => {
  const owner = await stage.person('finger')
  const { passkey } = await addPasskey(owner)
  await ageProofs(stage.db, '1 day', owner.email)
  const session = stage.accounts.requireSession(await owner.session())
  const response = await passkeyAnswer(passkey, owner)
  expect(await owner.post('/step-up', { response }), 200)
  assert.deepEqual(await missing(owner), [])
  assert.equal((await owner.session())?.id, session.id)
  assert.equal((await stage.accounts.sessions(session)).length, 1)
})

test('the passkey of another owner proves nothing', async () => {
  const owner = await stage.person('mine')
  const other = await stage.person('theirs')
  const { passkey } = await addPasskey(other)
  await ageProofs(stage.db, '1 day', owner.email)
  const response = await passkeyAnswer(passkey, owner)
  assert.equal(errorOf(await owner.post('/step-up', { response })), 'passkey_unknown')
  assert.deepEqual(await missing(owner), ['password'])
  const session = stage.accounts.requireSession(await other.session())
  assert.equal((await stage.accounts.sessions(session)).length, 1)
})

test('a code that was used once proves nothing a second time', async () => {
  const owner = await stalePerson('onlooker')
  const code = nextCode(owner.uri)
  expect(await owner.post('/step-up', { code }), 200)
  const again = await owner.post('/step-up', { code })
  assert.equal(errorOf(again), 'second_factor_wrong')
  const browser = stage.browser()
  expect(await browser.signIn(owner.email), 200)
  const signIn = await browser.post('/two-factor/verify-totp', { code })
  assert.equal(errorOf(signIn), 'second_factor_wrong')
})

test('guesses inside a session are counted, codes and passwords apart', async () => {
  const owner = await stalePerson('guessed')
  const wrong = String((Number(totpCode(owner.uri)) + 1) % 1_000_000).padStart(6, '0')
  for (const _ of Array.from({ length: 10 })) {
    assert.equal(errorOf(await owner.post('/step-up', { code: wrong })), 'second_factor_wrong')
  }
  const locked = await owner.post('/step-up', { code: nextCode(owner.uri) })
  assert.deepEqual([locked.status, errorOf(locked)], [429, 'attempts_exceeded'])
  for (const _ of Array.from({ length: 10 })) {
    const reply = await owner.post('/step-up', { password: 'not the password' })
    assert.equal(errorOf(reply), 'password_wrong')
  }
  const reply = await owner.post('/step-up', { password: PASSWORD })
  assert.equal(errorOf(reply), 'attempts_exceeded')
  const around = await owner.post('/two-factor/verify-totp', { code: nextCode(owner.uri) })
  assert.equal(
    errorOf(around),
    'second_factor_already_on',
    'no other path tells whether it is right',
  )
})

test('who guesses in one session keeps no other session from a step-up', async () => {
  const owner = await stalePerson('besieged')
  const thief = stage.browser()
  for (const [name, value] of owner.jar) thief.jar.set(name, value)
  const wrong = String((Number(totpCode(owner.uri)) + 1) % 1_000_000).padStart(6, '0')
  for (const _ of Array.from({ length: 11 })) {
    await thief.post('/step-up', { code: wrong })
    await thief.post('/step-up', { password: 'not the password' })
  }
  const stolen = await thief.post('/step-up', { password: PASSWORD })
  assert.equal(errorOf(stolen), 'attempts_exceeded', 'the stolen session is used up')

  const home = stage.browser()
  expect(await home.signIn(owner.email), 200)
  expect(await home.post('/two-factor/verify-totp', { code: nextCode(owner.uri) }), 200)
  const newPassword = 'a storm from the west'
  const change = { currentPassword: PASSWORD, newPassword }
  expect(await home.post('/change-password', change), 200)
  expect(await home.post('/step-up', { password: newPassword }), 200)
  expect(await home.post('/step-up', { recoveryCode: owner.recoveryCodes[0] }), 200)
  assert.equal(await thief.session(), undefined)
})

test('a step-up needs a session and exactly one proof', async () => {
  assert.equal(
    errorOf(await stage.browser().post('/step-up', { password: PASSWORD })),
    'session_missing',
  )
  const owner = await stage.person('formal')
  for (const body of [{}, { password: PASSWORD, code: '123456' }, { password: '' }]) {
    assert.equal(errorOf(await owner.post('/step-up', body)), 'body_wrong')
  }
  assert.equal(errorOf(await owner.post('/step-up', { code: '123456' })), 'second_factor_off')
})

test('a session that ends while its owner proves a factor stays ended', async () => {
  const owner = await stage.person('raced')
  const session = stage.accounts.requireSession(await owner.session())
  const [step] = await Promise.all([
    owner.post('/step-up', { password: PASSWORD }),
    stage.accounts.revokeSession(session, session.id),
  ])
  assert.ok(step.status === 200 || errorOf(step) === 'session_missing')
  assert.equal(await owner.session(), undefined)
})

test('on a shared device a proof counts for two minutes', async () => {
  const owner = await stage.person('library')
  const shared = stage.browser()
  const body = { email: owner.email, password: PASSWORD, isPrivate: false }
  expect(await shared.post('/sign-in/email', body), 200)
  assert.deepEqual(await missing(shared), [])
  await ageProofs(stage.db, '3 minutes', owner.email)
  assert.deepEqual(await missing(shared), ['password'])
  assert.deepEqual(await missing(owner), [], 'the owner’s own device')
  expect(await shared.post('/step-up', { password: PASSWORD }), 200)
  assert.deepEqual(await missing(shared), [])
})

test('a second factor that is switched on raises the level of the other sessions', async () => {
  const owner = await stage.person('raised')
  const other = stage.browser()
  expect(await other.signIn(owner.email), 200)
  await enableSecondFactor(owner)
  assert.deepEqual(await missing(owner), [])
  assert.deepEqual(await missing(other), ['code'])
})

test('a removed passkey proves nothing in other sessions any more', async () => {
  const owner = await stage.person('remover')
  const { passkey } = await addPasskey(owner)
  const other = stage.browser()
  const response = await passkeyAnswer(passkey, other)
  expect(await other.post('/passkey/verify-authentication', { response }), 200)
  assert.deepEqual(await missing(other), [])
  const session = stage.accounts.requireSession(await owner.session())
  const [mine] = await stage.accounts.passkeys(session)
  expect(await owner.post('/passkey/delete-passkey', { id: mine?.id }), 200)
  assert.deepEqual(await missing(other), ['password'])
})

test('a proof does not count longer when the clock is set back', async () => {
  const owner = await stage.person('earlier')
  await ageProofs(stage.db, '-3 hours', owner.email)
  assert.deepEqual(await missing(owner), ['password'])
})

test('a session of the version before has proven nothing', async () => {
  const owner = await stage.person('older')
  await stage.db.query(
    `update sessions set password_at = default, is_private = default
     where account_id = (select id from accounts where email = $1)`,
    [owner.email],
  )
  assert.deepEqual(await missing(owner), ['password'])
})

test('every action has a level, and the levels contain each other', () => {
  const proofs = [
    {},
    { passwordAt: new Date(0) },
    { codeAt: new Date(0) },
    { recoveryAt: new Date(0) },
    { passkeyAt: new Date(0) },
    { passwordAt: new Date(0), codeAt: new Date(0) },
  ]
  for (const isPrivate of [true, false]) {
    for (const hasSecondFactor of [true, false]) {
      for (const one of proofs) {
        for (const minutes of [0, SHARED_MINUTES, 10]) {
          const nowMs = minutes * 60_000
          const given = { proofs: one, isPrivate, hasSecondFactor, nowMs, freshMinutes: 10 }
          const result = missingProofs(given)
          assert.deepEqual(result.signed_in, [])
          for (const proof of result.password) assert.ok(result.second_factor.includes(proof))
          if (minutes === 10) assert.ok(result.second_factor.includes('password'))
        }
      }
    }
  }
  assert.ok(Object.values(levels).length >= 16)
})
