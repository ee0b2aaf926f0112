// When an order of a top-up may be sent, and what becomes of one that may not be any more. A card
// is charged once per crossing and only by the agreement in force: an order that was never sent is
// canceled, and one that may have reached the bank stays open until the bank has told its end.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { turnClock } from '../../test/harness.ts'
import { createTestPayments, pack, type TestPayments } from '../../test/payments.ts'
import type { BookId, OrderId } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import type { Provider } from './port.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({
    payments: { hasTopUps: true },
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
    threshold: credits(1_000_000),
    // One pack a month: a second charge is above the ceiling.
    ceilingKopecks: sold.priceKopecks,
  })
}

/** A purchase that leaves a card. */
async function keepCard(book: BookId): Promise<OrderId> {
  const { id } = await at.room.buy(book, { savesMethod: true })
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  return id
}

/** An owner who agreed, and whose first pack is spent but for 500,000 credits. */
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
const forget = (book: BookId) =>
  at.room.db.transaction((tx) => at.room.payments.topUps.forget(tx, book))

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

/** A worker whose post waits for its turn until it is let go. */
function slowWorker() {
  const { room } = at
  const turn = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const createPayment: Provider['createPayment'] = async (...ask) => {
    reached.resolve()
    await turn.promise
    return room.provider.createPayment(...ask)
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

test('a card that is forgotten while its charge waits for its turn is not charged', async () => {
  const book = await owner()
  const { reached, go } = slowWorker()
  await reached
  await forget(book)
  await go()
  assert.deepEqual(await states(book), ['canceled'])
  assert.deepEqual(await chargesOf(book), { paid: 0, posts: 0 })
})
