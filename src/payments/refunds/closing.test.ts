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
/** The closing began after every order of these tests was paid. */
const gone = { step: 'closed', unspent: 'forfeit', begunAt: new Date('2100-01-01') } as const
before(async () => {
  const endingOf = async (book: BookId) => (closed.has(book) ? gone : undefined)
  at.room = await createTestPayments({ payments: { hasTopUps: true, endingOf } })
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

const reviewOf = async (id: OrderId) =>
  (await at.room.payments.reviewQueue()).find(({ order }) => order === id)

test('after five refusals a person decides, and meanwhile nothing is in the book', async () => {
  const { book, id } = await bought()
  closed.add(book)
  await refuseRefunds(id)
  assert.equal((await refundsOf(book)).length, 6)
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  const review = await reviewOf(id)
  assert.match(`${review?.reason}`, /^closing rfd_/)
  assert.deepEqual([review?.hasMoney, review?.amount], [true, 130_000n])
})

test('the decision to refund sends the money, and a second one is refused', async () => {
  const { book, id } = await bought()
  closed.add(book)
  await refuseRefunds(id)
  const review = (await reviewOf(id))?.id as bigint
  const decide = { id: review, decision: 'refund', by: 'anna', note: 'takes it now' } as const
  await at.room.payments.resolveReview(decide)
  assert.deepEqual([await sumsOf(book), await returned(id)], [[0n, 0n], '1300.00'])
  await assert.rejects(at.room.payments.resolveReview(decide), { code: 'order_state_wrong' })
})

test('the decision against it forfeits the credits of a closed account', async () => {
  const { book, id } = await bought()
  closed.add(book)
  await refuseRefunds(id)
  const review = (await reviewOf(id))?.id as bigint
  const note = 'paid by hand'
  await at.room.payments.resolveReview({ id: review, decision: 'dismiss', by: 'anna', note })
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.equal(await stateOf(id, book), 'credited')
  const last = (await at.room.entries(book)).at(-1)
  assert.deepEqual([last?.kind, last?.amount], ['adjust', -pack.credits])
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

test('money of a won dispute goes back when it was paid after the closing began', async () => {
  const { book, id } = await bought()
  const by = { by: 'anna', note: 'letter of the bank' }
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  const late = { ...gone, begunAt: new Date(0) }
  const endingOf = async (one: BookId) => (one === book ? late : undefined)
  await at.room.open({ endingOf }).dispute({ order: id, act: 'won', ...by })
  await pollRefundsAfter('2 minutes')
  assert.deepEqual([await sumsOf(book), await returned(id)], [[0n, 0n], '1300.00'])
})

test('money of a dispute that is won goes back when its owner chose the refund', async () => {
  const { book, id } = await bought()
  const by = { by: 'anna', note: 'letter of the bank' }
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  const chosen = async (one: BookId) => (one === book ? { ...gone, unspent: 'refund' } : undefined)
  const worker = at.room.open({ endingOf: chosen as () => Promise<typeof gone> })
  await worker.dispute({ order: id, act: 'won', ...by })
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  await pollRefundsAfter('2 minutes')
  assert.equal(await returned(id), '1300.00')
})
