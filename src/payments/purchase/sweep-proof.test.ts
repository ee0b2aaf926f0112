// A sweep that is blind reports it and heals: a watermark that the provider never showed, a payment
// that another trigger had to credit, and a payment that cannot be read. No notification arrives.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { OrderId } from '../../platform/ids.ts'
import { alarmsOf } from '../reviews/alarms.ts'

const at = { room: undefined as unknown as TestPayments, seconds: 0 }
beforeEach(async () => {
  at.seconds = 0
  at.room = await createTestPayments()
})
afterEach(() => at.room.end())

async function pass(seconds: number): Promise<void> {
  at.seconds += seconds
  await turnClock(at.room.db, `${at.seconds} seconds`)
  await at.room.sim('advance', { seconds })
}

async function sweepAfter(seconds: number): Promise<void> {
  await pass(seconds)
  assert.equal(await at.room.payments.jobs.sweep(), 1)
}

async function paid(): Promise<OrderId> {
  const { id } = await at.room.buy(await at.room.newBook())
  await at.room.sim('pay', { orderId: id })
  return id
}

async function creditedBy(id: OrderId): Promise<string | null> {
  const { rows } = await at.room.db.query('select credited_by as by from orders where id = $1', [
    id,
  ])
  return (rows[0] as { by: string | null }).by
}

/** The other check runs too, as the worker does every minute. */
async function alarms(): Promise<string[]> {
  await at.room.payments.jobs.tie()
  return alarmsOf(await at.room.payments.health()).map(({ name }) => name)
}

async function rules(): Promise<string[]> {
  const { rows } = await at.room.db.query('select rule from payment_findings order by id')
  return (rows as { rule: string }[]).map(({ rule }) => rule)
}

async function forgeWatermark(expression: string): Promise<void> {
  await at.room.db.query(`update payment_sweeps set watermark = ${expression}`)
}

test('ordinary sweeps of an empty shop and of a busy one raise no alarm', async () => {
  for (let i = 0; i < 3; i++) await sweepAfter(15)
  await paid()
  for (let i = 0; i < 3; i++) await sweepAfter(15)
  await paid()
  for (let i = 0; i < 3; i++) await sweepAfter(3_600)
  await sweepAfter(40 * 3_600)
  assert.deepEqual(await rules(), [])
  assert.deepEqual(await alarms(), [])
})

test('a watermark that the provider never showed is reported, and a day is read', async () => {
  await sweepAfter(15)
  const seen = await paid()
  await sweepAfter(15)
  const hidden = await paid()
  await pass(300)
  await forgeWatermark('ledger_now()')
  await sweepAfter(15)
  assert.deepEqual([await creditedBy(seen), await creditedBy(hidden)], ['sweep', 'sweep'])
  assert.deepEqual(await rules(), ['watermark_unproven'])
  assert.deepEqual(await alarms(), ['credits_late', 'sweep_blind'])
  await sweepAfter(15)
  assert.deepEqual(await rules(), ['watermark_unproven'], 'the healed watermark is proven')
  // An hour later; the sweeps went on meanwhile.
  for (let i = 0; i < 8; i++) await sweepAfter(500)
  assert.deepEqual(await alarms(), [])
})

test('a watermark in the future is reported too', async () => {
  await sweepAfter(15)
  await forgeWatermark(`ledger_now() + interval '10 minutes'`)
  await sweepAfter(15)
  assert.deepEqual(await alarms(), ['sweep_blind'])
})

test('the row of the version before is taken over, with its watermark', async () => {
  await sweepAfter(15)
  await paid()
  await sweepAfter(15)
  await at.room.db.query(`update payment_sweeps set shop = ''`)
  await sweepAfter(15)
  const { rows } = await at.room.db.query('select shop from payment_sweeps')
  assert.deepEqual(rows, [{ shop: at.room.bank.shopId }])
  assert.deepEqual(await rules(), [])
})

test('a payment that another trigger credits after a complete sweep is reported', async () => {
  await sweepAfter(15)
  const [first, second] = [await paid(), await paid()]
  await pass(400)
  const later = await paid()
  await at.room.payments.check(later)
  // A capture that the provider did show, so the sweep takes it for its own watermark.
  await forgeWatermark(`(select captured_at from orders where id = '${later}')`)
  await sweepAfter(15)
  assert.deepEqual([await creditedBy(first), await rules()], [null, []])
  await pass(15)
  await at.room.payments.check(first)
  assert.equal(await creditedBy(first), 'return')
  assert.deepEqual(await rules(), ['sweep_missed'])
  assert.deepEqual(await alarms(), ['credits_late', 'sweep_blind'])
  await sweepAfter(15)
  assert.equal(await creditedBy(second), 'sweep', 'the next sweep reads the last day')
})

test('a payment that its notification credits before a sweep could is no alarm', async () => {
  await sweepAfter(15)
  const id = await paid()
  await pass(10)
  await at.room.payments.check(id)
  await sweepAfter(15)
  const late = await paid()
  // No sweep runs for five minutes: the payment is late, but no sweep has missed it.
  await pass(300)
  await at.room.payments.check(late)
  assert.equal(await creditedBy(late), 'return')
  assert.deepEqual(await rules(), [])
})

test('one unreadable payment delays neither the others nor the watermark', async () => {
  await sweepAfter(15)
  const [one, broken, two] = [await paid(), await paid(), await paid()]
  await at.room.sim('alter', { orderId: broken, members: { recipient: null } })
  await sweepAfter(15)
  assert.deepEqual([await creditedBy(one), await creditedBy(two)], ['sweep', 'sweep'])
  const { rows } = await at.room.db.query('select failures, swept_at from payment_sweeps')
  assert.equal((rows[0] as { failures: number }).failures, 0)
  assert.deepEqual(await rules(), ['payment_unreadable'])
  assert.deepEqual(await alarms(), ['money_differs'])
  for (let i = 0; i < 20; i++) await sweepAfter(30)
  await at.room.payments.jobs.recheck()
  assert.deepEqual(await alarms(), ['money_differs'], 'it is unreadable still')
  await at.room.sim('alter', { orderId: broken, isUndone: true })
  await pass(300)
  await at.room.payments.jobs.sweep()
  await at.room.payments.jobs.recheck()
  assert.ok((await creditedBy(broken)) !== null)
  assert.deepEqual((await alarms()).includes('money_differs'), false)
})
