// Owners who buy and refund in a circle: after five refunds in thirty days a person decides.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())
beforeEach(() => turnClock(at.room.db, '0'))

async function bought(book: BookId, email = `owner.${book}@example.org`): Promise<OrderId> {
  const order = await at.room.buy(book, { email })
  await at.room.sim('pay', { orderId: order.id })
  await at.room.payments.check(order.id)
  return order.id
}

const request = (order: OrderId, book: BookId | undefined, attempt = 'once') =>
  at.room.payments.requestRefund({
    ...{ order, attempt, by: 'owner', reason: 'asked' },
    ...(book !== undefined && { book }),
  })

const needsSupport = (error: unknown) => isRefusal(error, 'refund_needs_support')

test('the sixth refund of an account in thirty days needs a person', async () => {
  const book = await at.room.newBook()
  for (let i = 0; i < 5; i++) await request(await bought(book), book)
  const order = await bought(book)
  assert.equal((await at.room.payments.refundable(order, book)).why, 'budget')
  await assert.rejects(request(order, book), (error: Refusal) => {
    assert.match(error.message, /5 refunds in 30 days.*[Ss]upport/)
    return needsSupport(error)
  })
  assert.equal((await at.room.payments.refundable(order)).why, null, 'an operator may')
  await turnClock(at.room.db, '31 days')
  assert.equal((await at.room.payments.refundable(order, book)).why, null)
  assert.equal((await request(order, book)).state, 'succeeded')
})

test('the budget belongs to the address: another account of its mailbox shares it', async () => {
  const [one, two] = [await at.room.newBook(), await at.room.newBook()]
  for (let i = 0; i < 5; i++) await request(await bought(one, 'cycle@gmail.com'), one)
  const order = await bought(two, 'cy.cle+2@gmail.com')
  await assert.rejects(request(order, two), needsSupport)
})

test('a repeated attempt, an operator’s refund and a canceled one cost no budget', async () => {
  const book = await at.room.newBook()
  const first = await bought(book)
  for (let i = 0; i < 6; i++) await request(first, book)
  for (let i = 0; i < 6; i++) await request(await bought(book), undefined)
  await at.room.db.query(`update refunds set state = 'canceled' where order_id = $1`, [first])
  for (let i = 0; i < 5; i++) await request(await bought(book), book)
  await assert.rejects(request(await bought(book), book), needsSupport)
})

test('refunds at the same moment do not exceed the budget', async () => {
  const book = await at.room.newBook()
  const orders: OrderId[] = []
  for (let i = 0; i < 8; i++) orders.push(await bought(book))
  const told = await Promise.allSettled(orders.map((order) => request(order, book)))
  assert.equal(told.filter(({ status }) => status === 'fulfilled').length, 5)
  for (const one of told) if (one.status === 'rejected') assert.ok(needsSupport(one.reason))
})

test('erasing an account removes its digest from its refunds', async () => {
  const book = await at.room.newBook()
  await request(await bought(book), book)
  await at.room.db.transaction((tx) => at.room.payments.erase(tx, book))
  const { rows } = await at.room.db.query(
    `select from refunds r join orders o on o.id = r.order_id
     where o.book_id = $1 and r.owner_digest is not null`,
    [book],
  )
  assert.deepEqual(rows, [])
})
