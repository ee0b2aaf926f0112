// Purchases against the bank's stand-in: credited by each of the four triggers, through slow and
// lost answers, and never twice for one attempt.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())
beforeEach(async () => {
  await at.room.sim('faults', {}, 'DELETE')
  await turnClock(at.room.db, '0')
})

const refused = (code: string) => (error: unknown) => isRefusal(error, code)

async function orderOf(id: OrderId) {
  const { rows } = await at.room.db.query('select * from orders where id = $1', [id])
  return rows[0] as Record<string, unknown>
}

async function paymentsOf(id: OrderId): Promise<{ id: string }[]> {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  return payments as { id: string }[]
}

/** Repeats a job: each run takes only some orders, and orders of other tests are due as well. */
async function all(job: () => Promise<number>): Promise<void> {
  for (let rounds = 0; rounds < 100; rounds++) if ((await job()) === 0) return
  assert.fail('the job is never done')
}

const balanceOf = async (book: BookId) => (await at.room.ledger.balance(book))?.available

test('an order stores terms and a payment link, and is credited on return', async () => {
  const { payments, newBook, buy, sim } = at.room
  const book = await newBook()
  const order = await buy(book)
  assert.equal(order.state, 'pending')
  assert.match(order.confirmation?.value ?? '', /\/pay\//)
  assert.match(order.id, /^pay_[0-9a-f]{32}$/)
  assert.equal(await payments.hasPurchased(book), false)
  assert.equal(await payments.lastPack(book), undefined)
  assert.equal((await payments.check(order.id)).state, 'pending')
  await at.room.db.query('update orders set looked_at = null')
  await sim('pay', { orderId: order.id })
  const paid = await payments.check(order.id)
  assert.equal(paid.state, 'credited')
  assert.equal(await balanceOf(book), pack.credits)
  assert.equal(await payments.hasPurchased(book), true)
  assert.deepEqual(await payments.lastPack(book), {
    credits: pack.credits,
    priceKopecks: pack.priceKopecks,
  })
  const row = await orderOf(order.id)
  assert.deepEqual(
    [row.credited_by, row.price_kopecks, row.credits, row.request_body],
    ['return', 130_000n, pack.credits, null],
  )
  assert.match(await at.room.registry.metrics(), /payments_credit_delay_seconds_count 1/)
})

test('the return URL contains the order', async () => {
  const order = await at.room.buy(await at.room.newBook())
  const { payments } = await at.room.sim(`payments?orderId=${order.id}`, {}, 'GET')
  const [payment] = payments as { sim: { returnUrl: string } }[]
  assert.equal(payment?.sim.returnUrl, `https://cabinet.example.org/orders/${order.id}`)
})

test('the sweep credits payments without notifications, from its watermark on', async () => {
  const { newBook, buy, sim, payments } = at.room
  const books = [await newBook(), await newBook(), await newBook()]
  const orders = await Promise.all(books.map((book) => buy(book, { method: 'sbp' })))
  for (const { id } of orders.slice(0, 2)) await sim('pay', { orderId: id })
  assert.equal(await payments.jobs.sweep(), 1)
  assert.deepEqual(await Promise.all(books.map(balanceOf)), [pack.credits, pack.credits, 0n])
  assert.equal((await orderOf(orders[0]?.id as OrderId)).credited_by, 'sweep')
  const [before] = (await at.room.db.query('select * from payment_sweeps')).rows as [
    { watermark: Date },
  ]
  await sim('pay', { orderId: orders[2]?.id })
  assert.equal(await payments.jobs.sweep(), 1)
  assert.equal(await balanceOf(books[2] as BookId), pack.credits)
  const [later] = (await at.room.db.query('select * from payment_sweeps')).rows as [
    { watermark: Date; failures: number },
  ]
  assert.ok(later.watermark > before.watermark)
})

test('an incomplete sweep leaves the watermark, and the next one catches up', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  const book = await newBook()
  const order = await buy(book)
  await sim('pay', { orderId: order.id })
  const mark = async () =>
    (
      (await db.query('select * from payment_sweeps')).rows as [
        { watermark: Date; failures: number },
      ]
    )[0]
  const before = await mark()
  await sim('faults', { kind: 'error', when: 'before', method: 'GET', times: 3 })
  await payments.jobs.sweep()
  const failed = await mark()
  assert.deepEqual([failed.watermark, failed.failures], [before.watermark, before.failures + 1])
  await payments.jobs.sweep()
  assert.equal((await mark()).failures, 0)
  assert.equal(await balanceOf(book), pack.credits)
})

test('a worker credits paid orders although every notification is lost', async () => {
  const { newBook, buy, sim, open } = at.room
  const workers = [open({ sweepSeconds: 1 }), open({ sweepSeconds: 1 })]
  for (const worker of workers) worker.start()
  const book = await newBook()
  const order = await buy(book)
  await sim('pay', { orderId: order.id })
  for (let waits = 0; waits < 1_000 && (await balanceOf(book)) === 0n; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  for (const worker of workers) await worker.stop()
  assert.equal(await balanceOf(book), pack.credits)
  await at.room.db.query(`update payment_sweeps set leased_until = '-infinity'`)
})

test('two workers never sweep at once', async () => {
  const [one, two] = [at.room.open({ sweepSeconds: 15 }), at.room.open({ sweepSeconds: 15 })]
  const done = await Promise.all([one.jobs.sweep(), two.jobs.sweep()])
  assert.deepEqual(done.toSorted(), [0, 1])
  assert.equal(await one.jobs.sweep(), 0, 'nor again before it is time')
  await at.room.db.query(`update payment_sweeps set leased_until = '-infinity'`)
})

test('the sweep finds a payment although our clock is wrong by five minutes', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  for (const wrong of ['5 minutes', '-5 minutes']) {
    await turnClock(db, wrong)
    await db.query(`update payment_sweeps set leased_until = '-infinity'`)
    const book = await newBook()
    const order = await buy(book)
    await sim('pay', { orderId: order.id })
    await payments.jobs.sweep()
    assert.equal(await balanceOf(book), pack.credits, wrong)
  }
})

test('a second click or a second tab returns the same order', async () => {
  const { newBook, buy } = at.room
  const book = await newBook()
  const clicks = await Promise.all(
    Array.from({ length: 5 }, () => buy(book, { attempt: 'one wish' })),
  )
  const tabs = await Promise.all(Array.from({ length: 5 }, () => buy(book)))
  const ids = new Set([...clicks, ...tabs].map(({ id }) => id))
  assert.equal(ids.size, 1)
  assert.equal((await paymentsOf([...ids][0] as OrderId)).length, 1)
  const last = tabs.at(-1)
  assert.equal(last?.confirmation?.value, (await buy(book)).confirmation?.value)
})

test('another pack, method or price makes another order; attempts are not shared', async () => {
  const { newBook, buy } = at.room
  const book = await newBook()
  const first = await buy(book, { attempt: 'mine' })
  const others = [
    await buy(book, { method: 'sbp' }),
    await buy(book, { pack: { ...pack, id: 'large' } }),
    await buy(book, { pack: { ...pack, priceKopecks: kopecks(140_000) } }),
    await buy(book, { pack: { ...pack, credits: credits(1) } }),
  ]
  assert.equal(new Set([first, ...others].map(({ id }) => id)).size, 5)
  await assert.rejects(
    buy(book, { attempt: 'mine', pack: { ...pack, id: 'large' } }),
    refused('order_attempt_reused'),
  )
})

test('after an hour a new order is created, and the old one can still be paid', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  const book = await newBook()
  const old = await buy(book)
  await turnClock(db, '61 minutes')
  const fresh = await buy(book)
  assert.notEqual(fresh.id, old.id)
  await sim('pay', { orderId: old.id })
  await payments.check(old.id)
  assert.equal(await balanceOf(book), pack.credits)
})

test('a declined payment stores the reason and is not credited', async () => {
  const { newBook, buy, sim, payments } = at.room
  const book = await newBook()
  const order = await buy(book)
  await sim('decline', { orderId: order.id, reason: 'insufficient_funds' })
  const view = await payments.check(order.id)
  assert.deepEqual([view.state, view.cancelReason], ['canceled', 'insufficient_funds'])
  assert.equal(await balanceOf(book), 0n)
})

test('a refused creation fails the order', async () => {
  const { newBook, buy, open } = at.room
  const book = await newBook()
  const order = await buy(book, { returnUrl: 'x'.repeat(3_000) })
  assert.equal(order.state, 'failed')
  assert.match(order.cancelReason ?? '', /400/)
  const closed = open({ isOpen: false })
  await assert.rejects(
    closed.buy({
      book,
      email: 'a@b.ru',
      locale: 'ru',
      pack,
      method: 'card',
      attempt: 'x',
      returnUrl: 'https://x',
    }),
    refused('payment_unavailable'),
  )
  await assert.rejects(
    buy(book, { pack: { ...pack, priceKopecks: kopecks(50) } }),
    refused('payment_unavailable'),
    'below what the provider takes',
  )
})

for (const kind of ['error', 'reset', 'processing', 'html', 'truncated']) {
  for (const when of ['before', 'after']) {
    test(`recovers an order whose creation ended as ${kind} ${when} its effect`, async () => {
      const { newBook, buy, sim, payments, db } = at.room
      await sim('faults', { kind, when, method: 'POST', path: '/payments' })
      const order = await buy(await newBook())
      assert.equal(order.state, 'created')
      assert.equal(order.confirmation, null)
      await turnClock(db, '3 seconds')
      await all(payments.jobs.recover)
      const view = await payments.order(order.id, await bookOf(order.id))
      assert.equal(view.state, 'pending')
      assert.ok(view.confirmation !== null)
      assert.equal((await paymentsOf(order.id)).length, 1, 'one payment')
    })
  }
}

test('a throttled creation is retried after a pause', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  await sim('faults', { kind: 'too-many-requests', method: 'POST', retryAfterMs: 50 })
  const order = await buy(await newBook())
  assert.equal(order.state, 'created')
  await turnClock(db, '10 seconds')
  await all(payments.jobs.recover)
  assert.equal((await orderOf(order.id)).state, 'pending')
})

test('a success is credited even when the creation’s answer never came', async () => {
  const { newBook, buy, sim, payments } = at.room
  await sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  const book = await newBook()
  const order = await buy(book)
  await sim('pay', { orderId: order.id })
  await payments.jobs.sweep()
  assert.equal(await balanceOf(book), pack.credits)
  const row = await orderOf(order.id)
  assert.equal(row.provider_payment_id, (await paymentsOf(order.id))[0]?.id)
})

test('after 23 hours an order is searched at the provider instead of posted again', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  await sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  const made = await buy(await newBook())
  await sim('faults', { kind: 'reset', when: 'before', method: 'POST', path: '/payments' })
  const lost = await buy(await newBook())
  await turnClock(db, '24 hours 30 minutes')
  const posts = async () =>
    ((await sim('calls?method=POST&last=100000', {}, 'GET')).calls as unknown[]).length
  const before = await posts()
  await all(payments.jobs.recover)
  assert.equal(await posts(), before)
  assert.equal((await orderOf(made.id)).state, 'pending')
  assert.equal((await orderOf(lost.id)).state, 'failed')
})

test('polling finds a cancellation without a notification, then stops', async () => {
  const { newBook, buy, sim, payments, db } = at.room
  const order = await buy(await newBook())
  await sim('expire', { orderId: order.id })
  await turnClock(db, '11 minutes')
  await all(payments.jobs.poll)
  const row = await orderOf(order.id)
  assert.deepEqual(
    [row.state, row.cancel_reason, row.next_at],
    ['canceled', 'expired_on_confirmation', null],
  )
})

test('an unpaid order expires and is polled every hour for a day', async () => {
  const { newBook, buy, payments, db } = at.room
  const order = await buy(await newBook())
  await turnClock(db, '69 minutes')
  await payments.jobs.expire()
  assert.equal((await orderOf(order.id)).state, 'pending')
  await turnClock(db, '71 minutes')
  await payments.jobs.expire()
  assert.equal((await orderOf(order.id)).state, 'expired')
  await all(payments.jobs.poll)
  const row = (await orderOf(order.id)) as { next_at: Date; created_at: Date }
  const dueMinutes = (row.next_at.getTime() - row.created_at.getTime()) / 60_000
  assert.ok(dueMinutes > 74 && dueMinutes < 132, `${dueMinutes}`)
  await turnClock(db, '26 hours')
  await all(payments.jobs.poll)
  assert.equal((await orderOf(order.id)).next_at, null)
})

test('a deployment for real money does not credit test money, and vice versa', async () => {
  const { newBook, sim, buy } = at.room
  const production = at.room.open({ acceptsTestPayments: false })
  const book = await newBook()
  const input = { email: 'a@b.ru', locale: 'ru', pack, method: 'card', attempt: 't' } as const
  const order = await production.buy({ ...input, book, returnUrl: 'https://x.example' })
  assert.equal(order.state, 'review', 'found before anybody paid')
  await sim('pay', { orderId: order.id })
  await production.jobs.sweep()
  assert.equal(await balanceOf(book), 0n)
  const other = await newBook()
  const real = await buy(other)
  await sim('alter', { orderId: real.id, test: false })
  await sim('pay', { orderId: real.id })
  await at.room.payments.check(real.id)
  assert.equal((await orderOf(real.id)).state, 'review')
  assert.equal(await balanceOf(other), 0n)
})

test('lists orders newest first, page by page, and only to their owner', async () => {
  const { newBook, buy, payments } = at.room
  const book = await newBook()
  const ids: OrderId[] = []
  for (let i = 0; i < 5; i++) {
    ids.unshift((await buy(book, { pack: { ...pack, id: `p${i}` } })).id)
  }
  const first = await payments.orders({ book, before: null, limit: 3 })
  const next = await payments.orders({ book, before: first[2]?.id as OrderId, limit: 3 })
  assert.deepEqual(
    [...first, ...next].map(({ id }) => id),
    ids,
  )
  const stranger = await newBook()
  await assert.rejects(payments.order(ids[0] as OrderId, stranger), refused('order_unknown'))
})

test('erasing an owner removes the e-mail address and keeps the amounts', async () => {
  const { newBook, buy, payments, db } = at.room
  const book = await newBook()
  const order = await buy(book)
  await db.transaction((tx) => payments.erase(tx, book))
  const row = await orderOf(order.id)
  assert.equal(row.email, 'erased@invalid')
  assert.equal(row.price_kopecks, 130_000n)
  const orders = await Array.fromAsync(payments.copy(book).orders)
  assert.doesNotThrow(() => JSON.stringify(orders))
  assert.equal(orders[0]?.price, '1300.00')
})

async function bookOf(id: OrderId): Promise<BookId> {
  return (await orderOf(id)).book_id as BookId
}
