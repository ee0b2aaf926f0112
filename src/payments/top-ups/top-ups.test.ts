// Automatic top-ups against the bank's stand-in: bought once per crossing, never above the ceiling,
// off at the first decline, and by the ordinary way of an order. What else ends them is in
// endings.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  brand,
  createTestPayments,
  pack,
  type TestPayments,
} from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'
import { stopsTold, type TopUpNotice, topUpKinds, topUpLetter } from './letters.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({ payments: { hasTopUps: true } })
})
after(async () => {
  assert.deepEqual(await at.room.ledger.audit('all'), [], 'the books tie out in the end')
  await at.room.end()
})

const threshold = credits(1_000_000)
/** Three packs a month. */
const ceilingKopecks = kopecks(3n * pack.priceKopecks)

function agree(book: BookId, changes: { threshold?: bigint; ceilingKopecks?: Kopecks } = {}) {
  const { topUps } = at.room.payments
  return topUps.turnOn({
    ...{ book, packId: pack.id, version: topUps.consentVersion, address: '203.0.113.7' },
    ...{ priceKopecks: pack.priceKopecks, credits: pack.credits },
    threshold: credits(changes.threshold ?? 1_000_000n),
    ceilingKopecks: changes.ceilingKopecks ?? ceilingKopecks,
  })
}

/** An owner who bought a pack with a card that stays, and has spent all but 500,000 of it. */
async function owner(): Promise<{ book: BookId; first: string }> {
  const { room } = at
  const book = await room.newBook()
  const { id } = await room.buy(book, { savesMethod: true })
  await room.sim('pay', { orderId: id })
  await room.payments.check(id)
  await room.spend(book, 34_500_000)
  return { book, first: id }
}

async function ordersOf(book: BookId) {
  const orders = await at.room.payments.orders({ book, before: null, limit: 100 })
  return orders.filter(({ isTopUp }) => isTopUp)
}

const states = async (book: BookId) => (await ordersOf(book)).map(({ state }) => state)
const available = async (book: BookId) => (await at.room.ledger.balance(book))?.available
const run = () => at.room.payments.jobs.topUp()

async function lettersAbout(kind: string): Promise<number> {
  return (await at.room.letters()).filter((one) => one === kind).length
}

test('a card is kept only when its payer agreed, and forgotten at its owner’s word', async () => {
  const { room } = at
  const { topUps } = room.payments
  const plain = await room.newBook()
  const { id } = await room.buy(plain)
  await room.sim('pay', { orderId: id })
  await room.payments.check(id)
  assert.equal((await topUps.read(plain)).method, undefined)
  await assert.rejects(agree(plain), { code: 'top_up_refused' })

  const { book } = await owner()
  const { method } = await topUps.read(book)
  assert.equal(method?.title, '•••• 4444')
  await agree(book)
  await room.db.transaction((tx) => topUps.forget(tx, book))
  const { word, method: gone } = await topUps.read(book)
  assert.deepEqual([gone, word?.isOn, word?.stoppedWhy], [undefined, false, 'forgotten'])
  await run()
  assert.deepEqual(await states(book), [])
})

test('nothing is bought before its owner says so, nor above the threshold', async () => {
  const { book } = await owner()
  await run()
  assert.deepEqual(await states(book), [])
  await agree(book, { threshold: 400_000n })
  await run()
  assert.deepEqual(await states(book), [])
})

test('a crossing is paid once, told once and credited, by ten workers at once', async () => {
  const { book } = await owner()
  await agree(book)
  const told = await lettersAbout('top-up-credited')
  const workers = Array.from({ length: 10 }, () => at.room.open())
  await Promise.all(workers.map((one) => one.jobs.topUp()))
  await Promise.all(workers.map((one) => one.jobs.topUp()))
  assert.deepEqual(await states(book), ['credited'])
  assert.equal(await available(book), credits(35_500_000))
  assert.equal(await lettersAbout('top-up-credited'), told + 1)
  const { payments } = await at.room.sim('payments?status=succeeded&last=1000', {}, 'GET')
  const [order] = await ordersOf(book)
  const charged = (payments as { metadata: { order_id: string } }[]).filter(
    ({ metadata }) => metadata.order_id === order?.id,
  )
  assert.equal(charged.length, 1, 'one payment at the provider')
})

test('the database itself refuses a second top-up while one is open', async () => {
  const { book, first } = await owner()
  await at.room.sim('method', { orderId: first, isSlow: true })
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['pending'])
  await run()
  assert.deepEqual(await states(book), ['pending'], 'one that is under way is waited for')
  const copy = at.room.db.query(
    `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
       credits, price_kopecks, catalogue_version, email, locale, request_body, is_top_up)
     select 'pay_' || repeat('0', 32), book_id, 'top-up 99', provider, method, 'created', pack_id,
       pack_title, credits, price_kopecks, catalogue_version, email, locale, '{}', true
     from orders where book_id = $1 and is_top_up`,
    [book],
  )
  await assert.rejects(copy, { constraint: 'orders_top_ups_are_one_at_a_time' })
  // The bank says yes after all: the ordinary machine credits it.
  const [order] = await ordersOf(book)
  await at.room.sim('pay', { orderId: order?.id })
  await at.room.payments.jobs.sweep()
  assert.deepEqual(await states(book), ['credited'])
})

test('the month never costs more than its ceiling; the next month begins anew', async () => {
  const { room } = at
  const { book } = await owner()
  await agree(book)
  const told = await lettersAbout('top-up-ceiling')
  for (const spent of [35_000_000, 35_000_000, 35_000_000]) {
    await run()
    await room.spend(book, spent)
  }
  await run()
  await run()
  assert.deepEqual(await states(book), ['credited', 'credited', 'credited'])
  assert.equal(await lettersAbout('top-up-ceiling'), told + 1, 'told once a month')
  assert.equal((await room.payments.topUps.read(book)).monthKopecks, ceilingKopecks)
  await turnClock(room.db, '1 month')
  await run()
  assert.equal((await states(book)).length, 4)
  await turnClock(room.db, '0')
})

test('a decline ends it at once, with a letter and without a second try', async () => {
  const { room } = at
  const { book, first } = await owner()
  await agree(book)
  await room.sim('method', { orderId: first, decline: 'insufficient_funds' })
  const told = await lettersAbout('top-up-declined')
  await run()
  await run()
  assert.deepEqual(await states(book), ['canceled'])
  const { word } = await room.payments.topUps.read(book)
  assert.deepEqual([word?.isOn, word?.stoppedWhy], [false, 'declined'])
  assert.equal(await lettersAbout('top-up-declined'), told + 1)
  assert.equal(await available(book), credits(500_000))

  // The owner sees to the card and says so again: a new word, a new crossing.
  await room.sim('method', { orderId: first })
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('a card that the bank no longer knows ends it as a decline does', async () => {
  const { book, first } = await owner()
  await agree(book)
  await at.room.sim('method', { orderId: first, isForgotten: true })
  await run()
  await run()
  assert.deepEqual(await states(book), ['failed'])
  assert.equal((await at.room.payments.topUps.read(book)).word?.stoppedWhy, 'declined')
})

test('an answer that got lost is asked for again, and credited once', async () => {
  const { room } = at
  const { book } = await owner()
  await agree(book)
  await room.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  await run()
  assert.deepEqual(await states(book), ['created'])
  await run()
  assert.deepEqual(await states(book), ['created'], 'what may have happened is not done again')
  await turnClock(room.db, '2 minutes')
  await room.payments.jobs.recover()
  await turnClock(room.db, '0')
  assert.deepEqual(await states(book), ['credited'])
  assert.equal(await available(book), credits(35_500_000))
})

/** A top-up whose payment the bank leaves open, 26 hours later. */
async function unresolved() {
  const { room } = at
  const { book, first } = await owner()
  await room.sim('method', { orderId: first, isSlow: true })
  await agree(book)
  await run()
  await room.sim('method', { orderId: first })
  await turnClock(room.db, '26 hours')
  await room.payments.jobs.expire()
  await room.payments.jobs.poll()
  const [order] = await ordersOf(book)
  assert.ok(order)
  const queue = await room.payments.reviewQueue()
  return { book, order, review: queue.find((one) => one.order === order.id) }
}

test('a top-up without an end is told after 25 hours, and paid late it counts', async () => {
  const { room } = at
  const told = await lettersAbout('top-up-unresolved')
  const { book, order, review } = await unresolved()
  assert.deepEqual([review?.reason, review?.hasMoney], ['top_up_unresolved', false])
  assert.equal(await lettersAbout('top-up-unresolved'), told + 1)
  await run()
  await turnClock(room.db, '40 hours')
  await room.payments.jobs.poll()
  await run()
  assert.deepEqual(await states(book), ['expired'], 'nothing else is bought meanwhile')
  assert.equal(await lettersAbout('top-up-unresolved'), told + 1, 'told once')

  await room.sim('pay', { orderId: order.id })
  await turnClock(room.db, '50 hours')
  await room.payments.jobs.poll()
  await run()
  await turnClock(room.db, '0')
  assert.deepEqual(await states(book), ['credited'])
  const open = await room.payments.reviewQueue()
  assert.equal(
    open.some(({ id }) => id === review?.id),
    false,
  )
})

test('an unresolved top-up that is canceled in the end makes way for the next', async () => {
  const { room } = at
  const { book, order, review } = await unresolved()
  const declined = await lettersAbout('top-up-declined')
  await room.sim('expire', { orderId: order.id })
  await turnClock(room.db, '33 hours')
  await room.payments.jobs.poll()
  const open = await room.payments.reviewQueue()
  assert.equal(
    open.some(({ id }) => id === review?.id),
    false,
  )
  assert.equal(await lettersAbout('top-up-declined'), declined)
  await run()
  await run()
  await turnClock(room.db, '0')
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('an unresolved top-up is dismissed only when it is over at the provider', async () => {
  const { room } = at
  const { book, order, review } = await unresolved()
  assert.ok(review)
  const dismiss = () =>
    room.payments.resolveReview({ id: review.id, decision: 'dismiss', by: 'olga', note: 'asked' })
  await assert.rejects(dismiss(), { code: 'order_state_wrong' })
  await run()
  assert.deepEqual(await states(book), ['expired'])
  await room.sim('expire', { orderId: order.id })
  await dismiss()
  await run()
  await turnClock(room.db, '0')
  assert.deepEqual(await states(book), ['credited', 'canceled'])
})

test('a top-up that nobody looked at any more is looked at again', async () => {
  const { room } = at
  const { book } = await unresolved()
  await room.db.query('update orders set next_at = null where book_id = $1', [book])
  await run()
  const { rows } = await room.db.query(
    'select from orders where book_id = $1 and next_at <= ledger_now()',
    [book],
  )
  await turnClock(room.db, '0')
  assert.equal(rows.length, 1)
})

test('nothing is bought for a book that is stopped', async () => {
  const { room } = at
  const { book } = await owner()
  await agree(book)
  await room.ledger.block(room.db, book, 'owner_suspended')
  await run()
  assert.deepEqual(await states(book), [])
  await room.ledger.resume(room.db, book, 'owner_suspended')
  await run()
  assert.deepEqual(await states(book), ['credited'])
})

test('a word that could not be kept is refused', async () => {
  const { book } = await owner()
  const wrong = [
    { threshold: 35_000_000n },
    { ceilingKopecks: kopecks(pack.priceKopecks - 1n) },
  ] as const
  for (const changes of wrong) {
    await assert.rejects(agree(book, changes), { code: 'top_up_refused' })
  }
  const closed = at.room.open({ hasTopUps: false })
  assert.equal(closed.topUps.isOffered, false)
  const { priceKopecks } = pack
  const ask = { book, packId: pack.id, threshold, ceilingKopecks, address: '' }
  const word = {
    ...ask,
    priceKopecks,
    credits: pack.credits,
    version: closed.topUps.consentVersion,
  }
  await assert.rejects(closed.topUps.turnOn(word), { code: 'top_up_refused' })
  assert.equal(await closed.jobs.topUp(), 0)
})

test('every agreement stays as it was given, with its version, time and address', async () => {
  const { room } = at
  const { book } = await owner()
  await agree(book)
  await agree(book, { threshold: 2_000_000n })
  const { topUpConsents } = await room.payments.copy(book)
  assert.equal(topUpConsents.length, 2)
  const [last] = topUpConsents as { version: string; address: string; givenAt: Date }[]
  assert.deepEqual(
    [last?.version, last?.address],
    [room.payments.topUps.consentVersion, '203.0.113.7'],
  )
  await assert.rejects(room.db.query(`update top_up_consents set address = 'x'`), /append-only/)
})

test('every letter of top-ups says its sums in both languages', () => {
  const facts = {
    title: '•••• 4444',
    price: pack.priceKopecks,
    credits: pack.credits,
    threshold,
    ceiling: ceilingKopecks,
    spent: ceilingKopecks,
  }
  const notices = stopsTold.flatMap((why) =>
    topUpKinds.map((kind) => ({ kind, facts: { ...facts, why } }) as TopUpNotice),
  )
  for (const notice of notices) {
    for (const locale of ['ru', 'en'] as const) {
      const { subject, text, html } = topUpLetter(notice, { email: 'a@b.ru', locale }, brand, '1')
      assert.ok(subject.length <= 78, subject)
      assert.match(text, /https:\/\/cabinet\.example\.org\/limits/)
      assert.doesNotMatch(subject + text + html, /undefined|null|NaN|\[object/)
      assert.equal(/[а-я]/i.test(text), locale === 'ru')
    }
  }
})
