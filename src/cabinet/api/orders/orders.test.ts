// Orders, refunds and promo codes over HTTP, with the bank's stand-in and the real ledger.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../../test/stages/cabinet.ts'
import { systemClock } from '../../../platform/clock.ts'
import { credits } from '../../../units/credits.ts'
import type { Order, OrderWithRefunds, Pack, Refund, Refundable } from '../../contract/contract.ts'
import { declineOf } from './declines.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

const UNKNOWN_ORDER = `pay_${'0'.repeat(12)}7000a${'0'.repeat(15)}`

test('lists packs with their price per million credits, saving and payment methods', async () => {
  const own = await at.stage.person('packs')
  const { body } = await own.expectOk<{ catalogueVersion: number; packs: Pack[] }>('GET /api/packs')
  assert.equal(body.catalogueVersion, 1)
  assert.deepEqual(body.packs[0], {
    id: 'pack-35m',
    name: { ru: '35 млн кредитов', en: '35 million credits' },
    credits: { whole: '35000000', exact: '35000000' },
    priceKopecks: '130000',
    // 3714.28… rounded up, so that no pack looks cheaper than it is.
    kopecksPerMillion: '3715',
    savingPercent: 0,
    methods: ['sbp', 'card'],
  })
  assert.deepEqual(
    body.packs.map((pack) => pack.savingPercent),
    [0, 5, 11],
  )
})

test('an order has a confirmation URL, and is credited when paid', async () => {
  const { person, sim, payments } = at.stage
  const own = await person('buyer')
  const purchase = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  const { body: order } = await own.expectOk<Order>('POST /api/orders', purchase)
  assert.equal(order.state, 'pending')
  assert.match(order.confirmation?.value ?? '', /\/pay\//)
  assert.deepEqual(
    [order.priceKopecks, order.pack.credits.whole, order.decline, order.receipt],
    ['130000', '35000000', null, null],
  )
  const { body: again } = await own.expectOk<Order>('POST /api/orders', purchase)
  assert.equal(again.id, order.id, 'a second click makes no second order')
  await sim('pay', { orderId: order.id })
  await sim('settle')
  await payments.jobs.applyNotification()
  const { body: paid } = await own.expectOk<OrderWithRefunds>(`GET /api/orders/${order.id}`)
  assert.deepEqual([paid.state, paid.confirmation, paid.refunds], ['credited', null, []])
  assert.ok(Date.parse(paid.creditedAt ?? '') > 0)
})

test('the payer’s own check finds the payment when every notification is lost', async () => {
  const { person, sim, db } = at.stage
  const own = await person('checker')
  const purchase = { pack: 'pack-35m', method: 'sbp', attempt: 'one' }
  const { body: order } = await own.expectOk<Order>('POST /api/orders', purchase)
  await sim('modes', { mode: 'drop', orderId: order.id })
  await sim('pay', { orderId: order.id })
  await db.query('update orders set looked_at = null where id = $1', [order.id])
  const { body } = await own.expectOk<Order>(`POST /api/orders/${order.id}/check`)
  assert.equal(body.state, 'credited')
})

test('a canceled payment shows one of our decline reasons, with advice', async () => {
  const { person, sim, payments } = at.stage
  const own = await person('declined')
  const purchase = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  const { body: order } = await own.expectOk<Order>('POST /api/orders', purchase)
  await sim('decline', { orderId: order.id, reason: 'insufficient_funds' })
  await sim('settle')
  await payments.jobs.applyNotification()
  const { body } = await own.expectOk<Order>(`GET /api/orders/${order.id}`)
  assert.deepEqual(body.decline, {
    reason: 'insufficient_funds',
    advice: 'top_up_or_other_card',
  })
  const reasons = ['3d_secure_failed', 'a reason added next year', 'constructor', null].map(
    (cancelReason) => declineOf({ state: 'canceled', cancelReason })?.reason,
  )
  const none = 'no_reason_given'
  assert.deepEqual(reasons, ['bank_check_failed', none, none, none])
  assert.equal(declineOf({ state: 'failed', cancelReason: '400' })?.reason, 'provider_failed')
})

test('another owner’s order gets the same answer as one that does not exist', async () => {
  const { person, buyPack } = at.stage
  const [owner, stranger] = [await person('owner'), await person('stranger')]
  const { id } = await buyPack(owner)
  for (const order of [id, UNKNOWN_ORDER, 'pay_x', '..%2f..']) {
    const requests = [
      [`GET /api/orders/${order}`],
      [`POST /api/orders/${order}/check`],
      [`GET /api/orders/${order}/refundable`],
      [`POST /api/orders/${order}/refund`, { attempt: 'x' }],
    ] as const
    for (const [route, body] of requests) {
      assert.equal(await stranger.refusal(route, body), '404 order_unknown', route)
    }
  }
  const { body } = await stranger.expectOk<{ orders: Order[] }>('GET /api/orders')
  assert.deepEqual(body.orders, [])
})

test('refuses wrong purchases with a code for each reason', async () => {
  const own = await at.stage.person('wrong')
  const purchase = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  await own.expectOk('POST /api/orders', purchase)
  const cases = [
    [{ ...purchase, pack: 'pack-nothing' }, '404 pack_unknown'],
    [{ ...purchase, pack: 'pack-100m' }, '409 order_attempt_reused'],
    [{ ...purchase, method: 'cash' }, '400 field_invalid'],
    [{ ...purchase, attempt: 'a b' }, '400 field_invalid'],
    [{ pack: 'pack-35m' }, '400 field_invalid'],
    ['[', '400 field_invalid'],
    ['null', '400 field_invalid'],
  ] as const
  for (const [body, refusal] of cases) {
    assert.equal(await own.refusal('POST /api/orders', body), refusal, JSON.stringify(body))
  }
  const { body } = await own.send<{ error: { field?: string } }>('POST /api/orders', {
    ...purchase,
    method: 'cash',
  })
  assert.equal(body.error.field, 'method')
})

test('a page of orders has the cursor of the next page', async () => {
  const own = await at.stage.person('history')
  for (const attempt of ['1', '2', '3']) {
    const pack = attempt === '2' ? 'pack-100m' : 'pack-35m'
    await own.expectOk('POST /api/orders', {
      pack,
      method: attempt === '3' ? 'sbp' : 'card',
      attempt,
    })
  }
  type Page = { orders: Order[]; next: string | null }
  const { body: first } = await own.expectOk<Page>('GET /api/orders?limit=2')
  assert.deepEqual([first.orders.length, first.next], [2, first.orders[1]?.id])
  const { body: rest } = await own.expectOk<Page>(`GET /api/orders?limit=2&before=${first.next}`)
  assert.deepEqual([rest.orders.length, rest.next], [1, null])
  assert.equal(new Set([...first.orders, ...rest.orders].map(({ id }) => id)).size, 3)
  for (const query of ['limit=0', 'limit=101', 'limit=x']) {
    assert.equal(await own.refusal(`GET /api/orders?${query}`), '400 field_invalid')
  }
})

test('the unspent part can be refunded, with a recent proof, once per attempt', async () => {
  const { person, buyPack, spend, clockShift, ledger } = at.stage
  const own = await person('refund')
  const { id } = await buyPack(own)
  await spend(own.book, 14_000_000)
  const { body: refundable } = await own.expectOk<Refundable>(`GET /api/orders/${id}/refundable`)
  assert.deepEqual(
    [refundable.amountKopecks, refundable.credits.whole, refundable.why],
    ['78000', '21000000', null],
  )
  clockShift.ms = 11 * 60_000
  const stale = await own.refusal(`POST /api/orders/${id}/refund`, { attempt: 'one' })
  clockShift.ms = 0
  assert.equal(stale, '403 step_up_needed')
  const route = `POST /api/orders/${id}/refund`
  const { body: part } = await own.expectOk<Refund>(route, {
    attempt: 'one',
    amountKopecks: '8000',
  })
  assert.deepEqual([part.amountKopecks, part.order], ['8000', id])
  const { body: same } = await own.expectOk<Refund>(route, { attempt: 'one' })
  assert.equal(same.id, part.id)
  const { body: rest } = await own.expectOk<Refund>(route, { attempt: 'two' })
  assert.equal(rest.amountKopecks, '70000')
  assert.equal((await ledger.balance(own.book))?.available, 0n)
  const { body: nothing } = await own.expectOk<Refundable>(`GET /api/orders/${id}/refundable`)
  assert.equal(nothing.why, 'refunded', 'not that its credits were spent')
  assert.equal(await own.refusal(route, { attempt: 'three' }), '409 refund_refused')
  assert.equal(
    await own.refusal(route, { attempt: 'x', amountKopecks: '1.5' }),
    '400 field_invalid',
  )
  const { body: order } = await own.expectOk<OrderWithRefunds>(`GET /api/orders/${id}`)
  assert.deepEqual(
    [order.refunds.length, order.refundedKopecks, order.state],
    [2, '78000', 'partially_refunded'],
  )
})

test('an order says how many of its credits are left, spent or refunded', async () => {
  const { person, buyPack, spend } = at.stage
  const own = await person('unspent')
  const { id } = await buyPack(own)
  const unspent = async () => {
    const { body: page } = await own.expectOk<{ orders: OrderWithRefunds[] }>('GET /api/orders')
    const { body: order } = await own.expectOk<OrderWithRefunds>(`GET /api/orders/${id}`)
    assert.deepEqual(page.orders[0]?.unspent, order.unspent)
    return order.unspent?.whole
  }
  assert.equal(await unspent(), '35000000')
  await spend(own.book, 14_000_000)
  assert.equal(await unspent(), '21000000')
  await own.expectOk(`POST /api/orders/${id}/refund`, { attempt: 'one' })
  assert.equal(await unspent(), '0')
  const waiting = { pack: 'pack-35m', method: 'card', attempt: 'waiting' }
  const { body: order } = await own.expectOk<Order>('POST /api/orders', waiting)
  const { body: read } = await own.expectOk<OrderWithRefunds>(`GET /api/orders/${order.id}`)
  assert.equal(read.unspent, null, 'it was never credited')
})

test('a promo code works once; wrong and used codes get the same answer', async () => {
  const { person, payments } = at.stage
  const own = await person('promo')
  const [startsAt, endsAt] = [new Date(systemClock.nowMs() - 1_000), new Date('2100-01-01')]
  await payments.createPromo({
    ...{ code: 'WELCOME', credits: credits(1_000), redemptionsMax: 10, startsAt, endsAt },
    ...{ by: 'a test', note: '' },
  })
  const { body } = await own.expectOk('POST /api/promo', { code: ' welcome ' })
  assert.deepEqual(body, { credits: { whole: '1000', exact: '1000' } })
  assert.equal(await own.refusal('POST /api/promo', { code: 'WELCOME' }), '409 promo_refused')
  for (let tries = 0; tries < 8; tries += 1) {
    assert.equal(await own.refusal('POST /api/promo', { code: 'GUESS-1' }), '409 promo_refused')
  }
  assert.equal(
    await own.refusal('POST /api/promo', { code: 'GUESS-1' }),
    '429 promo_attempts_exceeded',
  )
})
