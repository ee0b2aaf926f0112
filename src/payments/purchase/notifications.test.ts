// Notifications, real and forged: stored, confirmed at the provider, applied once. The bank's
// stand-in sends them over HTTP: repeated, late, out of order, forged.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { settingsOf, turnClock } from '../../../test/support/harness.ts'
import { systemClock } from '../../platform/clock.ts'
import { openDatabase } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Provider } from '../port.ts'
import { createSenderLimit } from './sender-limit.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
  await at.room.intake()
})
after(() => at.room.end())
beforeEach(async () => {
  await at.room.sim('faults', {}, 'DELETE')
  await at.room.sim('modes', {}, 'DELETE')
  await turnClock(at.room.db, '0')
})

const balanceOf = async (book: BookId) => (await at.room.ledger.balance(book))?.available
const purchases = async (id: OrderId) =>
  (await at.room.db.query(`select from postings where kind = 'purchase' and ref = $1`, [id])).rows
    .length

async function bought() {
  const book = await at.room.newBook()
  return { book, order: await at.room.buy(book) }
}

/** Pays, and waits until the bank has sent its notifications. */
async function pay(id: OrderId) {
  await at.room.sim('pay', { orderId: id })
  await at.room.sim('settle')
}

async function noticesOf(id: OrderId) {
  const { rows } = await at.room.db.query(
    `select n.event, n.outcome, n.tries from payment_notices n
     join orders o on o.provider_payment_id = n.provider_payment_id
     where o.id = $1 order by n.id`,
    [id],
  )
  return rows as { event: string; outcome: string | null; tries: number }[]
}

async function applyAll(): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds++) {
    if ((await at.room.payments.jobs.applyNotification()) === 0) return
  }
  assert.fail('notifications never end')
}

test('a notification is stored, confirmed and credited', async () => {
  const { book, order } = await bought()
  await pay(order.id)
  assert.equal(await balanceOf(book), 0n, 'a notification alone moves nothing')
  await applyAll()
  assert.equal(await balanceOf(book), pack.credits)
  const { rows } = await at.room.db.query('select credited_by from orders where id = $1', [
    order.id,
  ])
  assert.deepEqual(rows, [{ credited_by: 'webhook' }])
})

test('a notification sent a hundred times at once is stored once and credited once', async () => {
  const { order, book } = await bought()
  await at.room.sim('modes', { mode: 'duplicate', copies: 100, orderId: order.id })
  await pay(order.id)
  assert.equal((await noticesOf(order.id)).length, 1)
  const workers = [at.room.payments, at.room.open(), at.room.open()]
  await Promise.all(workers.map((one) => one.jobs.applyNotification()))
  await applyAll()
  assert.equal(await purchases(order.id), 1)
  assert.equal(await balanceOf(book), pack.credits)
  const { deliveries } = await at.room.sim('deliveries?last=200', {}, 'GET')
  const own = (deliveries as { status: number }[]).slice(-100)
  assert.ok(own.every(({ status }) => status === 200))
})

for (const place of ['before', 'after']) {
  test(`a cancellation sent ${place} the success does not cancel the order`, async () => {
    const { order, book } = await bought()
    const mode = { mode: 'reorder', extra: 'canceled', place, orderId: order.id }
    await at.room.sim('modes', mode)
    await pay(order.id)
    await applyAll()
    assert.equal(await balanceOf(book), pack.credits)
  })
}

test('a notification that arrives before the creation’s answer is applied', async () => {
  const book = await at.room.newBook()
  await at.room.sim('modes', { mode: 'early', times: 1 })
  const order = await at.room.buy(book)
  await at.room.sim('settle')
  await applyAll()
  assert.equal(await balanceOf(book), pack.credits)
  assert.equal(await purchases(order.id), 1)
})

test('a forged success for an open order credits nothing and is dropped', async () => {
  const { order, book } = await bought()
  await at.room.sim('forge', { orderId: order.id })
  for (const turned of ['0', '6 seconds', '30 seconds', '2 minutes']) {
    await turnClock(at.room.db, turned)
    await applyAll()
  }
  assert.equal(await balanceOf(book), 0n)
  assert.deepEqual(await noticesOf(order.id), [
    { event: 'payment.succeeded', outcome: 'unconfirmed', tries: 4 },
  ])
})

test('does not confirm another shop’s notification, nor store one without an order', async () => {
  const { order, book } = await bought()
  await at.room.sim('modes', { mode: 'other-shop', orderId: order.id })
  await pay(order.id)
  await applyAll()
  assert.equal(await balanceOf(book), 0n)
  const outcomes = async () =>
    (await at.room.db.query('select outcome from payment_notices order by id')).rows
  const before = await outcomes()
  assert.deepEqual(before.at(-1), { outcome: 'absent' })
  await at.room.sim('forge', { object: { id: '2d9f0b2a-000f-5000-8000-1a2b3c4d5e6f' } })
  assert.deepEqual(await outcomes(), before)
  await at.room.payments.jobs.sweep()
  assert.equal(await balanceOf(book), pack.credits, 'the sweep needs no notification')
})

const notify = (body: string, provider = 'yookassa') =>
  at.room.payments.notify({ provider, body: Buffer.from(body), headers: {}, peer: '192.0.2.7' })

test('rejects what is not a notification', async () => {
  assert.equal((await notify('{}', 'stripe')).status, 404, 'a provider that is not in use')
  assert.equal((await notify('{')).status, 400)
  assert.equal((await notify('')).status, 400)
  assert.equal((await notify('\0'.repeat(100))).status, 400)
  assert.equal((await notify('x'.repeat(10_000_000))).status, 413)
})

test('ignores notifications of senders that are not on the list', async () => {
  const strict = await createTestPayments({ yookassa: { notificationSources: 'published' } })
  try {
    await strict.intake()
    const book = await strict.newBook()
    const order = await strict.buy(book)
    await strict.sim('forge', { orderId: order.id, source: '203.0.113.5' })
    const stored = async () => (await strict.db.query('select from payment_notices')).rows.length
    assert.equal(await stored(), 0)
    await strict.sim('pay', { orderId: order.id })
    await strict.sim('settle')
    assert.equal(await stored(), 1, 'the provider’s own address')
  } finally {
    await strict.end()
  }
})

test('notifications wait while the provider is unavailable, and are applied later', async () => {
  const { order, book } = await bought()
  await pay(order.id)
  await at.room.sim('faults', { kind: 'error', when: 'before', method: 'GET', times: 2 })
  await applyAll()
  assert.equal(await balanceOf(book), 0n)
  await turnClock(at.room.db, '3 seconds')
  await applyAll()
  await turnClock(at.room.db, '10 seconds')
  await applyAll()
  assert.equal(await balanceOf(book), pack.credits)
})

test('a notification that cannot be stored gets 503, and the provider repeats it', async () => {
  const { order, book } = await bought()
  const gone = openDatabase(
    settingsOf('postgres://postgres@127.0.0.1:1/nowhere'),
    'test',
    () => undefined,
  )
  const cut = at.room.open({ db: gone })
  const url = await at.room.intake(cut)
  await pay(order.id)
  const { deliveries } = await at.room.sim('deliveries?last=1', {}, 'GET')
  assert.equal((deliveries as [{ status: number }])[0].status, 503)
  assert.match(url, /notifications\/yookassa/)
  await at.room.intake()
  await at.room.sim('advance', { hours: 1 })
  await at.room.sim('settle')
  await applyAll()
  assert.equal(await balanceOf(book), pack.credits)
  await gone.end()
})

test('a thousand different notifications of one payment do not fill the table', async () => {
  const { order, book } = await bought()
  const { rows } = await at.room.db.query(
    'select provider_payment_id as id from orders where id = $1',
    [order.id],
  )
  const { id } = rows[0] as { id: string }
  const tell = (i: number) => {
    const object = { id, note: `made up ${i}` }
    const body = JSON.stringify({ type: 'notification', event: 'payment.succeeded', object })
    const notification = {
      provider: 'yookassa',
      body: Buffer.from(body),
      headers: {},
      peer: `198.51.100.${i % 100}`,
    }
    return at.room.payments.notify(notification)
  }
  for (let i = 0; i < 1_000; i++) assert.equal((await tell(i)).status, 200)
  assert.equal((await noticesOf(order.id)).length, 1)
  // The real one is not stored and not needed: the waiting notification makes us fetch the payment.
  await pay(order.id)
  await applyAll()
  assert.equal(await balanceOf(book), pack.credits)
})

test('a worker that dies delays one notification, not all that were due', async () => {
  const orders = [(await bought()).order, (await bought()).order, (await bought()).order]
  for (const { id } of orders) await pay(id)
  const hung = at.room.open({ providers: [hanging(at.room.provider)] })
  void hung.jobs.applyNotification() // it never comes back, like a killed process
  const triesOf = async ({ id }: { id: OrderId }) => (await noticesOf(id))[0]?.tries
  const tries = () => Promise.all(orders.map(triesOf))
  for (let looks = 0; looks < 500 && !(await tries()).includes(1); looks++) await pause(10)
  assert.deepEqual((await tries()).toSorted(), [0, 0, 1])
  await applyAll()
  assert.equal((await Promise.all(orders.map(({ id }) => purchases(id)))).join(), '0,1,1')
  await turnClock(at.room.db, '61 seconds')
  await applyAll()
  assert.equal((await Promise.all(orders.map(({ id }) => purchases(id)))).join(), '1,1,1')
})

/** A provider that never answers. */
function hanging(provider: Provider): Provider {
  return { ...provider, fetchPayment: () => new Promise(() => undefined) }
}

test('fetches a payment at most every ten seconds for any number of notifications', async () => {
  const { order } = await bought()
  const { payments } = await at.room.sim(`payments?orderId=${order.id}`, {}, 'GET')
  const id = (payments as [{ id: string }])[0].id
  const calls = async () =>
    (await at.room.sim('calls?method=GET&last=100000', {}, 'GET')).count as number
  const before = await calls()
  for (let i = 0; i < 30; i++) {
    const object = { id, status: 'canceled', trick: i }
    const { status } = await notify(
      JSON.stringify({ type: 'notification', event: 'payment.canceled', object }),
    )
    assert.equal(status, 200)
  }
  await applyAll()
  assert.equal((await calls()) - before, 1)
  assert.ok((await noticesOf(order.id)).every(({ outcome }) => outcome === 'applied'))
})

test('limits a sender of many notifications that tell us nothing', () => {
  const time = { ms: 0 }
  const limit = createSenderLimit({ ...systemClock, spanMs: () => time.ms })
  for (let i = 0; i < 300; i++) limit.count('192.0.2.9')
  assert.equal(limit.isExceeded('192.0.2.9'), true)
  assert.equal(limit.isExceeded('192.0.2.10'), false)
  time.ms = 60_001
  assert.equal(limit.isExceeded('192.0.2.9'), false)
})
