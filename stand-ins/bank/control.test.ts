// The control calls and the console: what payers, banks and staff can do, what the record shows,
// and objects that the provider shows with altered values.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive } from './drive.ts'
import type { JsonObject } from './json.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
before(async () => {
  bank = await startBank({ isTest: false, shopName: 'Shop & Sons' })
  shop = drive(bank)
})
beforeEach(() => shop.sim('reset'))
after(() => bank.close())

const read = async (id: string) => (await shop.get(`/payments/${id}`)).body
const refuse = async (act: string, body: JsonObject) => {
  const response = await fetch(`${bank.controlUrl}/${act}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return response.status
}

test('a shop that is not a test shop marks its payments so', async () => {
  assert.equal((await shop.pay()).test, false)
  await shop.sim('settings', { isTest: true })
  assert.equal((await shop.pay()).test, true)
  await shop.sim('settings', { isTest: false })
})

test('a declined attempt leaves the payment open, a final one ends it', async () => {
  const { id } = await shop.pay()
  await shop.sim('decline', { paymentId: id, reason: 'invalid_csc', isFinal: false })
  assert.equal((await read(id)).status, 'pending')
  const [seen] = (await shop.see(`payments?paymentId=${id}`)).payments as JsonObject[]
  assert.match(JSON.stringify(seen?.sim), /"reason":"invalid_csc"/)
  await shop.sim('decline', { paymentId: id, reason: 'country_forbidden' })
  const canceled = schemas.payment.parse(await read(id))
  assert.ok(canceled.status === 'canceled')
  assert.deepEqual(canceled.cancellation_details, {
    party: 'yoo_money',
    reason: 'country_forbidden',
  })
})

test('a payment is found by its order, and can expire or be canceled at will', async () => {
  const first = await shop.pay({ metadata: { order_id: 'a' } })
  const second = await shop.pay({ metadata: { order_id: 'b' } })
  await shop.sim('expire', { orderId: 'a' })
  await shop.sim('cancel', { orderId: 'b', party: 'yoo_money', reason: 'internal_timeout' })
  const reasons = await Promise.all([first.id, second.id].map(read))
  assert.deepEqual(
    reasons.map(({ cancellation_details }) => Object(cancellation_details).reason),
    ['expired_on_confirmation', 'internal_timeout'],
  )
})

test('no act changes a final payment', async () => {
  const { id } = await shop.pay()
  await shop.sim('pay', { paymentId: id })
  for (const act of ['pay', 'decline', 'expire', 'cancel']) {
    assert.equal(await refuse(act, { paymentId: id }), 400)
  }
  assert.equal((await read(id)).status, 'succeeded')
})

test('a payment limited to one method cannot be paid by the other', async () => {
  const sbp = await shop.pay({ payment_method_data: { type: 'sbp' } })
  assert.equal(await refuse('pay', { paymentId: sbp.id, method: 'bank_card' }), 400)
  const held = await shop.pay({ capture: false })
  assert.equal(await refuse('pay', { paymentId: held.id, method: 'sbp' }), 400)
})

test('an altered object is shown exactly as given, in reads and in lists', async () => {
  const { id } = await shop.pay({ metadata: { order_id: 'a' } })
  await shop.sim('pay', { paymentId: id })
  const metadata = { order_id: 'another' }
  const altered = { value: '1300.0', currency: 'USD', test: true, metadata, shopId: '7' }
  await shop.sim('alter', { paymentId: id, ...altered, members: { status: 'unheard_of' } })
  const listed = (await shop.get('/payments')).body.items as JsonObject[]
  for (const shown of [await read(id), listed[0]]) {
    assert.deepEqual(shown?.amount, { value: '1300.0', currency: 'USD' })
    assert.deepEqual([shown?.test, shown?.status], [true, 'unheard_of'])
    assert.deepEqual([shown?.metadata, Object(shown?.recipient).account_id], [metadata, '7'])
  }
  await shop.sim('alter', { paymentId: id, isUndone: true })
  assert.equal(schemas.payment.parse(await read(id)).amount.value, '1300.00')
  const refund = await shop.refund(id, '5.00')
  await shop.sim('alter', { refundId: refund.id, value: '6.00' })
  assert.equal(Object((await shop.get(`/refunds/${refund.id}`)).body.amount).value, '6.00')
})

test('calls are recorded with key, order, answer and body', async () => {
  await shop.pay({ metadata: { order_id: 'a' } }, { key: 'k-1' })
  await shop.get('/payments?limit=5')
  const calls = (await shop.see('calls')).calls as JsonObject[]
  assert.deepEqual(
    calls.map(({ method, path, key, orderId, status }) => [method, path, key, orderId, status]),
    [
      ['POST', '/v3/payments', 'k-1', 'a', 200],
      ['GET', '/v3/payments?limit=5', null, null, 200],
    ],
  )
  assert.match(String(calls[0]?.body), /"order_id":"a"/)
  const one = (await shop.see('calls?orderId=a&last=1')).calls
  assert.deepEqual(one, [calls[0]])
})

test('a shorter payer term can be set for payments to come', async () => {
  await shop.sim('settings', { payerTermMs: 60_000 })
  const { id } = await shop.pay()
  await shop.sim('advance', { minutes: 1 })
  assert.equal((await read(id)).status, 'canceled')
  await shop.sim('settings', { payerTermMs: 3_600_000 })
})

test('unknown acts, payments and settings are refused', async () => {
  assert.equal(await refuse('dance', {}), 404)
  assert.equal(await refuse('pay', { paymentId: 'nobody' }), 404)
  assert.equal(await refuse('pay', {}), 404)
  assert.equal(await refuse('settings', { shopName: 7 }), 400)
  assert.equal(await refuse('settings', { colour: 'red' }), 400)
  assert.equal(await refuse('complete-refund', { refundId: 'nobody' }), 404)
})

test('the console shows payments, escapes what strangers wrote, and its buttons work', async () => {
  const { id } = await shop.pay({ description: '<script>alert(1)</script>' })
  const page = await (await fetch(bank.url)).text()
  assert.ok(page.includes(id) && !page.includes('<script>'))
  const form = new URLSearchParams({ paymentId: id, method: 'bank_card' })
  const pressed = await fetch(`${bank.controlUrl}/pay`, {
    method: 'POST',
    body: form,
    redirect: 'manual',
  })
  assert.deepEqual([pressed.status, pressed.headers.get('location')], [303, '/'])
  assert.equal((await read(id)).status, 'succeeded')
})

test('the payment page is served under the address that the API named', async () => {
  const { confirmation } = await shop.pay()
  assert.ok(confirmation?.type === 'redirect')
  const page = await fetch(confirmation.confirmation_url)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
})

test('a reset deletes everything but the shop and the time', async () => {
  await shop.pay({}, { key: 'k' })
  await shop.sim('faults', { kind: 'error' })
  const before = await shop.see('state')
  await shop.sim('reset')
  const state = await shop.see('state')
  assert.deepEqual(state.counts, { payments: 0, refunds: 0, deliveries: 0, calls: 0 })
  assert.deepEqual(state.settings, before.settings)
  assert.ok(String(state.now) >= String(before.now))
  assert.equal((await shop.get('/me')).status, 200)
})

test('a dispute is an e-mail to the shop, and changes nothing of the API', async () => {
  const { id } = await shop.pay()
  assert.equal(await refuse('dispute', { paymentId: id }), 400, 'nothing was paid')
  await shop.sim('pay', { paymentId: id })
  const before = await read(id)
  const letter = await shop.sim('dispute', { paymentId: id, days: 5 })
  assert.match(String(letter.text), new RegExp(`Номер платежа: ${id}\n[\\s\\S]*до 20\\d\\d-`))
  assert.deepEqual(await read(id), before)
})
