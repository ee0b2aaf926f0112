// The YooKassa adapter against the bank's stand-in, over HTTP: what it sends, how it interprets
// each response, and that it never takes an unknown outcome for a refusal.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { type Bank, startBank } from '../../../stand-ins/bank/bank.ts'
import { systemClock } from '../../platform/clock.ts'
import { type BookId, newOrderId, newRefundId, type OrderId } from '../../platform/ids.ts'
import { Masked } from '../../platform/masked.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'
import type { PaymentDraft, Provider } from '../port.ts'
import { interpretResponse } from './calls.ts'
import { createLimiter } from './limiter.ts'
import { createYookassa, type YookassaOptions } from './yookassa.ts'

const at = { bank: undefined as unknown as Bank, provider: undefined as unknown as Provider }
const opened: Provider[] = []

before(async () => {
  at.bank = await startBank()
  at.provider = open()
})
after(async () => {
  for (const one of opened) await one.close()
  await at.bank.close()
})

function open(changes: Partial<YookassaOptions> = {}): Provider {
  const provider = createYookassa({
    url: at.bank.apiUrl,
    shopId: at.bank.shopId,
    secretKey: new Masked(at.bank.secretKey),
    postTimeoutMs: 5_000,
    getTimeoutMs: 5_000,
    callsPerSecond: 10_000,
    hasSbpQr: false,
    notificationSources: 'any',
    receipt: null,
    env: 'test',
    clock: systemClock,
    ...changes,
  })
  opened.push(provider)
  return provider
}

const newOrder = () => newOrderId(0, Date.now())

function draft(order: OrderId, changes: Partial<PaymentDraft> = {}): PaymentDraft {
  return {
    order,
    sale: { book: 7n as BookId, packId: 'pack-35m', catalogueVersion: 2, isTopUp: false },
    price: kopecks(130_000),
    method: 'card',
    title: '35 млн кредитов',
    credits: credits(35_000_000),
    email: 'owner@example.org',
    locale: 'ru',
    returnUrl: 'https://cabinet.example.org/orders/1',
    savesMethod: false,
    savedMethodId: null,
    ...changes,
  }
}

async function create(changes: Partial<PaymentDraft> = {}, provider = at.provider) {
  const order = changes.order ?? newOrder()
  const { body } = provider.draftPayment(draft(order, changes))
  const answer = await provider.createPayment(order, body)
  assert.ok(answer.kind === 'ok', inspect(answer))
  return { order, body, snapshot: answer.value }
}

async function sim(act: string, body: object, method = 'POST') {
  const headers = { 'content-type': 'application/json' }
  const init = { method, headers, body: JSON.stringify(body) }
  const response = await fetch(`${at.bank.controlUrl}/${act}`, init)
  assert.ok(response.ok, `${act} ${await response.clone().text()}`)
  return (await response.json()) as Record<string, unknown>
}

test('a card payment is captured at once, uses a redirect and names its order', async () => {
  const { order, snapshot, body } = await create()
  assert.equal(snapshot.status, 'pending')
  assert.equal(snapshot.orderRef, order)
  assert.equal(snapshot.amount, 130_000n)
  assert.equal(snapshot.currency, 'RUB')
  assert.equal(snapshot.shopRef, at.bank.shopId)
  assert.equal(snapshot.isTestMoney, true)
  assert.equal(snapshot.confirmation?.kind, 'redirect')
  const sent = JSON.parse(body) as Record<string, unknown>
  assert.equal(sent.capture, true)
  assert.deepEqual(sent.payment_method_data, { type: 'bank_card' })
  assert.deepEqual(sent.metadata, {
    ...{ order_id: order, env: 'test' },
    ...{ book: '7', pack: 'pack-35m', catalogue: '2' },
  })
  assert.doesNotMatch(body, /owner@example/, 'nothing personal without a receipt')
})

test('SBP uses a redirect, or a QR code where that is enabled', async () => {
  const plain = await create({ method: 'sbp' })
  assert.equal(plain.snapshot.confirmation?.kind, 'redirect')
  const qr = await create({ method: 'sbp' }, open({ hasSbpQr: true }))
  assert.equal(qr.snapshot.confirmation?.kind, 'qr')
  assert.ok((qr.snapshot.confirmation?.value.length ?? 0) > 10)
})

test('a paid payment has its capture time; a declined one has the reason', async () => {
  const paid = await create()
  await sim('pay', { orderId: paid.order })
  const found = await at.provider.fetchPayment(paid.snapshot.paymentId)
  assert.ok(found.kind === 'ok' && found.value.status === 'succeeded')
  assert.ok(found.value.capturedAt instanceof Date)
  const { amount, income } = found.value
  assert.ok(amount !== null && income !== undefined && income < amount, 'less the commission')
  assert.equal(found.value.confirmation, null)
  const declined = await create()
  await sim('decline', { orderId: declined.order, reason: 'insufficient_funds' })
  const canceled = await at.provider.fetchPayment(declined.snapshot.paymentId)
  assert.ok(canceled.kind === 'ok' && canceled.value.status === 'canceled')
  assert.equal(canceled.value.cancelReason, 'insufficient_funds')
})

test('a receipt has the accountant’s settings and adds up to the payment', async () => {
  const receipt = {
    vatCode: 11,
    taxSystem: 2,
    subject: 'service',
    mode: 'full_prepayment',
    measure: 'piece',
  }
  const provider = open({ receipt })
  const { body, snapshot, order } = await create({}, provider)
  assert.deepEqual((JSON.parse(body) as { receipt: unknown }).receipt, {
    customer: { email: 'owner@example.org' },
    items: [
      {
        description: '35 млн кредитов',
        quantity: 1,
        amount: { value: '1300.00', currency: 'RUB' },
        vat_code: 11,
        payment_subject: 'service',
        payment_mode: 'full_prepayment',
        measure: 'piece',
      },
    ],
    tax_system_code: 2,
  })
  await sim('pay', { orderId: order })
  const refund = newRefundId(0, Date.now())
  const refundDraft = provider.draftRefund({
    refund,
    paymentId: snapshot.paymentId,
    completed: kopecks(0),
    amount: kopecks(50_000),
    title: '35 млн кредитов',
    email: 'owner@example.org',
    reason: '',
    receipt,
  })
  const refunded = await provider.createRefund(refund, refundDraft)
  assert.ok(refunded.kind === 'ok', inspect(refunded))
  assert.equal(refunded.value.amount, 50_000n)
  assert.equal(refunded.value.refundRef, refund)
})

test('the same key and bytes make one payment, however often they are sent', async () => {
  const order = newOrder()
  const { body } = at.provider.draftPayment(draft(order))
  const ends: string[] = []
  for (const kind of ['error', 'reset', 'processing', 'html', 'truncated', 'hang']) {
    await sim('faults', { kind, when: 'after', orderId: order, method: 'POST' })
    const provider = kind === 'hang' ? open({ postTimeoutMs: 200 }) : at.provider
    ends.push((await provider.createPayment(order, body)).kind)
  }
  assert.deepEqual(ends, Array(6).fill('unknown'))
  const answer = await at.provider.createPayment(order, body)
  assert.equal(answer.kind, 'ok')
  const view = await fetch(`${at.bank.controlUrl}/payments?orderId=${order}`)
  assert.equal(((await view.json()) as { payments: unknown[] }).payments.length, 1)
})

test('a post is not sent if confirmSend returns false after the wait', async () => {
  const slow = open({ callsPerSecond: 1 })
  const order = newOrder()
  const { body } = slow.draftPayment(draft(order))
  await slow.fetchPayment('x')
  const startedMs = performance.now()
  let askedMs = 0
  const answer = await slow.createPayment(order, body, async () => {
    askedMs = performance.now() - startedMs
    return false
  })
  assert.equal(answer.kind, 'withheld')
  assert.ok(askedMs > 500, `confirmSend was called after ${askedMs} ms, not after a second`)
  const view = await fetch(`${at.bank.controlUrl}/calls?orderId=${order}&method=POST`)
  assert.deepEqual(((await view.json()) as { calls: unknown[] }).calls, [])
})

test('a response that trickles in is given up at the call’s time limit', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
    const timer = setInterval(() => socket.write(' '), 20)
    socket.on('close', () => clearInterval(timer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const slow = open({ url: `http://127.0.0.1:${port}/v3`, getTimeoutMs: 300 })
  const startedMs = performance.now()
  assert.equal((await slow.fetchPayment('x')).kind, 'unknown')
  assert.ok(performance.now() - startedMs < 5_000)
  server.close()
})

test('interprets status and body', () => {
  const error = (code: string) => JSON.stringify({ type: 'error', id: '1', code })
  const table: [string, 'GET' | 'POST', number, string, string][] = [
    ['an object', 'POST', 200, '{}', 'ok'],
    ['not JSON', 'POST', 200, '<html>', 'unknown'],
    ['a bare number', 'POST', 200, '7', 'unknown'],
    ['processing', 'POST', 202, '{}', 'unknown'],
    ['invalid request', 'POST', 400, error('invalid_request'), 'rejected'],
    ['credentials', 'POST', 401, error('invalid_credentials'), 'rejected ours'],
    ['forbidden', 'POST', 403, error('forbidden'), 'rejected ours'],
    ['forbidden, says an edge', 'POST', 403, '<html>', 'unknown'],
    ['absent', 'GET', 404, error('not_found'), 'absent'],
    ['absent for a post', 'POST', 404, error('not_found'), 'rejected'],
    ['not found, says an edge', 'GET', 404, 'nothing here', 'unknown'],
    ['method', 'POST', 405, '', 'rejected ours'],
    ['content type', 'POST', 415, '', 'rejected ours'],
    ['throttled', 'POST', 429, error('too_many_requests'), 'throttled'],
    ['fault', 'POST', 500, error('internal_server_error'), 'unknown'],
    ['proxy', 'GET', 502, '<html>', 'unknown'],
    ['redirect', 'GET', 302, '', 'unknown'],
  ]
  for (const [name, method, status, text, expected] of table) {
    const { kind, ...rest } = interpretResponse(method, status, text)
    const outcome = 'isOurFault' in rest && rest.isOurFault ? `${kind} ours` : kind
    assert.equal(outcome, expected, name)
  }
})

test('requires a shop id and a key', () => {
  assert.throws(() => open({ secretKey: new Masked('') }))
  assert.throws(() => open({ shopId: '' }))
})

test('wrong credentials are our fault, and an unknown id is absent', async () => {
  const wrong = open({ secretKey: new Masked('test_wrong') })
  const answer = await wrong.fetchPayment('2d9f0b2a-000f-5000-8000-1a2b3c4d5e6f')
  assert.ok(answer.kind === 'rejected' && answer.isOurFault)
  const absent = await at.provider.fetchPayment('2d9f0b2a-000f-5000-8000-1a2b3c4d5e6f')
  assert.equal(absent.kind, 'absent')
})

test('lists the payments settled since a given time, page by page', async () => {
  const since = new Date()
  const orders = await Promise.all(Array.from({ length: 105 }, () => create()))
  await Promise.all(orders.map(({ order }) => sim('pay', { orderId: order })))
  const seen: (string | null)[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const page: Awaited<ReturnType<Provider['listSettled']>> = await at.provider.listSettled(
      { since: new Date(since.getTime() - 1_000) },
      cursor,
    )
    assert.ok(page.kind === 'ok')
    seen.push(...page.value.items.map((one) => one.orderRef))
    cursor = page.value.next
    pages += 1
  } while (cursor !== null && pages < 10)
  assert.ok(pages >= 2)
  for (const { order } of orders) assert.ok(seen.includes(order))
})

test('finds an order by its reference around the time of its creation', async () => {
  const { order, snapshot } = await create()
  const [from, to] = [new Date(Date.now() - 600_000), new Date(Date.now() + 600_000)]
  const found = await at.provider.findByOrder(order, from, to)
  assert.ok(found.kind === 'ok')
  assert.equal(found.value.paymentId, snapshot.paymentId)
  assert.equal((await at.provider.findByOrder(newOrder(), from, to)).kind, 'absent')
})

test('an amount in another format than 1300.00 is null, and only its text is kept', async () => {
  const { order, snapshot } = await create()
  for (const value of ['1300.0', '1 300.00', '-1300.00', '1300,00']) {
    await sim('alter', { orderId: order, value })
    const found = await at.provider.fetchPayment(snapshot.paymentId)
    assert.ok(found.kind === 'ok')
    assert.equal(found.value.amount, null, value)
    assert.equal(found.value.amountText, value)
  }
})

const notification = (event: string, object: object) =>
  JSON.stringify({ type: 'notification', event, object })

test('a notification contains the id of a payment, also when it is about a refund', () => {
  const read = (body: string) =>
    at.provider.parseNotification({ body, headers: {}, peer: '127.0.0.1' })
  const paid = read(
    notification('payment.succeeded', { id: 'p-1', metadata: { order_id: 'pay_1' } }),
  )
  assert.ok(paid !== undefined && paid.trust === 'unverified')
  assert.deepEqual([paid.paymentId, paid.orderRef], ['p-1', 'pay_1'])
  const refund = read(notification('refund.succeeded', { id: 'r-1', payment_id: 'p-1' }))
  assert.ok(refund !== undefined && refund.trust === 'unverified')
  assert.equal(refund.paymentId, 'p-1')
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '{"type":"notification"}',
    notification('x', { id: 'p' }),
  ]) {
    assert.equal(read(body), undefined, body)
  }
  assert.equal(read(notification('payment.succeeded', { id: "p'; drop table" })), undefined)
})

test('with a list of sender addresses, only notifications from these are accepted', () => {
  const body = notification('payment.succeeded', { id: 'p-1' })
  const table: [string, string, string][] = [
    ['published', '185.71.76.1', 'unverified'],
    ['published', '::ffff:77.75.153.5', 'unverified'],
    ['published', '2a02:5180::7', 'unverified'],
    ['published', '185.71.76.200', 'rejected'],
    ['published', 'nonsense', 'rejected'],
    ['10.0.0.0/8, 192.0.2.1', '10.1.2.3', 'unverified'],
    ['10.0.0.0/8, 192.0.2.1', '192.0.2.2', 'rejected'],
  ]
  for (const [notificationSources, peer, trust] of table) {
    const provider = open({ notificationSources })
    assert.equal(provider.parseNotification({ body, headers: {}, peer })?.trust, trust, peer)
  }
})

test('limits the calls per second, and rejects a call that would wait too long', async () => {
  const time = { ms: 0 }
  const waits: number[] = []
  const limiter = createLimiter({
    perSecond: 20,
    clock: { nowMs: () => time.ms, spanMs: () => time.ms },
    wait: async (ms) => waits.push(ms),
  })
  for (let i = 0; i < 50; i++) assert.equal(await limiter.acquire(), true)
  assert.deepEqual(waits, [...Array(20).fill(1_001), ...Array(10).fill(2_001)])
  time.ms = 2_500
  assert.equal(await limiter.acquire(), true)
  assert.equal(waits.length, 30, 'the window has moved on: no wait')
  for (let i = 0; i < 300; i++) await limiter.acquire()
  assert.equal(await limiter.acquire(), false, 'its turn would be more than ten seconds away')
})

test('makes no call before the pause that the provider asked for is over', async () => {
  const waits: number[] = []
  const limiter = createLimiter({
    perSecond: 5,
    clock: { nowMs: () => 0, spanMs: () => 0 },
    wait: async (ms) => waits.push(ms),
  })
  await limiter.acquire()
  limiter.holdOff(1_800)
  await limiter.acquire()
  assert.deepEqual(waits, [1_801])
})
