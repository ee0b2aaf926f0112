// The second factor and passkeys over /api/auth; authenticator app and passkey are software.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ageProofs,
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

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const { addPasskey, signInWith } = passkeySteps

const wrongCode = (uri: string) => String((Number(totpCode(uri)) + 1) % 1_000_000).padStart(6, '0')

const newEmail = 'elsewhere@example.net'

const turnBack = (email: string, interval: string) => ageProofs(stage.db, interval, email)

test('with a second factor the password alone does not sign in', async () => {
  const owner = await stage.person('factor')
  const { uri } = await enableSecondFactor(owner)
  assert.equal((await owner.session())?.hasSecondFactor, true)
  await stage.lastEmail(owner.email, 'second-factor-on')

  const browser = stage.browser()
  const half = await browser.signIn(owner.email)
  assert.deepEqual([half.status, half.body], [200, { status: 'second_factor' }])
  assert.equal(await browser.session(), undefined)
  const wrong = await browser.post('/two-factor/verify-totp', { code: wrongCode(uri) })
  assert.equal(errorOf(wrong), 'second_factor_wrong')
  assert.equal(await browser.session(), undefined)
  const right = await browser.post('/two-factor/verify-totp', { code: nextCode(uri) })
  assert.deepEqual([right.status, right.body], [200, { status: 'signed_in' }])
  assert.equal((await browser.session())?.email, owner.email)
})

test('a code of the authenticator app works once', async () => {
  const owner = await stage.person('shoulder')
  const { uri } = await enableSecondFactor(owner)
  const code = nextCode(uri)
  const [first, second] = [stage.browser(), stage.browser()]
  for (const browser of [first, second]) expect(await browser.signIn(owner.email), 200)
  expect(await first.post('/two-factor/verify-totp', { code }), 200)
  const replay = await second.post('/two-factor/verify-totp', { code })
  assert.equal(errorOf(replay), 'second_factor_wrong')
  assert.equal(await second.session(), undefined)
  assert.equal((await first.session())?.email, owner.email)
})

test('a browser cannot ask to skip the code next time', async () => {
  const owner = await stage.person('trusting')
  const { uri } = await enableSecondFactor(owner)
  const browser = stage.browser()
  expect(await browser.signIn(owner.email), 200)
  const body = { code: nextCode(uri), trustDevice: true }
  expect(await browser.post('/two-factor/verify-totp', body), 200)
  expect(await browser.post('/sign-out'), 200)
  assert.deepEqual((await browser.signIn(owner.email)).body, { status: 'second_factor' })
})

test('ten wrong codes lock the second factor, over any number of sign-ins', async () => {
  const owner = await stage.person('locked')
  const { uri } = await enableSecondFactor(owner)
  for (const round of [1, 2]) {
    const browser = stage.browser({ address: `192.0.2.${round}` })
    expect(await browser.signIn(owner.email), 200)
    for (const _ of [1, 2, 3, 4, 5]) {
      const reply = await browser.post('/two-factor/verify-totp', { code: wrongCode(uri) })
      assert.equal(errorOf(reply), 'second_factor_wrong')
    }
    const sixth = await browser.post('/two-factor/verify-totp', { code: nextCode(uri) })
    assert.ok(['sign_in_expired', 'second_factor_locked'].includes(errorOf(sixth) ?? ''))
  }
  const browser = stage.browser()
  expect(await browser.signIn(owner.email), 200)
  const locked = await browser.post('/two-factor/verify-totp', { code: nextCode(uri) })
  assert.deepEqual([locked.status, errorOf(locked)], [429, 'second_factor_locked'])
})

test('a recovery code signs in once, and the owner gets an e-mail', async () => {
  const owner = await stage.person('recovered')
  const { recoveryCodes } = await enableSecondFactor(owner)
  assert.equal(recoveryCodes.length, 10)
  // No I, l, 1, O, 0: an owner copies them from paper.
  for (const one of recoveryCodes) assert.match(one, /^[2-9a-hjkmnp-z]{5}-[2-9a-hjkmnp-z]{5}$/)
  const [code] = recoveryCodes
  const browser = stage.browser()
  expect(await browser.signIn(owner.email), 200)
  expect(await browser.post('/two-factor/verify-backup-code', { code }), 200)
  assert.equal((await browser.session())?.email, owner.email)
  assert.ok((await stage.emailsTo(owner.email)).some(({ kind }) => kind === 'recovery-code-used'))

  const again = stage.browser()
  expect(await again.signIn(owner.email), 200)
  const used = await again.post('/two-factor/verify-backup-code', { code })
  assert.equal(errorOf(used), 'second_factor_wrong')

  const fresh = await owner.post('/two-factor/generate-backup-codes', { password: PASSWORD })
  const { recoveryCodes: newer } = expect(fresh, 200).body as { recoveryCodes: string[] }
  assert.ok(newer.length === 10 && !newer.includes(recoveryCodes[1] ?? ''))
  assert.match(newer.join(), /^(?:[2-9a-hjkmnp-z]{5}-[2-9a-hjkmnp-z]{5},?){10}$/)
})

test('the seed and the recovery codes are encrypted in the table', async () => {
  const owner = await stage.person('sealed')
  const { recoveryCodes } = await enableSecondFactor(owner)
  const { rows } = await stage.db.query(
    `select second_factors::text as row from second_factors
     where account_id = (select id from accounts where email = $1)`,
    [owner.email],
  )
  const [kept] = rows as { row: string }[]
  assert.ok(kept !== undefined && !kept.row.includes(recoveryCodes[0] ?? ''))
})

test('switching the second factor on or off requires the password', async () => {
  const owner = await stage.person('off')
  const wrong = await owner.post('/two-factor/enable', { password: 'not the password' })
  assert.equal(errorOf(wrong), 'password_wrong')
  await enableSecondFactor(owner)
  const again = await owner.post('/two-factor/enable', { password: PASSWORD })
  assert.equal(errorOf(again), 'second_factor_already_on')
  const off = await owner.post('/two-factor/disable', { password: 'not the password' })
  assert.equal(errorOf(off), 'password_wrong')

  expect(await owner.post('/two-factor/disable', { password: PASSWORD }), 200)
  await stage.lastEmail(owner.email, 'second-factor-off')
  assert.equal((await owner.session())?.hasSecondFactor, false)
  assert.deepEqual((await stage.browser().signIn(owner.email)).body, { status: 'signed_in' })
})

test('an old cookie and the password cannot switch the second factor off', async () => {
  const owner = await stage.person('robbed')
  await enableSecondFactor(owner)
  await turnBack(owner.email, '5 days')
  const thief = stage.browser({ address: '192.0.2.66' })
  for (const [name, value] of owner.jar) thief.jar.set(name, value)
  expect(await thief.post('/step-up', { password: PASSWORD }), 200)
  assert.deepEqual((await thief.session())?.missing.second_factor, ['code'])
  const newPassword = 'another quiet evening'
  const bodies = {
    '/change-password': { currentPassword: PASSWORD, newPassword },
    '/two-factor/disable': { password: PASSWORD },
    '/two-factor/generate-backup-codes': { password: PASSWORD },
    '/email/change': { newEmail },
  }
  for (const [path, body] of Object.entries(bodies)) {
    assert.equal(errorOf(await thief.post(path, body)), 'step_up_needed', path)
  }
  assert.equal((await thief.session())?.hasSecondFactor, true)
  assert.equal((await stage.browser().signIn(owner.email)).status, 200, 'the password is the same')
})

test('a session that replaces another keeps its sign-in time and its proofs', async () => {
  const owner = await stage.person('kept-time')
  await turnBack(owner.email, '9 minutes')
  const signedInAt = (await owner.session())?.signedInAt
  const steps = {
    'second factor on': () => enableSecondFactor(owner),
    'second factor off': () => owner.post('/two-factor/disable', { password: PASSWORD }),
    'password changed': () =>
      owner.post('/change-password', { currentPassword: PASSWORD, newPassword: 'a loud morning' }),
  }
  for (const [step, take] of Object.entries(steps)) {
    const before = await owner.session()
    await take()
    const after = await owner.session()
    assert.ok(after !== undefined && after.id !== before?.id, `${step}: a copied cookie ends`)
    assert.deepEqual(after.signedInAt, signedInAt, step)
    assert.deepEqual(after.missing.second_factor, [], step)
  }
})

test('wrong passwords inside a session are limited', async () => {
  const owner = await stage.person('stolen')
  for (const _ of Array.from({ length: 10 })) {
    const reply = await owner.post('/two-factor/enable', { password: 'not the password' })
    assert.equal(errorOf(reply), 'password_wrong')
  }
  const paths = ['/two-factor/enable', '/two-factor/disable']
  for (const path of paths) {
    const reply = await owner.post(path, { password: PASSWORD })
    assert.equal(errorOf(reply), 'attempts_exceeded', path)
  }
  const change = { currentPassword: PASSWORD, newPassword: 'another quiet evening' }
  assert.equal(errorOf(await owner.post('/change-password', change)), 'attempts_exceeded')
})

test('a passkey signs in without a password and without a code', async () => {
  const owner = await stage.person('passkey')
  await enableSecondFactor(owner)
  const { passkey, reply: added } = await addPasskey(owner)
  assert.equal(added.status, 200)
  assert.match((await stage.lastEmail(owner.email, 'passkey-added')).text, /“Phone”/)
  const browser = stage.browser()
  const { reply } = await signInWith(passkey, browser)
  assert.deepEqual([reply.status, reply.body], [200, { status: 'signed_in' }])
  assert.equal((await browser.session())?.email, owner.email)
})

test('signing in again, by password and code or by passkey, proves both', async () => {
  const owner = await stage.person('again')
  const { uri } = await enableSecondFactor(owner)
  const { passkey } = await addPasskey(owner)
  await turnBack(owner.email, '5 days')
  expect(await owner.signIn(owner.email), 200)
  expect(await owner.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
  assert.deepEqual((await owner.session())?.missing.second_factor, [])
  await turnBack(owner.email, '5 days')
  assert.deepEqual((await owner.session())?.missing.second_factor, ['password', 'code'])
  expect((await signInWith(passkey, owner)).reply, 200)
  assert.deepEqual((await owner.session())?.missing.second_factor, [])
})

test('a passkey’s answer cannot be replayed', async () => {
  const owner = await stage.person('replayed')
  const { passkey } = await addPasskey(owner)
  const browser = stage.browser()
  const { response } = await signInWith(passkey, browser)
  const reply = await browser.post('/passkey/verify-authentication', { response })
  assert.equal(errorOf(reply), 'passkey_expired')
})

test('refuses a passkey that did not verify its owner', async () => {
  const owner = await stage.person('found')
  const { reply: refused } = await addPasskey(owner, 'Found key', false)
  assert.equal(errorOf(refused), 'passkey_wrong')
  const { passkey } = await addPasskey(owner)
  passkey.state.isOwnerVerified = false
  const browser = stage.browser()
  const { reply } = await signInWith(passkey, browser)
  assert.equal(errorOf(reply), 'passkey_wrong')
  assert.equal(await browser.session(), undefined)
})

test('adding and removing passkeys requires a recent proof, and only own ones', async () => {
  const owner = await stage.person('careful')
  await addPasskey(owner)
  const session = stage.accounts.requireSession(await owner.session())
  const [mine] = await stage.accounts.passkeys(session)
  const id = mine?.id
  expect(await owner.post('/passkey/update-passkey', { id, name: 'Old phone' }), 200)

  const thief = await stage.person('thief')
  for (const path of ['/passkey/delete-passkey', '/passkey/update-passkey']) {
    const reply = await thief.post(path, { id, name: 'Mine' })
    assert.ok(reply.status >= 400, path)
  }
  await turnBack(owner.email, '11 minutes')
  const stale = await owner.get('/passkey/generate-register-options')
  assert.deepEqual([stale.status, errorOf(stale)], [403, 'step_up_needed'])
  const refused = await owner.post('/passkey/delete-passkey', { id })
  assert.equal(errorOf(refused), 'step_up_needed')

  expect(await owner.signIn(owner.email), 200)
  expect(await owner.post('/passkey/delete-passkey', { id }), 200)
  assert.match((await stage.lastEmail(owner.email, 'passkey-removed')).text, /“Old phone”/)
  assert.deepEqual(await stage.accounts.passkeys(session), [])
})
