// Registration over /api/auth: what creates an account, and that no answer reveals whether an
// e-mail address is known.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type AuthResponse,
  createStage,
  errorOf,
  expect,
  PASSWORD,
  requiredConsents,
  type Stage,
} from '../../../test/stages/accounts.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const entry = (email: string, more: object = {}) => ({
  email,
  password: PASSWORD,
  language: 'en',
  consents: requiredConsents,
  ...more,
})

/** The cookie of the browser is random, and of the same form for both. */
const headersOf = ({ headers }: AuthResponse) =>
  [...headers].map(([name, value]) => [name, value.replace(/=[\w-]{32};/, '=<random>;')])

async function countOf(email: string): Promise<number> {
  const { rows } = await stage.db.query('select id from accounts where email = $1', [email])
  return rows.length
}

test('an account is created only with both the code and the password', async () => {
  const email = 'anna@example.org'
  const browser = stage.browser()
  expect(await browser.post('/register', entry(email)), 200)
  assert.equal(await countOf(email), 0)
  const code = await stage.emailedCode(email, 'confirm-email')

  const wrong = await browser.post('/confirm', { code, password: 'another password' })
  assert.equal(errorOf(wrong), 'password_wrong')
  assert.equal(await countOf(email), 0)

  const right = await browser.post('/confirm', { code, password: PASSWORD })
  assert.deepEqual([right.status, right.body], [200, { status: 'signed_in' }])
  const session = await browser.session()
  assert.equal(session?.email, email)
  assert.match(session?.account ?? '', /^acc_[\w-]{16}$/)
  assert.deepEqual(session?.missing.second_factor, [])
  const { rows } = await stage.db.query('select id from books where id = $1', [session?.book])
  assert.equal(rows.length, 1, 'the account owns a book of the ledger')
})

test('the browser that registered confirms by the code, any other with the password', async () => {
  const email = 'same-browser@example.org'
  const own = stage.browser()
  expect(await own.post('/register', entry(email)), 200)
  const code = await stage.emailedCode(email, 'confirm-email')
  const other = stage.browser()
  expect(await other.post('/register', entry('other-browser@example.org')), 200)
  for (const stranger of [stage.browser(), other]) {
    assert.equal(errorOf(await stranger.post('/confirm', { code })), 'password_needed')
  }
  assert.equal(await countOf(email), 0)

  const confirmed = await own.post('/confirm', { code })
  assert.deepEqual([confirmed.status, confirmed.body], [200, { status: 'signed_in' }])
  const session = await own.session()
  assert.equal(session?.email, email)
  assert.deepEqual(session?.missing.password, [], 'the password was given a moment ago')
  expect(await stage.browser().signIn(email), 200)
  assert.equal(errorOf(await own.post('/confirm', { code })), 'code_wrong')
})

test('the password counts as proven when it was chosen, not when the link was opened', async () => {
  const email = 'after-lunch@example.org'
  const own = stage.browser()
  expect(await own.post('/register', entry(email)), 200)
  await stage.db.query(
    `update registrations set created_at = created_at - interval '1 hour' where email = $1`,
    [email],
  )
  const code = await stage.emailedCode(email, 'confirm-email')
  expect(await own.post('/confirm', { code }), 200)
  assert.deepEqual((await own.session())?.missing.password, ['password'])
})

test('a code sent again is confirmed by the browser that registered', async () => {
  const email = 'sent-again@example.org'
  const own = stage.browser()
  expect(await own.post('/register', entry(email)), 200)
  expect(await stage.browser().post('/register/again', { email }), 200)
  const code = await stage.emailedCode(email, 'confirm-email')
  expect(await own.post('/confirm', { code }), 200)
})

test('a registration for a known address gets the same answer as any other', async () => {
  const { email } = await stage.person('boris')
  const known = await stage.browser().post('/register', entry(email))
  const unknown = await stage.browser().post('/register', entry('nobody-yet@example.org'))
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body])
  assert.deepEqual(headersOf(known), headersOf(unknown))
  assert.match(
    (await stage.lastEmail(email, 'already-registered')).text,
    /already have an account with this address/,
  )
  assert.equal(await countOf(email), 1)
})

test('an attacker who registers a stranger’s address first gains nothing', async () => {
  const email = 'victim@example.org'
  const theirs = 'the password of the attacker'
  expect(await stage.browser().post('/register', entry(email, { password: theirs })), 200)
  const planted = await stage.emailedCode(email, 'confirm-email')
  const victim = stage.browser()
  expect(await victim.post('/register', entry(email)), 200)
  const own = await stage.emailedCode(email, 'confirm-email')

  const opened = await victim.post('/confirm', { code: planted })
  assert.equal(errorOf(opened), 'password_needed', 'the victim’s browser registered another')
  const typed = await victim.post('/confirm', { code: planted, password: PASSWORD })
  assert.equal(errorOf(typed), 'password_wrong', 'the attacker’s code confirms nothing')
  expect(await stage.browser().post('/confirm', { code: own, password: PASSWORD }), 200)
  const late = await stage.browser().post('/confirm', { code: planted, password: theirs })
  assert.equal(errorOf(late), 'code_wrong')
  assert.equal(errorOf(await stage.browser().signIn(email, theirs)), 'sign_in_wrong')
})

test('a sign-in answers an unconfirmed registration like an unknown address', async () => {
  const email = 'pending@example.org'
  expect(await stage.browser().post('/register', entry(email)), 200)
  const pending = await stage.browser().signIn(email)
  const nobody = await stage.browser().signIn('never-heard-of@example.org')
  assert.deepEqual([pending.status, pending.body], [nobody.status, nobody.body])
  assert.deepEqual([...pending.headers], [...nobody.headers])
})

test('concurrent confirmations make one account', async () => {
  const email = 'twice@example.org'
  expect(await stage.browser().post('/register', entry(email)), 200)
  const code = await stage.emailedCode(email, 'confirm-email')
  const replies = await Promise.all(
    [1, 2, 3].map(() => stage.browser().post('/confirm', { code, password: PASSWORD })),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, 400, 400])
  assert.equal(await countOf(email), 1)
})

test('a second e-mail has a new code, and the first code no longer works', async () => {
  const email = 'again@example.org'
  expect(await stage.browser().post('/register', entry(email)), 200)
  const first = await stage.emailedCode(email, 'confirm-email')
  expect(await stage.browser().post('/register/again', { email }), 200)
  const second = await stage.emailedCode(email, 'confirm-email')
  assert.notEqual(first, second)
  const late = await stage.browser().post('/confirm', { code: first, password: PASSWORD })
  assert.equal(errorOf(late), 'code_wrong')
  expect(await stage.browser().post('/confirm', { code: second, password: PASSWORD }), 200)

  const { body } = expect(await stage.browser().post('/register/again', { email }), 200)
  assert.deepEqual(body, { status: true }, 'also when no registration waits')
})

test('a link confirms for almost a day; one that is a day old confirms nothing', async () => {
  for (const [name, age, answer] of [
    ['in-time', '23 hours 59 minutes', undefined],
    ['late', '24 hours', 'code_wrong'],
  ] as const) {
    const email = `${name}@example.org`
    expect(await stage.browser().post('/register', entry(email)), 200)
    // Both times move: the term itself stays what the program has set.
    await stage.db.query(
      `update registrations set created_at = created_at - $2::interval,
         expires_at = expires_at - $2::interval where email = $1`,
      [email, age],
    )
    const code = await stage.emailedCode(email, 'confirm-email')
    const reply = await stage.browser().post('/confirm', { code, password: PASSWORD })
    assert.equal(errorOf(reply), answer, age)
    assert.equal(await countOf(email), answer === undefined ? 1 : 0, age)
  }
})

test('limits the e-mails per hour to a mailbox, without a sign in the answers', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 2 } })
  for (const email of ['bombed@example.org', (await stage.person('bombed-too')).email]) {
    const before = (await stage.emailsTo(email)).length
    await stage.db.query('delete from account_throttles')
    for (const _ of [1, 2, 3, 4]) {
      const reply = await stage.browser({ accounts }).post('/register', entry(email))
      assert.deepEqual([reply.status, reply.body], [200, { status: true }])
    }
    assert.equal((await stage.emailsTo(email)).length - before, 2)
  }
})

test('the spellings of one mailbox share its e-mails of the hour', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 2 } })
  const spellings = ['many', 'm.any', 'many+1', 'many+2', 'M.A.N.Y+3'].map(
    (it) => `${it}@gmail.com`,
  )
  for (const email of spellings) {
    expect(await stage.browser({ accounts }).post('/register', entry(email)), 200)
  }
  const own = await stage.person('many-changes', { accounts })
  const newEmail = 'many+4@googlemail.com'
  expect(await own.post('/email/change', { newEmail }), 200)
  expect(await own.post('/register/again', { email: 'many@gmail.com' }), 200)
  const { rows } = await stage.db.query(
    `select recipient from letters where recipient like 'm%@g%mail.com' order by posted_at`,
  )
  assert.deepEqual(rows, [{ recipient: 'many@gmail.com' }, { recipient: 'm.any@gmail.com' }])
})

test('who registers an address again and again does not keep its owner out', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 2 } })
  const email = 'wanted@example.org'
  const sent = async () => (await stage.emailsTo(email)).length
  // Neither another IPv4 address of a /24 nor another /64 of an IPv6 /48 is another network.
  const networks = [
    ['198.51.100.7', '198.51.100.8', '198.51.100.9', '::ffff:198.51.100.10'],
    ['2001:db8:7:1::1', '2001:db8:7:2::1', '2001:db8:7:ff00::1', '2001:db8:7::1'],
  ]
  for (const addresses of networks) {
    const before = await sent()
    for (const address of addresses) {
      const stranger = stage.browser({ accounts, address })
      expect(await stranger.post('/register', entry(email)), 200)
      expect(await stranger.post('/register/again', { email }), 200)
    }
    assert.equal((await sent()) - before, 2)
  }
  const before = await sent()
  const owner = stage.browser({ accounts, address: '203.0.113.200' })
  expect(await owner.post('/register', entry(email)), 200)
  assert.equal((await sent()) - before, 1)
  const code = await stage.emailedCode(email, 'confirm-email')
  expect(await owner.post('/confirm', { code }), 200)
})

test('the e-mails that all networks together cause to a mailbox are limited too', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 2 } })
  const email = 'everywhere@example.org'
  for (let i = 0; i < 12; i += 1) {
    const stranger = stage.browser({ accounts, address: `198.18.${i}.1` })
    expect(await stranger.post('/register', entry(email)), 200)
  }
  assert.equal((await stage.emailsTo(email)).length, 8)
})

test('who registers an owner’s address again and again does not stop a reset', async () => {
  const accounts = stage.createAccountsWith({ settings: { lettersPerHour: 2 } })
  const { email } = await stage.person('flooded')
  for (const _ of [1, 2, 3]) {
    expect(await stage.browser({ accounts }).post('/register', entry(email)), 200)
  }
  for (const _ of [1, 2, 3, 4]) {
    const reply = await stage.browser({ accounts }).post('/request-password-reset', { email })
    assert.deepEqual([reply.status, reply.body], [200, { status: true }])
  }
  const resets = (await stage.emailsTo(email)).filter(({ kind }) => kind === 'reset-password')
  assert.equal(resets.length, 2, 'resets have a limit of their own')
  const code = await stage.emailedCode(email, 'reset-password')
  const body = { code, newPassword: 'a storm from the west' }
  expect(await stage.browser({ accounts }).post('/reset-password', body), 200)
})

test('a registration must accept the required documents in their current version', async () => {
  const email = 'reader@example.org'
  const old = [{ document: 'offer', version: '2025-01-01' }, requiredConsents[1]]
  for (const consents of [[], [requiredConsents[0]], old]) {
    const reply = await stage.browser().post('/register', entry(email, { consents }))
    assert.equal(errorOf(reply), 'consent_missing')
  }
  const consents = [
    ...requiredConsents,
    { document: 'news', version: '1' },
    { document: 'x', version: '1' },
  ]
  const browser = stage.browser({ address: '198.51.100.9' })
  expect(await browser.post('/register', entry(email, { consents })), 200)
  const code = await stage.emailedCode(email, 'confirm-email')
  expect(await browser.post('/confirm', { code, password: PASSWORD }), 200)
  const session = stage.accounts.requireSession(await browser.session())
  const kept = await stage.accounts.consents(session)
  assert.deepEqual(
    kept.map(({ document, version, address }) => [document, version, address]),
    [
      ['news', '1', '198.51.100.9'],
      ['offer', '2026-11-01', '198.51.100.9'],
      ['personal-data', '3', '198.51.100.9'],
    ],
  )
  const later = { document: 'offer', version: '2027-01-01', address: '198.51.100.9' }
  await stage.accounts.consent(session, later)
  await stage.accounts.consent(session, later)
  assert.equal((await stage.accounts.consents(session)).length, 4)
})

test('a password has 10 to 128 characters of any kind and is not a common one', async () => {
  const sentence = 'the longest password that is accepted; '.repeat(4).slice(0, 128)
  const cases = [
    ['nine char', 'password_too_short'],
    ['ten chars!', undefined],
    [sentence, undefined],
    [`${sentence}!`, 'password_too_long'],
    ['Qwerty12345', 'password_common'],
    ['parolika@example.org', 'password_common'],
    ['пароль без цифр и знаков', undefined],
  ] as const
  for (const [password, problem] of cases) {
    const reply = await stage
      .browser()
      .post('/register', entry('parolika@example.org', { password }))
    assert.equal(errorOf(reply), problem, password)
  }
})

test('refuses a wrong address or body', async () => {
  const browser = stage.browser()
  assert.equal(errorOf(await browser.post('/register', entry('not an address'))), 'email_wrong')
  assert.equal(errorOf(await browser.post('/register', { email: 'a@example.org' })), 'body_wrong')
  assert.equal(errorOf(await browser.post('/register', ['a'])), 'body_wrong')
  const huge = entry('a@example.org', { extra: 'x'.repeat(40_000) })
  assert.equal(errorOf(await browser.post('/register', huge)), 'body_wrong')
})

test('a registration stores only digests of its password and code', async () => {
  const email = 'digest@example.org'
  expect(await stage.browser().post('/register', entry(email)), 200)
  const code = await stage.emailedCode(email, 'confirm-email')
  const { rows } = await stage.db.query(
    'select registrations::text as row, password_hash from registrations where email = $1',
    [email],
  )
  const [kept] = rows as { row: string; password_hash: string }[]
  assert.match(kept?.password_hash ?? '', /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.ok(!kept?.row.includes(code) && !kept?.row.includes(PASSWORD))
})
