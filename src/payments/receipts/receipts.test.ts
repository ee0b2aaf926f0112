// Receipts of prepayment, completion and return against the bank stand-in: what is sent, when, what
// happens when the provider is slow, refuses or cancels, and that everything ties with the price.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'

const settings = (completions: 'off' | 'monthly' | 'at_end', mode = 'full_prepayment') => ({
  ...{ vatCode: 11, taxSystem: 0, subject: 'service', mode, measure: 'piece' },
  completions,
})

const at = {
  room: undefined as unknown as TestPayments,
  monthly: undefined as unknown as TestPayments,
}
before(async () => {
  const receiptUrl = 'https://check.example.org/?fn={fn}&i={i}&fp={fp}&s={s}&t={t}&n={n}'
  const open = (completions: 'monthly' | 'at_end') =>
    createTestPayments({ yookassa: { receipt: settings(completions) }, payments: { receiptUrl } })
  at.room = await open('at_end')
  at.monthly = await open('monthly')
})
after(async () => {
  await at.room.end()
  await at.monthly.end()
})
beforeEach(async () => {
  for (const room of [at.room, at.monthly]) {
    await room.sim('faults', {}, 'DELETE')
    const calm = { receiptDelayMs: 0, receiptCancelEvery: 0, receiptStatus: 'succeeded' }
    await room.sim('settings', calm)
    await turnClock(room.db, '0')
  }
})

async function bought(room = at.room, changes: Parameters<TestPayments['buy']>[1] = {}) {
  const book = await room.newBook()
  const order = await room.buy(book, changes)
  await room.sim('pay', { orderId: order.id })
  await room.payments.check(order.id)
  return { book, id: order.id }
}

async function refund(id: OrderId, book: BookId, amount?: number, room = at.room) {
  const part = amount === undefined ? {} : { amountKopecks: kopecks(amount) }
  return room.payments.requestRefund({
    ...{ order: id, book, attempt: `click ${id} ${amount}`, by: 'owner', reason: '', ...part },
  })
}

type BankReceipt = {
  readonly type: string
  readonly status: string
  readonly refund_id?: string
  readonly fiscal_document_number?: string
  readonly items: { readonly payment_mode: string; readonly amount: { readonly value: string } }[]
  readonly settlements: { readonly type: string }[]
}

async function paymentId(id: OrderId, room = at.room): Promise<string> {
  const { payments } = await room.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as { id: string }[])[0]?.id ?? ''
}

/** What the bank has, as `type settlement mode amount …`, oldest first. */
async function atBank(id: OrderId, room = at.room): Promise<string[]> {
  const query = `receipts?paymentId=${await paymentId(id, room)}`
  const { receipts } = (await room.sim(query, {}, 'GET')) as { receipts: BankReceipt[] }
  return receipts
    .filter(({ status }) => status !== 'canceled')
    .map(({ type, settlements, items }) =>
      [
        ...[type, settlements[0]?.type],
        ...items.map((item) => `${item.payment_mode} ${item.amount.value}`),
      ].join(' '),
    )
}

/** What we have, as `kind amount state`, oldest first. */
async function ours(id: OrderId, room = at.room): Promise<string[]> {
  const { rows } = await room.db.query(
    `select kind || ' ' || amount_kopecks || ' ' || state as line from receipts
     where order_id = $1 order by created_at, id`,
    [id],
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

const PREPAID = 'payment cashless full_prepayment 1300.00'
const run = (room = at.room) => room.payments.jobs.receipts()

test('a prepayment gets its fiscal numbers, a QR text and the link that was set', async () => {
  const { book, id } = await bought()
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 registered'])
  const [view] = await at.room.payments.receipts.ofBook(book)
  const fiscal = view?.fiscal
  assert.ok(fiscal, 'numbers are known')
  assert.equal(view?.state, 'registered')
  const t = fiscal.qr.match(/^t=(\d{8}T\d{4})&s=1300\.00&fn=\d{16}&i=\d{5}&fp=\d{10}&n=1$/)?.[1]
  assert.ok(t, fiscal.qr)
  const local = new Date(fiscal.registeredAt.getTime() + 3 * 3_600_000).toISOString()
  assert.equal(t, local.slice(0, 16).replaceAll(/[-:]/g, ''), 'Moscow time')
  const { storage, document, sign } = fiscal
  const numbers = `fn=${storage}&i=${document}&fp=${sign}&s=1300.00&t=${t}&n=1`
  const url = `https://check.example.org/?${numbers}`
  assert.equal(fiscal.url, url)
})

test('a pack is completed once it is used up, for its whole price, and once', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 20_000_000)
  await run()
  assert.deepEqual(await atBank(id), [PREPAID], 'something is left')
  await at.room.spend(book, 15_000_000)
  await turnClock(at.room.db, '2 hours')
  await Promise.all([run(), run(), run()])
  await run()
  const completed = 'payment prepayment full_payment 1300.00'
  assert.deepEqual(await atBank(id), [PREPAID, completed])
  assert.deepEqual(await ours(id), ['prepayment 130000 registered', 'completion 130000 registered'])
  const { rows } = await at.room.db.query(
    `select count(*)::int4 as n from receipts where request_body is not null or check_at is not null
       and order_id = $1`,
    [id],
  )
  assert.deepEqual(rows, [{ n: 0 }], 'no address is kept, nothing more is due')
})

test('a pack that was used up is completed within the minute, one in use is not', async () => {
  const [empty, begun] = [await bought(), await bought()]
  await run()
  await at.room.spend(empty.book, 35_000_000)
  await at.room.spend(begun.book, 34_999_999)
  await at.room.payments.jobs.findUsedUp()
  await run()
  const prepaid = 'prepayment 130000 registered'
  assert.deepEqual(await ours(empty.id), [prepaid, 'completion 130000 registered'])
  assert.deepEqual(await ours(begun.id), [prepaid])
})

test('what was used before a refund of the rest is completed, to the kopeck', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 20_000_001)
  await refund(id, book)
  await turnClock(at.room.db, '2 hours')
  await run()
  const { rows } = await at.room.db.query(
    'select refunded_kopecks as refunded from orders where id = $1',
    [id],
  )
  const { refunded } = (rows as { refunded: bigint }[])[0] ?? { refunded: 0n }
  assert.deepEqual(await ours(id), [
    'prepayment 130000 registered',
    `return ${refunded} registered`,
    `completion ${130_000n - refunded} registered`,
  ])
  assert.match((await atBank(id))[1] ?? '', /^refund cashless full_prepayment 557\.14$/)
})

test('each month is completed with what was used in it, and the end with the rest', async () => {
  const room = at.monthly
  const { book, id } = await bought(room)
  await room.spend(book, 7_000_000)
  await turnClock(room.db, '32 days')
  await run(room)
  assert.deepEqual(await ours(id, room), [
    'prepayment 130000 registered',
    'completion 26000 registered',
  ])
  await run(room)
  await room.spend(book, 28_000_000)
  await turnClock(room.db, '33 days')
  await run(room)
  assert.deepEqual((await atBank(id, room)).slice(1), [
    'payment prepayment full_payment 260.00',
    'payment prepayment full_payment 1040.00',
  ])
})

test('a refund in the merchant portal of what was completed waits for the accountant', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 35_000_000)
  await turnClock(at.room.db, '2 hours')
  await run()
  await at.room.sim('refund', { paymentId: await paymentId(id), value: '300.00' })
  await at.room.payments.jobs.sweepRefunds()
  await at.room.payments.check(id)
  await run()
  assert.deepEqual((await ours(id)).slice(1), [
    'completion 130000 registered',
    'return 30000 failed',
  ])
  const failed = await at.room.payments.failedReceipts()
  const one = failed.find(({ order }) => order === id)
  assert.match(one?.error ?? '', /returns 0 kopecks as completed instead of 30000/)
  await at.room.db.query('select 1')
  const note = 'correction receipt in the cash register'
  await at.room.ledger.db.transaction((tx) =>
    at.room.payments.decideReceipt(tx, { order: id, by: 'anna', note }),
  )
  assert.ok((await ours(id)).includes('return 30000 dismissed'))
  assert.ok(!(await at.room.payments.failedReceipts()).some(({ order }) => order === id))
})

test('a receipt of the portal that the tax service refuses is made again, and right', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 35_000_000)
  await turnClock(at.room.db, '2 hours')
  await run()
  await at.room.sim('settings', { receiptDelayMs: 3_600_000, receiptStatus: 'canceled' })
  await at.room.sim('refund', { paymentId: await paymentId(id), value: '300.00' })
  await at.room.payments.jobs.sweepRefunds()
  await at.room.payments.check(id)
  await run()
  assert.deepEqual((await ours(id)).slice(2), ['return 30000 pending'], 'nothing is certain yet')
  await at.room.sim('settings', { receiptDelayMs: 0, receiptStatus: 'succeeded' })
  await at.room.sim('advance', { hours: 2 })
  for (const hours of [4, 6, 8]) {
    await turnClock(at.room.db, `${hours} hours`)
    await run()
  }
  assert.deepEqual((await ours(id)).slice(2), ['return 30000 registered'])
  assert.deepEqual((await atBank(id)).slice(2), ['refund cashless full_payment 300.00'])
})

test('our own refund says which part returns completed credits', async () => {
  // The older pack gets its credits back after the younger one was completed.
  const { book, id: older } = await bought()
  const { rows } = await at.room.db.query('select 1')
  assert.equal(rows.length, 1)
  const younger = await at.room.buy(book)
  await at.room.sim('pay', { orderId: younger.id })
  await at.room.payments.check(younger.id)
  await at.room.sim('hold-refunds', { isHeld: true })
  const pending = await refund(older, book)
  await at.room.spend(book, 35_000_000)
  await turnClock(at.room.db, '2 hours')
  await run()
  assert.ok((await ours(younger.id)).includes('completion 130000 registered'))
  await at.room.sim('cancel-refund', { refundId: pending.refundId })
  await turnClock(at.room.db, '4 hours')
  await at.room.payments.jobs.pollRefunds()
  await at.room.sim('hold-refunds', { isHeld: false })
  await refund(younger.id, book, 10_000)
  await run()
  assert.ok((await atBank(younger.id)).includes('refund cashless full_payment 100.00'))
  assert.ok((await ours(younger.id)).includes('return 10000 registered'))
})

test('an unknown outcome is posted again with the same key and bytes', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 35_000_000)
  await turnClock(at.room.db, '2 hours')
  const path = '/receipts'
  await at.room.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path, times: 2 })
  for (const hours of [2, 3, 4, 5]) {
    await turnClock(at.room.db, `${hours} hours`)
    await run()
  }
  assert.equal((await atBank(id)).length, 2)
  assert.ok((await ours(id)).includes('completion 130000 registered'))
})

test('after 23 hours it is found in the list, and not made again', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 35_000_000)
  await turnClock(at.room.db, '2 hours')
  const rule = { kind: 'reset', when: 'after', method: 'POST', path: '/receipts', times: 1 }
  await at.room.sim('faults', rule)
  await run()
  await turnClock(at.room.db, '26 hours')
  await at.room.sim('advance', { hours: 26 })
  await run()
  assert.equal((await atBank(id)).length, 2)
  assert.ok((await ours(id)).includes('completion 130000 registered'))
})

test('a canceled receipt is listed, alarmed, and made again with a new key', async () => {
  await at.room.sim('settings', { receiptStatus: 'canceled' })
  const { id } = await bought()
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 failed'])
  const failed = await at.room.payments.failedReceipts()
  assert.equal(failed.find(({ order }) => order === id)?.kind, 'prepayment')
  assert.ok((await at.room.payments.alarms()).some(({ name }) => name === 'receipts_failed'))
  await at.room.sim('settings', { receiptStatus: 'succeeded' })
  await turnClock(at.room.db, '1 hour')
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 registered'])
  assert.deepEqual(await atBank(id), [PREPAID])
  const { rows } = await at.room.db.query(
    `select r.attempt, receipt_state as state from receipts r join orders o on o.id = order_id
     where order_id = $1`,
    [id],
  )
  assert.deepEqual(rows, [{ attempt: 2, state: 'succeeded' }])
  await at.room.payments.check(id)
  assert.equal((await at.room.payments.failedReceipts()).length, 0)
})

test('a receipt that waits at the tax service is read until it is registered', async () => {
  await at.room.sim('settings', { receiptDelayMs: 3 * 3_600_000 })
  const { id } = await bought()
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 pending'])
  await at.room.sim('advance', { hours: 4 })
  await turnClock(at.room.db, '4 hours')
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 registered'])
})

test('the database refuses completions above the price, and any change of a receipt', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 10_000_000)
  await refund(id, book, 60_000)
  const insert = (amount: number) =>
    at.room.db.query(
      `insert into receipts (id, kind, order_id, state, amount_kopecks, credits, period_from,
         period_until, request_body)
       values ('rcp_' || md5($2::text), 'completion', $1, 'created', $2::int4, 0, now(), now(),
         '{}')`,
      [id, amount],
    )
  await assert.rejects(insert(70_001), /exceed its price/)
  await insert(70_000)
  await assert.rejects(insert(1), /exceed its price|complete_a_period_once/)
  const change = 'update receipts set amount_kopecks = 1 where order_id = $1'
  await assert.rejects(at.room.db.query(change, [id]), /keeps what it says/)
  await assert.rejects(at.room.db.query('delete from receipts'), /keeps what it says/)
  await at.room.db.query(
    `update receipts set state = 'failed', request_body = null
     where order_id = $1 and state = 'created'`,
    [id],
  )
})

test('orders without receipts of completion are never completed', async () => {
  const { book, id } = await bought()
  await at.room.db.query(
    `update receipts set check_at = null, completed_until = null where order_id = $1`,
    [id],
  )
  await at.room.spend(book, credits(35_000_000) / 1_000_000n)
  await turnClock(at.room.db, '70 days')
  await run()
  assert.deepEqual(await ours(id), ['prepayment 130000 registered'])
  assert.equal(pack.priceKopecks, 130_000n)
})
