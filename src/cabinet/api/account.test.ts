// The account over HTTP: profile, sessions, consents, the copy of all data, closing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'
import { credits } from '../../units/credits.ts'
import type {
  ClosingPreview,
  Consents,
  ErrorBody,
  Me,
  NewKey,
  SessionLine,
} from '../contract/contract.ts'

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
  assert.deepEqual([me.consentsOutstanding, me.closing.isPossible, me.resetAt], [[], true, null])
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

test('closing refunds paid credits, forfeits the rest, and ends every session', async () => {
  const { person, buyPack, spend, payments, ledger, keys } = at.stage
  const own = await person('closing')
  await payments.createPromo({
    ...{ code: 'GIFT', credits: credits(5_000), redemptionsMax: 1, by: 'a test', note: '' },
    ...{ startsAt: new Date(0), endsAt: new Date('2100-01-01') },
  })
  const { id } = await buyPack(own)
  await own.expectOk('POST /api/promo', { code: 'GIFT' })
  await spend(own.book, 14_000_000)
  const { body: key } = await own.expectOk<NewKey>('POST /api/key')
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  const { body: preview } = await own.expectOk<ClosingPreview>('GET /api/closing')
  assert.deepEqual(
    [preview.isPossible, preview.refundKopecks, preview.forfeited.whole, preview.available.whole],
    [true, '78000', '5000', '21005000'],
  )
  const browser = await signInElsewhere(own)
  await own.expectOk('POST /api/closing', { unspent: 'refund' })
  assert.equal(await browser.refusal('GET /api/me'), '401 session_missing')
  const book = await ledger.balance(own.book)
  assert.deepEqual([book?.available, book?.blockedReason], [0n, 'owner_suspended'])
  assert.deepEqual(await keys.find(own.book), {})
  const [refund] = await payments.refunds(own.book)
  assert.deepEqual([refund?.order, refund?.amount, refund?.state], [id, 78_000n, 'succeeded'])
  const [last] = await ledger.statement({ book: own.book, beforeSeq: null, limit: 1 })
  assert.deepEqual([last?.kind, last?.amount], ['adjust', -credits(5_000)])
})

test('refuses to close an account while an order can still be paid', async () => {
  const { person } = at.stage
  const own = await person('waits')
  await own.expectOk('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  const { body: me } = await own.expectOk<Me>('GET /api/me')
  assert.deepEqual(me.closing, { isPossible: false, payableOrders: 1 })
  assert.equal(await own.refusal('POST /api/closing', { unspent: 'forfeit' }), '409 closing_waits')
  await own.expectOk('GET /api/me')
})

test('a running request delays closing, so that no credits come back after it', async () => {
  const { person, buyPack, beginRequest, ledger, payments } = at.stage
  const own = await person('running')
  await buyPack(own)
  const request = await beginRequest(own.book, 10_000_000)
  assert.equal(await own.refusal('POST /api/closing', { unspent: 'refund' }), '409 closing_waits')
  assert.deepEqual(await payments.refunds(own.book), [], 'refused before the first refund')
  await request.settle(4_000_000)
  await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
  const book = await ledger.balance(own.book)
  assert.deepEqual([book?.available, book?.held], [0n, 0n])
})

test('a promo code that is redeemed while the account closes adds nothing', async () => {
  const { person, payments, accounts, ledger, open } = at.stage
  const own = await person('redeeming')
  await payments.createPromo({
    ...{ code: 'LATE', credits: credits(5_000), redemptionsMax: 1, by: 'a test', note: '' },
    ...{ startsAt: new Date(0), endsAt: new Date('2100-01-01') },
  })
  const redeeming = open({
    async ownerOf(book, tx) {
      const owner = await accounts.ownerOf(book, tx)
      await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
      return owner
    },
  })
  const code = await redeeming.redeem(own.book, 'LATE').then(
    () => 'credited',
    (error: { code: string }) => error.code,
  )
  assert.deepEqual([code, (await ledger.balance(own.book))?.available], ['promo_refused', 0n])
})

test('the account stays open when the bank refuses a refund', async () => {
  const { person, buyPack, sim, ledger } = at.stage
  const own = await person('stays')
  const { id } = await buyPack(own)
  // Refunded at the provider without a notification to us: the provider refuses our refund.
  await sim('modes', { mode: 'drop', orderId: id })
  await sim('refund', { orderId: id })
  assert.equal(await own.refusal('POST /api/closing', { unspent: 'refund' }), '409 refund_refused')
  await own.expectOk('GET /api/me')
  assert.equal((await ledger.balance(own.book))?.available, credits(35_000_000))
})

test('an account with more refunds than its budget needs support to close', async () => {
  const { person, buyPack, ledger, payments } = at.stage
  const own = await person('budget')
  for (let i = 0; i < 6; i++) await buyPack(own)
  const closing = () => own.refusal('POST /api/closing', { unspent: 'refund' })
  assert.equal(await closing(), '409 refund_needs_support')
  assert.deepEqual(await payments.refunds(own.book), [], 'refused before the first refund')
  assert.equal((await ledger.balance(own.book))?.available, credits(6 * 35_000_000))
  await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
})

test('the account closes although the outcome of a refund is unknown', async () => {
  const { person, buyPack, sim, ledger, payments } = at.stage
  const own = await person('unknown')
  await buyPack(own)
  await sim('faults', { kind: 'error', when: 'after', method: 'POST', path: '/refunds', times: 1 })
  await own.expectOk('POST /api/closing', { unspent: 'refund' })
  assert.equal((await ledger.balance(own.book))?.available, 0n)
  const [refund] = await payments.refunds(own.book)
  assert.deepEqual([refund?.amount, refund?.credits], [130_000n, credits(35_000_000)])
})

test('an order without an answer of the provider delays closing by an hour at most', async () => {
  const { person, sim, clockShift } = at.stage
  const own = await person('unanswered')
  await sim('faults', { kind: 'error', when: 'before', method: 'POST', path: '/payments' })
  await own.expectOk('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  const closing = async () => (await own.expectOk<Me>('GET /api/me')).body.closing
  assert.deepEqual(await closing(), { isPossible: false, payableOrders: 1 })
  clockShift.ms = 61 * 60_000
  try {
    assert.deepEqual(await closing(), { isPossible: true, payableOrders: 0 })
  } finally {
    clockShift.ms = 0
  }
})

test('the e-mail about the closing promises a refund only if one was requested', async () => {
  const { person, buyPack, spend, db } = at.stage
  const closingEmail = async (name: string, spent: number) => {
    const own = await person(name)
    await buyPack(own)
    await spend(own.book, spent)
    await own.expectOk('POST /api/closing', { unspent: 'refund' })
    const { rows } = await db.query(
      `select body_text as text from letters where recipient = $1 and kind = 'account-closed'`,
      [own.email],
    )
    return (rows[0] as { text: string }).text
  }
  assert.match(await closingEmail('has-credits', 1_000), /asked for a refund/)
  assert.doesNotMatch(await closingEmail('has-none', 35_000_000), /asked for a refund/)
})
