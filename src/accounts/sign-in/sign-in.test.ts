// Signing in over /api/auth: alike for everybody, counted by account and by address, replacing what
// was there before.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createBrowser,
  createStage,
  errorOf,
  expect,
  PASSWORD,
  type Reply,
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

test('a wrong password and an unknown address are answered alike', async () => {
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

test('an address is the same in any case and with spaces around it', async () => {
  const { email } = await stage.person('mixed')
  expect(await stage.browser().signIn(`  ${email.toUpperCase()} `), 200)
})

test('many machines that guess one account are stopped together, and its owner told', async () => {
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
    // The owner's own browser is not locked out by strangers.
    if (own !== undefined) expect(await own.signIn(email), 200)
  }
  const told = (await stage.letters(owner.email)).filter(({ kind }) => kind === 'password-guessed')
  assert.equal(told.length, 1)
})

test('a browser that the account knows has its own count, and it ends too', async () => {
  const owner = await stage.person('thief-of-cookies')
  for (const _ of Array.from({ length: 10 })) await owner.signIn(owner.email, WRONG)
  assert.equal(errorOf(await owner.signIn(owner.email)), 'attempts_exceeded')
  const elsewhere = stage.browser()
  expect(await elsewhere.signIn(owner.email), 200)
})

test('a right password begins the count anew', async () => {
  const { email } = await stage.person('forgetful')
  for (const _ of [1, 2, 3]) {
    for (const __ of [1, 2, 3, 4, 5, 6]) await stage.browser().signIn(email, WRONG)
    expect(await stage.browser().signIn(email), 200)
  }
})

test('one address has an allowance per path, and the time to wait is told truly', async () => {
  const room = stage.room({ settings: { addressPerMinute: 3 } })
  const browser = stage.browser({ room, address: '192.0.2.77' })
  const replies = await Promise.all([1, 2, 3, 4, 5].map(() => browser.signIn('x@example.org')))
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [401, 401, 401, 429, 429])
  const refused = replies.find(({ status }) => status === 429)
  assert.ok(refused !== undefined)
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`)
  assert.equal((refused.body.error as { retryAfterSeconds: number }).retryAfterSeconds, seconds)

  const other = stage.browser({ room, address: '192.0.2.78' })
  assert.equal((await other.signIn('x@example.org')).status, 401, 'others have their own')
  const path = await browser.post('/request-password-reset', { email: 'x@example.org' })
  assert.equal(path.status, 200, 'and so have other paths')
})

test('nobody escapes the count by naming an address, or by another of the same /64', async () => {
  const room = stage.room({ settings: { addressPerMinute: 2 } })
  const spoofed = stage.browser({ room, address: '192.0.2.90' })
  const body = { email: 'x@example.org', password: WRONG }
  const statuses: number[] = []
  for (const i of [1, 2, 3]) {
    const headers = { 'x-forwarded-for': `10.0.0.${i}`, 'x-account-address': `10.0.1.${i}` }
    statuses.push((await spoofed.post('/sign-in/email', body, headers)).status)
  }
  assert.deepEqual(statuses, [401, 401, 429])

  const six = await Promise.all(
    ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3', '2001:db8:1:3::1'].map(
      (address) => stage.browser({ room, address }).signIn('x@example.org'),
    ),
  )
  assert.equal(six.filter(({ status }) => status === 429).length, 1)
})

test('a session names the address and the browser it was made with', async () => {
  const owner = await stage.person('named', { address: '2001:db8:7:7::1' })
  const session = stage.accounts.requireSession(await owner.session())
  const [only, ...others] = await stage.accounts.sessions(session)
  assert.deepEqual(others, [])
  assert.match(only?.address ?? '', /^2001:0db8:0007:0007:0000:0000:0000:0001$/)
  assert.deepEqual([only?.device, only?.isCurrent], ['Firefox, Windows', true])
})

test('a sign-in from a new browser is told to the owner, one from a known one not', async () => {
  const owner = await stage.person('traveller')
  const kinds = async () => (await stage.letters(owner.email)).map(({ kind }) => kind)
  assert.deepEqual(await kinds(), ['confirm-email'], 'the first browser is no news')
  expect(await owner.post('/sign-out'), 200)
  expect(await owner.signIn(owner.email), 200)
  assert.deepEqual(await kinds(), ['confirm-email'])

  const agent = 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1'
  const phone = stage.browser({ agent, address: '198.51.100.200' })
  expect(await phone.signIn(owner.email), 200)
  const letter = await stage.letter(owner.email, 'new-device')
  assert.match(letter.text, /Safari, iPhone/)
  assert.match(letter.text, /198\.51\.100\.200/)
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

  // A cookie planted before the sign-in names no session after it.
  const planted = stage.browser()
  planted.jar.set('__Host-tollgate.session_token', 'planted.c2lnbmF0dXJl')
  expect(await planted.signIn(owner.email), 200)
  assert.doesNotMatch(planted.jar.get('__Host-tollgate.session_token') ?? '', /^planted/)
})

test('a sign-in that fails in the middle leaves the browser the session it had', async () => {
  const owner = await stage.person('halfway')
  const before = await owner.session()
  await stage.db.transaction(async (tx) => {
    await tx.query('lock table account_devices in share mode')
    const reply = await owner.signIn(owner.email)
    assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  })
  assert.equal((await owner.session())?.id, before?.id)
})

test('cookies are bound to the host, hidden from scripts, and kept from other sites', async () => {
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
  const laptop = createBrowser(stage.room({ brand }), { origin: 'http://127.0.0.1:8081' })
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

test('a foreign page, or one that does not say what it is, changes nothing', async () => {
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

test('of better-auth’s paths only those of our flows are there', async () => {
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

test('what a cookie carries is in no answer', async () => {
  const owner = await stage.person('silent')
  const { rows } = await stage.db.query('select secret from sessions')
  const secrets = (rows as { secret: string }[]).map(({ secret }) => secret)
  assert.ok(secrets.length > 0)
  const session = stage.accounts.requireSession(await owner.session())
  const said = JSON.stringify([
    (await owner.signIn(owner.email)).body,
    await stage.accounts.sessions(session),
    await stage.accounts.copy(session),
  ])
  for (const secret of secrets) assert.ok(!said.includes(secret))
})

test('when too many passwords wait, the next is told to come again', async () => {
  const room = stage.room({ settings: { passwordQueue: 0 } })
  const refused: Reply[] = []
  // Whether two meet is the machine's to say; over many rounds some do.
  for (let round = 0; refused.length === 0 && round < 50; round++) {
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => stage.browser({ room }).signIn(`o${i}@example.org`)),
    )
    refused.push(...replies.filter(({ status }) => status === 503))
  }
  const [reply] = refused
  assert.ok(reply !== undefined)
  assert.equal(errorOf(reply), 'overloaded')
  assert.equal(reply.headers.get('retry-after'), '1')
})

test('a database that is away is said so, and nothing about anybody', async () => {
  const away = openDatabase(settingsOf('postgres://postgres@127.0.0.1:1/none'), 'away', () => {})
  const room = stage.room({ db: away })
  const reply = await stage.browser({ room }).signIn('anybody@example.org')
  assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  assert.equal(reply.headers.get('retry-after'), '5')
  assert.deepEqual(Object.keys(reply.body), ['error'])
  const own = await stage.person('away')
  await assert.rejects(room.session(own.headers()), isDatabaseUnavailable)
  await away.end()
})

test('a database that only reads is said so, also where better-auth hides the reason', async () => {
  const own = await stage.person('read-only')
  const url = new URL(stage.database.url)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reading = openDatabase(settingsOf(url.href), 'reading', () => {})
  const room = stage.room({ db: reading })
  const reply = await stage.browser({ room }).signIn('read-only@example.org')
  assert.deepEqual([reply.status, errorOf(reply)], [503, 'unavailable'])
  await assert.rejects(room.session(own.headers()), isDatabaseUnavailable)
  // A session is prolonged once a day, which better-auth does by itself.
  await stage.database.db.query(`update sessions set expires_at = expires_at - interval '2 days'`)
  await assert.rejects(room.session(own.headers()), isDatabaseUnavailable)
  await reading.end()
})
