// The account over HTTP: profile, sessions, consents, the copy of all data, closing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'
import { credits } from '../../units/credits.ts'
import type { Consents, ErrorBody, Me, SessionLine } from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

/** The same owner in another browser. */
async function signInElsewhere(own: Person) {
  const other = at.stage.browser()
  await other.expectOk('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  return other
}

test('/api/me returns the signed-in account and its language', async () => {
  const own = await at.stage.person('me')
  const { body: me } = await own.expectOk<Me>('GET /api/me')
  assert.deepEqual(
    [me.account, me.email, me.language, me.sessions, me.passkeys, me.hasSecondFactor],
    [own.account, 'me@example.org', 'en', 1, 0, false],
  )
  assert.deepEqual([me.consentsOutstanding, me.isClosing, me.resetAt], [[], false, null])
  const { body } = await own.expectOk<Me>('POST /api/me/language', { language: 'ru' })
  assert.equal(body.language, 'ru')
  assert.equal((await own.expectOk<Me>('GET /api/me')).body.language, 'ru')
  assert.equal(await own.refusal('POST /api/me/language', { language: 'de' }), '400 field_invalid')
})

test('e-mails and statements use the time zone that the owner chose', async () => {
  const { person, buyPack, db, guards, url } = at.stage
  const own = await person('zoned')
  await buyPack(own)
  assert.equal((await own.expectOk<Me>('GET /api/me')).body.zone, null)
  for (const zone of ['Mars/Olympus', "x'; drop", '', `Asia/${'x'.repeat(64)}`]) {
    assert.equal(await own.refusal('POST /api/me/zone', { zone }), '400 field_invalid', zone)
  }
  const { body } = await own.expectOk<Me>('POST /api/me/zone', { zone: 'Asia/Kathmandu' })
  assert.equal(body.zone, 'Asia/Kathmandu')
  assert.equal((await own.expectOk<Me>('GET /api/me')).body.zone, 'Asia/Kathmandu')

  const atMs = Date.UTC(2026, 10, 15, 20, 30)
  const limits = { dayLimit: null, velocity: null }
  const by = { atMs, address: '', allowLooser: () => undefined }
  await guards.setLimits(own.book, { ...limits, dayLimit: credits(5) }, by)
  await guards.setLimits(own.book, limits, by)
  const { rows } = await db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'limits-loosened'`,
    [own.email],
  )
  assert.match((rows[0] as { text: string }).text, /16 November 2026.*02:15 UTC\+5:45/)

  const statement = async (query = '') =>
    (await fetch(`${url}/api/statement${query}`, { headers: own.headers() })).text()
  assert.equal(await statement(), await statement('?zone=Asia/Kathmandu'))
  assert.notEqual(await statement(), await statement('?zone=UTC'))
})

test('a refused sign-in has the same shape as other refusals, with its request id', async () => {
  const somebody = at.stage.browser()
  const response = await somebody.send<ErrorBody>('POST /api/auth/sign-in/email', {
    email: 'nobody@example.org',
    password: 'wrong password here',
  })
  assert.deepEqual([response.status, response.body.error.code], [401, 'sign_in_wrong'])
  assert.match(response.body.requestId, /^req_/)
  assert.equal(response.headers.get('request-id'), response.body.requestId)
})

test('an owner lists sessions, ends one, and ends all others', async () => {
  const own = await at.stage.person('sessions')
  const [second, third] = [await signInElsewhere(own), await signInElsewhere(own)]
  const { body } = await own.expectOk<{ sessions: SessionLine[] }>('GET /api/sessions')
  assert.equal(body.sessions.length, 3)
  const [mine] = body.sessions.filter(({ isCurrent }) => isCurrent)
  assert.deepEqual([mine?.device, mine?.address], ['Firefox, Windows', '203.0.113.7'])
  const theirs = (await second.expectOk<{ sessions: SessionLine[] }>('GET /api/sessions')).body
  const [victim] = theirs.sessions.filter(({ isCurrent }) => isCurrent)
  await own.expectOk(`POST /api/sessions/${victim?.id}/revoke`)
  assert.equal(await second.refusal('GET /api/me'), '401 session_missing')
  assert.equal(await own.refusal(`POST /api/sessions/${victim?.id}/revoke`), '404 session_unknown')
  const stranger = await at.stage.person('sessions-stranger')
  assert.equal(
    await stranger.refusal(`POST /api/sessions/${mine?.id}/revoke`),
    '404 session_unknown',
  )
  assert.deepEqual((await own.expectOk('POST /api/sessions/revoke-others')).body, { revoked: 1 })
  assert.equal(await third.refusal('GET /api/me'), '401 session_missing')
  await own.expectOk('POST /api/auth/sign-out')
  assert.equal(await own.refusal('GET /api/me'), '401 session_missing')
})

test('lists consents, and accepts only documents in force', async () => {
  const { person, db } = at.stage
  const own = await person('consents')
  await db.query('delete from account_consents where account_id = $1', [own.account])
  const { body: me } = await own.expectOk<Me>('GET /api/me')
  assert.deepEqual(
    me.consentsOutstanding.map((one) => one.document),
    ['offer'],
  )
  const wrong = { document: 'offer', version: 'of yesterday' }
  assert.equal(await own.refusal('POST /api/consents', wrong), '404 consent_unknown')
  const right = { document: 'offer', version: '2026-11-01' }
  const { body } = await own.expectOk<Consents>('POST /api/consents', right)
  assert.deepEqual([body.outstanding, body.given[0]?.version], [[], '2026-11-01'])
})

test('the copy has all data of the owner, and requires a recent proof', async () => {
  const { person, buyPack, spend, clockShift } = at.stage
  const own = await person('copy')
  const order = await buyPack(own)
  await spend(own.book, 1_000)
  clockShift.ms = 11 * 60_000
  const stale = await own.refusal('GET /api/export')
  clockShift.ms = 0
  assert.equal(stale, '403 step_up_needed')
  const { body, headers } = await own.expectOk<{
    account: { email: string }
    payments: { orders: { id: string; price: string }[] }
    ledger: { isComplete: boolean; entries: { kind: string; amount: string }[] }
    letters: { kind: string }[]
  }>('GET /api/export')
  assert.match(headers.get('content-disposition') ?? '', /^attachment/)
  assert.equal(body.account.email, own.email)
  assert.deepEqual(
    body.payments.orders.map(({ id, price }) => [id, price]),
    [[order.id, '1300.00']],
  )
  assert.deepEqual(
    body.ledger.entries.map(({ kind, amount }) => [kind, amount]),
    [
      ['charge', '-1000'],
      ['purchase', '35000000'],
    ],
  )
  assert.equal(body.ledger.isComplete, true)
  assert.ok(body.letters.some(({ kind }) => kind === 'confirm-email'))
})

test('what went to the next owner of an address is neither copied nor erased', async () => {
  const { db, ledger, person, accounts, runClosings, emailKindsTo, browser, documents } = at.stage
  const own = await person('passed.on')
  const moved = 'moved@example.org'
  await own.expectOk('POST /api/auth/email/change', { newEmail: moved })
  const { rows } = await db.query('select body_text as text from letters where recipient = $1', [
    moved,
  ])
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
  await own.expectOk('POST /api/auth/email/confirm', { code })
  // A week later somebody else has the mailbox.
  await db.query('delete from email_changes')
  const next = await person('passed.on')
  // So has a mailbox that the owner only named to support.
  const named = 'named.only@example.org'
  await ledger.db.transaction(async (tx) => {
    const checks = (['payment', 'card'] as const).map((step) => ({ step, isMatched: true }))
    const { account } = own
    await accounts.recovery.recordIdentity(tx, account, checks)
    await accounts.recovery.begin(tx, { account, kind: 'mailbox', newEmail: named })
    await accounts.recovery.stop(tx, account)
  })
  await browser().expectOk('POST /api/auth/register', {
    ...{ email: named, password: PASSWORD, language: 'en' },
    consents: documents.list().filter((one) => one.isRequired),
  })
  type Copy = { letters: { kind: string }[]; registrations?: object }
  const { body: copy } = await own.expectOk<Copy>('GET /api/export')
  const kinds = copy.letters.map(({ kind }) => kind)
  assert.ok(kinds.includes('email-changed'), `${kinds}`)
  const confirmations = kinds.filter((kind) => kind === 'confirm-email')
  assert.equal(confirmations.length, 1, `the owner's own, not those of the other two: ${kinds}`)
  assert.equal(copy.registrations, undefined, 'the network address of who typed an address')

  await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
  await runClosings()
  await db.query(
    `update letters set state = 'sent', body_text = null, body_html = null, ended_at = now(),
       leased_until = null where account_id = $1 and state = 'queued'`,
    [own.account],
  )
  const { rows: toNext } = await db.query(
    'select kind from letters where account_id = $1 order by posted_at',
    [next.account],
  )
  assert.ok(toNext.length > 0)
  await ledger.db.transaction((tx) => accounts.eraseNow(tx, own))
  assert.deepEqual(
    await emailKindsTo(next.email),
    (toNext as { kind: string }[]).map(({ kind }) => kind),
  )
  assert.deepEqual(await emailKindsTo(moved), [])
})
