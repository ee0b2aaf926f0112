// When a top-up order may be sent, and what happens to it when it may not be sent any more. A card
// is charged once per crossing and only under the mandate in force. When that ends, an order that
// was never sent is canceled, and one that may have reached the bank stays open until its outcome
// is known.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'
import type { Provider } from '../port.ts'

const small = { ...pack, id: 'small', credits: credits(5_000_000), priceKopecks: kopecks(20_000) }
const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({
    payments: { hasTopUps: true, packOf: (id) => [pack, small].find((one) => one.id === id) },
  })
})
after(async () => {
  assert.deepEqual(await at.room.ledger.audit('all'), [], 'the books tie out in the end')
  await at.room.end()
})
beforeEach(async () => {
  await at.room.sim('faults', {}, 'DELETE')
  await turnClock(at.room.db, '0')
})

async function agree(book: BookId, sold = pack): Promise<void> {
  const { topUps } = at.room.payments
  await topUps.turnOn({
    ...{ book, packId: sold.id, version: topUps.consentVersion, address: '203.0.113.7' },
    ...{ priceKopecks: sold.priceKopecks, credits: sold.credits },
    threshold: credits(1_000_000),
    // One pack a month: a second charge is above the ceiling.
    dayCeilingKopecks: sold.priceKopecks,
    monthCeilingKopecks: sold.priceKopecks,
  })
}

/** A purchase that saves the card. */
async function keepCard(book: BookId): Promise<OrderId> {
  const { id } = await at.room.buy(book, { savesMethod: true })
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  return id
}

/** An owner who agreed, with 500,000 credits left of the first pack: below the threshold. */
async function owner(): Promise<BookId> {
  const book = await at.room.newBook()
  await keepCard(book)
  await at.room.spend(book, 34_500_000)
  await agree(book)
  return book
}

async function topUpsOf(book: BookId) {
  const orders = await at.room.payments.orders({ book, before: null, limit: 100 })
  return orders.filter(({ isTopUp }) => isTopUp)
}
const states = async (book: BookId) => (await topUpsOf(book)).map(({ state }) => state)
const run = () => at.room.payments.jobs.topUp()
const forget = (book: BookId) =>
  at.room.db.transaction((tx) => at.room.payments.topUps.forget(tx, book))

async function recoverAfter(span: string): Promise<void> {
  await turnClock(at.room.db, span)
  await at.room.payments.jobs.recover()
}

/** How often the bank charged for a book's top-ups, and how often it was asked to. */
async function chargesOf(book: BookId): Promise<{ paid: number; posts: number }> {
  let [paid, posts] = [0, 0]
  for (const { id } of await topUpsOf(book)) {
    const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
    const { calls } = await at.room.sim(`calls?orderId=${id}&method=POST&last=1000`, {}, 'GET')
    paid += (payments as object[]).length
    posts += (calls as object[]).length
  }
  return { paid, posts }
}

type Fault = 'charged' | 'not_charged' | 'never_sent'
/** A top-up without an answer: the bank charged the card, did not, or was not called. */
async function unanswered(book: BookId, fault: Fault): Promise<void> {
  const { room } = at
  if (fault === 'never_sent') {
    const throttled: Provider['createPayment'] = async () => ({ kind: 'throttled', afterMs: 1_000 })
    await room.open({ providers: [{ ...room.provider, createPayment: throttled }] }).jobs.topUp()
  } else {
    const when =
      fault === 'charged' ? { kind: 'reset', when: 'after' } : { kind: 'error', when: 'before' }
    await room.sim('faults', { ...when, method: 'POST', path: '/payments' })
    await run()
  }
  assert.deepEqual(await states(book), ['created'])
}

test('top-ups switched off and on during an unknown outcome charge a crossing once', async () => {
  const book = await owner()
  await unanswered(book, 'charged')
  await at.room.payments.topUps.turnOff(book)
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['created'], 'the unknown one keeps the next from coming')
  const { monthSpent } = await at.room.payments.topUps.read(book)
  assert.equal(monthSpent, pack.priceKopecks, 'and counts in the month')
  await recoverAfter('2 minutes')
  await run()
  assert.deepEqual(await states(book), ['credited'])
  assert.deepEqual(await chargesOf(book), { paid: 1, posts: 1 })
})

test('a charge whose card was deleted is found at the bank and credited', async () => {
  const book = await owner()
  await unanswered(book, 'charged')
  await forget(book)
  assert.deepEqual(await states(book), ['created'])
  // An unreadable payment of another customer does not hide this one.
  const { id: bad } = await at.room.buy(await at.room.newBook())
  await at.room.sim('alter', { orderId: bad, members: { created_at: 'soon' } })
  await recoverAfter('2 minutes')
  await at.room.sim('alter', { orderId: bad, members: { created_at: new Date().toISOString() } })
  assert.deepEqual(await states(book), ['credited'])
  assert.deepEqual(await chargesOf(book), { paid: 1, posts: 1 })
})

test('an order of unknown outcome is canceled if the bank lacks it after an hour', async () => {
  const book = await owner()
  await unanswered(book, 'not_charged')
  await at.room.payments.topUps.turnOff(book)
  await recoverAfter('50 minutes')
  assert.deepEqual(await states(book), ['created'])
  await recoverAfter('3 hours')
  assert.deepEqual(await states(book), ['canceled'])
  assert.deepEqual(await chargesOf(book), { paid: 0, posts: 1 })
  await agree(book)
  await run()
  assert.deepEqual(await states(book), ['credited', 'canceled'], 'the next one may come')
})

test('an order that may have been paid stays open while the bank does not answer', async () => {
  const book = await owner()
  await unanswered(book, 'charged')
  await forget(book)
  await at.room.sim('faults', { kind: 'error', when: 'before', method: 'GET', path: '/payments' })
  await recoverAfter('30 hours')
  assert.deepEqual(await states(book), ['created'])
  await recoverAfter('31 hours')
  assert.deepEqual(await states(book), ['credited'])
})

/** A worker whose post waits in the limiter until the test releases it. */
function slowWorker() {
  const { room } = at
  const turn = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const createPayment: Provider['createPayment'] = async (...args) => {
    reached.resolve()
    await turn.promise
    return room.provider.createPayment(...args)
  }
  const worker = room.open({ providers: [{ ...room.provider, createPayment }] })
  const done = worker.jobs.topUp()
  return {
    reached: reached.promise,
    async go() {
      turn.resolve()
      await done
    },
  }
}

test('a card deleted while its charge waits in the limiter is not charged', async () => {
  const book = await owner()
  const { reached, go } = slowWorker()
  await reached
  await forget(book)
  await go()
  assert.deepEqual(await states(book), ['canceled'])
  assert.deepEqual(await chargesOf(book), { paid: 0, posts: 0 })
})

test('an order that was never sent is canceled together with its mandate', async () => {
  const book = await owner()
  await unanswered(book, 'never_sent')
  await at.room.payments.topUps.turnOff(book)
  assert.deepEqual(await states(book), ['canceled'])
})

test('a canceled order whose post still waits does not cancel the next order', async () => {
  const book = await owner()
  const { reached, go } = slowWorker()
  await reached
  await at.room.payments.topUps.turnOff(book)
  await agree(book)
  await at.room.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  await run()
  assert.deepEqual(await states(book), ['created', 'canceled'])
  await go()
  assert.deepEqual(await states(book), ['created', 'canceled'])
  await recoverAfter('2 minutes')
  assert.deepEqual(await states(book), ['credited', 'canceled'])
  assert.equal((await chargesOf(book)).paid, 1)
})

const changes: Record<string, (book: BookId) => Promise<void>> = {
  'with another pack': (book) => agree(book, small),
  async 'with another card'(book) {
    await keepCard(book)
    await at.room.spend(book, 34_900_000)
    await agree(book)
  },
  async 'with another card, if an earlier version created the order'(book) {
    await at.room.db.query('update orders set consent_id = null where book_id = $1', [book])
    await forget(book)
    await keepCard(book)
    await at.room.spend(book, 34_900_000)
    await agree(book)
  },
}

for (const [how, change] of Object.entries(changes)) {
  for (const fault of ['never_sent', 'not_charged'] as const) {
    test(`an order (${fault}) is not sent under a new mandate ${how}`, async () => {
      const book = await owner()
      await unanswered(book, fault)
      const { posts } = await chargesOf(book)
      await change(book)
      await recoverAfter('2 hours')
      // An earlier version stored no time of sending: the hour starts at the first check.
      await recoverAfter('4 hours')
      assert.deepEqual(await states(book), ['canceled'])
      assert.deepEqual(await chargesOf(book), { paid: 0, posts })
      await run()
      assert.deepEqual(await states(book), ['credited', 'canceled'], 'by the new mandate')
    })
  }
}

test('an unsent order does not charge a card that was replaced', async () => {
  const book = await owner()
  await unanswered(book, 'never_sent')
  await keepCard(book)
  await recoverAfter('2 hours')
  assert.deepEqual(await states(book), ['canceled'])
  assert.deepEqual(await chargesOf(book), { paid: 0, posts: 0 })
})

const unwanted: Record<string, (book: BookId) => Promise<unknown>> = {
  async 'its owner bought a pack'(book) {
    const { id } = await at.room.buy(book)
    await at.room.sim('pay', { orderId: id })
    await at.room.payments.check(id)
  },
  'the book is stopped': (book) =>
    at.room.db.transaction((tx) => at.room.ledger.block(tx, book, 'operator_blocked')),
}

for (const [why, act] of Object.entries(unwanted)) {
  for (const fault of ['never_sent', 'not_charged'] as const) {
    test(`an order (${fault}) is not sent late when ${why} meanwhile`, async () => {
      const book = await owner()
      await unanswered(book, fault)
      const { posts } = await chargesOf(book)
      await act(book)
      await recoverAfter('2 hours')
      assert.deepEqual(await states(book), ['canceled'])
      assert.deepEqual(await chargesOf(book), { paid: 0, posts })
      assert.equal((await at.room.payments.topUps.read(book)).mandate?.endedAt, null)
    })
  }
}
