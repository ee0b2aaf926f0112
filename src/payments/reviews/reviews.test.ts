// Reviews and the operator's decisions: each once, and based on the provider's current data.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import type { OrderId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

const refused = (code: string) => (error: unknown) => isRefusal(error, code)
const by = { by: 'anna', note: 'looked at it' }

/** An order that was paid with another amount. */
async function inReview(value = '1299.00') {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('alter', { orderId: id, value })
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  const review = (await at.room.payments.reviewQueue()).find((one) => one.order === id)
  assert.ok(review !== undefined)
  return { book, id, review }
}

const stateOf = async (id: OrderId) => {
  const { rows } = await at.room.db.query('select state from orders where id = $1', [id])
  return (rows[0] as { state: string }).state
}
const isWaiting = async (id: OrderId) =>
  (await at.room.payments.reviewQueue()).some((one) => one.order === id)

test('credits the pack as it was sold, once', async () => {
  const { book, id, review } = await inReview()
  assert.deepEqual([review.reason, review.amount, review.hasMoney], ['amount', 129_900n, true])
  const decide = () => at.room.payments.resolveReview({ id: review.id, decision: 'credit', ...by })
  const ends = await Promise.allSettled([decide(), decide(), decide()])
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(await stateOf(id), 'credited')
  assert.equal((await at.room.ledger.balance(book))?.available, pack.credits)
  await at.room.payments.jobs.sweep()
  assert.equal(await isWaiting(id), false, 'the sweep does not open it again')
})

test('refunds all of the money and credits nothing', async () => {
  const { book, id, review } = await inReview('1300.01')
  await at.room.sim('alter', { orderId: id, isUndone: true })
  await at.room.payments.resolveReview({ id: review.id, decision: 'refund', ...by })
  assert.equal(await stateOf(id), 'refunded')
  assert.equal((await at.room.ledger.balance(book))?.available, 0n)
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  const [payment] = payments as [{ refunded_amount: { value: string } }]
  assert.equal(payment.refunded_amount.value, '1300.00')
})

test('cancels the order of a dismissed review for good', async () => {
  const { id, review } = await inReview()
  await at.room.payments.resolveReview({ id: review.id, decision: 'dismiss', ...by })
  assert.equal(await stateOf(id), 'canceled')
  await at.room.payments.jobs.sweep()
  assert.equal(await stateOf(id), 'canceled')
  assert.equal(await isWaiting(id), false)
})

test('does not credit a payment that was refunded meanwhile', async () => {
  const { id, review } = await inReview()
  await at.room.sim('alter', { orderId: id, isUndone: true })
  await at.room.sim('refund', { orderId: id, value: '1.00' })
  await assert.rejects(
    at.room.payments.resolveReview({ id: review.id, decision: 'credit', ...by }),
    refused('order_state_wrong'),
  )
})

test('a matching payment of an order in review waits and cannot be dismissed', async () => {
  const { book, id, review } = await inReview()
  await at.room.sim('alter', { orderId: id, isUndone: true })
  await at.room.payments.jobs.sweep()
  assert.equal((await at.room.ledger.balance(book))?.available, 0n)
  const second = (await at.room.payments.reviewQueue()).find(
    (one) => one.order === id && one.reason === 'paid_in_review',
  )
  assert.ok(second !== undefined)
  await assert.rejects(
    at.room.payments.resolveReview({ id: second.id, decision: 'dismiss', ...by }),
    refused('order_state_wrong'),
  )
  await at.room.payments.resolveReview({ id: review.id, decision: 'credit', ...by })
  assert.equal(await isWaiting(id), false, 'one credit answers every question about it')
})

test('refuses a decision about an unknown review', async () => {
  await assert.rejects(
    at.room.payments.resolveReview({ id: 999_999n, decision: 'credit', ...by }),
    refused('order_state_wrong'),
  )
})
