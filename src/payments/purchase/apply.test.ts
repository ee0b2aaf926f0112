// Snapshots applied to a real PostgreSQL and a real ledger, by any trigger, in any order and
// repeatedly: an order is credited once, and never for a payment that differs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  brand,
  createTestPayments,
  pack,
  type TestPayments,
} from '../../../test/stages/payments.ts'
import { quiet, turnClock } from '../../../test/support/harness.ts'
import { systemClock } from '../../platform/clock.ts'
import type { OrderId } from '../../platform/ids.ts'
import { newOrderId } from '../../platform/ids.ts'
import { Masked } from '../../platform/masked.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'
import { createDigests } from '../digests.ts'
import { createTopUpEndings } from '../mandates/endings.ts'
import type { OrderView } from '../payments.ts'
import type { Snapshot } from '../port.ts'
import { createProviders } from '../providers.ts'
import { createClosingRefunds } from '../refunds/closing.ts'
import { createSignals } from '../signals/signals.ts'
import { createFindings } from '../watch/findings.ts'
import { createApply } from './apply.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

/** `applySnapshot` of one process. */
function applier(acceptsTestPayments = true) {
  const { db, ledger, mail, metrics, provider } = at.room
  const providers = createProviders([provider])
  const shared = { db, ledger, mail, brand, metrics, cell: 0, providers, acceptsTestPayments }
  const ownerOf = async () => undefined
  const options = { ...shared, log: quiet, clock: systemClock }
  const topUpEndings = createTopUpEndings({ ...options, ownerOf })
  const findings = createFindings({ db, metrics, log: quiet })
  const digests = createDigests(new Masked('digest secret of the tests, 32 bytes or more'))
  const endings = { endingOf: ownerOf, digests, refundsPerMonth: 5 }
  const closingRefunds = createClosingRefunds({ ...options, ...endings })
  const signals = createSignals({ db, digests })
  return createApply({ ...options, topUpEndings, closingRefunds, findings, signals }).applySnapshot
}

async function paymentOf(order: OrderView): Promise<Snapshot> {
  const { rows } = await at.room.db.query(
    'select provider_payment_id as id from orders where id = $1',
    [order.id],
  )
  return {
    provider: 'yookassa',
    paymentId: (rows[0] as { id: string }).id,
    orderRef: order.id,
    shopRef: at.room.bank.shopId,
    status: 'succeeded',
    amount: pack.priceKopecks,
    amountText: '1300.00',
    currency: 'RUB',
    refunded: kopecks(0),
    createdAt: new Date(),
    capturedAt: new Date(),
    cancelReason: null,
    isTestMoney: true,
    receipt: null,
    confirmation: null,
    savedMethod: null,
    payer: { card: null, bank: null },
  }
}

const purchasesOf = async (order: OrderId) => {
  const { rows } = await at.room.db.query(
    `select p.amount, o.book_id from postings p join orders o on o.id = p.ref
     where p.kind = 'purchase' and p.ref = $1`,
    [order],
  )
  return rows as { amount: bigint }[]
}
const stateOf = async (id: OrderId) => {
  const { rows } = await at.room.db.query('select state from orders where id = $1', [id])
  return (rows[0] as { state: string }).state
}

test('hundreds of concurrent snapshots of fifty orders make fifty entries', async () => {
  const { room } = at
  const books = await Promise.all(Array.from({ length: 50 }, () => room.newBook()))
  const orders = await Promise.all(books.map((book) => room.buy(book)))
  const news = (await Promise.all(orders.map(paymentOf))).flatMap((paid) => [
    ...Array.from({ length: 8 }, () => paid),
    ...Array.from({ length: 2 }, () => ({ ...paid, status: 'pending' as const })),
    { ...paid, status: 'canceled' as const, cancelReason: 'general_decline' },
  ])
  const processes = [applier(), applier()]
  const triggers = ['webhook', 'return', 'sweep', 'poll'] as const
  await Promise.all([
    ...shuffled(news).map((one, i) =>
      processes[i % 2]?.(one, triggers[i % 4] ?? 'sweep').then(() => undefined),
    ),
    room.payments.jobs.expire(),
  ])
  for (const [i, { id }] of orders.entries()) {
    assert.deepEqual(await purchasesOf(id), [{ amount: pack.credits, book_id: books[i] }], id)
    assert.equal(await stateOf(id), 'credited')
    const book = await room.ledger.balance(books[i] as (typeof books)[number])
    assert.equal(book?.available, pack.credits, 'the balance is the sum of its entries')
  }
  const letters = (await room.letters()).filter((kind) => kind === 'payment-credited')
  assert.equal(letters.length, 50, 'one letter each')
  assert.deepEqual(await room.ledger.audit('all'), [])
})

test('matching and differing snapshots at once never make more than one credit', async () => {
  const { room } = at
  const apply = applier()
  for (let round = 0; round < 10; round++) {
    const book = await room.newBook()
    const order = await room.buy(book)
    const paid = await paymentOf(order)
    const wrong = { ...paid, amount: kopecks(1), amountText: '0.01' }
    await Promise.all(shuffled([paid, wrong, paid, wrong, paid]).map((one) => apply(one, 'sweep')))
    const entries = await purchasesOf(order.id)
    const state = await stateOf(order.id)
    assert.equal(entries.length, state === 'credited' ? 1 : 0, state)
    assert.ok(['credited', 'review'].includes(state), state)
  }
})

test('a canceled payment after the credit changes nothing', async () => {
  const order = await at.room.buy(await at.room.newBook())
  const paid = await paymentOf(order)
  await applier()(paid, 'webhook')
  const applied = await applier()({ ...paid, status: 'canceled' }, 'webhook')
  assert.equal(applied.act, 'nothing')
  assert.equal(await stateOf(order.id), 'credited')
})

test('credits a payment that arrives after our own expiry', async () => {
  const { room } = at
  const order = await room.buy(await room.newBook())
  const paid = await paymentOf(order)
  await turnClock(room.db, '71 minutes')
  try {
    assert.ok((await room.payments.jobs.expire()) >= 1)
    assert.equal(await stateOf(order.id), 'expired')
    const view = await room.payments.order(order.id, await bookOf(order.id))
    assert.equal(view.confirmation, null, 'the button is gone')
    await applier()(paid, 'sweep')
  } finally {
    await turnClock(room.db, '0')
  }
  assert.equal(await stateOf(order.id), 'credited')
})

const facts: [string, Partial<Snapshot>][] = [
  ['amount', { amount: kopecks(129_999), amountText: '1299.99' }],
  ['amount_text', { amount: null as Kopecks | null, amountText: '1 300.00' }],
  ['currency', { currency: 'USD' }],
  ['shop', { shopRef: '666' }],
  ['test_flag', { isTestMoney: false }],
  ['payment_id', { paymentId: 'a-second-payment' }],
]
for (const [reason, change] of facts) {
  test(`a payment whose ${reason} differs goes to review and is not credited`, async () => {
    const { room } = at
    const order = await room.buy(await room.newBook())
    const paid = { ...(await paymentOf(order)), ...change }
    await Promise.all(Array.from({ length: 5 }, () => applier()(paid, 'webhook')))
    assert.equal(await stateOf(order.id), 'review')
    assert.deepEqual(await purchasesOf(order.id), [])
    const waiting = (await room.payments.reviewQueue()).filter((one) => one.order === order.id)
    assert.deepEqual(
      waiting.map((one) => [one.reason, one.hasMoney]),
      [[reason, true]],
    )
  })
}

test('a second payment of a credited order goes to review, and the credit stays', async () => {
  const { room } = at
  const order = await room.buy(await room.newBook())
  const paid = await paymentOf(order)
  await applier()(paid, 'webhook')
  await applier()({ ...paid, paymentId: `${paid.paymentId}-again` }, 'sweep')
  assert.equal(await stateOf(order.id), 'credited')
  assert.equal((await purchasesOf(order.id)).length, 1)
  const waiting = (await room.payments.reviewQueue()).filter((one) => one.order === order.id)
  assert.deepEqual(
    waiting.map((one) => one.reason),
    ['payment_id'],
  )
})

test('another provider’s payment does not credit an order', async () => {
  const order = await at.room.buy(await at.room.newBook())
  const paid = { ...(await paymentOf(order)), provider: 'another', paymentId: 'theirs' }
  await applier()(paid, 'webhook')
  assert.equal(await stateOf(order.id), 'review')
  assert.deepEqual(await purchasesOf(order.id), [])
})

test('opens a review for a payment of a lost order, and ignores another cell’s', async () => {
  const { room } = at
  const paid = await paymentOf(await room.buy(await room.newBook()))
  const strange = (cell: number) => ({
    ...paid,
    paymentId: `strange-${cell}`,
    orderRef: newOrderId(cell, Date.now()),
  })
  assert.equal((await applier()(strange(0), 'sweep')).act, 'unknown_order')
  assert.equal((await applier()(strange(7), 'sweep')).act, 'foreign')
  const waiting = (await room.payments.reviewQueue()).filter((one) => one.order === null)
  assert.deepEqual(
    waiting.map((one) => one.paymentId),
    ['strange-0'],
  )
})

test('a failed receipt is logged and does not delay the credit', async () => {
  const order = await at.room.buy(await at.room.newBook())
  const paid = { ...(await paymentOf(order)), receipt: 'canceled' as const }
  await applier()(paid, 'webhook')
  assert.equal(await stateOf(order.id), 'credited')
  assert.ok((await at.room.payments.health()).receiptsFailed >= 1)
})

test('the table refuses a new price, another payment and a revoked credit', async () => {
  const { db } = at.room
  const order = await at.room.buy(await at.room.newBook())
  await applier()(await paymentOf(order), 'webhook')
  for (const change of [
    'price_kopecks = 1',
    'credits = credits * 2',
    "provider_payment_id = 'other'",
    "state = 'pending'",
    'credited_at = null, lot = null, credited_by = null',
  ]) {
    await assert.rejects(
      db.query(`update orders set ${change} where id = $1`, [order.id]),
      (error: { code?: string }) => /^23/.test(error.code ?? ''),
      change,
    )
  }
  await assert.rejects(db.query('delete from orders where id = $1', [order.id]))
})

async function bookOf(id: OrderId) {
  const { rows } = await at.room.db.query('select book_id from orders where id = $1', [id])
  return (rows[0] as { book_id: Parameters<TestPayments['buy']>[0] }).book_id
}

/** Shuffles; the outcome must not depend on the order. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
