// What operators do about recoveries, as their database role: compared answers, the wait of a lost
// mailbox, stops, locks; and what the database refuses to the roles of the programs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createStage,
  enableSecondFactor,
  errorOf,
  expect,
  nextCode,
  type Stage,
  totpCode,
} from '../../../test/stages/accounts.ts'
import { ageRecovery } from '../../../test/stages/recovery.ts'
import { settingsOf } from '../../../test/support/harness.ts'
import { urlAs } from '../../../tools/program-roles.ts'
import { type Db, openDatabase } from '../../platform/db/db.ts'
import type { AccountId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Accounts } from '../accounts.ts'
import type { RecoveryKind } from '../emails/email-kinds.ts'

const NEW = 'a storm from the west'

const wrongCode = (uri: string) => String((Number(totpCode(uri)) + 1) % 1_000_000).padStart(6, '0')

let stage: Stage
let db: Db
let desk: Accounts['recovery']
before(async () => {
  stage = await createStage()
  const url = urlAs(stage.database.url, 'tollgate_operator')
  db = openDatabase(settingsOf(url), 'test', () => undefined)
  desk = stage.createAccountsWith({ db }).recovery
})
after(async () => {
  await db.end()
  await stage.end()
})

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)
const violates = (name: string) => (error: unknown) =>
  (Object(error) as { constraint?: string }).constraint === `account_recoveries_${name}`

async function owner(name: string) {
  const own = await stage.person(name)
  const { account } = stage.accounts.requireSession(await own.session())
  return { own, email: own.email, account }
}

const answer = (account: AccountId, ...steps: readonly (readonly ['payment' | 'key', boolean])[]) =>
  db.transaction((tx) =>
    desk.recordIdentity(
      tx,
      account,
      steps.map(([step, isMatched]) => ({ step, isMatched })),
    ),
  )
const prove = (account: AccountId) => answer(account, ['payment', true], ['key', true])
const begin = (account: AccountId, newEmail: string | null, kind: RecoveryKind = 'mailbox') =>
  db.transaction((tx) => desk.begin(tx, { account, kind, newEmail }))

/** A recovery of the mailbox whose wait has begun. */
async function waiting(name: string, kind: RecoveryKind = 'mailbox') {
  const lost = await owner(name)
  const newEmail = `${name}-new@example.org`
  await prove(lost.account)
  await begin(lost.account, newEmail, kind)
  const code = await stage.emailedCode(newEmail, 'recovery-confirm')
  const confirmed = await stage.browser().post('/recovery/confirm', { code })
  assert.equal(expect(confirmed, 200).body.state, 'waiting')
  return { ...lost, newEmail, stop: await stage.emailedCode(lost.email, 'recovery-opened') }
}

/** After the wait; the code that the job sent to the new mailbox. */
async function ripe(name: string, kind: RecoveryKind = 'mailbox') {
  const lost = await waiting(name, kind)
  await ageRecovery(stage.db, lost.email, 72)
  await stage.accounts.recovery.run()
  return { ...lost, code: await stage.emailedCode(lost.newEmail, 'recovery-ready') }
}

test('two identity steps that matched begin a recovery, one or a wrong one does not', async () => {
  const { account, email } = await owner('proven')
  const unproven = refuses('identity_unproven')
  await assert.rejects(begin(account, 'proven-new@example.org'), unproven)
  await answer(account, ['payment', true], ['key', false])
  await assert.rejects(begin(account, 'proven-new@example.org'), unproven)
  await answer(account, ['key', true])
  const recovery = await begin(account, 'proven-new@example.org')
  assert.deepEqual([...recovery.steps].sort(), ['key', 'payment'])
  assert.equal(recovery.openedAt, null, 'the wait begins when the mailbox is confirmed')
  const kinds = (await stage.emailsTo(email)).map(({ kind }) => kind)
  assert.ok(!kinds.includes('recovery-opened'))
  await assert.rejects(begin(account, 'proven-two@example.org'), refuses('recovery_underway'))
})

test('answers that are a day old count no more, and five wrong ones end the day', async () => {
  const { account } = await owner('guesser')
  await prove(account)
  await stage.db.query(
    `update account_identity_checks set checked_at = checked_at - interval '25 hours'
     where account_id = $1`,
    [account],
  )
  await assert.rejects(begin(account, 'guesser-new@example.org'), refuses('identity_unproven'))
  for (let i = 0; i < 5; i += 1) await answer(account, ['key', false])
  await assert.rejects(answer(account, ['key', true]), refuses('identity_checks_exceeded'))
  const nobody = 'acc_0000000000000000' as AccountId
  await assert.rejects(begin(nobody, 'x@example.org'), refuses('account_unknown'))
})

test('a new mailbox that is taken, reserved or follows a fresh change is refused', async () => {
  const { account, own } = await owner('taken')
  const other = await owner('other')
  await prove(account)
  await assert.rejects(begin(account, other.email), refuses('recovery_email_taken'))
  await begin(account, 'reserved@example.org')
  await prove(other.account)
  const reserved = refuses('recovery_email_taken')
  await assert.rejects(begin(other.account, 'reserved@example.org'), reserved)
  const change = { newEmail: 'other-two@example.org' }
  expect(await other.own.post('/email/change', change), 200)
  const code = await stage.emailedCode(change.newEmail, 'confirm-new-email')
  expect(await other.own.post('/email/confirm', { code }), 200)
  const recent = refuses('recovery_email_change_recent')
  await assert.rejects(begin(other.account, 'other-three@example.org'), recent)
  assert.ok(await own.session())
})

test('a recovery whose e-mail fails keeps no other one waiting', async () => {
  const stuck = await waiting('stuck')
  const next = await waiting('behind')
  // The job begins with the one that is ripe first.
  await ageRecovery(stage.db, stuck.email, 73)
  await ageRecovery(stage.db, next.email, 72)
  await stage.db.query(
    `create function refuse_stuck() returns trigger language plpgsql as
       $$ begin raise exception 'planted'; end $$;
     create trigger refuse_stuck before update on account_recoveries for each row
       when (new.new_email = '${stuck.newEmail}') execute function refuse_stuck()`,
  )
  try {
    await stage.accounts.recovery.run()
    assert.ok(await stage.emailedCode(next.newEmail, 'recovery-ready'))
  } finally {
    await stage.db.query(`drop function refuse_stuck() cascade`)
  }
  await stage.accounts.recovery.run()
  assert.ok(await stage.emailedCode(stuck.newEmail, 'recovery-ready'))
})

test('the new mailbox gets the account after the wait; the old one can undo it', async () => {
  const { own, email, newEmail, code } = await ripe('moved')
  expect(await stage.browser().post('/recovery/finish', { code }), 200)
  assert.equal(await own.session(), undefined)
  assert.equal((await stage.accounts.findByEmail(newEmail))?.email, newEmail)
  assert.equal(errorOf(await stage.browser().signIn(newEmail)), 'sign_in_wrong', 'no old password')
  const reset = await stage.emailedCode(newEmail, 'reset-password')
  expect(await stage.browser().post('/reset-password', { code: reset, newPassword: NEW }), 200)
  expect(await stage.browser().signIn(newEmail, NEW), 200)
  const undo = await stage.emailedCode(email, 'email-change-undo')
  expect(await stage.browser().post('/email/undo', { code: undo }), 200)
  assert.equal((await stage.accounts.findByEmail(email))?.email, email)
  const again = await stage.browser().post('/recovery/finish', { code })
  assert.equal(errorOf(again), 'code_wrong')
})

test('early and stopped recoveries move nothing, and a late stop takes them back', async () => {
  const { email, stop, newEmail } = await waiting('early')
  await stage.accounts.recovery.run()
  const kinds = (await stage.emailsTo(newEmail)).map(({ kind }) => kind)
  assert.ok(!kinds.includes('recovery-ready'))
  expect(await stage.browser().post('/recovery/stop', { code: stop }), 200)
  assert.equal((await stage.accounts.findByEmail(email))?.email, email)

  const late = await ripe('late')
  expect(await stage.browser().post('/recovery/finish', { code: late.code }), 200)
  const answered = await stage.browser().post('/recovery/stop', { code: late.stop })
  assert.deepEqual(answered.body, { status: 'taken_back' })
  assert.equal((await stage.accounts.findByEmail(late.email))?.email, late.email)
})

test('the second factor stays if only the mailbox is lost; an undo restores it', async () => {
  for (const [kind, isKept] of [
    ['mailbox', true],
    ['both', false],
  ] as const) {
    const { own, email, newEmail, account } = await waiting(`factor-${kind}`, kind)
    expect(await own.post('/recovery/stop-here'), 200)
    const { uri } = await enableSecondFactor(own)
    await begin(account, newEmail, kind)
    const confirm = await stage.emailedCode(newEmail, 'recovery-confirm')
    expect(await stage.browser().post('/recovery/confirm', { code: confirm }), 200)
    await ageRecovery(stage.db, email, 72)
    await stage.accounts.recovery.run()
    const code = await stage.emailedCode(newEmail, 'recovery-ready')
    expect(await stage.browser().post('/recovery/finish', { code }), 200)
    assert.equal((await stage.accounts.find(account))?.hasSecondFactor, isKept, kind)
    const undo = await stage.emailedCode(email, 'email-change-undo')
    expect(await stage.browser().post('/email/undo', { code: undo }), 200)
    const reset = await stage.emailedCode(email, 'reset-password')
    expect(await stage.browser().post('/reset-password', { code: reset, newPassword: NEW }), 200)
    const back = stage.browser()
    expect(await back.signIn(email, NEW), 200)
    expect(await back.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
  }
})

test('an operator stops a recovery: known mailboxes are told, the new one is not', async () => {
  const { account, email, newEmail } = await waiting('by-hand')
  const confirmed = await stage.emailedCode(newEmail, 'recovery-confirm')
  assert.equal(await db.transaction((tx) => desk.stop(tx, account)), true)
  assert.equal(await db.transaction((tx) => desk.stop(tx, account)), false)
  await stage.lastEmail(email, 'recovery-stopped')
  const kinds = (await stage.emailsTo(newEmail)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['recovery-confirm'])
  const late = await stage.browser().post('/recovery/confirm', { code: confirmed })
  assert.equal(errorOf(late), 'code_wrong', 'the link of the new mailbox says that it is over')
  const [last] = await desk.list(account)
  assert.deepEqual([last?.stoppedBy, last?.warnings.length], ['operator', 1])
})

test('a mailbox that can still undo a change of address is warned and told of a stop', async () => {
  const { account, own, email } = await owner('two-mailboxes')
  const change = { newEmail: 'two-mailboxes-now@example.org' }
  expect(await own.post('/email/change', change), 200)
  const changed = await stage.emailedCode(change.newEmail, 'confirm-new-email')
  expect(await own.post('/email/confirm', { code: changed }), 200)
  await enableSecondFactor(own)
  await prove(account)
  await begin(account, null, 'authenticator')
  const code = await stage.emailedCode(change.newEmail, 'recovery-confirm')
  expect(await stage.browser().post('/recovery/confirm', { code }), 200)
  const both = [email, change.newEmail]
  for (const known of both) await stage.lastEmail(known, 'recovery-opened')
  assert.equal(await db.transaction((tx) => desk.stop(tx, account)), true)
  for (const known of both) await stage.lastEmail(known, 'recovery-stopped')
})

test('unlocking forgets wrong passwords and codes and gives nobody access', async () => {
  const { account, email, own } = await owner('locked')
  const { uri } = await enableSecondFactor(own)
  for (const _ of [1, 2]) {
    const guesser = stage.browser()
    expect(await guesser.signIn(email), 200)
    for (let i = 0; i < 5; i += 1) {
      const guess = await guesser.post('/two-factor/verify-totp', { code: wrongCode(uri) })
      assert.equal(errorOf(guess), 'second_factor_wrong')
    }
  }
  const half = stage.browser()
  expect(await half.signIn(email), 200)
  const kept = await half.post('/two-factor/verify-totp', { code: nextCode(uri) })
  assert.equal(errorOf(kept), 'second_factor_locked')
  const thief = stage.browser()
  for (let i = 0; i < 12; i += 1) await thief.signIn(email, `guess ${i}`)
  assert.equal(errorOf(await stage.browser().signIn(email)), 'attempts_exceeded')
  const locks = await desk.locks(account)
  assert.ok(locks?.guessedUntil && locks.factorLockedUntil)

  await db.transaction((tx) => desk.unlock(tx, account))
  const free = await desk.locks(account)
  assert.deepEqual([free?.guessedUntil, free?.factorLockedUntil, free?.wrongCodes], [null, null, 0])
  for (const browser of [thief, half]) assert.equal(await browser.session(), undefined)
  assert.equal(errorOf(await stage.browser().signIn(email, 'not this')), 'sign_in_wrong')
  const browser = stage.browser()
  assert.deepEqual((await browser.signIn(email)).body, { status: 'second_factor' })
  const wrong = await browser.post('/two-factor/verify-totp', { code: wrongCode(uri) })
  assert.equal(errorOf(wrong), 'second_factor_wrong', 'one more mistake locks nothing')
  expect(await browser.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
})

test('the database keeps times and warnings from every role', async () => {
  const { account, email } = await waiting('by-sql')
  const { rows } = await stage.db.query('select id from account_recoveries where account_id = $1', [
    account,
  ])
  const { id } = rows[0] as { id: string }
  const roles = ['tollgate_cabinet', 'tollgate_operator', 'tollgate_worker'].map((role) => ({
    role,
    db: openDatabase(settingsOf(urlAs(stage.database.url, role)), 'test', () => undefined),
  }))
  const done = `update account_recoveries set done_at = clock_timestamp() where id = $1`
  const moved = `update account_recoveries set ripe_at = clock_timestamp() - interval '1 day'
    where id = $1`
  const eachRefused = async (sql: string, name: string) => {
    for (const one of roles) await assert.rejects(one.db.query(sql, [id]), violates(name), one.role)
  }
  const sent = (hoursAgo: number) =>
    stage.db.query(
      `update letters set state = 'sent', body_text = null, body_html = null,
         ended_at = clock_timestamp() - make_interval(hours => $2)
       where once like $1 || ' %'`,
      [id, hoursAgo],
    )
  try {
    await eachRefused(done, 'wait')
    await eachRefused(moved, 'keep_what_was')
    await ageRecovery(stage.db, email, 72, { areWarningsSent: false })
    await eachRefused(done, 'warn')
    await sent(23)
    await eachRefused(done, 'warn')
    await sent(24)
    const completed = await roles[0]?.db.query(`${done} returning id`, [id])
    assert.equal(completed?.rows.length, 1, 'a day after the warning')
  } finally {
    for (const one of roles) await one.db.end()
  }
})

test('who writes an e-mail in place of the warning opens no recovery', async () => {
  const { account, email } = await owner('in-place')
  const newEmail = 'in-place-new@example.org'
  await prove(account)
  const { id } = await begin(account, newEmail)
  await db.query(
    `insert into letters (kind, once, recipient, subject, body_text, body_html)
     values ('recovery-opened', $1, $2, 'News', 'Nothing has happened.', '')`,
    [`${id} mailbox`, email],
  )
  const code = await stage.emailedCode(newEmail, 'recovery-confirm')
  assert.equal(errorOf(await stage.browser().post('/recovery/confirm', { code })), 'fault')
  assert.equal((await desk.living(account))?.openedAt, null)
})

test('an operator who writes the row by hand needs matches, a wait and a warning too', async () => {
  const { account, email } = await owner('forged')
  const id = 'rcv_forged'
  const insert = `insert into account_recoveries
    (id, account_id, kind, begun_by, steps, new_email, confirm_hash, wait_hours)
    values ('${id}', $1, 'mailbox', 'operator', '{key,payment}', 'forged-new@example.org',
      '\\x00', $2)`
  await assert.rejects(db.query(insert, [account, 24]), violates('identity'))
  await prove(account)
  await assert.rejects(db.query(insert, [account, 1]), violates('wait_a_day'))
  await db.query(insert, [account, 24])
  const set = (column: string) =>
    db.query(`update account_recoveries set ${column} = clock_timestamp() where id = $1`, [id])
  await assert.rejects(set('done_at'), violates('wait'), 'nobody has confirmed the mailbox')
  await set('opened_at')
  await assert.rejects(set('done_at'), violates('wait'))

  await ageRecovery(stage.db, email, 24)
  await assert.rejects(set('done_at'), violates('warn'))
  const warning = db.query(
    `insert into account_recovery_warnings (recovery_id, channel, stage, stop_hash)
     values ($1, 'mailbox', 'opened', '\\x00')`,
    [id],
  )
  await assert.rejects(warning, { code: '42501' }, 'an operator records no warning')
  await stage.db.query(
    `insert into letters (kind, once, recipient, subject, state, ended_at)
     values ('recovery-opened', $1, $2, 'News', 'sent', clock_timestamp() - interval '25 hours')`,
    [`${id} mailbox`, email],
  )
  await assert.rejects(set('done_at'), violates('warn'), 'an e-mail alone is no warning')
})
