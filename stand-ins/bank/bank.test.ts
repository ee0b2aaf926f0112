// The provider's API over HTTP: the life of a payment, idempotency keys, refunds, receipts. Every
// answer is checked against the schemas of its reference.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive, orderOf } from './drive.ts'
import type { JsonObject } from './json.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
before(async () => {
  bank = await startBank()
  shop = drive(bank)
})
beforeEach(() => shop.sim('reset'))
after(() => bank.close())

const read = async (id: string) => schemas.payment.parse((await shop.get(`/payments/${id}`)).body)
const dayMs = 24 * 3_600_000
const paid = async (members: JsonObject = {}, how: JsonObject = {}) => {
  const { id } = await shop.pay(members)
  await shop.sim('pay', { paymentId: id, ...how })
  return id
}

test('a new payment is pending and says where the payer confirms it', async () => {
  const metadata = { order_id: 'o-1', env: 'test' }
  const made = schemas.payment.parse(await shop.pay({ description: 'Pack', metadata }))
  assert.equal(made.status, 'pending')
  assert.deepEqual(made.amount, { value: '1300.00', currency: 'RUB' })
  assert.deepEqual(made.metadata, metadata)
  assert.deepEqual(made.recipient.account_id, bank.shopId)
  assert.equal(made.test, true)
  assert.deepEqual(made.confirmation, {
    type: 'redirect',
    confirmation_url: `${bank.url}/pay/${made.id}`,
    return_url: 'https://shop.example/back',
  })
  assert.deepEqual(await read(made.id), made)
})

test('a QR confirmation carries a link for the phone, an embedded one a token', async () => {
  const method = { payment_method_data: { type: 'sbp' } }
  const qr = schemas.payment.parse(await shop.pay({ ...method, confirmation: { type: 'qr' } }))
  assert.ok(qr.status === 'pending' && qr.confirmation?.type === 'qr')
  const link = new URL(qr.confirmation.confirmation_data)
  assert.equal(link.pathname, `/sbp/${qr.id}`)
  assert.equal(link.searchParams.get('sum'), '130000')
  const embedded = schemas.payment.parse(await shop.pay({ confirmation: { type: 'embedded' } }))
  assert.ok(embedded.status === 'pending' && embedded.confirmation?.type === 'embedded')
})

test('a card payment that is captured at once goes straight to succeeded', async () => {
  const id = await paid({}, { method: 'bank_card', threeDSecure: true, card: { last4: '4477' } })
  const payment = await read(id)
  assert.ok(payment.status === 'succeeded' && payment.payment_method.type === 'bank_card')
  assert.equal(payment.payment_method.card.last4, '4477')
  assert.equal(payment.authorization_details.three_d_secure.applied, true)
  assert.deepEqual(payment.income_amount, { value: '1244.49', currency: 'RUB' })
  assert.deepEqual([payment.refundable, payment.refunded_amount], [true, undefined])
})

test('an SBP payment names the operation and the bank of the payer', async () => {
  const id = await paid({ payment_method_data: { type: 'sbp' } }, { method: 'sbp' })
  const payment = await read(id)
  assert.ok(payment.status === 'succeeded' && payment.payment_method.type === 'sbp')
})

test('a held payment waits with a deadline, and capture or cancel ends it', async () => {
  const held = await paid({ capture: false })
  const waiting = await read(held)
  assert.equal(waiting.status, 'waiting_for_capture')
  const part = { amount: { value: '900.00', currency: 'RUB' } }
  const captured = schemas.payment.parse((await shop.post(`/payments/${held}/capture`, part)).body)
  assert.deepEqual([captured.status, captured.amount.value], ['succeeded', '900.00'])
  assert.equal((await shop.post(`/payments/${held}/capture`, {})).status, 400)

  const other = await paid({ capture: false })
  const canceled = schemas.payment.parse((await shop.post(`/payments/${other}/cancel`)).body)
  assert.ok(canceled.status === 'canceled')
  assert.deepEqual(canceled.cancellation_details, {
    party: 'merchant',
    reason: 'canceled_by_merchant',
  })

  const forgotten = await paid({ capture: false })
  await shop.sim('advance', { ms: 7 * dayMs })
  const lapsed = await read(forgotten)
  assert.ok(lapsed.status === 'canceled')
  assert.equal(lapsed.cancellation_details.reason, 'expired_on_capture')
})

test('a pending payment cannot be withdrawn by the shop', async () => {
  const { id } = await shop.pay()
  const answer = await shop.post(`/payments/${id}/cancel`)
  assert.equal(schemas.error.parse(answer.body).parameter, 'payment_id')
  assert.deepEqual([answer.status, (await read(id)).status], [400, 'pending'])
})

test('the payer has one hour, then the payment is canceled for good', async () => {
  const { id } = await shop.pay()
  await shop.sim('advance', { minutes: 59 })
  assert.equal((await read(id)).status, 'pending')
  await shop.sim('advance', { minutes: 1 })
  const lapsed = await read(id)
  assert.ok(lapsed.status === 'canceled')
  assert.deepEqual(lapsed.cancellation_details, {
    party: 'yoo_money',
    reason: 'expired_on_confirmation',
  })
})

test('a key creates one payment, and its repeat returns the payment’s current state', async () => {
  const ask = { key: 'order-1' }
  const first = await shop.pay({}, ask)
  await shop.sim('pay', { paymentId: first.id })
  const body = { ...orderOf(), amount: { currency: 'RUB', value: '1300.00' } }
  const again = await shop.post('/payments', body, ask)
  assert.deepEqual([again.body.id, again.body.status], [first.id, 'succeeded'])
})

test('a key with other parameters is refused', async () => {
  await shop.pay({}, { key: 'order-1' })
  const other = await shop.post('/payments', orderOf({ description: 'x' }), { key: 'order-1' })
  const refused = schemas.error.parse(other.body)
  assert.deepEqual([other.status, refused.parameter], [400, 'Idempotence-Key'])
})

test('fifty calls at once with one key give one payment', async () => {
  const calls = Array.from({ length: 50 }, () => shop.pay({}, { key: 'together' }))
  const ids = new Set((await Promise.all(calls)).map(({ id }) => id))
  assert.equal(ids.size, 1)
})

test('after 24 hours the same key makes a new payment', async () => {
  const ask = { key: 'old' }
  const { id } = await shop.pay({}, ask)
  await shop.sim('advance', { ms: dayMs - 60_000 })
  assert.equal((await shop.pay({}, ask)).id, id)
  await shop.sim('advance', { ms: 60_000 })
  assert.notEqual((await shop.pay({}, ask)).id, id)
})

test('a refused request leaves its key unused', async () => {
  const ask = { key: 'second-try' }
  const bad = orderOf({ amount: { value: '1300', currency: 'RUB' } })
  assert.equal((await shop.post('/payments', bad, ask)).status, 400)
  await shop.pay({}, ask)
})

test('refunds go up to the remainder, in parts, and the payment stays succeeded', async () => {
  const id = await paid()
  const first = schemas.refund.parse(await shop.refund(id, '300.00', { key: 'r1' }))
  assert.equal(first.status, 'succeeded')
  assert.equal((await shop.refund(id, '300.00', { key: 'r1' })).id, first.id)
  const tooMuch = { payment_id: id, amount: { value: '1000.01', currency: 'RUB' } }
  const refused = await shop.post('/refunds', tooMuch)
  assert.equal(schemas.error.parse(refused.body).parameter, 'amount')
  await shop.refund(id, '1000.00')
  const payment = await read(id)
  assert.ok(payment.status === 'succeeded')
  assert.equal(payment.refunded_amount?.value, '1300.00')
  assert.equal(payment.refundable, false)
  const all = schemas.listOf(schemas.refund).parse((await shop.get('/refunds')).body)
  assert.deepEqual(
    all.items.map(({ amount }) => amount.value),
    ['1000.00', '300.00'],
  )
})

test('a pending refund holds its share until it is completed or canceled', async () => {
  const id = await paid({}, { method: 'sbp' })
  await shop.sim('hold-refunds', { paymentId: id })
  const refund = await shop.refund(id, '1300.00')
  assert.equal(refund.status, 'pending')
  const more = { payment_id: id, amount: { value: '1.00', currency: 'RUB' } }
  assert.equal((await shop.post('/refunds', more)).status, 400)
  await shop.sim('cancel-refund', { refundId: refund.id, reason: 'insufficient_funds' })
  const canceled = schemas.refund.parse((await shop.get(`/refunds/${refund.id}`)).body)
  assert.equal(canceled.cancellation_details?.reason, 'insufficient_funds')
  const second = await shop.refund(id, '1300.00')
  await shop.sim('complete-refund', { refundId: second.id })
  const done = schemas.refund.parse((await shop.get(`/refunds/${second.id}`)).body)
  assert.equal(done.status, 'succeeded')
  assert.match(done.refund_method?.sbp_operation_id ?? '', /^[0-9A-F]{32}$/)
})

test('only a succeeded payment younger than three years can be refunded', async () => {
  const { id } = await shop.pay()
  const body = (paymentId: string) => ({
    payment_id: paymentId,
    amount: { value: '1.00', currency: 'RUB' },
  })
  assert.equal((await shop.post('/refunds', body(id))).status, 400)
  assert.equal((await shop.post('/refunds', body('nobody'))).status, 400)
  const old = await paid()
  await shop.sim('advance', { ms: 3 * 365 * dayMs + 1000 })
  assert.equal((await shop.post('/refunds', body(old))).status, 400)
})

test('a receipt is registered with the money and found by payment and by refund', async () => {
  const item = { description: 'Pack', quantity: 1, vat_code: 11, measure: 'piece' }
  const receiptOf = (value: string) => ({
    customer: { email: 'payer@example.com' },
    items: [{ ...item, amount: { value, currency: 'RUB' } }],
  })
  const id = await paid({ receipt: receiptOf('1300.00') })
  assert.equal((await read(id)).receipt_registration, 'succeeded')
  const amount = { value: '300.00', currency: 'RUB' }
  const body = { payment_id: id, amount, receipt: receiptOf('300.00') }
  const refund = schemas.refund.parse((await shop.post('/refunds', body)).body)
  const list = schemas.listOf(schemas.receipt)
  const ofRefund = list.parse((await shop.get(`/receipts?refund_id=${refund.id}`)).body)
  const ofPayment = list.parse((await shop.get(`/receipts?payment_id=${id}`)).body)
  assert.deepEqual(
    ofPayment.items.map(({ type }) => type),
    ['refund', 'payment'],
  )
  const one = await shop.get(`/receipts/${ofRefund.items[0]?.id}`)
  assert.deepEqual(schemas.receipt.parse(one.body), ofRefund.items[0])
  await shop.sim('receipt', { paymentId: id, status: 'canceled' })
  assert.equal((await read(id)).receipt_registration, 'canceled')
})

test('the shop can read its own details', async () => {
  const { body } = await shop.get('/me')
  assert.deepEqual([body.account_id, body.status, body.test], [bank.shopId, 'enabled', true])
  assert.deepEqual(body.payment_methods, ['bank_card', 'sbp'])
})

test('one of three payments has unknown members', async () => {
  const made = [await shop.pay(), await shop.pay(), await shop.pay()]
  assert.equal(made.filter((payment) => 'novelty' in payment).length, 1)
})

test('five hundred orders at once are placed and paid, each on its own', async () => {
  const ids = await Promise.all(Array.from({ length: 500 }, () => paid()))
  const listed: string[] = []
  for (let cursor = '', pages = 0; pages < 5; pages += 1) {
    const { body } = await shop.get(`/payments?status=succeeded&limit=100${cursor}`)
    const page = schemas.listOf(schemas.payment).parse(body)
    listed.push(...page.items.map(({ id }) => id))
    cursor = `&cursor=${page.next_cursor}`
  }
  assert.deepEqual(new Set(listed), new Set(ids))
  assert.equal(new Set(ids).size, 500)
})
