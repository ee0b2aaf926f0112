// Sessions as the cabinet sees them: the account of a cookie, its proofs, the other sessions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ageProofs, createStage, expect, PASSWORD, type Stage } from '../../test/stages/accounts.ts'
import { isRefusal } from '../platform/refusal.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

test('a revoked session ends at once, and only its owner can revoke it', async () => {
  const { accounts } = stage
  const [owner, thief] = [await stage.person('lister'), await stage.person('lister-two')]
  const phone = stage.browser({ address: '198.51.100.3' })
  expect(await phone.signIn(owner.email), 200)
  const session = accounts.requireSession(await owner.session())
  const list = await accounts.sessions(session)
  assert.deepEqual(list.map(({ isCurrent }) => isCurrent).toSorted(), [false, true])
  const other = list.find(({ isCurrent }) => !isCurrent)
  assert.equal(other?.address, '198.51.100.3')

  const theirs = accounts.requireSession(await thief.session())
  assert.equal(await accounts.revokeSession(theirs, other?.id ?? ''), false)
  assert.notEqual(await phone.session(), undefined)
  assert.equal(await accounts.revokeSession(session, other?.id ?? ''), true)
  assert.equal(await phone.session(), undefined)
})

test('revoking the other sessions keeps the current one', async () => {
  const owner = await stage.person('tidy')
  const others = [stage.browser(), stage.browser()]
  for (const browser of others) expect(await browser.signIn(owner.email), 200)
  const session = stage.accounts.requireSession(await owner.session())
  assert.equal(await stage.accounts.revokeOtherSessions(session), 2)
  for (const browser of others) assert.equal(await browser.session(), undefined)
  assert.notEqual(await owner.session(), undefined)
})

test('a proof counts for ten minutes, and a session that is needed must exist', async () => {
  const { requireProofs } = stage.accounts
  const owner = await stage.person('fresh')
  await ageProofs(stage.db, '9 minutes')
  requireProofs(await owner.session(), 'order.refund')
  await ageProofs(stage.db, '2 minutes')
  const stale = await owner.session()
  assert.deepEqual(stale?.missing.second_factor, ['password'])
  assert.throws(
    () => requireProofs(stale, 'order.refund'),
    (error) => isRefusal(error, 'step_up_needed'),
  )
  assert.throws(
    () => requireProofs(undefined, 'order.refund'),
    (error) => isRefusal(error, 'session_missing'),
  )
  expect(await owner.signIn(owner.email, PASSWORD), 200)
  assert.deepEqual((await owner.session())?.missing.second_factor, [])
})

test('a used session is extended once a day, with a new cookie', async () => {
  const owner = await stage.person('regular')
  assert.deepEqual((await owner.session())?.cookies, [])
  await stage.db.query(
    `update sessions set expires_at = expires_at - interval '2 days'
     where account_id = (select id from accounts where email = $1)`,
    [owner.email],
  )
  const prolonged = await owner.session()
  assert.equal(prolonged?.cookies.length, 1)
  assert.match(prolonged?.cookies[0] ?? '', /^__Host-tollgate\.session_token=.*Max-Age=2592000/)
  assert.deepEqual((await owner.session())?.cookies, [])
})

test('an expired session or an altered cookie does not work', async () => {
  const owner = await stage.person('expired')
  const name = '__Host-tollgate.session_token'
  const cookie = owner.jar.get(name) ?? ''
  owner.jar.set(
    name,
    cookie.replace(/^./, (first) => (first === 'a' ? 'b' : 'a')),
  )
  assert.equal(await owner.session(), undefined)
  owner.jar.set(name, decodeURIComponent(cookie).split('.')[0] ?? '')
  assert.equal(await owner.session(), undefined, 'a cookie without its signature')
  owner.jar.set(name, cookie)
  assert.notEqual(await owner.session(), undefined)
  await stage.db.query(
    `update sessions set expires_at = clock_timestamp() - interval '1 second'
     where account_id = (select id from accounts where email = $1)`,
    [owner.email],
  )
  assert.equal(await owner.session(), undefined)
})

test('the list shows when a browser was last used', async () => {
  const owner = await stage.person('seen')
  await stage.db.query(`update sessions set last_seen_at = last_seen_at - interval '1 day'`)
  const session = stage.accounts.requireSession(await owner.session())
  const [own] = await stage.accounts.sessions(session)
  assert.ok(Date.now() - (own?.lastSeenAt.getTime() ?? 0) < 60_000)
})

test('e-mails are in the language that the owner chose', async () => {
  const owner = await stage.person('polyglot')
  const session = stage.accounts.requireSession(await owner.session())
  await stage.accounts.setLanguage(session, 'ru')
  assert.equal((await owner.session())?.language, 'ru')
  expect(await stage.browser().signIn(owner.email), 200)
  assert.match((await stage.lastEmail(owner.email, 'new-device')).subject, /Новый вход/)
})
