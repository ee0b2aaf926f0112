// Disputes as an operator enters them: what is reserved while one is open, what is released when it
// is won, and what is taken when it is lost.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { newOrderId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

const refused = (code: string) => (error: unknown) => isRefusal(error, code)
const by = { by: 'anna', note: 'letter of the bank' }

async function bought(spent = 0) {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  if (spent > 0) await at.room.spend(book, spent)
  return { book, id }
}

const sumsOf = async (book: BookId) => {
  const found = await at.room.ledger.balance(book)
  return [found?.available, found?.debt]
}
const stateOf = async (id: OrderId, book: BookId) => (await at.room.payments.order(id, book)).state

test('an open dispute reserves the unspent part, and releases it when won', async () => {
  const { book, id } = await bought(5_000_000)
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  assert.equal(await stateOf(id, book), 'disputed')
  assert.deepEqual(await sumsOf(book), [0n, 0n])
  assert.equal((await at.room.payments.refundable(id, book)).why, 'disputed')
  await at.room.payments.dispute({ order: id, act: 'won', ...by })
  assert.equal(await stateOf(id, book), 'dispute_won')
  assert.deepEqual(await sumsOf(book), [credits(30_000_000), 0n])
  assert.equal((await at.room.payments.refundable(id, book)).why, null, 'refundable again')
})

test('a lost dispute takes the whole pack: what was spent becomes debt', async () => {
  const { book, id } = await bought(5_000_000)
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  await at.room.payments.dispute({ order: id, act: 'lost', ...by })
  assert.equal(await stateOf(id, book), 'dispute_lost')
  assert.deepEqual(await sumsOf(book), [0n, credits(5_000_000)])
  assert.deepEqual(await at.room.ledger.audit('all'), [])
  const kinds = await at.room.letters()
  for (const kind of ['dispute-opened', 'dispute-lost']) assert.ok(kinds.includes(kind))
})

test('a dispute about a part of the price reserves and takes that part', async () => {
  const { book, id } = await bought()
  const amountKopecks = kopecks(65_000)
  await at.room.payments.dispute({ order: id, act: 'open', amountKopecks, ...by })
  assert.deepEqual(await sumsOf(book), [(pack.credits as bigint) / 2n, 0n])
  await at.room.payments.dispute({ order: id, act: 'lost', ...by })
  assert.deepEqual(await sumsOf(book), [(pack.credits as bigint) / 2n, 0n])
})

test('a lost dispute that the provider also reports as a refund is taken once', async () => {
  const { book, id } = await bought(5_000_000)
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  await at.room.payments.dispute({ order: id, act: 'lost', ...by })
  await at.room.sim('refund', { orderId: id })
  await at.room.payments.jobs.sweepRefunds()
  assert.deepEqual(await sumsOf(book), [0n, credits(5_000_000)])
  assert.equal(await stateOf(id, book), 'dispute_lost')
})

test('a dispute whose payment was refunded meanwhile can only be lost', async () => {
  const { book, id } = await bought(5_000_000)
  await at.room.payments.dispute({ order: id, act: 'open', ...by })
  await at.room.sim('refund', { orderId: id })
  await at.room.payments.jobs.sweepRefunds()
  await assert.rejects(
    at.room.payments.dispute({ order: id, act: 'won', ...by }),
    refused('order_state_wrong'),
  )
  await at.room.payments.dispute({ order: id, act: 'lost', ...by })
  assert.deepEqual(await sumsOf(book), [0n, credits(5_000_000)])
  assert.deepEqual(await at.room.ledger.audit('all'), [])
})

test('a dispute can suspend the account', async () => {
  const { book, id } = await bought()
  await at.room.payments.dispute({ order: id, act: 'open', mustBlock: true, ...by })
  assert.equal((await at.room.ledger.balance(book))?.blockedReason, 'operator_blocked')
})

test('refuses disputes that the order’s state does not allow', async () => {
  const { payments } = at.room
  const { id } = await bought()
  const order = id
  await assert.rejects(payments.dispute({ order, act: 'won', ...by }), refused('order_state_wrong'))
  const amountKopecks = kopecks(130_001)
  await assert.rejects(
    payments.dispute({ order, act: 'open', amountKopecks, ...by }),
    refused('order_state_wrong'),
  )
  await payments.dispute({ order, act: 'open', ...by })
  await assert.rejects(
    payments.dispute({ order, act: 'open', ...by }),
    refused('order_state_wrong'),
  )
  const unpaid = await at.room.buy(await at.room.newBook())
  await assert.rejects(
    payments.dispute({ order: unpaid.id, act: 'open', ...by }),
    refused('order_state_wrong'),
  )
  const nobody = newOrderId(0, Date.now())
  await assert.rejects(
    payments.dispute({ order: nobody, act: 'open', ...by }),
    refused('order_unknown'),
  )
})
