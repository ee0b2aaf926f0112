// Saved payment methods: charged later without the payer and without 3-D Secure; their bank
// declines or delays as the test sets.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive } from './drive.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
before(async () => {
  bank = await startBank()
  shop = drive(bank)
})
beforeEach(() => shop.sim('reset'))
after(() => bank.close())

/** The id of a method that its payer saved. */
async function kept(): Promise<string> {
  const { id } = await shop.pay({ save_payment_method: true })
  await shop.sim('pay', { paymentId: id, threeDSecure: true })
  return id
}

const charge = (id: string) => shop.pay({ payment_method_id: id, confirmation: undefined })

test('a saved method is charged at once, without its payer and 3-D Secure', async () => {
  const id = await kept()
  const first = (await shop.get(`/payments/${id}`)).body
  assert.deepEqual((first.payment_method as { saved: boolean; id: string }).saved, true)
  const made = await charge(id)
  schemas.payment.parse(made)
  assert.equal(made.status, 'succeeded')
  assert.deepEqual([made.payment_method?.id, made.payment_method?.saved], [id, true])
  assert.equal(made.authorization_details?.three_d_secure.applied, false)
})

test('its bank declines or delays charges as the test sets', async () => {
  const id = await kept()
  await shop.sim('method', { paymentId: id, decline: 'insufficient_funds' })
  const declined = await charge(id)
  assert.equal(declined.status, 'canceled')
  assert.equal(declined.cancellation_details?.reason, 'insufficient_funds')
  await shop.sim('method', { paymentId: id, isSlow: true })
  const slow = await charge(id)
  assert.equal(slow.status, 'pending')
  await shop.sim('pay', { paymentId: slow.id })
  assert.equal((await shop.get(`/payments/${slow.id}`)).body.status, 'succeeded')
})

test('a method that was never saved, or that is forgotten, is refused', async () => {
  const ask = (id: string) =>
    shop.post('/payments', {
      ...{ amount: { value: '1.00', currency: 'RUB' }, capture: true, payment_method_id: id },
    })
  const plain = await shop.pay()
  await shop.sim('pay', { paymentId: plain.id })
  const id = await kept()
  await shop.sim('method', { paymentId: id, isForgotten: true })
  for (const unknown of [plain.id, id]) {
    const { status, body } = await ask(unknown)
    assert.deepEqual([status, body.parameter], [400, 'payment_method_id'])
  }
  await shop.sim('settings', { keepsMethods: false })
  assert.equal((await ask(id)).status, 403)
  await shop.sim('settings', { keepsMethods: true })
})
