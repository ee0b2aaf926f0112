// Automatic top-ups against the bank's stand-in: one order per crossing, never above the ceiling,
// off at the first decline, credited like any order. endings.test.ts tests the other endings.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  brand,
  createTestPayments,
  pack,
  type TestPayments,
} from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import { dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'
import { emailedEndReasons, type TopUpEmailInput, topUpEmail, topUpEmailKinds } from './emails.ts'

const shared = { stage: undefined as unknown as TestPayments }
before(async () => {
  shared.stage = await createTestPayments({ payments: { hasTopUps: true } })
})
after(async () => {
  assert.deepEqual(await shared.stage.ledger.audit('all'), [], 'the audit finds nothing in the end')
  await shared.stage.end()
})

const threshold = credits(1_000_000)
/** Three packs a month. */
const ceilingKopecks = kopecks(3n * pack.priceKopecks)

type Changes = { threshold?: bigint; day?: Kopecks; month?: Kopecks }

function agree(book: BookId, changes: Changes = {}) {
  const { topUps } = shared.stage.payments
  return topUps.turnOn({
    ...{ book, packId: pack.id, version: topUps.consentVersion, address: '203.0.113.7' },
    ...{ priceKopecks: pack.priceKopecks, credits: pack.credits },
    threshold: credits(changes.threshold ?? 1_000_000n),
    dayCeilingKopecks: changes.day ?? changes.month ?? ceilingKopecks,
    monthCeilingKopecks: changes.month ?? ceilingKopecks,
  })
}

/** An owner who bought a pack, saved the card, and has 500,000 credits left. */
async function owner(): Promise<{ book: BookId; first: string }> {
  const { stage } = shared
  const book = await stage.newBook()
  const { id } = await stage.buy(book, { savesMethod: true })
  await stage.sim('pay', { orderId: id })
  await stage.payments.check(id)
  await stage.spend(book, 34_500_000)
  return { book, first: id }
}

async function ordersOf(book: BookId) {
  const orders = await shared.stage.payments.orders({ book, before: null, limit: 100 })
  return orders.filter(({ isTopUp }) => isTopUp)
}

const states = async (book: BookId) => (await ordersOf(book)).map(({ state }) => state)
const available = async (book: BookId) => (await shared.stage.ledger.balance(book))?.available
const run = () => shared.stage.payments.jobs.topUp()

async function countEmails(kind: string): Promise<number> {
  return (await shared.stage.letters()).filter((one) => one === kind).length
}

test('a card is saved only if its payer agreed, and deleted when the owner asks', async () => {
  const { stage } = shared
  const { topUps } = stage.payments
  const plain = await stage.newBook()
  const { id } = await stage.buy(plain)
  await stage.sim('pay', { orderId: id })
  await stage.payments.check(id)
  assert.equal((await topUps.read(plain)).method, undefined)
  await assert.rejects(agree(plain), { code: 'top_up_refused' })

  const { book } = await owner()
  const { method } = await topUps.read(book)
  assert.equal(method?.title, '•••• 4444')
  await agree(book)
  await stage.db.transaction((tx) => topUps.forget(tx, book))
  const { mandate, method: gone } = await topUps.read(book)
  assert.deepEqual([gone, mandate?.endedWhy], [undefined, 'forgotten'])
  await run()
  assert.deepEqual(await states(book), [])
})

test('buys nothing without a mandate or above the threshold', async () => {
  const { book } = await owner()
  await run()
  assert.deepEqual(await states(book), [])
  await agree(book, { threshold: 400_000n })
  await run()
  assert.deepEqual(await states(book), [])
})

test('ten workers at once charge a crossing once, credit it and send one e-mail', async () => {
  const { book } = await owner()
  await agree(book)
  const sentBefore = await countEmails('top-up-credited')
  const workers = Array.from({ length: 10 }, () => shared.stage.open())
  await Promise.all(workers.map((one) => one.jobs.topUp()))
  await Promise.all(workers.map((one) => one.jobs.topUp()))
  assert.deepEqual(await states(book), ['credited'])
  assert.equal(await available(book), credits(35_500_000))
  assert.equal(await countEmails('top-up-credited'), sentBefore + 1)
  const { payments } = await shared.stage.sim('payments?status=succeeded&last=1000', {}, 'GET')
  const [order] = await ordersOf(book)
  const charged = (payments as { metadata: { order_id: string } }[]).filter(
    ({ metadata }) => metadata.order_id === order?.id,
  )
  assert.equal(charged.length, 1, 'one payment at the provider')
})

test('the database refuses a second top-up while one is open', async () => {
  const { book, first } = await owner()
  await shared.stage.sim('method', { orderId: first, isSlow: true })
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['pending'])
  await run()
  assert.deepEqual(await states(book), ['pending'], 'no second top-up while one is pending')
  const copy = shared.stage.db.query(
    `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
       credits, price_kopecks, catalogue_version, email, locale, request_body, is_top_up)
     select 'pay_' || repeat('0', 32), book_id, 'top-up 99', provider, method, 'created', pack_id,
       pack_title, credits, price_kopecks, catalogue_version, email, locale, '{}', true
     from orders where book_id = $1 and is_top_up`,
    [book],
  )
  await assert.rejects(copy, { constraint: 'orders_top_ups_are_one_at_a_time' })
  // The bank accepts the payment after all: it is credited like that of any order.
  const [order] = await ordersOf(book)
  await shared.stage.sim('pay', { orderId: order?.id })
  await shared.stage.payments.jobs.sweep()
  assert.deepEqual(await states(book), ['credited'])
})

test('a month never costs more than its ceiling; the next month starts at zero', async () => {
  const { stage } = shared
  const { book } = await owner()
  await agree(book)
  const sentBefore = await countEmails('top-up-ceiling')
  for (const spent of [35_000_000, 35_000_000, 35_000_000]) {
    await run()
    await stage.spend(book, spent)
  }
  await run()
  await run()
  assert.deepEqual(await states(book), ['credited', 'credited', 'credited'])
  assert.equal(await countEmails('top-up-ceiling'), sentBefore + 1, 'one e-mail a month')
  assert.equal((await stage.payments.topUps.read(book)).monthSpent, ceilingKopecks)
  await turnClock(stage.db, '1 month')
  await run()
  assert.equal((await states(book)).length, 4)
  await turnClock(stage.db, '0')
})

test('a decline ends top-ups with an e-mail and without a retry', async () => {
  const { stage } = shared
  const { book, first } = await owner()
  await agree(book)
  await stage.sim('method', { orderId: first, decline: 'insufficient_funds' })
  const sentBefore = await countEmails('top-up-declined')
  await run()
  await run()
  assert.deepEqual(await states(book), ['canceled'])
  assert.equal((await stage.payments.topUps.read(book)).mandate?.endedWhy, 'declined')
  assert.equal(await countEmails('top-up-declined'), sentBefore + 1)
  assert.equal(await available(book), credits(500_000))

  // The owner fixes the card and agrees again: a new mandate, a new crossing.
  await stage.sim('method', { orderId: first })
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('a card that the bank no longer knows counts as a decline', async () => {
  const { book, first } = await owner()
  await agree(book)
  await shared.stage.sim('method', { orderId: first, isForgotten: true })
  await run()
  await run()
  assert.deepEqual(await states(book), ['failed'])
  assert.equal((await shared.stage.payments.topUps.read(book)).mandate?.endedWhy, 'declined')
})

test('recovers a payment whose answer was lost, and credits its order once', async () => {
  const { stage } = shared
  const { book } = await owner()
  await agree(book)
  await stage.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  await run()
  assert.deepEqual(await states(book), ['created'])
  await run()
  assert.deepEqual(
    await states(book),
    ['created'],
    'no second payment while the outcome is unknown',
  )
  await turnClock(stage.db, '2 minutes')
  await stage.payments.jobs.recover()
  await turnClock(stage.db, '0')
  assert.deepEqual(await states(book), ['credited'])
  assert.equal(await available(book), credits(35_500_000))
})

/** A top-up whose payment is still open at the bank after 26 hours. */
async function unresolved() {
  const { stage } = shared
  const { book, first } = await owner()
  await stage.sim('method', { orderId: first, isSlow: true })
  await agree(book)
  await run()
  await stage.sim('method', { orderId: first })
  await turnClock(stage.db, '26 hours')
  await stage.payments.jobs.expire()
  await stage.payments.jobs.poll()
  const [order] = await ordersOf(book)
  assert.ok(order)
  const queue = await stage.payments.reviewQueue()
  return { book, order, review: queue.find((one) => one.order === order.id) }
}

test('a top-up unresolved after 25 hours is reported, and credited if paid late', async () => {
  const { stage } = shared
  const sentBefore = await countEmails('top-up-unresolved')
  const { book, order, review } = await unresolved()
  assert.deepEqual([review?.reason, review?.hasMoney], ['top_up_unresolved', false])
  assert.equal(await countEmails('top-up-unresolved'), sentBefore + 1)
  await run()
  await turnClock(stage.db, '40 hours')
  await stage.payments.jobs.poll()
  await run()
  assert.deepEqual(await states(book), ['expired'], 'nothing else is bought meanwhile')
  assert.equal(await countEmails('top-up-unresolved'), sentBefore + 1, 'one e-mail only')

  await stage.sim('pay', { orderId: order.id })
  await turnClock(stage.db, '50 hours')
  await stage.payments.jobs.poll()
  await run()
  await turnClock(stage.db, '0')
  assert.deepEqual(await states(book), ['credited'])
  const open = await stage.payments.reviewQueue()
  assert.equal(
    open.some(({ id }) => id === review?.id),
    false,
  )
})

test('an unresolved top-up that is canceled in the end allows the next one', async () => {
  const { stage } = shared
  const { book, order, review } = await unresolved()
  const declined = await countEmails('top-up-declined')
  await stage.sim('expire', { orderId: order.id })
  await turnClock(stage.db, '33 hours')
  await stage.payments.jobs.poll()
  const open = await stage.payments.reviewQueue()
  assert.equal(
    open.some(({ id }) => id === review?.id),
    false,
  )
  assert.equal(await countEmails('top-up-declined'), declined)
  await run()
  await run()
  await turnClock(stage.db, '0')
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('an unresolved top-up can be dismissed only once it has ended at the provider', async () => {
  const { stage } = shared
  const { book, order, review } = await unresolved()
  assert.ok(review)
  const dismiss = () =>
    stage.payments.resolveReview({ id: review.id, decision: 'dismiss', by: 'olga', note: 'asked' })
  await assert.rejects(dismiss(), { code: 'order_state_wrong' })
  await run()
  assert.deepEqual(await states(book), ['expired'])
  await stage.sim('expire', { orderId: order.id })
  await dismiss()
  await run()
  await turnClock(stage.db, '0')
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('schedules a poll for an open top-up that has none', async () => {
  const { stage } = shared
  const { book } = await unresolved()
  await stage.db.query('update orders set next_at = null where book_id = $1', [book])
  await run()
  const { rows } = await stage.db.query(
    'select from orders where book_id = $1 and next_at <= ledger_now()',
    [book],
  )
  await turnClock(stage.db, '0')
  assert.equal(rows.length, 1)
})

test('buys nothing for a stopped book', async () => {
  const { stage } = shared
  const { book } = await owner()
  await agree(book)
  await stage.ledger.block(stage.db, book, 'owner_suspended')
  await run()
  assert.deepEqual(await states(book), [])
  await stage.ledger.resume(stage.db, book, 'owner_suspended')
  await run()
  assert.deepEqual(await states(book), ['credited'])
})

test('refuses a mandate that could not be fulfilled', async () => {
  const { book } = await owner()
  const wrong = [
    { threshold: 35_000_000n },
    { month: kopecks(pack.priceKopecks - 1n) },
    { day: kopecks(pack.priceKopecks - 1n) },
    { day: kopecks(ceilingKopecks + 1n) },
  ] as const
  for (const changes of wrong) {
    await assert.rejects(agree(book, changes), { code: 'top_up_refused' })
  }
  const closed = shared.stage.open({ hasTopUps: false })
  assert.equal(closed.topUps.isOffered, false)
  const { priceKopecks } = pack
  const ceilings = { dayCeilingKopecks: ceilingKopecks, monthCeilingKopecks: ceilingKopecks }
  const input = { book, packId: pack.id, threshold, ...ceilings, address: '' }
  const consent = {
    ...input,
    priceKopecks,
    credits: pack.credits,
    version: closed.topUps.consentVersion,
  }
  await assert.rejects(closed.topUps.turnOn(consent), { code: 'top_up_refused' })
  assert.equal(await closed.jobs.topUp(), 0)
})

test('every consent stays as it was given, with its version, time and IP address', async () => {
  const { stage } = shared
  const { book } = await owner()
  await agree(book)
  await agree(book, { threshold: 2_000_000n })
  const mandates = await stage.payments.copy(book).mandates()
  assert.deepEqual(
    mandates.map(({ endedWhy }) => endedWhy),
    [null, 'replaced'],
  )
  const [last] = mandates
  assert.deepEqual(
    [last?.version, last?.address],
    [stage.payments.topUps.consentVersion, '203.0.113.7'],
  )
  const change = (set: string) =>
    stage.db.query(`update mandates set ${set} where book_id = ${book}`)
  const ended = `ended_at = ledger_now(), ended_why = 'owner'`
  for (const set of [`address = 'x'`, 'credits = credits - 1', ended, `${ended}, version = 'x'`]) {
    await assert.rejects(change(set), /never changed, only ended/, set)
  }
})

test('every top-up e-mail has its link and no missing value, in both languages', () => {
  const facts = {
    title: '•••• 4444',
    price: pack.priceKopecks,
    credits: pack.credits,
    threshold,
    balance: threshold,
    chargeAt: dateAt(0),
    resetsAt: dateAt(0),
    dayCeiling: ceilingKopecks,
    monthCeiling: ceilingKopecks,
    ceiling: ceilingKopecks,
    spent: ceilingKopecks,
  }
  const contents = emailedEndReasons.flatMap((why, index) => {
    const period = index % 2 === 0 ? 'day' : 'month'
    return topUpEmailKinds.map(
      (kind) => ({ kind, facts: { ...facts, why, period } }) as TopUpEmailInput,
    )
  })
  for (const content of contents) {
    for (const locale of ['ru', 'en'] as const) {
      const { subject, text, html } = topUpEmail(content, { email: 'a@b.ru', locale }, brand, '1')
      assert.ok(subject.length <= 78, subject)
      assert.match(text, /https:\/\/cabinet\.example\.org\/top-up/)
      assert.doesNotMatch(subject + text + html, /undefined|null|NaN|\[object/)
      assert.equal(/[а-я]/i.test(text), locale === 'ru')
    }
  }
})
