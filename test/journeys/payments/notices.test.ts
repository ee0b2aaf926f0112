// Notifications of the payment provider as in production: a real cabinet accepts them, two real
// workers ask the provider about them. However a notice is repeated, forged, misdirected or
// malformed, an order is credited at most once.
import assert from 'node:assert/strict'
import { request as requestHttp } from 'node:http'
import { after, afterEach, before, test } from 'node:test'
import type { OrderId } from '../../../src/platform/ids.ts'
import type { Delivery } from '../../../stand-ins/bank/webhooks.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../../stages/served/payments.ts'
import { onServer } from '../../support/harness.ts'

const at = { stage: undefined as unknown as PaymentStage }
before(async () => {
  at.stage = await createPaymentStage({ workers: 2 })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the books tie out in the end')
  await at.stage.end()
})
afterEach(async () => {
  await at.stage.sim('faults', {}, 'DELETE')
  await at.stage.sim('modes', {}, 'DELETE')
})

async function deliveriesOf(paymentId: string | null): Promise<Delivery[]> {
  const { deliveries } = await at.stage.sim(
    `deliveries?paymentId=${paymentId}&last=1000`,
    {},
    'GET',
  )
  return deliveries as Delivery[]
}

async function assertCreditedOnce(id: OrderId) {
  await at.stage.untilState(id, 'credited')
  const credit = await at.stage.credit(id)
  assert.deepEqual([credit.entries, credit.amount], [1, pack.credits])
  return credit
}

async function assertUncredited(id: OrderId, state: string) {
  const credit = await at.stage.credit(id)
  assert.deepEqual([credit.entries, credit.by], [0, null])
  assert.equal(await at.stage.stateOf(id), state)
}

/** A forged notice, sent to our address from a stranger's address. */
async function send(body: string | Buffer, peer: string): Promise<number> {
  const response = await fetch(at.stage.noticesUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': peer },
    body,
  })
  await response.text()
  return response.status
}

function success(object: object): string {
  return JSON.stringify({ type: 'notification', event: 'payment.succeeded', object })
}

async function countOf(outcome: string): Promise<number> {
  const text = await (await fetch(at.stage.metricsUrl)).text()
  const line = new RegExp(`^payments_notices_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm')
  return Number(line.exec(text)?.[1] ?? 0)
}

test('a notice repeated a hundred times at once credits once and sends one e-mail', async () => {
  const { stage } = at
  const email = 'hundred@example.org'
  const { id } = await stage.bought({ email })
  await stage.sim('modes', { mode: 'duplicate', copies: 100, orderId: id })
  await stage.sim('pay', { orderId: id })
  const { paymentId } = await assertCreditedOnce(id)
  await stage.sim('settle')
  const first = (await deliveriesOf(paymentId)).filter(({ attempt }) => attempt === 1)
  assert.equal(first.length, 100)
  // The cabinet answers those above its concurrency limit with 503; the provider repeats them.
  assert.ok(first.every(({ status }) => status === 200 || status === 503))
  await stage.turn({ oursSeconds: 40, theirsSeconds: 40 })
  const again = (await deliveriesOf(paymentId)).filter(({ outcome }) => outcome === 'accepted')
  assert.equal(again.length, 100, 'in the end each of them is accepted')
  assert.equal((await stage.notices(paymentId)).length, 1, 'and it is stored once')
  assert.equal((await stage.mailbox.wait({ to: email }, 10_000)).length, 1)
  await assertCreditedOnce(id)
})

test('a well-formed cancellation after the success takes nothing back', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  await stage.sim('modes', { mode: 'reorder', extra: 'canceled', place: 'after', orderId: id })
  await stage.sim('pay', { orderId: id })
  const { paymentId } = await assertCreditedOnce(id)
  await stage.until('both notices are answered for', async () => {
    await stage.turn({ oursSeconds: 11 })
    const told = await stage.notices(paymentId)
    return told.length === 2 && told.every(({ outcome }) => outcome === 'applied')
  })
  await assertCreditedOnce(id)
})

test('a forged success for an open order credits nothing; a real payment does', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  await stage.sim('forge', { orderId: id, source: '203.0.113.5' })
  const { paymentId } = await stage.credit(id)
  const [forged] = await deliveriesOf(paymentId)
  assert.equal(forged?.status, 200)
  await stage.until('the provider was asked', async () => {
    const [notice] = await stage.notices(paymentId)
    return notice?.tries === 1
  })
  await assertUncredited(id, 'pending')
  await stage.sim('pay', { orderId: id })
  await assertCreditedOnce(id)
})

test('a forged notice of an unknown payment is dropped, and its sender counted', async () => {
  const { stage } = at
  const rows = await stage.countNotices()
  const unknown = await countOf('unknown')
  const madeUp = (i: number) =>
    success({ id: `2f0c${String(i).padStart(4, '0')}-0000-5000-8000-00000000000a`, paid: true })
  const answers: number[] = []
  for (let i = 0; i < 300; i += 20) {
    const some = Array.from({ length: 20 }, (_, j) => send(madeUp(i + j), '203.0.113.9'))
    answers.push(...(await Promise.all(some)))
  }
  assert.deepEqual(new Set(answers), new Set([200]), 'the answer shows nothing')
  assert.equal(await countOf('unknown'), unknown + 300)
  assert.equal(await send(madeUp(300), '203.0.113.9'), 429, 'enough is enough')
  assert.equal(await send(madeUp(301), '203.0.113.10'), 200, 'for that sender alone')
  assert.equal(await stage.countNotices(), rows, 'no row is stored')
})

test('a notice of another shop’s payment with our order’s id is not believed', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  const foreign = {
    id: '2f0d0000-0000-5000-8000-00000000000b',
    status: 'succeeded',
    paid: true,
    amount: { value: '1300.00', currency: 'RUB' },
    recipient: { account_id: '999999', gateway_id: '1' },
    metadata: { order_id: id },
  }
  assert.equal(await send(success(foreign), '185.71.76.1'), 200)
  await stage.until('it was asked about and not found', async () => {
    const [notice] = await stage.notices(foreign.id)
    return notice?.outcome === 'absent'
  })
  await assertUncredited(id, 'pending')
})

test('refuses ten megabytes before reading them, and anything that is not a notice', async () => {
  const { stage } = at
  const rows = await stage.countNotices()
  assert.equal(await begin({ 'content-length': 10 * 2 ** 20 }, 0), 413, 'told how many')
  assert.equal(await begin({ 'transfer-encoding': 'chunked' }, 80 * 1024), 413, 'not told')
  for (const text of ['', 'null', '[]', '{"type":"notification"}', '\u0000', success({})]) {
    assert.equal(await send(text, '203.0.113.20'), 400, text)
  }
  assert.equal(await stage.countNotices(), rows)
})

/** Begins a body, sends a part of it, and waits for the answer before the rest. */
async function begin(headers: Record<string, string | number>, bytes: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = requestHttp(at.stage.noticesUrl, { method: 'POST', headers })
  request.on('response', (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  request.on('error', reject)
  request.flushHeaders()
  if (bytes > 0) request.write(Buffer.alloc(bytes, 0x20))
  return promise.finally(() => request.destroy())
}

const wrongFacts: readonly [string, object, string][] = [
  ['a kopeck too little', { value: '1299.99' }, 'amount'],
  ['another currency', { currency: 'USD' }, 'currency'],
  ['1300.0', { value: '1300.0' }, 'amount_text'],
  ['1 300.00', { value: '1 300.00' }, 'amount_text'],
  ['1300.00 and a space', { value: '1300.00 ' }, 'amount_text'],
  ['a negative amount', { value: '-1300.00' }, 'amount_text'],
  ['another shop', { shopId: '999999' }, 'shop'],
  ['test money where real money is taken', { test: true }, 'test_flag'],
]

test('a payment that differs from its order is not credited and waits for review', async () => {
  const { stage } = at
  const orders = await Promise.all(
    wrongFacts.map(async ([name, altered, reason]) => {
      const { id } = await stage.bought()
      await stage.sim('alter', { orderId: id, ...altered })
      return { name, id, reason }
    }),
  )
  for (const { id } of orders) await stage.sim('pay', { orderId: id })
  for (const { name, id, reason } of orders) {
    await stage.untilState(id, 'review')
    await assertUncredited(id, 'review')
    const reviews = await stage.reviews(id)
    assert.deepEqual(
      reviews.map((one) => [one.reason, one.hasMoney]),
      [[reason, true]],
      name,
    )
  }
  // A sweep and a late repeat deliver the same facts again.
  await stage.until('swept once more', sweptAgain(await sweptAt()))
  for (const { id } of orders) await assertUncredited(id, 'review')
})

async function sweptAt(): Promise<number> {
  const { rows } = await at.stage.db.query(
    'select extract(epoch from swept_at)::float8 as at from payment_sweeps',
  )
  return (rows[0] as { at: number | null } | undefined)?.at ?? 0
}

function sweptAgain(since: number) {
  return async () => (await sweptAt()) > since
}

test('while the provider does not answer, its notices are kept, and applied later', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  await stage.sim('faults', { kind: 'error', method: 'GET', times: null })
  await stage.sim('pay', { orderId: id })
  const { paymentId } = await stage.credit(id)
  await stage.until('it was asked in vain', async () => {
    const [notice] = await stage.notices(paymentId)
    return (notice?.tries ?? 0) >= 1
  })
  const [told] = await deliveriesOf(paymentId)
  assert.equal(told?.status, 200)
  await assertUncredited(id, 'pending')
  await stage.sim('faults', {}, 'DELETE')
  await assertCreditedOnce(id)
})

test('without the database a notice is answered 503, repeated, and credited', async () => {
  const { stage } = at
  const { name } = stage.database
  const { id } = await stage.bought()
  const { paymentId } = await stage.credit(id)
  const allow = (isAllowed: boolean) =>
    onServer(async (client) => {
      await client.query(`alter database ${name} with allow_connections ${isAllowed}`)
      if (isAllowed) return
      const others = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'
      await client.query(others, [name])
    })
  await allow(false)
  try {
    await stage.sim('pay', { orderId: id })
    await stage.sim('settle')
    const [refused] = await deliveriesOf(paymentId)
    assert.deepEqual([refused?.status, refused?.outcome], [503, 'refused'])
  } finally {
    await allow(true)
  }
  await stage.until('the database is there again', () =>
    stage.countNotices().catch(() => undefined),
  )
  await stage.turn({ oursSeconds: 11, theirsSeconds: 11 })
  const [, repeated] = await deliveriesOf(paymentId)
  assert.equal(repeated?.status, 200)
  await assertCreditedOnce(id)
  assert.ok(stage.cabinet.isAlive() && stage.workers.every((one) => one.isAlive()))
})
