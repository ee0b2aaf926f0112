// The shop is changed while orders of the earlier one are open: they are still credited, refunded,
// posted again and compared with its own credentials, and new orders go to the new shop.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Bank, startBank } from '../../stand-ins/bank/bank.ts'
import { createTestPayments, pack, type TestPayments } from '../../test/stages/payments.ts'
import { systemClock } from '../platform/clock.ts'
import type { OrderId } from '../platform/ids.ts'
import { Masked } from '../platform/masked.ts'
import type { Payments, Provider } from './payments.ts'
import { createYookassa } from './yookassa/yookassa.ts'

const NEW_SHOP = '200600'
const at = {
  room: undefined as unknown as TestPayments,
  other: undefined as unknown as Bank,
  changed: undefined as unknown as Payments,
}
before(async () => {
  at.room = await createTestPayments()
  at.other = await startBank({ shopId: NEW_SHOP, secretKey: 'test_other-key' })
  at.changed = at.room.open({ providers: [shopAt(at.other), shopAt(at.room.bank)] })
})
after(async () => {
  await at.room.end()
  await at.other.close()
})

function shopAt(bank: Bank): Provider {
  return createYookassa({
    ...{ url: bank.apiUrl, shopId: bank.shopId, secretKey: new Masked(bank.secretKey) },
    ...{ postTimeoutMs: 5_000, getTimeoutMs: 5_000, callsPerSecond: 10_000, hasSbpQr: false },
    ...{ notificationSources: 'any', receipt: null, env: 'test', clock: systemClock },
  })
}

async function rowOf(id: OrderId) {
  const { rows } = await at.room.db.query(
    'select shop, state, credited_by as by from orders where id = $1',
    [id],
  )
  return rows[0] as { shop: string | null; state: string; by: string | null }
}

async function paymentsAt(bank: Bank, id: OrderId): Promise<number> {
  const response = await fetch(`${bank.controlUrl}/payments?orderId=${id}`)
  return ((await response.json()) as { payments: unknown[] }).payments.length
}

function buy(payments: Payments, book: Awaited<ReturnType<TestPayments['newBook']>>) {
  return payments.buy({
    ...{ book, email: 'owner@example.org', locale: 'ru', pack, method: 'card' },
    attempt: `shop ${book} ${Math.random()}`,
    returnUrl: 'https://cabinet.example.org/orders/{order}',
  })
}

test('an order stores the shop that it was created in', async () => {
  const { id } = await at.room.buy(await at.room.newBook())
  assert.equal((await rowOf(id)).shop, at.room.bank.shopId)
  const next = await buy(at.changed, await at.room.newBook())
  assert.equal((await rowOf(next.id)).shop, NEW_SHOP)
  assert.deepEqual(
    [await paymentsAt(at.room.bank, next.id), await paymentsAt(at.other, next.id)],
    [0, 1],
  )
})

test('an order of the earlier shop is credited by sweep, check and notification', async () => {
  const ids: OrderId[] = []
  for (let i = 0; i < 3; i++) {
    const { id } = await at.room.buy(await at.room.newBook())
    await at.room.sim('pay', { orderId: id })
    ids.push(id)
  }
  const [checked, noticed, swept] = ids as [OrderId, OrderId, OrderId]
  await at.changed.check(checked)
  assert.equal((await rowOf(checked)).by, 'return')
  const { rows } = await at.room.db.query(
    'select provider_payment_id as id from orders where id = $1',
    [noticed],
  )
  const object = { id: (rows[0] as { id: string }).id, metadata: { order_id: noticed } }
  const body = JSON.stringify({ type: 'notification', event: 'payment.succeeded', object })
  const notice = { body: Buffer.from(body), headers: {}, peer: '127.0.0.1' }
  assert.equal((await at.changed.notify({ ...notice, provider: 'yookassa' })).status, 200)
  await at.changed.jobs.applyNotification()
  assert.equal((await rowOf(noticed)).by, 'webhook')
  assert.equal(await at.changed.jobs.sweep(), 2, 'both shops are swept')
  assert.equal((await rowOf(swept)).by, 'sweep')
})

test('an order from before shops were stored belongs to the earliest shop', async () => {
  const { id } = await at.room.buy(await at.room.newBook())
  await at.room.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query('update orders set shop = null where id = $1', [id])
  })
  await at.room.sim('pay', { orderId: id })
  await at.changed.check(id)
  assert.equal((await rowOf(id)).by, 'return')
})

test('a payment of the earlier shop is refunded there', async () => {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  const refund = await at.changed.requestRefund({
    ...{ order: id, attempt: 'one', by: 'owner', reason: 'asked' },
  })
  assert.notEqual(refund.state, 'canceled', refund.cancelReason ?? '')
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  const [payment] = payments as [{ refunded_amount?: { value: string } }]
  assert.equal(payment.refunded_amount?.value, '1300.00')
})

test('an order with an unknown outcome is posted again to its own shop', async () => {
  const fault = { kind: 'error', when: 'after', times: 1, probability: 1 }
  await at.room.sim('faults', { list: [fault] })
  const { id, state } = await at.room.buy(await at.room.newBook())
  assert.equal(state, 'created')
  await at.room.db.query('update orders set next_at = ledger_now() where id = $1', [id])
  await at.changed.jobs.recover()
  assert.equal((await rowOf(id)).state, 'pending')
  assert.deepEqual([await paymentsAt(at.room.bank, id), await paymentsAt(at.other, id)], [1, 0])
})

test('a period is compared in every shop', async () => {
  const [from, to] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)]
  const compared = await at.changed.reconcile({ from, to })
  assert.deepEqual(
    compared.map(({ shop, mismatches, why }) => [shop, mismatches, why]),
    [
      [NEW_SHOP, [], null],
      [at.room.bank.shopId, [], null],
    ],
  )
})

test('an order of a shop that is no longer configured is not posted elsewhere', async () => {
  const without = at.room.open({ providers: [shopAt(at.other)] })
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await without.check(id)
  assert.equal((await rowOf(id)).state, 'pending')
  await at.changed.jobs.sweep()
  assert.equal((await rowOf(id)).state, 'credited')
})
