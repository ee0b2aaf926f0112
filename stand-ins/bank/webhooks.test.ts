// Notices: what arrives at the shop and when, how long the provider repeats them, and every way in
// which they may be late, lost, doubled, disordered or false.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive, orderOf, type Receiver, startReceiver } from './drive.ts'
import { isObject, type JsonObject } from './json.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
let hook: Receiver
before(async () => {
  hook = await startReceiver()
  bank = await startBank({ webhookUrl: hook.url })
  shop = drive(bank)
})
beforeEach(async () => {
  await shop.sim('reset')
  hook.forget()
})
after(async () => {
  await bank.close()
  await hook.close()
})

const paid = async (members: JsonObject = {}) => {
  const { id } = await shop.pay(members)
  await shop.sim('pay', { paymentId: id })
  await shop.sim('settle')
  return id
}
const objectOf = (index: number): JsonObject => {
  const object = hook.heard[index]?.body.object
  assert.ok(isObject(object), `no notice ${index}`)
  return object
}

test('every final state sends one notice, with the object as it was then', async () => {
  const id = await paid()
  await shop.refund(id, '1300.00')
  const declined = await shop.pay()
  await shop.sim('decline', { paymentId: declined.id, reason: 'insufficient_funds' })
  const held = await paid({ capture: false })
  await shop.sim('settle')
  const told = hook.heard.map(({ body }) => schemas.notification.parse(body))
  assert.deepEqual(
    told.map(({ event, object }) => [event, object.status]),
    [
      ['payment.succeeded', 'succeeded'],
      ['refund.succeeded', 'succeeded'],
      ['payment.canceled', 'canceled'],
      ['payment.waiting_for_capture', 'waiting_for_capture'],
    ],
  )
  assert.deepEqual([objectOf(0).id, objectOf(3).id], [id, held])
  assert.equal(objectOf(0).refunded_amount, undefined)
})

test('a canceled refund sends no notice', async () => {
  const id = await paid()
  await shop.sim('hold-refunds', { paymentId: id })
  const { id: refundId } = await shop.refund(id, '1.00')
  await shop.sim('cancel-refund', { refundId })
  await shop.sim('settle')
  assert.deepEqual(hook.events(), ['payment.succeeded'])
})

test('a refund made in the provider’s merchant portal sends a notice like any other', async () => {
  const id = await paid()
  const made = await shop.sim('refund', { paymentId: id, value: '100.00' })
  await shop.sim('settle')
  assert.deepEqual(hook.events(), ['payment.succeeded', 'refund.succeeded'])
  assert.deepEqual([objectOf(1).id, objectOf(1).payment_id], [made.id, id])
})

test('a notice names its source address in the chosen header', async () => {
  await paid()
  assert.equal(hook.heard[0]?.headers['x-forwarded-for'], '185.71.76.1')
  const settings = { webhookSource: '203.0.113.7', webhookSourceHeader: 'x-real-ip' }
  await shop.sim('settings', settings)
  await paid()
  assert.equal(hook.heard[1]?.headers['x-real-ip'], '203.0.113.7')
  await shop.sim('settings', {
    webhookSource: '185.71.76.1',
    webhookSourceHeader: 'x-forwarded-for',
  })
})

test('anything but 200 is repeated with growing pauses for a day, then given up', async () => {
  const answers = [500, 201, 302]
  hook.control.answer = () => answers.shift() ?? 503
  const paymentId = await paid()
  assert.equal(hook.heard.length, 1)
  await shop.sim('advance', { seconds: 10 })
  assert.equal(hook.heard.length, 2)
  await shop.sim('advance', { hours: 48 })
  const tries = await shop.deliveries(`?paymentId=${paymentId}`)
  assert.deepEqual(
    tries.map(({ status }) => status),
    [500, 201, 302, ...Array(11).fill(503)],
  )
  const pauses = tries.slice(1).map(({ at }, index) => {
    return Math.round((Date.parse(at) - Date.parse(tries[index]?.at ?? '')) / 1000)
  })
  assert.ok(pauses.every((pause, index) => index === 0 || pause > (pauses[index - 1] ?? 0)))
  const spanMs = Date.parse(tries.at(-1)?.at ?? '') - Date.parse(tries[0]?.at ?? '')
  assert.ok(spanMs < 24 * 3_600_000 && spanMs > 20 * 3_600_000)
  assert.equal(tries.at(-1)?.nextAt, null)
  assert.equal(new Set(hook.heard.map(({ text }) => text)).size, 1)
})

test('a repeat stops at the first 200', async () => {
  const answers = [503, 503]
  hook.control.answer = () => answers.shift() ?? 200
  await paid()
  await shop.sim('advance', { hours: 25 })
  assert.equal(hook.heard.length, 3)
})

test('a receiver that is not there is recorded as failed and tried again', async () => {
  await shop.sim('settings', { webhookUrl: 'http://127.0.0.1:9/hook' })
  const paymentId = await paid()
  const [first] = await shop.deliveries(`?paymentId=${paymentId}`)
  assert.deepEqual([first?.status, first?.outcome], [null, 'failed'])
  assert.match(first?.error ?? '', /ECONNREFUSED|EACCES/)
  await shop.sim('settings', { webhookUrl: hook.url })
  await shop.sim('advance', { seconds: 10 })
  assert.deepEqual(hook.events(), ['payment.succeeded'])
})

test('a delayed notice comes after its delay', async () => {
  await shop.sim('modes', { mode: 'delay', delayMs: 90_000 })
  await paid()
  await shop.sim('advance', { seconds: 89 })
  assert.equal(hook.heard.length, 0)
  await shop.sim('advance', { seconds: 1 })
  assert.equal(hook.heard.length, 1)
})

test('a dropped notice never comes, and the record says so', async () => {
  await shop.sim('modes', { mode: 'drop', orderId: 'lost', times: 1 })
  await paid({ metadata: { order_id: 'lost' } })
  await paid({ metadata: { order_id: 'found' } })
  await paid({ metadata: { order_id: 'lost' } })
  await shop.sim('advance', { hours: 25 })
  assert.equal(hook.heard.length, 2)
  const outcomes = (await shop.deliveries()).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, ['dropped', 'accepted', 'accepted'])
})

test('a hundred copies arrive together', async () => {
  const { id } = await shop.pay()
  await shop.sim('modes', { mode: 'duplicate', copies: 100, paymentId: id })
  let open = 0
  let most = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  hook.control.answer = async () => {
    open += 1
    most = Math.max(most, open)
    if (open === 100) resolve()
    await promise
    open -= 1
    return 200
  }
  await shop.sim('pay', { paymentId: id })
  await shop.sim('settle')
  assert.deepEqual([hook.heard.length, most], [100, 100])
})

for (const place of ['before', 'after'] as const) {
  test(`a false cancellation can come ${place} the success`, async () => {
    await shop.sim('modes', { mode: 'reorder', extra: 'canceled', place })
    await paid()
    const right = ['payment.canceled', 'payment.succeeded']
    assert.deepEqual(hook.events(), place === 'before' ? right : right.toReversed())
    const status = [objectOf(0).status, objectOf(1).status].toSorted()
    assert.deepEqual(status, ['canceled', 'succeeded'])
  })
}

test('an old state can be sent after the success', async () => {
  await shop.sim('modes', { mode: 'reorder', extra: 'stale', place: 'after' })
  await paid()
  assert.deepEqual(hook.events(), ['payment.succeeded', 'payment.waiting_for_capture'])
  assert.equal(objectOf(1).status, 'pending')
})

test('an early notice arrives before the shop knows the payment', async () => {
  await shop.sim('modes', { mode: 'early', orderId: 'quick' })
  const events: string[] = []
  hook.control.answer = ({ body }) => {
    events.push(String(body.event))
    return 200
  }
  const payment = await shop.pay({ metadata: { order_id: 'quick' } })
  events.push('answer')
  assert.deepEqual(events, ['payment.succeeded', 'answer'])
  assert.equal(payment.status, 'pending')
  assert.equal((await shop.get(`/payments/${payment.id}`)).body.status, 'succeeded')
  await shop.refund(payment.id, '1300.00')
  events.push('answer')
  assert.deepEqual(events.slice(2), ['refund.succeeded', 'answer'])
})

test('a stale notice reports the success with the object from before it', async () => {
  await shop.sim('modes', { mode: 'stale' })
  await paid()
  assert.deepEqual([hook.events()[0], objectOf(0).status], ['payment.succeeded', 'pending'])
})

test('a corrupted notice is not JSON', async () => {
  await shop.sim('modes', { mode: 'corrupt' })
  await paid()
  assert.match(hook.heard[0]?.text ?? '', /^\{"type":"notification"/)
  assert.throws(() => JSON.parse(hook.heard[0]?.text ?? ''))
})

test('an unknown event comes instead of the known one', async () => {
  await shop.sim('modes', { mode: 'unknown-event' })
  const id = await paid()
  assert.deepEqual([hook.events()[0], objectOf(0).id], ['payment.reconsidered', id])
})

test('a forged notice reports a success that the API does not show', async () => {
  await shop.sim('modes', { mode: 'forged', times: 1 })
  const { id } = await shop.pay()
  await shop.sim('settle')
  assert.deepEqual([objectOf(0).id, objectOf(0).status], [id, 'succeeded'])
  assert.equal((await shop.get(`/payments/${id}`)).body.status, 'pending')
  const object = { id: 'nobody', status: 'succeeded', amount: { value: '1.00', currency: 'RUB' } }
  await shop.sim('forge', { object, source: '203.0.113.66' })
  assert.deepEqual(objectOf(1), object)
  assert.equal(hook.heard[1]?.headers['x-forwarded-for'], '203.0.113.66')
  await shop.sim('forge', { paymentId: id, event: 'payment.canceled' })
  assert.deepEqual([hook.events()[2], objectOf(2).status], ['payment.canceled', 'canceled'])
  await shop.sim('pay', { paymentId: id })
  await shop.sim('settle')
  assert.deepEqual([hook.heard.length, objectOf(3).status], [4, 'succeeded'])
})

test('a notice about another shop’s payment names an object that we cannot read', async () => {
  await shop.sim('modes', { mode: 'other-shop' })
  const id = await paid()
  const { id: foreign, recipient } = objectOf(0)
  assert.notEqual(foreign, id)
  assert.deepEqual(recipient, { account_id: '999999', gateway_id: '2999999' })
  assert.equal((await shop.get(`/payments/${foreign}`)).status, 404)
})

test('an altered payment is altered in its notices too', async () => {
  const { id } = await shop.pay()
  await shop.sim('alter', { paymentId: id, value: '1300.0' })
  await shop.sim('pay', { paymentId: id })
  await shop.sim('settle')
  assert.deepEqual(objectOf(0).amount, { value: '1300.0', currency: 'RUB' })
})

test('modes for one payment come before modes for all, and end with their count', async () => {
  await shop.sim('modes', [
    { mode: 'drop' },
    { mode: 'duplicate', copies: 3, orderId: 'mine', times: 1 },
  ])
  const order = { metadata: { order_id: 'mine' } }
  await paid(order)
  await paid(order)
  assert.equal(hook.heard.length, 3)
  assert.deepEqual((await shop.see('modes')).modes, [{ mode: 'drop' }])
  await shop.sim('modes', {}, 'DELETE')
  await paid(order)
  assert.equal(hook.heard.length, 4)
})

test('an unknown mode is refused with its name', async () => {
  for (const body of [
    { mode: 'sideways' },
    { mode: 'drop', copys: 2 },
    { mode: 'delay', delayMs: 'x' },
  ]) {
    const response = await fetch(`${bank.controlUrl}/modes`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 400)
    assert.match(await response.text(), /sideways|copys|delayMs/)
  }
})

test('moving the clock once sends the expiry notices of many payments', async () => {
  await Promise.all(Array.from({ length: 40 }, () => shop.post('/payments', orderOf())))
  await shop.sim('advance', { hours: 1 })
  assert.deepEqual(new Set(hook.events()), new Set(['payment.canceled']))
  assert.equal(hook.heard.length, 40)
})
