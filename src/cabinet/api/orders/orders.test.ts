// Buying and giving back over HTTP: with the bank's stand-in, real tables and the real ledger.
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

const NOBODYS = `pay_${'0'.repeat(12)}7000a${'0'.repeat(15)}`

test('packs say what a million costs, what they save, and how they can be paid', async () => {
  const own = await at.stage.person('packs')
  const { body } = await own.must<{ catalogueVersion: number; packs: Pack[] }>('GET /api/packs')
  assert.equal(body.catalogueVersion, 1)
  assert.deepEqual(body.packs[0], {
    id: 'pack-35m',
    name: '35 million credits',
    credits: { whole: '35000000', exact: '35000000' },
    priceKopecks: '130000',
    // 3714.28…, and no pack looks cheaper than it is.
    kopecksPerMillion: '3715',
    savingPercent: 0,
    methods: ['sbp', 'card'],
  })
  assert.deepEqual(
    body.packs.map((pack) => pack.savingPercent),
    [0, 5, 11],
  )
})

test('an order says where to pay it, is credited when paid, and is listed', async () => {
  const { person, sim, payments } = at.stage
  const own = await person('buyer')
  const ask = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  const { body: order } = await own.must<Order>('POST /api/orders', ask)
  assert.equal(order.state, 'pending')
  assert.match(order.confirmation?.value ?? '', /\/pay\//)
  assert.deepEqual(
    [order.priceKopecks, order.pack.credits.whole, order.decline, order.receipt],
    ['130000', '35000000', null, null],
  )
  const { body: again } = await own.must<Order>('POST /api/orders', ask)
  assert.equal(again.id, order.id, 'a second click makes no second order')
  await sim('pay', { orderId: order.id })
  await sim('settle')
  await payments.jobs.applyNotification()
  const { body: paid } = await own.must<OrderWithRefunds>(`GET /api/orders/${order.id}`)
  assert.deepEqual([paid.state, paid.confirmation, paid.refunds], ['credited', null, []])
  assert.ok(Date.parse(paid.creditedAt ?? '') > 0)
})

test('the payer’s own check finds the payment when every notice is lost', async () => {
  const { person, sim, db } = at.stage
  const own = await person('checker')
  const ask = { pack: 'pack-35m', method: 'sbp', attempt: 'one' }
  const { body: order } = await own.must<Order>('POST /api/orders', ask)
  await sim('modes', { mode: 'drop', orderId: order.id })
  await sim('pay', { orderId: order.id })
  await db.query('update orders set looked_at = null where id = $1', [order.id])
  const { body } = await own.must<Order>(`POST /api/orders/${order.id}/check`)
  assert.equal(body.state, 'credited')
})

test('a canceled payment says why in the closed list, and what to do', async () => {
  const { person, sim, payments } = at.stage
  const own = await person('declined')
  const ask = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  const { body: order } = await own.must<Order>('POST /api/orders', ask)
  await sim('decline', { orderId: order.id, reason: 'insufficient_funds' })
  await sim('settle')
  await payments.jobs.applyNotification()
  const { body } = await own.must<Order>(`GET /api/orders/${order.id}`)
  assert.deepEqual(body.decline, {
    reason: 'insufficient_funds',
    advice: 'top_up_or_other_card',
  })
  const reasons = ['3d_secure_failed', 'a word of next year', 'constructor', null].map(
    (cancelReason) => declineOf({ state: 'canceled', cancelReason })?.reason,
  )
  const none = 'no_reason_given'
  assert.deepEqual(reasons, ['bank_check_failed', none, none, none])
  assert.equal(declineOf({ state: 'failed', cancelReason: '400' })?.reason, 'provider_failed')
})

test('somebody else’s order is as unknown as one that never was', async () => {
  const { person, bought } = at.stage
  const [owner, stranger] = [await person('owner'), await person('stranger')]
  const { id } = await bought(owner)
  for (const order of [id, NOBODYS, 'pay_x', '..%2f..']) {
    const asks = [
      [`GET /api/orders/${order}`],
      [`POST /api/orders/${order}/check`],
      [`GET /api/orders/${order}/refundable`],
      [`POST /api/orders/${order}/refund`, { attempt: 'x' }],
    ] as const
    for (const [route, body] of asks) {
      assert.equal(await stranger.no(route, body), '404 order_unknown', route)
    }
  }
  const { body } = await stranger.must<{ orders: Order[] }>('GET /api/orders')
  assert.deepEqual(body.orders, [])
})

test('what cannot be bought is refused by name', async () => {
  const own = await at.stage.person('wrong')
  const ask = { pack: 'pack-35m', method: 'card', attempt: 'one' }
  await own.must('POST /api/orders', ask)
  const cases = [
    [{ ...ask, pack: 'pack-nothing' }, '404 pack_unknown'],
    [{ ...ask, pack: 'pack-100m' }, '409 order_attempt_reused'],
    [{ ...ask, method: 'cash' }, '400 field_invalid'],
    [{ ...ask, attempt: 'a b' }, '400 field_invalid'],
    [{ pack: 'pack-35m' }, '400 field_invalid'],
    ['[', '400 field_invalid'],
    ['null', '400 field_invalid'],
  ] as const
  for (const [body, no] of cases) {
    assert.equal(await own.no('POST /api/orders', body), no, JSON.stringify(body))
  }
  const { body } = await own.ask<{ error: { field?: string } }>('POST /api/orders', {
    ...ask,
    method: 'cash',
  })
  assert.equal(body.error.field, 'method')
})

test('history has no end: a page names where the next one begins', async () => {
  const own = await at.stage.person('history')
  for (const attempt of ['1', '2', '3']) {
    const pack = attempt === '2' ? 'pack-100m' : 'pack-35m'
    await own.must('POST /api/orders', { pack, method: attempt === '3' ? 'sbp' : 'card', attempt })
  }
  type Page = { orders: Order[]; next: string | null }
  const { body: first } = await own.must<Page>('GET /api/orders?limit=2')
  assert.deepEqual([first.orders.length, first.next], [2, first.orders[1]?.id])
  const { body: rest } = await own.must<Page>(`GET /api/orders?limit=2&before=${first.next}`)
  assert.deepEqual([rest.orders.length, rest.next], [1, null])
  assert.equal(new Set([...first.orders, ...rest.orders].map(({ id }) => id)).size, 3)
  for (const query of ['limit=0', 'limit=101', 'limit=x']) {
    assert.equal(await own.no(`GET /api/orders?${query}`), '400 field_invalid')
  }
})

test('the unspent part goes back, by a fresh session only, and once per attempt', async () => {
  const { person, bought, spend, turned, ledger } = at.stage
  const own = await person('refund')
  const { id } = await bought(own)
  await spend(own.book, 14_000_000)
  const { body: can } = await own.must<Refundable>(`GET /api/orders/${id}/refundable`)
  assert.deepEqual([can.amountKopecks, can.credits.whole, can.why], ['78000', '21000000', null])
  turned.ms = 11 * 60_000
  const stale = await own.no(`POST /api/orders/${id}/refund`, { attempt: 'one' })
  turned.ms = 0
  assert.equal(stale, '403 session_not_fresh')
  const route = `POST /api/orders/${id}/refund`
  const { body: part } = await own.must<Refund>(route, { attempt: 'one', amountKopecks: '8000' })
  assert.deepEqual([part.amountKopecks, part.order], ['8000', id])
  const { body: same } = await own.must<Refund>(route, { attempt: 'one' })
  assert.equal(same.id, part.id)
  const { body: rest } = await own.must<Refund>(route, { attempt: 'two' })
  assert.equal(rest.amountKopecks, '70000')
  assert.equal((await ledger.balance(own.book))?.available, 0n)
  assert.equal(await own.no(route, { attempt: 'three' }), '409 refund_refused')
  assert.equal(await own.no(route, { attempt: 'x', amountKopecks: '1.5' }), '400 field_invalid')
  const { body: order } = await own.must<OrderWithRefunds>(`GET /api/orders/${id}`)
  assert.deepEqual(
    [order.refunds.length, order.refundedKopecks, order.state],
    [2, '78000', 'partially_refunded'],
  )
})

test('a promo code gives its credits once; a wrong one and a used one are told alike', async () => {
  const { person, payments } = at.stage
  const own = await person('promo')
  const [startsAt, endsAt] = [new Date(systemClock.nowMs() - 1_000), new Date('2100-01-01')]
  await payments.createPromo({
    ...{ code: 'WELCOME', credits: credits(1_000), redemptionsMax: 10, startsAt, endsAt },
    ...{ by: 'a test', note: '' },
  })
  const { body } = await own.must('POST /api/promo', { code: ' welcome ' })
  assert.deepEqual(body, { credits: { whole: '1000', exact: '1000' } })
  assert.equal(await own.no('POST /api/promo', { code: 'WELCOME' }), '409 promo_refused')
  for (let tries = 0; tries < 8; tries += 1) {
    assert.equal(await own.no('POST /api/promo', { code: 'GUESS-1' }), '409 promo_refused')
  }
  assert.equal(await own.no('POST /api/promo', { code: 'GUESS-1' }), '429 promo_attempts_exceeded')
})
