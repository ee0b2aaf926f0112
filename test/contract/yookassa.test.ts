// One contract, two providers: our adapter against the stand-in of the bank, always, and against
// the provider's own test shop when its number and key are in the environment (YOOKASSA_SHOP_ID and
// YOOKASSA_SECRET_KEY). Both must answer alike, or the stand-in no longer imitates the provider.
// The tests pay nothing there: the provider's page needs a person. A test shop takes cards only.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import type { Provider } from '../../src/payments/payments.ts'
import { createYookassa } from '../../src/payments/yookassa/yookassa.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { type BookId, newOrderId, newRefundId } from '../../src/platform/ids.ts'
import { Masked } from '../../src/platform/masked.ts'
import { credits } from '../../src/units/credits.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import { startBank } from '../../stand-ins/bank/bank.ts'
import * as schemas from '../../stand-ins/bank/schemas.ts'

const REAL_URL = 'https://api.yookassa.ru/v3'
const UNKNOWN_ID = '2f000000-0000-5000-9000-000000000000'

type Shop = { readonly url: string; readonly shopId: string; readonly secretKey: string }

const bank = await startBank()
const opened: Provider[] = []
after(async () => {
  for (const one of opened) await one.close()
  await bank.close()
})

const { YOOKASSA_SHOP_ID: shopId, YOOKASSA_SECRET_KEY: secretKey } = process.env
const real: Shop | undefined =
  shopId && secretKey?.startsWith('test_') ? { url: REAL_URL, shopId, secretKey } : undefined

function whyNot(): string {
  if (!shopId || !secretKey) {
    return 'no test shop: set YOOKASSA_SHOP_ID and YOOKASSA_SECRET_KEY to try the real provider'
  }
  return 'YOOKASSA_SECRET_KEY is not the key of a test shop; a real shop is never used'
}

const standIn: Shop = { url: bank.apiUrl, shopId: bank.shopId, secretKey: bank.secretKey }

function open(shop: Shop, changes: Partial<Shop> = {}): Provider {
  const { url, shopId: id, secretKey: key } = { ...shop, ...changes }
  const provider = createYookassa({
    url,
    shopId: id,
    secretKey: new Masked(key),
    postTimeoutMs: 35_000,
    getTimeoutMs: 10_000,
    callsPerSecond: shop === real ? 3 : 1_000,
    hasSbpQr: false,
    notificationSources: 'any',
    receipt: null,
    env: 'contract',
    clock: systemClock,
  })
  opened.push(provider)
  return provider
}

function draftOf(provider: Provider, changes: { readonly price?: number } = {}) {
  const order = newOrderId(0, Date.now())
  const { body } = provider.draftPayment({
    order,
    sale: { book: 1n as BookId, packId: 'pack-35m', catalogueVersion: 1, isTopUp: false },
    price: kopecks(changes.price ?? 130_000),
    method: 'card',
    title: '35 млн кредитов',
    credits: credits(35_000_000),
    email: 'owner@example.org',
    locale: 'ru',
    returnUrl: 'https://cabinet.example.org/orders/1?from=bank',
    savesMethod: false,
    savedMethodId: null,
  })
  return { order, body }
}

async function create(provider: Provider) {
  const { order, body } = draftOf(provider)
  const answer = await provider.createPayment(order, body)
  assert.ok(answer.kind === 'ok', inspect(answer))
  return { order, body, made: answer.value }
}

/** The JSON object of the response. */
async function raw({ url, shopId: id, secretKey: key }: Shop, path: string): Promise<unknown> {
  const authorization = `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}`
  const response = await fetch(`${url}${path}`, { headers: { authorization } })
  return response.json()
}

const contract: readonly [string, (shop: Shop) => Promise<void>][] = [
  [
    'a new payment waits for its payer at an address, with our reference and the exact sum',
    async (shop) => {
      const { order, made } = await create(open(shop))
      assert.deepEqual(
        [made.status, made.orderRef, made.shopRef, made.amount, made.currency, made.isTestMoney],
        ['pending', order, shop.shopId, 130_000n, 'RUB', true],
      )
      assert.equal(made.confirmation?.kind, 'redirect')
      assert.match(made.confirmation?.value ?? '', /^https?:\/\//)
      assert.deepEqual([made.capturedAt, made.cancelReason, made.refunded], [null, null, 0n])
      const apartMs = Math.abs(made.createdAt.getTime() - Date.now())
      assert.ok(apartMs < 300_000, `our clocks are ${apartMs} ms apart`)
    },
  ],
  [
    'the same key and bytes are the same payment, also at the same time',
    async (shop) => {
      const provider = open(shop)
      const { order, body, made } = await create(provider)
      const again = await Promise.all([1, 2].map(() => provider.createPayment(order, body)))
      for (const answer of again) {
        assert.ok(answer.kind === 'ok', inspect(answer))
        assert.equal(answer.value.paymentId, made.paymentId)
      }
    },
  ],
  [
    'a payment is read as it was made, and has the form that the reference gives',
    async (shop) => {
      const provider = open(shop)
      const { made } = await create(provider)
      const read = await provider.fetchPayment(made.paymentId)
      assert.ok(read.kind === 'ok', inspect(read))
      assert.deepEqual(read.value, made)
      schemas.payment.parse(await raw(shop, `/payments/${made.paymentId}`))
    },
  ],
  [
    'an order is found in the list around its time, and one that never was is not',
    async (shop) => {
      const provider = open(shop)
      const { order, made } = await create(provider)
      const from = new Date(made.createdAt.getTime() - 60_000)
      const to = new Date(made.createdAt.getTime() + 60_000)
      const found = await provider.findByOrder(order, from, to)
      assert.ok(found.kind === 'ok', inspect(found))
      assert.equal(found.value.paymentId, made.paymentId)
      const other = await provider.findByOrder(newOrderId(0, Date.now()), from, to)
      assert.equal(other.kind, 'absent')
    },
  ],
  [
    'settled payments are listed from a moment on, page by page, and each can be read',
    async (shop) => {
      const provider = open(shop)
      const since = new Date(Date.now() - 7 * 86_400_000)
      const page = await provider.listSettled({ since }, null)
      assert.ok(page.kind === 'ok', inspect(page))
      for (const one of page.value.items) {
        assert.equal(one.status, 'succeeded')
        assert.ok(one.amount !== null && one.capturedAt !== null && one.capturedAt >= since)
      }
      if (page.value.next !== null) {
        const next = await provider.listSettled({ since }, page.value.next)
        assert.equal(next.kind, 'ok')
      }
      schemas.listOf(schemas.payment).parse(await raw(shop, '/payments?limit=3'))
    },
  ],
  [
    'what nobody has is absent, which is not the same as unknown',
    async (shop) => {
      const provider = open(shop)
      assert.deepEqual(await provider.fetchPayment(UNKNOWN_ID), { kind: 'absent' })
      assert.deepEqual(await provider.fetchRefund(UNKNOWN_ID), { kind: 'absent' })
      schemas.error.parse(await raw(shop, `/payments/${UNKNOWN_ID}`))
    },
  ],
  [
    'a wrong key is ours to mend',
    async (shop) => {
      const answer = await open(shop, { secretKey: 'test_wrong' }).fetchPayment(UNKNOWN_ID)
      assert.ok(answer.kind === 'rejected' && answer.isOurFault, inspect(answer))
    },
  ],
  [
    'a payment of nothing is refused, and is not ours to repeat',
    async (shop) => {
      const provider = open(shop)
      const { order, body } = draftOf(provider, { price: 0 })
      const answer = await provider.createPayment(order, body)
      assert.ok(answer.kind === 'rejected' && !answer.isOurFault, inspect(answer))
    },
  ],
  [
    'what was not paid cannot be refunded, and has no refunds',
    async (shop) => {
      const provider = open(shop)
      const { made } = await create(provider)
      const refund = newRefundId(0, Date.now())
      const body = provider.draftRefund({
        refund,
        paymentId: made.paymentId,
        completed: kopecks(0),
        amount: kopecks(100),
        title: '35 млн кредитов',
        email: 'owner@example.org',
        reason: 'contract',
        receipt: null,
      })
      const answer = await provider.createRefund(refund, body)
      assert.ok(answer.kind === 'rejected' && !answer.isOurFault, inspect(answer))
      const listed = await provider.listRefunds({ paymentId: made.paymentId }, null)
      assert.ok(listed.kind === 'ok', inspect(listed))
      assert.deepEqual(listed.value.items, [])
      const since = await provider.listRefunds({ since: new Date(Date.now() - 86_400_000) }, null)
      assert.equal(since.kind, 'ok')
    },
  ],
]

for (const [name, check] of contract) test(`stand-in: ${name}`, () => check(standIn))

const skip = real === undefined && whyNot()
test('the provider’s own test shop keeps the same contract', { skip }, async (t) => {
  assert.ok(real)
  for (const [name, check] of contract) await t.test(name, () => check(real))
})

test('stand-in: a paid payment is refunded in parts up to the whole, each by its key', async () => {
  const provider = open(standIn)
  const { made } = await create(provider)
  await fetch(`${bank.controlUrl}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ paymentId: made.paymentId }),
  })
  const refund = async (amount: number) => {
    const id = newRefundId(0, Date.now())
    const body = provider.draftRefund({
      refund: id,
      paymentId: made.paymentId,
      completed: kopecks(0),
      amount: kopecks(amount),
      title: '35 млн кредитов',
      email: 'owner@example.org',
      reason: '',
      receipt: null,
    })
    const first = await provider.createRefund(id, body)
    assert.deepEqual(await provider.createRefund(id, body), first, 'the same key, the same refund')
    return first
  }
  const parts = [await refund(130_000 - 1), await refund(1), await refund(1)]
  assert.deepEqual(
    parts.map((one) => (one.kind === 'ok' ? one.value.status : one.kind)),
    ['succeeded', 'succeeded', 'rejected'],
  )
  const read = await provider.fetchPayment(made.paymentId)
  assert.ok(read.kind === 'ok')
  assert.deepEqual([read.value.status, read.value.refunded], ['succeeded', 130_000n])
  schemas.payment.parse(await raw(standIn, `/payments/${made.paymentId}`))
})
