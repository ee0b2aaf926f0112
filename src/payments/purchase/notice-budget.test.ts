// An owner who floods us with notifications about an unpaid order: what is stored, how often the
// provider is asked, and that the genuine notifications of others do not wait behind the flood.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { OrderId } from '../../platform/ids.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
  await at.room.intake()
})
after(() => at.room.end())
beforeEach(async () => {
  await turnClock(at.room.db, '0')
  await at.room.db.query('delete from payment_notices')
})

const senders = { last: 0 }
function sender(): string {
  senders.last += 1
  return `198.18.${senders.last >> 8}.${senders.last & 255}`
}

const notify = (event: string, object: object, peer = sender()) =>
  at.room.payments.notify({
    provider: 'yookassa',
    body: Buffer.from(JSON.stringify({ type: 'notification', event, object })),
    headers: {},
    peer,
  })

const madeUp = (i: number, order: OrderId, event = 'payment.succeeded', bytes = 0) =>
  notify(event, {
    id: `made-up-${i}`,
    metadata: { order_id: order },
    pad: randomBytes(bytes).toString('base64'),
  })

async function ordered(changes: Parameters<TestPayments['buy']>[1] = {}) {
  const book = await at.room.newBook()
  const order = await at.room.buy(book, changes)
  return { book, order, paymentId: await paymentIdOf(order.id) }
}

async function paymentIdOf(order: OrderId): Promise<string> {
  const { rows } = await at.room.db.query(
    'select provider_payment_id as id from orders where id = $1',
    [order],
  )
  return (rows[0] as { id: string }).id
}

async function stored() {
  const { rows } = await at.room.db.query(
    `select event, provider_payment_id as "paymentId", digest, body, outcome, tries,
       ceil(extract(epoch from next_at - ledger_now()))::int4 as seconds
     from payment_notices order by id`,
  )
  return rows as {
    event: string
    paymentId: string
    digest: string
    body: string
    outcome: string | null
    tries: number
    seconds: number | null
  }[]
}

const calls = async () =>
  (await at.room.sim('calls?method=GET&last=100000', {}, 'GET')).count as number

async function applyAll(): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds++) {
    if ((await at.room.payments.jobs.applyNotification()) === 0) return
  }
  assert.fail('notifications never end')
}

async function pay(id: OrderId): Promise<void> {
  await at.room.sim('pay', { orderId: id })
  await at.room.sim('settle')
}

test('any number of made-up payments of one order store one row and cost one call', async () => {
  const { order } = await ordered()
  const before = await calls()
  for (let i = 0; i < 200; i++) {
    assert.equal((await madeUp(i, order.id, 'payment.succeeded', 40_000)).status, 200)
  }
  assert.equal((await stored()).length, 1)
  const { rows } = await at.room.db.query(`select pg_table_size('payment_notices')::int4 as bytes`)
  assert.ok((rows[0] as { bytes: number }).bytes < 200_000)
  await applyAll()
  assert.equal((await calls()) - before, 1)
})

test('many notifications about an unpaid order ring no alarm, an unread one does', async () => {
  const { payments, db } = at.room
  const { order, paymentId } = await ordered()
  const again = (i: number) =>
    notify('payment.succeeded', { id: paymentId, metadata: { order_id: order.id }, pad: i })
  await again(0)
  for (const seconds of [0, 10, 30, 100]) {
    await turnClock(db, `${seconds} seconds`)
    await applyAll()
  }
  assert.equal((await stored())[0]?.outcome, 'unconfirmed')
  await db.query('update payment_notices set handled = 8')
  await again(1)
  await turnClock(db, '400 seconds')
  await applyAll()
  assert.equal((await stored())[0]?.outcome, null, 'it waits, because there were so many')
  assert.equal((await payments.health()).uncreditedSeconds, 0)

  const genuine = await ordered()
  await notify('payment.succeeded', { id: genuine.paymentId })
  await turnClock(db, '500 seconds')
  assert.ok((await payments.health()).uncreditedSeconds >= 99, 'nobody has read this one')
})

test('credits a genuine payment in the first run of the worker after a flood', async () => {
  const flooding = await ordered()
  for (let i = 0; i < 100; i++) {
    for (const event of ['payment.succeeded', 'payment.canceled', 'refund.succeeded']) {
      await madeUp(i, flooding.order.id, event)
    }
  }
  const genuine = await ordered()
  await pay(genuine.order.id)
  await at.room.payments.jobs.applyNotification()
  assert.equal((await at.room.ledger.balance(genuine.book))?.available, pack.credits)
})

test('of an account’s orders five are read at once, the others two seconds apart', async () => {
  const book = await at.room.newBook()
  for (let i = 0; i < 8; i++) {
    // Another price each time, so that no open order is used again.
    const priceKopecks = (pack.priceKopecks + BigInt(i)) as typeof pack.priceKopecks
    const order = await at.room.buy(book, { pack: { ...pack, priceKopecks } })
    await notify('payment.succeeded', { id: await paymentIdOf(order.id) })
  }
  assert.deepEqual(
    (await stored()).map(({ seconds }) => Math.max(0, seconds ?? -1)),
    [0, 0, 0, 0, 0, 2, 4, 6],
  )
})

test('reads again at growing pauses while an owner repeats with other bytes', async () => {
  const { order, paymentId, book } = await ordered()
  const pauses: (number | null)[] = []
  let turned = 0
  for (let i = 0; i < 4; i++) {
    await notify('payment.canceled', { id: paymentId, note: i })
    const [row] = await stored()
    pauses.push(row?.seconds ?? null)
    turned += Math.max(0, row?.seconds ?? 0) + 1
    await turnClock(at.room.db, `${turned} seconds`)
    await applyAll()
  }
  assert.deepEqual(pauses, [0, 10, 20, 40])
  assert.equal((await stored()).length, 1)
  assert.equal((await at.room.payments.order(order.id, book)).state, 'pending')
})

test('keeps a digest of a notification and not its text, which has digits of cards', async () => {
  const { order, paymentId } = await ordered()
  const object = { id: paymentId, payment_method: { card: { first6: '411111' } } }
  await notify('payment.succeeded', object)
  const bytes = JSON.stringify({ type: 'notification', event: 'payment.succeeded', object })
  const digest = createHash('sha256').update(bytes).digest('hex')
  const [row] = await stored()
  assert.deepEqual([row?.body, row?.digest], ['', digest])
  await pay(order.id)
  await applyAll()
  const { rows } = await at.room.db.query(`select n::text as text from payment_notices n`)
  assert.ok(rows.length > 0)
  assert.doesNotMatch(JSON.stringify(rows), /411111/)
})

test('reads again when a notification arrives during the call to the provider', async () => {
  const { order, paymentId, book } = await ordered()
  await notify('payment.canceled', { id: paymentId })
  const { provider } = at.room
  const slow = at.room.open({
    providers: [
      {
        ...provider,
        async fetchPayment(id) {
          const answer = await provider.fetchPayment(id)
          await notify('payment.canceled', { id: paymentId, note: 'a newer one' })
          return answer
        },
      },
    ],
  })
  await slow.jobs.applyNotification()
  const [row] = await stored()
  assert.deepEqual([row?.outcome, row?.seconds], [null, 10])
  assert.equal((await at.room.payments.order(order.id, book)).state, 'pending')
})

test('a notification about the order’s own payment replaces a waiting made-up one', async () => {
  const { order, paymentId, book } = await ordered()
  await madeUp(1, order.id)
  await pay(order.id)
  assert.deepEqual(
    (await stored()).map((row) => row.paymentId),
    [paymentId],
  )
  await madeUp(2, order.id)
  await applyAll()
  assert.equal((await at.room.ledger.balance(book))?.available, pack.credits)
})

test('acknowledges without storing: other events, and what the order shows already', async () => {
  const { order, paymentId } = await ordered()
  for (const event of ['payment.waiting_for_capture', 'deal.closed', 'payment.made_up']) {
    assert.equal((await notify(event, { id: paymentId, payment_id: paymentId })).status, 200)
  }
  assert.deepEqual(await stored(), [])
  await pay(order.id)
  await applyAll()
  await at.room.db.query('delete from payment_notices')
  assert.equal((await notify('payment.succeeded', { id: paymentId, note: 'late' })).status, 200)
  assert.deepEqual(await stored(), [])
})

test('a sender of 300 repeats within a minute gets 429, other senders do not', async () => {
  const { order } = await ordered()
  const statuses: number[] = []
  for (let i = 0; i < 302; i++) {
    const object = { id: `made-up-${i}`, metadata: { order_id: order.id } }
    statuses.push((await notify('payment.succeeded', object, '203.0.113.77')).status)
  }
  assert.deepEqual([statuses.filter((one) => one === 200).length, statuses.at(-1)], [301, 429])
  assert.equal((await madeUp(1, order.id)).status, 200)
})

test('the database refuses a second row about the same event of an order', async () => {
  const { order } = await ordered()
  await madeUp(1, order.id)
  const copy = (key: string) =>
    at.room.db.query(
      `insert into payment_notices
         (provider, dedupe, event, provider_payment_id, order_id, book_id, body, peer, next_at)
       select provider, $1, event, 'other', order_id, book_id, '', peer, next_at
       from payment_notices`,
      [key],
    )
  await assert.rejects(copy(`payment.succeeded ${order.id}`), /payment_notices_are_stored_once/)
  await assert.rejects(copy('other'), /payment_notices_are_one_per_event/)
})
