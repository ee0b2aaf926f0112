// The account over HTTP: who is signed in and where, agreements, the copy, and the end.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'
import { credits } from '../../units/credits.ts'
import type { Closing, Consents, Me, NewKey, No, SessionLine } from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

/** The same owner in another browser. */
async function elsewhere(own: Person) {
  const other = at.stage.visitor()
  await other.must('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  return other
}

test('me says who is signed in, and in which language', async () => {
  const own = await at.stage.person('me')
  const { body: me } = await own.must<Me>('GET /api/me')
  assert.deepEqual(
    [me.account, me.email, me.language, me.isFresh, me.sessions, me.passkeys, me.hasSecondFactor],
    [own.account, 'me@example.org', 'en', true, 1, 0, false],
  )
  assert.deepEqual([me.consentsOutstanding, me.closing.isPossible], [[], true])
  const { body } = await own.must<Me>('POST /api/me/language', { language: 'ru' })
  assert.equal(body.language, 'ru')
  assert.equal((await own.must<Me>('GET /api/me')).body.language, 'ru')
  assert.equal(await own.no('POST /api/me/language', { language: 'de' }), '400 field_invalid')
})

test('letters and statements are in the time zone that the owner chose', async () => {
  const { person, bought, db, guards, url } = at.stage
  const own = await person('zoned')
  await bought(own)
  assert.equal((await own.must<Me>('GET /api/me')).body.zone, null)
  for (const zone of ['Mars/Olympus', "x'; drop", '', `Asia/${'x'.repeat(64)}`]) {
    assert.equal(await own.no('POST /api/me/zone', { zone }), '400 field_invalid', zone)
  }
  const { body } = await own.must<Me>('POST /api/me/zone', { zone: 'Asia/Kathmandu' })
  assert.equal(body.zone, 'Asia/Kathmandu')
  assert.equal((await own.must<Me>('GET /api/me')).body.zone, 'Asia/Kathmandu')

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

test('a no of signing in looks like every other, with its request id', async () => {
  const somebody = at.stage.visitor()
  const said = await somebody.ask<No>('POST /api/auth/sign-in/email', {
    email: 'nobody@example.org',
    password: 'wrong password here',
  })
  assert.deepEqual([said.status, said.body.error.code], [401, 'sign_in_wrong'])
  assert.match(said.body.requestId, /^req_/)
  assert.equal(said.headers.get('request-id'), said.body.requestId)
})

test('sessions are listed, ended one by one and all but this one', async () => {
  const own = await at.stage.person('sessions')
  const [second, third] = [await elsewhere(own), await elsewhere(own)]
  const { body } = await own.must<{ sessions: SessionLine[] }>('GET /api/sessions')
  assert.equal(body.sessions.length, 3)
  const [mine] = body.sessions.filter(({ isCurrent }) => isCurrent)
  assert.deepEqual([mine?.device, mine?.address], ['Firefox, Windows', '203.0.113.7'])
  const theirs = (await second.must<{ sessions: SessionLine[] }>('GET /api/sessions')).body
  const [victim] = theirs.sessions.filter(({ isCurrent }) => isCurrent)
  await own.must(`POST /api/sessions/${victim?.id}/revoke`)
  assert.equal(await second.no('GET /api/me'), '401 session_missing')
  assert.equal(await own.no(`POST /api/sessions/${victim?.id}/revoke`), '404 session_unknown')
  const stranger = await at.stage.person('sessions-stranger')
  assert.equal(await stranger.no(`POST /api/sessions/${mine?.id}/revoke`), '404 session_unknown')
  assert.deepEqual((await own.must('POST /api/sessions/revoke-others')).body, { revoked: 1 })
  assert.equal(await third.no('GET /api/me'), '401 session_missing')
  await own.must('POST /api/auth/sign-out')
  assert.equal(await own.no('GET /api/me'), '401 session_missing')
})

test('agreements are listed, and taken only to what is in force', async () => {
  const { person, db } = at.stage
  const own = await person('consents')
  await db.query('delete from account_consents where account_id = $1', [own.account])
  const { body: me } = await own.must<Me>('GET /api/me')
  assert.deepEqual(
    me.consentsOutstanding.map((one) => one.document),
    ['offer'],
  )
  const wrong = { document: 'offer', version: 'of yesterday' }
  assert.equal(await own.no('POST /api/consents', wrong), '404 consent_unknown')
  const right = { document: 'offer', version: '2026-11-01' }
  const { body } = await own.must<Consents>('POST /api/consents', right)
  assert.deepEqual([body.outstanding, body.given[0]?.version], [[], '2026-11-01'])
})

test('the copy has everything of the owner’s, and wants a fresh session', async () => {
  const { person, bought, spend, turned } = at.stage
  const own = await person('copy')
  const order = await bought(own)
  await spend(own.book, 1_000)
  turned.ms = 11 * 60_000
  const stale = await own.no('GET /api/export')
  turned.ms = 0
  assert.equal(stale, '403 session_not_fresh')
  const { body, headers } = await own.must<{
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

test('closing gives back what was paid for, gives up the rest, and ends every way in', async () => {
  const { person, bought, spend, payments, ledger, keys } = at.stage
  const own = await person('closing')
  await payments.createPromo({
    ...{ code: 'GIFT', credits: credits(5_000), redemptionsMax: 1, by: 'a test', note: '' },
    ...{ startsAt: new Date(0), endsAt: new Date('2100-01-01') },
  })
  const { id } = await bought(own)
  await own.must('POST /api/promo', { code: 'GIFT' })
  await spend(own.book, 14_000_000)
  const { body: key } = await own.must<NewKey>('POST /api/key')
  await own.must(`POST /api/key/${key.id}/confirm`)
  const { body: would } = await own.must<Closing>('GET /api/closing')
  assert.deepEqual(
    [would.isPossible, would.refundKopecks, would.forfeited.whole, would.available.whole],
    [true, '78000', '5000', '21005000'],
  )
  const browser = await elsewhere(own)
  await own.must('POST /api/closing', { unspent: 'refund' })
  assert.equal(await browser.no('GET /api/me'), '401 session_missing')
  const book = await ledger.balance(own.book)
  assert.deepEqual([book?.available, book?.blockedReason], [0n, 'owner_suspended'])
  assert.deepEqual(await keys.find(own.book), {})
  const [refund] = await payments.refunds(own.book)
  assert.deepEqual([refund?.order, refund?.amount, refund?.state], [id, 78_000n, 'succeeded'])
  const [last] = await ledger.statement({ book: own.book, beforeSeq: null, limit: 1 })
  assert.deepEqual([last?.kind, last?.amount], ['adjust', -credits(5_000)])
})

test('an account waits with closing while an order can still be paid', async () => {
  const { person } = at.stage
  const own = await person('waits')
  await own.must('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  const { body: me } = await own.must<Me>('GET /api/me')
  assert.deepEqual(me.closing, { isPossible: false, payableOrders: 1 })
  assert.equal(await own.no('POST /api/closing', { unspent: 'forfeit' }), '409 closing_waits')
  await own.must('GET /api/me')
})

test('money that the bank does not give back keeps the account open', async () => {
  const { person, bought, sim, ledger } = at.stage
  const own = await person('stays')
  const { id } = await bought(own)
  // Given back at the provider's own desk, and we were not told: it refuses ours.
  await sim('modes', { mode: 'drop', orderId: id })
  await sim('refund', { orderId: id })
  assert.equal(await own.no('POST /api/closing', { unspent: 'refund' }), '409 refund_refused')
  await own.must('GET /api/me')
  assert.equal((await ledger.balance(own.book))?.available, credits(35_000_000))
})

test('a refund whose outcome is unknown stands, and the account closes', async () => {
  const { person, bought, sim, ledger, payments } = at.stage
  const own = await person('unknown')
  await bought(own)
  await sim('faults', { kind: 'error', when: 'after', method: 'POST', path: '/refunds', times: 1 })
  await own.must('POST /api/closing', { unspent: 'refund' })
  assert.equal((await ledger.balance(own.book))?.available, 0n)
  const [refund] = await payments.refunds(own.book)
  assert.deepEqual([refund?.amount, refund?.credits], [130_000n, credits(35_000_000)])
})
