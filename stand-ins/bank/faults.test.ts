// Faults of API calls: what the client sees, and whether the payment exists afterwards.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Bank, startBank } from './bank.ts'
import { type Driver, drive, orderOf } from './drive.ts'
import * as schemas from './schemas.ts'

let bank: Bank
let shop: Driver
before(async () => {
  bank = await startBank()
  shop = drive(bank)
})
beforeEach(() => shop.sim('reset'))
after(() => bank.close())

const key = 'the-key'
const made = async () => (await shop.see('payments')).payments as { id: string }[]
const post = (signal?: AbortSignal) =>
  shop.post('/payments', orderOf(), { key, ...(signal === undefined ? {} : { signal }) })

for (const [when, count] of [
  ['before', 0],
  ['after', 1],
] as const) {
  test(`a 500 ${when} the effect leaves ${count} payments; the same key makes one`, async () => {
    await shop.sim('faults', { kind: 'error', when })
    const failed = await post()
    assert.equal(schemas.error.parse(failed.body).code, 'internal_server_error')
    assert.deepEqual([failed.status, (await made()).length], [500, count])
    const again = await post()
    assert.deepEqual([again.status, (await made()).length], [200, 1])
  })

  test(`a reset connection ${when} the effect leaves ${count} payments`, async () => {
    await shop.sim('faults', { kind: 'reset', when })
    await assert.rejects(post())
    assert.equal((await made()).length, count)
  })

  test(`a proxy's page ${when} the effect leaves ${count} payments`, async () => {
    await shop.sim('faults', { kind: 'html', when })
    const failed = await post()
    assert.deepEqual([failed.status, failed.headers.get('content-type')], [502, 'text/html'])
    assert.equal((await made()).length, count)
  })
}

test('without an answer the payment exists and the client times out', async () => {
  await shop.sim('faults', { kind: 'hang' })
  const leaving = new AbortController()
  const call = post(leaving.signal)
  // The client disconnects only after the effect; the record shows the call without an answer.
  const deadlineMs = Date.now() + 20_000
  while ((await made()).length === 0) assert.ok(Date.now() < deadlineMs, 'no payment was made')
  leaving.abort()
  await assert.rejects(call, { name: 'AbortError' })
  assert.equal((await made()).length, 1)
  assert.equal((await post()).body.id, (await made())[0]?.id)
})

test('a 429 says how long to wait and has no effect', async () => {
  await shop.sim('faults', { kind: 'too-many-requests', retryAfterMs: 700, times: 2 })
  for (let asked = 0; asked < 2; asked += 1) {
    const { status, body } = await post()
    assert.deepEqual([status, schemas.error.parse(body).retry_after], [429, 700])
  }
  assert.equal((await made()).length, 0)
  assert.equal((await post()).status, 200)
})

test('a 202 carries no result, yet the payment exists', async () => {
  await shop.sim('faults', { kind: 'processing' })
  const { status, body } = await post()
  assert.deepEqual([status, body.type, body.retry_after], [202, 'processing', 1800])
  assert.equal((await made()).length, 1)
})

test('half of the JSON comes with a 200', async () => {
  await shop.sim('faults', { kind: 'truncated' })
  const { status, text } = await post()
  assert.equal(status, 200)
  assert.match(text, /^\{"id":"/)
  assert.throws(() => JSON.parse(text))
})

test('a slow call gives the right answer, whether its effect comes first or last', async () => {
  await shop.sim('faults', [
    { kind: 'slow', delayMs: 60, when: 'after', method: 'POST' },
    { kind: 'slow', delayMs: 60, when: 'before', method: 'GET', path: '/payments/' },
  ])
  const { body } = await post()
  const { status } = await shop.get(`/payments/${body.id}`)
  assert.equal(status, 200)
  const { calls } = await shop.see('calls')
  const slow = (calls as { tookMs: number; fault: string }[]).map(({ tookMs, fault }) => [
    tookMs >= 59,
    fault,
  ])
  assert.deepEqual(slow, [
    [true, 'slow after'],
    [true, 'slow before'],
  ])
})

test('a fault can be limited to the calls of one order, on any of its paths', async () => {
  await shop.sim('faults', { kind: 'error', orderId: 'unlucky', times: null, when: 'before' })
  const lucky = await shop.pay({ metadata: { order_id: 'lucky' } })
  const body = orderOf({ metadata: { order_id: 'unlucky' } })
  assert.equal((await shop.post('/payments', body)).status, 500)
  await shop.sim('faults', {}, 'DELETE')
  const unlucky = await shop.pay({ metadata: { order_id: 'unlucky' } })
  await shop.sim('pay', { orderId: 'unlucky' })
  const refund = await shop.refund(unlucky.id, '1.00')
  await shop.sim('faults', { kind: 'error', orderId: 'unlucky', times: null })
  assert.equal((await shop.get(`/payments/${unlucky.id}`)).status, 500)
  assert.equal((await shop.get(`/refunds/${refund.id}`)).status, 500)
  const more = { payment_id: unlucky.id, amount: { value: '1.00', currency: 'RUB' } }
  assert.equal((await shop.post('/refunds', more)).status, 500)
  assert.equal((await shop.get(`/payments/${lucky.id}`)).status, 200)
  assert.equal((await shop.get('/payments')).status, 200)
})

test('random faults depend only on the seed', async () => {
  const run = async (seed: number) => {
    await shop.sim('faults', {}, 'DELETE')
    await shop.sim('faults', { kind: 'error', probability: 0.5, seed })
    const statuses: number[] = []
    for (let asked = 0; asked < 30; asked += 1) statuses.push((await shop.get('/me')).status)
    return statuses
  }
  const first = await run(7)
  assert.deepEqual(await run(7), first)
  assert.notDeepEqual(await run(8), first)
  assert.deepEqual(new Set(first), new Set([200, 500]))
})

test('an unknown fault is refused with its name', async () => {
  for (const body of [
    { kind: 'flood' },
    { kind: 'error', wen: 'x' },
    { kind: 'slow', delayMs: '5' },
  ]) {
    const response = await fetch(`${bank.controlUrl}/faults`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    assert.equal(response.status, 400)
    assert.match(await response.text(), /flood|wen|delayMs/)
  }
})
