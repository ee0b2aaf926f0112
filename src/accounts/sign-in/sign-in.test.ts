// Signing in over /api/auth: known and unknown e-mail addresses get the same answers, attempts are
// counted by account and by IP address, and the former session is replaced.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type AuthResponse,
  createBrowser,
  createStage,
  errorOf,
  expect,
  PASSWORD,
  type Stage,
} from '../../../test/stages/accounts.ts'
import { settingsOf } from '../../../test/support/harness.ts'
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { openDatabase } from '../../platform/db/db.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

const WRONG = 'not this password'

test('a wrong password and an unknown address get the same answer', async () => {
  const { email } = await stage.person('alike')
  const known = await stage.browser().signIn(email, WRONG)
  const unknown = await stage.browser().signIn('unlike@example.org', WRONG)
  const long = await stage.browser().signIn(email, 'x'.repeat(200))
  assert.deepEqual([known.status, errorOf(known)], [401, 'sign_in_wrong'])
  for (const other of [unknown, long]) {
    assert.deepEqual([known.status, known.body], [other.status, other.body])
    assert.deepEqual([...known.headers], [...other.headers])
  }
})

test('ignores upper case and surrounding spaces in the e-mail address', async () => {
  const { email } = await stage.person('mixed')
  expect(await stage.browser().signIn(`  ${email.toUpperCase()} `), 200)
})

test('guesses from many IP addresses share one count, and the owner gets an e-mail', async () => {
  const owner = await stage.person('guessed')
  for (const [email, own] of [[owner.email, owner] as const, ['ghost@example.org'] as const]) {
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        stage.browser({ address: `198.51.100.${i}` }).signIn(email, WRONG),
      ),
    )
    const counts = Map.groupBy(tries, ({ status }) => status)
    assert.deepEqual([counts.get(401)?.length, counts.get(429)?.length], [10, 10])
    const late = await stage.browser({ address: '198.51.100.99' }).signIn(email)
    assert.equal(errorOf(late), 'attempts_exceeded', 'even with the right password')
    // Strangers' guesses do not lock out the owner's own browser.
    if (own !== undefined) expect(await own.signIn(email), 200)
  }
  const kinds = (await stage.emailsTo(owner.email)).map(({ kind }) => kind)
  assert.equal(kinds.filter((kind) => kind === 'password-guessed').length, 1)
})

test('a device has its own count of wrong passwords, with the same limit', async () => {
  const owner = await stage.person('thief-of-cookies')
  for (const _ of Array.from({ length: 10 })) await owner.signIn(owner.email, WRONG)
  assert.equal(errorOf(await owner.signIn(owner.email)), 'attempts_exceeded')
  const elsewhere = stage.browser()
  expect(await elsewhere.signIn(owner.email), 200)
})

test('a correct password resets the count', async () => {
  const { email } = await stage.person('forgetful')
  for (const _ of [1, 2, 3]) {
    for (const __ of [1, 2, 3, 4, 5, 6]) await stage.browser().signIn(email, WRONG)
    expect(await stage.browser().signIn(email), 200)
  }
})

test('each IP address has a limit per path, and retry-after says when to try again', async () => {
  const accounts = stage.createAccountsWith({ settings: { addressPerMinute: 3 } })
  const browser = stage.browser({ accounts, address: '192.0.2.77' })
  const replies = await Promise.all([1, 2, 3, 4, 5].map(() => browser.signIn('x@example.org')))
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [401, 401, 401, 429, 429])
  const refused = replies.find(({ status }) => status === 429)
  assert.ok(refused !== undefined)
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
  assert.equal((refused.body.error as { retryAfterSeconds: number }).retryAfterSeconds, seconds)

  const other = stage.browser({ accounts, address: '192.0.2.78' })
  assert.equal((await other.signIn('x@example.org')).status, 401, 'another address has its own')
  const path = await browser.post('/request-password-reset', { email: 'x@example.org' })
  assert.equal(path.status, 200, 'and so has another path')
})

test('forged address headers and other addresses of the /64 share one count', async () => {
  const accounts = stage.createAccountsWith({ settings: { addressPerMinute: 2 } })
  const spoofed = stage.browser({ accounts, address: '192.0.2.90' })
  const body = { email: 'x@example.org', password: WRONG }
  const statuses: number[] = []
  for (const i of [1, 2, 3]) {
    const headers = { 'x-forwarded-for': `10.0.0.${i}`, 'x-account-address': `10.0.1.${i}` }
    statuses.push((await spoofed.post('/sign-in/email', body, headers)).status)
  }
  assert.deepEqual(statuses, [401, 401, 429])

  const six = await Promise.all(
    ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3', '2001:db8:1:3::1'].map(
      (address) => stage.browser({ accounts, address }).signIn('x@example.org'),
    ),
  )
  assert.equal(six.filter(({ status }) => status === 429).length, 1)
})

test('all addresses of one site have a larger limit where a secret is checked', async () => {
  const accounts = stage.createAccountsWith({ settings: { addressPerMinute: 1 } })
  // Another account each time: guesses at one account have a limit of their own.
  const emailOf = (address: string) => `${address.replaceAll(/\W+/g, '-')}@example.org`
  const signInFrom = async (address: string) =>
    (await stage.browser({ accounts, address }).signIn(emailOf(address))).status
  const sites = [
    { addressOf: (i: number) => `2001:db8:77:a${i.toString(16)}::1`, other: '2001:db8:78:a::1' },
    { addressOf: (i: number) => `198.18.5.${i}`, other: '198.18.6.1' },
  ]
  for (const { addressOf, other } of sites) {
    // What one address is refused is not counted for its site.
    assert.equal(await signInFrom(addressOf(0)), 401)
    for (const _ of [1, 2, 3]) assert.equal(await signInFrom(addressOf(0)), 429)
    for (let i = 1; i < 10; i += 1) assert.equal(await signInFrom(addressOf(i)), 401)
    const browser = stage.browser({ accounts, address: addressOf(10) })
    const refused = await browser.signIn(emailOf(addressOf(10)))
    assert.deepEqual([refused.status, errorOf(refused)], [429, 'attempts_exceeded'])
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
    assert.equal(await signInFrom(other), 401, 'another site has its own')
    assert.equal((await browser.post('/sign-out')).status, 200, 'and so has another path')
  }
})

test('a session lists the address and the browser of its sign-in', async () => {
  const owner = await stage.person('named', { address: '2001:db8:7:7::1' })
  const session = stage.accounts.requireSession(await owner.session())
  const [only, ...others] = await stage.accounts.sessions(session)
  assert.deepEqual(others, [])
  assert.match(only?.address ?? '', /^2001:0db8:0007:0007:0000:0000:0000:0001$/)
  assert.deepEqual([only?.device, only?.isCurrent], ['Firefox, Windows', true])
})

test('the owner gets an e-mail about a sign-in from a browser that is new', async () => {
  const owner = await stage.person('traveller')
  const kinds = async () => (await stage.emailsTo(owner.email)).map(({ kind }) => kind)
  assert.deepEqual(await kinds(), ['confirm-email'], 'no e-mail about the first browser')
  expect(await owner.post('/sign-out'), 200)
  expect(await owner.signIn(owner.email), 200)
  assert.deepEqual(await kinds(), ['confirm-email'])

  const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1'
  const phone = stage.browser({ agent, address: '198.51.100.200' })
  expect(await phone.signIn(owner.email), 200)
  const email = await stage.lastEmail(owner.email, 'new-device')
  assert.match(email.text, /Safari, iPhone/)
  assert.match(email.text, /198\.51\.100\.200/)
  expect(await phone.signIn(owner.email), 200)
  assert.deepEqual(await kinds(), ['confirm-email', 'new-device'])
})

test('a sign-in makes a new session and ends the one that the browser had', async () => {
  const owner = await stage.person('replaced')
  const before = await owner.session()
  const cookie = owner.headers()
  expect(await owner.signIn(owner.email), 200)
  const now = await owner.session()
  assert.notEqual(now?.id, before?.id)
  assert.equal(await stage.accounts.session(cookie), undefined)

  // A session cookie planted before the sign-in does not work after it.
  const planted = stage.browser()
  planted.jar.set('__Host-tollgate.session_token', 'planted.c2lnbmF0dXJl')
  expect(await planted.signIn(owner.email), 200)
  assert.doesNotMatch(planted.jar.get('__Host-tollgate.session_token') ?? '', /^planted/)
})

test('after a sign-in that fails halfway the browser keeps its session', async () => {
  const owner = await stage.person('halfway')
  const before = await owner.session()
  await stage.db.transaction(async (tx) => {
    await tx.query('lock table account_devices in share mode')
    const reply = await owner.signIn(owner.email)
    assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  })
  assert.equal((await owner.session())?.id, before?.id)
})

test('cookies are bound to the host, hidden from scripts and from other sites', async () => {
  const { email } = await stage.person('baked')
  const { headers } = expect(await stage.browser().signIn(email), 200)
  const cookies = headers.getSetCookie()
  assert.equal(cookies.length, 2)
  for (const cookie of cookies) {
    assert.match(cookie, /^__Host-tollgate\.(?:session_token|device)=/)
    for (const attribute of [/; Path=\/(?:;|$)/, /; HttpOnly/, /; Secure/, /; SameSite=Lax/i]) {
      assert.match(cookie, attribute)
    }
    assert.doesNotMatch(cookie, /Domain=/i)
  }
  const brand = { name: 'Gate', supportEmail: 'a@example.org', cabinetUrl: 'http://127.0.0.1:8081' }
  const laptop = createBrowser(stage.createAccountsWith({ brand }), {
    origin: 'http://127.0.0.1:8081',
  })
  const reply = expect(await laptop.signIn(email), 200)
  for (const cookie of reply.headers.getSetCookie()) {
    assert.match(cookie, /^tollgate\./)
    assert.doesNotMatch(cookie, /Secure/)
  }
  assert.equal((await laptop.session())?.email, email)
})

test('on a shared computer the session ends with the browser', async () => {
  const { email } = await stage.person('shared')
  const browser = stage.browser()
  const body = { email, password: PASSWORD, isPrivate: false }
  const { headers } = expect(await browser.post('/sign-in/email', body), 200)
  const cookie = headers.getSetCookie().find((one) => one.includes('session_token'))
  assert.doesNotMatch(cookie ?? '', /Max-Age/i)
})

test('refuses requests from a foreign page or without an origin', async () => {
  const owner = await stage.person('framed')
  const body = { email: owner.email, password: PASSWORD }
  for (const origin of [
    'https://evil.example',
    'null',
    'https://cabinet.example.org.evil.example',
  ]) {
    const reply = await owner.post('/sign-in/email', body, { origin })
    assert.deepEqual([reply.status, errorOf(reply)], [403, 'origin_wrong'], origin)
  }
  const silent = stage.browser({ origin: null })
  assert.equal(errorOf(await silent.post('/sign-in/email', body)), 'origin_wrong')
  const out = await owner.post('/sign-out', {}, { origin: 'https://evil.example' })
  assert.equal(errorOf(out), 'origin_wrong')
  assert.notEqual(await owner.session(), undefined)
})

test('serves no paths of better-auth but those of our flows', async () => {
  const owner = await stage.person('curious')
  const posts = [
    '/sign-up/email',
    '/sign-in/social',
    '/change-email',
    '/delete-user',
    '/update-user',
  ]
  const more = ['/send-verification-email', '/revoke-session', '/update-session', '/link-social']
  for (const path of [...posts, ...more, '/two-factor/get-totp-uri', '/verify-password', '//x']) {
    const reply = await owner.post(path, { email: 'a@example.org', password: PASSWORD, name: 'a' })
    assert.deepEqual([reply.status, errorOf(reply)], [404, 'path_unknown'], path)
  }
  const gets = [
    '/get-session',
    '/list-sessions',
    '/verify-email?token=x',
    '/reset-password/x',
    '/ok',
  ]
  for (const path of [...gets, '/list-accounts', '/passkey/list-user-passkeys', '/sign-in/email']) {
    assert.equal((await owner.get(path)).status, 404, path)
  }
})

test('no answer contains the secret of a session', async () => {
  const owner = await stage.person('silent')
  const { rows } = await stage.db.query('select secret from sessions')
  const secrets = (rows as { secret: string }[]).map(({ secret }) => secret)
  assert.ok(secrets.length > 0)
  const session = stage.accounts.requireSession(await owner.session())
  const answers = JSON.stringify([
    (await owner.signIn(owner.email)).body,
    await stage.accounts.sessions(session),
    await stage.accounts.copy(session),
  ])
  for (const secret of secrets) assert.ok(!answers.includes(secret))
})

test('answers 503 with retry-after when too many password checks wait', async () => {
  const accounts = stage.createAccountsWith({ settings: { passwordQueue: 0 } })
  const refused: AuthResponse[] = []
  // Checks overlap only by chance; in 50 rounds some do.
  for (let round = 0; refused.length === 0 && round < 50; round++) {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => stage.browser({ accounts }).signIn(`o${i}@example.org`)),
    )
    refused.push(...replies.filter(({ status }) => status === 503))
  }
  const [reply] = refused
  assert.ok(reply !== undefined)
  assert.equal(errorOf(reply), 'overloaded')
  assert.equal(reply.headers.get('retry-after'), '1')
})

test('answers 503 when the database is unreachable, and reveals nothing else', async () => {
  const away = openDatabase(settingsOf('postgres://postgres@127.0.0.1:1/none'), 'away', () => {})
  const accounts = stage.createAccountsWith({ db: away })
  const reply = await stage.browser({ accounts }).signIn('anybody@example.org')
  assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  assert.equal(reply.headers.get('retry-after'), '5')
  assert.deepEqual(Object.keys(reply.body), ['error'])
  const own = await stage.person('away')
  await assert.rejects(accounts.session(own.headers()), isDatabaseUnavailable)
  await away.end()
})

test('answers 503 with a read-only database, also where better-auth hides the error', async () => {
  const own = await stage.person('read-only')
  const url = new URL(stage.database.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reading = openDatabase(settingsOf(url.href), 'reading', () => {})
  const accounts = stage.createAccountsWith({ db: reading })
  const reply = await stage.browser({ accounts }).signIn('read-only@example.org')
  assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  await assert.rejects(accounts.session(own.headers()), isDatabaseUnavailable)
  // better-auth extends a session once a day.
  await stage.database.db.query(`update sessions set expires_at = expires_at - interval '2 days'`)
  await assert.rejects(accounts.session(own.headers()), isDatabaseUnavailable)
  await reading.end()
})
