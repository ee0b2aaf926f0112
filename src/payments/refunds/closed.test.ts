// Money and credits that come for a closed account: nothing stays in its book. Late money goes
// back, a refund that the bank cancels is requested again, and other credits are forfeited.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'

const at = { room: undefined as unknown as TestPayments }
const closed = new Set<BookId>()
before(async () => {
  const isClosed = async (book: BookId) => closed.has(book)
  at.room = await createTestPayments({ payments: { hasTopUps: true, isClosed } })
})
after(async () => {
  assert.deepEqual(await at.room.ledger.audit('all'), [], 'the books tie out in the end')
  await at.room.end()
})
beforeEach(async () => {
  await at.room.sim('faults', {}, 'DELETE')
  await at.room.sim('hold-refunds', { isHeld: false })
  await turnClock(at.room.db, '0')
})

const sumsOf = async (book: BookId) => {
  const found = await at.room.ledger.balance(book)
  return [found?.available, found?.debt]
}
const stateOf = async (id: OrderId, book: BookId) => (await at.room.payments.order(id, book)).state
const refundsOf = async (book: BookId) =>
  (await at.room.payments.refunds(book)).map(({ state, amount }) => [state, amount])

/** What the bank has returned of an order, in kopecks. */
async function returned(id: OrderId): Promise<string | undefined> {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as { refunded_amount?: { value: string } }[])[0]?.refunded_amount?.value
}

async function bought() {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  return { book, id }
}

async function pollRefundsAfter(span: string): Promise<void> {
  await turnClock(at.room.db, span)
  await at.room.payments.jobs.pollRefunds()
}

test('money that is paid after the account was closed goes back', async () => {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book, { savesMethod: true })
  closed.add(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.jobs.sweep()
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.equal(await stateOf(id, book), 'refund_pending')
  await pollRefundsAfter('2 minutes')
  assert.equal(await stateOf(id, book), 'refunded')
  assert.equal(await returned(id), '1300.00')
  const kinds = (await at.room.entries(book)).map(({ kind, amount }) => [kind, amount])
  assert.deepEqual(kinds, [
    ['purchase', pack.credits],
    ['refund', -pack.credits],
  ])
})

test('late money of a closed account pays its debt, and only the rest goes back', async () => {
  const { book, id: first } = await bought()
  await at.room.spend(book, 35_000_000)
  const { id } = await at.room.buy(book)
  closed.add(book)
  await at.room.sim('refund', { orderId: first, value: '650.00' })
  await at.room.payments.jobs.sweepRefunds()
  assert.deepEqual(await sumsOf(book), [0n, credits(17_500_000)])
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.jobs.sweep()
  await pollRefundsAfter('2 minutes')
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.equal(await returned(id), '650.00')
})

test('late money that the merchant portal has returned already is not returned again', async () => {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  closed.add(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.sim('refund', { orderId: id, value: '300.00' })
  await at.room.payments.jobs.sweep()
  await pollRefundsAfter('2 minutes')
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.deepEqual([await returned(id), await stateOf(id, book)], ['1300.00', 'refunded'])
})

test('a refund that the bank cancels after the closing is requested again', async () => {
  const { book, id } = await bought()
  await at.room.sim('hold-refunds', { orderId: id })
  const asked = { book, by: 'owner', reason: 'The owner closed the account.' }
  const refund = await at.room.payments.requestRefund({ order: id, attempt: 'closing-0', ...asked })
  closed.add(book)
  await at.room.sim('cancel-refund', { refundId: refund.refundId })
  await pollRefundsAfter('2 minutes')
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.equal(await stateOf(id, book), 'refund_pending')
  await at.room.sim('hold-refunds', { orderId: id, isHeld: false })
  await pollRefundsAfter('13 hours')
  assert.deepEqual(await refundsOf(book), [
    ['succeeded', 130_000n],
    ['canceled', 130_000n],
  ])
  assert.equal(await returned(id), '1300.00')
})

/** The bank refuses every refund of the order until an operator has to decide. */
async function refuseRefunds(id: OrderId): Promise<void> {
  await at.room.sim('faults', { kind: 'html', when: 'before', method: 'POST', path: '/refunds' })
  const asked = { order: id, by: 'owner', reason: '' }
  await at.room.payments.requestRefund({ ...asked, attempt: 'closing-0' })
  const refuse: TestPayments['provider']['createRefund'] = async () => ({
    ...{ kind: 'rejected', why: '400 invalid_request', isOurFault: false },
  })
  const worker = at.room.open({ providers: [{ ...at.room.provider, createRefund: refuse }] })
  for (let tries = 1; tries <= 6; tries++) {
    await turnClock(at.room.db, `${tries * 13} hours`)
    await worker.jobs.pollRefunds()
  }
  await at.room.sim('faults', {}, 'DELETE')
}

test('after five refusals an operator decides, and the credits stay for a refund', async () => {
  const { book, id } = await bought()
  closed.add(book)
  await refuseRefunds(id)
  assert.equal((await refundsOf(book)).length, 5)
  assert.deepEqual(await sumsOf(book), [pack.credits, 0n])
  const review = (await at.room.payments.reviewQueue()).find(({ order }) => order === id)
  assert.deepEqual([review?.reason, review?.hasMoney], ['refund_refused', true])
})

test('credits of a dispute that is won after the closing are forfeited', async () => {
  const { book, id } = await bought()
  const by = { by: 'anna', note: 'letter of the bank' }
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  closed.add(book)
  await at.room.payments.dispute({ order: id, act: 'won', ...by })
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  const last = (await at.room.entries(book)).at(-1)
  assert.deepEqual([last?.kind, last?.contra, last?.amount], ['adjust', 'revenue', -pack.credits])
})

test('credits that wait for an operator’s refund are not forfeited with others', async () => {
  const { book, id } = await bought()
  const { id: other } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: other })
  await at.room.payments.check(other)
  const by = { by: 'anna', note: 'letter of the bank' }
  await at.room.payments.dispute({ order: other, act: 'open', ...by })
  closed.add(book)
  await refuseRefunds(id)
  await at.room.payments.dispute({ order: other, act: 'won', ...by })
  assert.deepEqual(await sumsOf(book), [pack.credits, 0n])
  const asked = { order: id, attempt: 'by hand', by: 'anna', reason: 'the bank takes it now' }
  assert.equal((await at.room.payments.requestRefund(asked)).amount, 130_000n)
  assert.deepEqual([await sumsOf(book), await returned(id)], [[0n, 0n], '1300.00'])
})
