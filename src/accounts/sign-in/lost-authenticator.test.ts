// Recovering an account without its authenticator app: identity steps, warnings, wait, stops.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type Browser,
  createStage,
  enableSecondFactor,
  errorOf,
  expect,
  nextCode,
  PASSWORD,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { passkeySteps } from '../../../test/stages/passkeys.ts'
import { ageRecovery } from '../../../test/stages/recovery.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const NEW = 'a storm from the west'
const WAIT_HOURS = 72

/** An owner whose authenticator app is lost; a browser stays signed in. */
async function loser(name: string) {
  const own = await stage.person(name)
  const { uri, recoveryCodes } = await enableSecondFactor(own)
  return { own, email: own.email, uri, recoveryCodes }
}

/** A link to the mailbox, from the second step of a sign-in. */
async function askFor(email: string, browser: Browser = stage.browser()): Promise<string> {
  const half = expect(await browser.signIn(email), 200)
  assert.deepEqual(half.body, { status: 'second_factor' })
  expect(await browser.post('/recovery/ask'), 200)
  return stage.emailedCode(email, 'recovery-link')
}

async function opened(name: string) {
  const lost = await loser(name)
  const code = await askFor(lost.email)
  const answer = await stage.browser().post('/recovery/open', { code, password: PASSWORD })
  assert.equal(expect(answer, 200).body.state, 'waiting')
  const stop = await stage.emailedCode(lost.email, 'recovery-opened')
  return { ...lost, stop, ripeAt: String(answer.body.ripeAt) }
}

async function completeWith(code: string, password = PASSWORD) {
  return stage.browser().post('/recovery/complete', { code, password })
}

/** Completes after the wait. */
async function completed(name: string) {
  const lost = await opened(name)
  await ageRecovery(stage.db, lost.email, WAIT_HOURS)
  const reply = await completeWith(await askFor(lost.email))
  assert.equal(expect(reply, 200).body.state, 'done')
  return lost
}

const rowOf = async (email: string) => {
  const { rows } = await stage.db.query(
    `select r.* from account_recoveries r join accounts a on a.id = r.account_id
     where a.email = $1 order by begun_at desc limit 1`,
    [email],
  )
  return rows[0] as Record<string, unknown> | undefined
}

test('password and mailbox begin a wait; after it both remove the second factor', async () => {
  const { own, email, ripeAt } = await opened('lost')
  const hours = (Date.parse(ripeAt) - Date.now()) / 3_600_000
  assert.ok(hours > 71.9 && hours <= 72, `${hours}`)
  const early = await completeWith(await askFor(email))
  assert.equal(errorOf(early), 'recovery_unripe')
  assert.ok(await own.session(), 'a waiting recovery ends no session')

  await ageRecovery(stage.db, email, WAIT_HOURS)
  const code = await askFor(email)
  const look = await stage.browser().post('/recovery/look', { code })
  assert.equal(look.body.state, 'ripe')
  assert.equal(errorOf(await completeWith(code, 'not this one')), 'password_wrong')
  expect(await completeWith(code), 200)
  assert.equal(await own.session(), undefined, 'every session ended')
  const email2 = await stage.lastEmail(email, 'recovery-done')
  assert.match(email2.text, /#code=/)
  const back = stage.browser()
  assert.deepEqual(expect(await back.signIn(email), 200).body, { status: 'signed_in' })
  assert.equal((await back.session())?.hasSecondFactor, false)
  assert.equal(errorOf(await completeWith(code)), 'code_wrong', 'the link worked once')
})

test('neither the password nor the mailbox alone begins a recovery', async () => {
  const { email } = await loser('halves')
  const stranger = stage.browser()
  assert.equal(errorOf(await stranger.post('/recovery/ask')), 'sign_in_expired')
  assert.equal(errorOf(await stranger.signIn(email, 'a guess of a thief')), 'sign_in_wrong')
  assert.equal(errorOf(await stranger.post('/recovery/ask')), 'sign_in_expired')
  const code = await askFor(email)
  const wrong = await stranger.post('/recovery/open', { code, password: 'a guess of a thief' })
  assert.equal(errorOf(wrong), 'password_wrong')
  const made = await stranger.post('/recovery/open', { code: 'x'.repeat(32), password: PASSWORD })
  assert.equal(errorOf(made), 'code_wrong')
  assert.equal(await rowOf(email), undefined)
})

test('a password that came from the mailbox is no second identity step', async () => {
  const { email } = await loser('mailbox-only')
  const thief = stage.browser()
  expect(await thief.post('/request-password-reset', { email }), 200)
  const reset = await stage.emailedCode(email, 'reset-password')
  expect(await thief.post('/reset-password', { code: reset, newPassword: NEW }), 200)
  expect(await thief.signIn(email, NEW), 200)
  expect(await thief.post('/recovery/ask'), 200)
  const code = await stage.emailedCode(email, 'recovery-link')
  assert.equal(errorOf(await thief.post('/recovery/look', { code })), 'recovery_password_new')
  const open = await thief.post('/recovery/open', { code, password: NEW })
  assert.equal(errorOf(open), 'recovery_password_new')
  assert.equal(await rowOf(email), undefined)
})

test('a wait does not end before the warning has left the outbox for a day', async () => {
  const { email } = await opened('no-mail')
  await ageRecovery(stage.db, email, WAIT_HOURS, { areWarningsSent: false })
  assert.equal(errorOf(await completeWith(await askFor(email))), 'recovery_unripe')
  assert.equal((await rowOf(email))?.done_at, null)
})

test('the mailbox that can still undo a change is warned too, and stops it', async () => {
  const { own } = await loser('two-mailboxes')
  const newEmail = 'two-mailboxes-new@example.org'
  expect(await own.post('/step-up', { password: PASSWORD }), 200)
  expect(await own.post('/email/change', { newEmail }), 200)
  const confirm = await stage.emailedCode(newEmail, 'confirm-new-email')
  expect(await own.post('/email/confirm', { code: confirm }), 200)
  const code = await askFor(newEmail)
  expect(await own.post('/recovery/open', { code, password: PASSWORD }), 200)
  const stop = await stage.emailedCode(own.email, 'recovery-opened')
  await stage.lastEmail(newEmail, 'recovery-opened')
  expect(await stage.browser().post('/recovery/stop', { code: stop }), 200)
  assert.equal((await rowOf(newEmail))?.stopped_by, 'link')
  for (const one of [own.email, newEmail]) await stage.lastEmail(one, 'recovery-stopped')
})

test('the link of a warning stops it without signing in, once', async () => {
  const { email, stop } = await opened('stopped')
  const answer = await stage.browser().post('/recovery/stop', { code: stop })
  assert.deepEqual([answer.status, answer.body], [200, { status: 'stopped' }])
  assert.equal(errorOf(await stage.browser().post('/recovery/stop', { code: stop })), 'code_wrong')
  await ageRecovery(stage.db, email, WAIT_HOURS)
  assert.equal(errorOf(await completeWith(await askFor(email))), 'code_wrong')
})

test('any signed-in browser stops it; a stranger without a link does not', async () => {
  const { own, email } = await opened('banner')
  assert.equal(errorOf(await stage.browser().post('/recovery/stop-here')), 'session_missing')
  const session = stage.accounts.requireSession(await own.session())
  assert.equal((await stage.accounts.recovery.living(session.account))?.kind, 'authenticator')
  expect(await own.post('/recovery/stop-here'), 200)
  assert.equal((await rowOf(email))?.stopped_by, 'session')
  assert.equal(await stage.accounts.recovery.living(session.account), undefined)
})

test('a complete sign-in or step-up stops it: nothing was lost', async () => {
  const { addPasskey, signInWith } = passkeySteps
  const ways: Record<string, (lost: Awaited<ReturnType<typeof opened>>) => Promise<unknown>> = {
    async code({ email, uri }) {
      const browser = stage.browser()
      expect(await browser.signIn(email), 200)
      expect(await browser.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
    },
    async recoveryCode({ email, recoveryCodes }) {
      const browser = stage.browser()
      expect(await browser.signIn(email), 200)
      const code = recoveryCodes[0]
      expect(await browser.post('/two-factor/verify-backup-code', { code }), 200)
    },
    async stepUp({ own, uri }) {
      expect(await own.post('/step-up', { code: nextCode(uri) }), 200)
    },
    async passkey({ own }) {
      const { passkey } = await addPasskey(own)
      expect((await signInWith(passkey, stage.browser())).reply, 200)
    },
  }
  for (const [name, use] of Object.entries(ways)) {
    const lost = await opened(`found-${name.toLowerCase()}`)
    await use(lost)
    assert.equal((await rowOf(lost.email))?.stopped_by, 'sign_in', name)
    await stage
      .lastEmail(lost.email, name === 'passkey' ? 'new-device' : 'recovery-stopped')
      .catch(async () => assert.ok((await kindsTo(lost.email)).includes('recovery-stopped'), name))
  }
})

const kindsTo = async (email: string) => (await stage.emailsTo(email)).map(({ kind }) => kind)

test('the password alone stops nothing', async () => {
  const { email } = await opened('half-way')
  expect(await stage.browser().signIn(email), 200)
  assert.equal((await rowOf(email))?.stopped_at, null)
})

test('a reset of the password ends it, also a link that was e-mailed before', async () => {
  const { email } = await opened('reset')
  await ageRecovery(stage.db, email, WAIT_HOURS)
  const link = await askFor(email)
  expect(await stage.browser().post('/request-password-reset', { email }), 200)
  const code = await stage.emailedCode(email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  assert.equal((await rowOf(email))?.stopped_by, 'password_changed')
  for (const password of [PASSWORD, NEW]) {
    assert.equal(errorOf(await completeWith(link, password)), 'code_wrong')
  }
})

test('closing the account ends it, and erasing it leaves nothing of it', async () => {
  const { own, email } = await opened('closer')
  expect(await own.post('/step-up', { password: PASSWORD }), 200)
  const { account } = stage.accounts.requireSession(await own.session())
  await stage.accounts.closings.begin(await own.session(), 'forfeit')
  await stage.accounts.closings.run()
  const { rows } = await stage.db.query(
    `select stopped_by from account_recoveries where account_id = $1`,
    [account],
  )
  assert.deepEqual(rows, [{ stopped_by: 'closed' }], email)
  await stage.db.query(`update accounts set erase_at = clock_timestamp() where id = $1`, [account])
  await stage.accounts.erase()
  const left = await stage.db.query('select from account_recoveries where account_id = $1', [
    account,
  ])
  assert.equal(left.rows.length, 0, 'erased with the account')
})

test('a stop takes back what was completed: factor on, sessions ended, no password', async () => {
  const { email, uri, stop } = await completed('too-late')
  const thief = stage.browser()
  expect(await thief.signIn(email), 200)
  await enableSecondFactor(thief)
  const answer = await stage.browser().post('/recovery/stop', { code: stop })
  assert.deepEqual([answer.status, answer.body], [200, { status: 'taken_back' }])
  assert.equal(await thief.session(), undefined)
  assert.equal(errorOf(await thief.signIn(email)), 'sign_in_wrong')
  const code = await stage.emailedCode(email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code, newPassword: NEW }), 200)
  const owner = stage.browser()
  expect(await owner.signIn(email, NEW), 200)
  expect(await owner.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
  assert.equal((await owner.session())?.hasSecondFactor, true)
})

test('while a stop can take a recovery back, the account is not closed', async () => {
  const lost = await completed('closed-at-once')
  const thief = stage.browser()
  expect(await thief.signIn(lost.email), 200)
  const session = await thief.session()
  const { closings } = stage.accounts
  await assert.rejects(closings.begin(session, 'forfeit'), { code: 'recovery_recent' })
  // One that began before goes no further.
  const { account } = stage.accounts.requireSession(session)
  await stage.db.transaction((tx) => closings.beginFor(tx, account, 'forfeit'))
  await closings.run()
  assert.equal((await closings.find(account))?.step, 'refunded')
  const stopped = await stage.browser().post('/recovery/stop', { code: lost.stop })
  assert.equal(expect(stopped, 200).body.status, 'taken_back')
})

test('a stop takes back an address that was changed after the recovery, and its undo', async () => {
  const lost = await completed('carried-away')
  const thief = stage.browser()
  expect(await thief.signIn(lost.email), 200)
  const newEmail = 'carried-away-thief@example.org'
  expect(await thief.post('/email/change', { newEmail }), 200)
  const code = await stage.emailedCode(newEmail, 'confirm-new-email')
  expect(await thief.post('/email/confirm', { code }), 200)
  // The thief reads the mailbox, so has the link that undoes the change and removes the factor.
  const undo = await stage.emailedCode(lost.email, 'email-change-undo')
  const stopped = await stage.browser().post('/recovery/stop', { code: lost.stop })
  assert.equal(expect(stopped, 200).body.status, 'taken_back')
  assert.equal(errorOf(await stage.browser().post('/email/undo', { code: undo })), 'code_wrong')
  const account = await stage.accounts.findByEmail(lost.email)
  assert.equal(account?.hasSecondFactor, true)
  const reset = await stage.emailedCode(lost.email, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code: reset, newPassword: NEW }), 200)
  const half = expect(await thief.signIn(lost.email, NEW), 200)
  assert.deepEqual(half.body, { status: 'second_factor' })
})

test('a week after the end no stop works, and the removed factor is forgotten', async () => {
  const { email, stop } = await completed('weeks-later')
  await ageRecovery(stage.db, email, 7 * 24)
  assert.equal(errorOf(await stage.browser().post('/recovery/stop', { code: stop })), 'code_wrong')
  assert.ok((await rowOf(email))?.removed_factor)
  await stage.accounts.recovery.run()
  assert.equal((await rowOf(email))?.removed_factor, null)
})

test('reminders come halfway and a day before; then the owner hears that it is ripe', async () => {
  const { email } = await opened('reminded')
  const run = async (hours: number) => {
    await ageRecovery(stage.db, email, hours)
    await stage.accounts.recovery.run()
    await stage.accounts.recovery.run()
    return (await kindsTo(email)).filter((kind) => /reminder|ready/.test(kind)).length
  }
  assert.deepEqual([await run(35), await run(1), await run(11), await run(1)], [0, 1, 1, 2])
  const stop = await stage.emailedCode(email, 'recovery-reminder')
  assert.equal(await run(24), 3)
  await stage.lastEmail(email, 'recovery-ready')
  expect(await stage.browser().post('/recovery/stop', { code: stop }), 200)
})

test('a recovery that nobody completes lapses, and another can begin', async () => {
  const { email } = await opened('forgotten')
  await ageRecovery(stage.db, email, WAIT_HOURS + 7 * 24)
  assert.equal(errorOf(await completeWith(await askFor(email))), 'code_wrong')
  const code = await askFor(email)
  expect(await stage.browser().post('/recovery/open', { code, password: PASSWORD }), 200)
  const { rows } = await stage.db.query(
    `select stopped_by from account_recoveries r join accounts a on a.id = r.account_id
     where a.email = $1 order by begun_at`,
    [email],
  )
  assert.deepEqual(rows, [{ stopped_by: 'lapsed' }, { stopped_by: null }])
})

test('the export names recoveries, and no code or seed', async () => {
  const { own, email } = await opened('exported')
  expect(await own.post('/step-up', { password: PASSWORD }), 200)
  const copy = (await Array.fromAsync(stage.accounts.copy(await own.session()))).join('')
  assert.match(copy, /"recoveries":\[\{"kind":"authenticator"/)
  const hash = String((await rowOf(email))?.removed_factor)
  assert.ok(!copy.includes('stop_hash') && !copy.includes('confirm_hash'), hash)
})
