// The settlement watch from an empty shop on: the age of a payment that is not credited is exported
// by a process that is no worker, and what differs between the provider and us becomes a finding.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { settingsOf, turnClock } from '../../../test/support/harness.ts'
import { openDatabase } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { alarmsOf } from '../reviews/alarms.ts'

const DAY_SECONDS = 86_400
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

async function paid(): Promise<{ book: BookId; id: OrderId }> {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  return { book, id }
}

const alarms = async () => alarmsOf(await at.room.payments.health()).map(({ name }) => name)
const rules = async () => (await at.room.payments.findings()).map(({ rule }) => rule).toSorted()

/** A number of the gauge, as Prometheus reads it; undefined when it is absent. */
async function exported(of: string): Promise<number | undefined> {
  const text = await at.room.registry.metrics()
  const found = new RegExp(`^payments_watch\\{of="${of}"\\} (\\S+)$`, 'm').exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Changes rows as somebody would who disables the triggers first. */
async function tamper(statement: string): Promise<void> {
  await at.room.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(statement)
  })
}

test('the age of a payment that cannot be credited is exported until it is credited', async () => {
  at.room.payments.exportWatch()
  await sweepAfter(15)
  assert.equal(await exported('uncredited_seconds'), 0)
  await paid()
  await at.room.db.query('alter table books add constraint broken check (available = 0)')
  await sweepAfter(15)
  await sweepAfter(120)
  const seconds = (await exported('uncredited_seconds')) ?? 0
  assert.ok(seconds >= 135 && seconds < 150, `${seconds} s since the capture`)
  assert.deepEqual(await rules(), ['payment_not_credited'])
  assert.deepEqual(await alarms(), ['sweeps_failing', 'uncredited_old', 'money_differs'])
  await at.room.db.query('alter table books drop constraint broken')
  await sweepAfter(15)
  assert.equal(await exported('uncredited_seconds'), 0)
  assert.deepEqual(await rules(), [])
})

test('a payment that is announced while no worker runs is exported too', async () => {
  at.room.payments.exportWatch()
  await at.room.intake()
  await paid()
  for (let i = 0; i < 100; i++) {
    const { rows } = await at.room.db.query('select from payment_notices')
    if (rows.length > 0) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await pass(100)
  assert.ok(((await exported('uncredited_seconds')) ?? 0) >= 100)
  assert.ok(((await exported('sweep_seconds')) ?? 0) >= 100, 'no sweep since the first order')
  assert.ok((await alarms()).includes('uncredited_old'))
  await at.room.payments.jobs.applyNotification()
  assert.equal(await exported('uncredited_seconds'), 0)
})

test('no number is exported while the database does not answer', async () => {
  const nobody = settingsOf('postgres://postgres@127.0.0.1:1/nothing')
  const db = openDatabase(nobody, 'test', () => undefined)
  at.room.open({ db }).exportWatch()
  assert.equal(await exported('uncredited_seconds'), undefined)
  await db.end()
})

test('a credited order whose payment the provider does not have is found', async () => {
  await sweepAfter(15)
  const { id } = await paid()
  await sweepAfter(15)
  await tamper(`update orders set provider_payment_id = 'invented' where id = '${id}'`)
  await sweepAfter(90)
  // The payment that it was paid with is a second one now, which waits for a person.
  assert.deepEqual(await rules(), ['payment_missing'])
  assert.deepEqual(await alarms(), ['reviews_waiting', 'money_differs'])
})

test('a credited order whose payment is not paid at the provider is found', async () => {
  await sweepAfter(15)
  const { id } = await paid()
  await sweepAfter(15)
  await at.room.sim('alter', { orderId: id, members: { status: 'canceled' } })
  await sweepAfter(90)
  assert.deepEqual(await rules(), ['payment_missing'])
  await at.room.sim('alter', { orderId: id, isUndone: true })
  await sweepAfter(15)
  assert.deepEqual([await rules(), await alarms()], [[], []])
})

test('whole days are compared, each once, also after a pause of the worker', async () => {
  const { jobs } = at.room.payments
  const { id } = await paid()
  await sweepAfter(15)
  await pass(DAY_SECONDS + 7_200)
  assert.equal(await jobs.compareDays(), 1)
  assert.equal(await jobs.compareDays(), 0)
  assert.deepEqual(await rules(), [])
  await tamper(`update orders set price_kopecks = price_kopecks + 1 where id = '${id}'`)
  await tamper("update payment_checks set mark = mark - interval '1 day'")
  assert.equal(await jobs.compareDays(), 1)
  assert.deepEqual(await rules(), ['payment_amount'])
  await pass(3 * DAY_SECONDS)
  assert.equal(await jobs.compareDays(), 3)
  await tamper(`update orders set price_kopecks = price_kopecks - 1 where id = '${id}'`)
  await jobs.recheck()
  assert.deepEqual(await rules(), [])
})

test('days are compared again after the clock was ahead for a while', async () => {
  const { jobs } = at.room.payments
  await turnClock(at.room.db, '40 days')
  await jobs.compareDays()
  const { id } = await paid()
  await sweepAfter(15)
  await tamper(`update orders set price_kopecks = price_kopecks + 1 where id = '${id}'`)
  await pass(DAY_SECONDS + 7_200)
  await jobs.compareDays()
  assert.deepEqual(await rules(), ['payment_amount'])
})

test('days that were never compared, and postings, raise an alarm', async () => {
  await paid()
  await sweepAfter(15)
  assert.deepEqual(await alarms(), [])
  await sweepAfter(660)
  assert.deepEqual(await alarms(), ['watch_stopped'], 'no run in the first ten minutes')
  await sweepAfter(50 * 3_600)
  await at.room.payments.jobs.tie()
  assert.deepEqual(await alarms(), ['watch_stopped'], 'no day in the first fifty hours')
  await at.room.payments.jobs.compareDays()
  assert.deepEqual(await alarms(), [])
})

test('a refund with another amount at the provider stays a finding', async () => {
  const { jobs, requestRefund } = at.room.payments
  const { id } = await paid()
  await sweepAfter(15)
  await requestRefund({ order: id, attempt: 'one', by: 'anna', reason: 'asked' })
  await tamper('update refunds set amount_kopecks = amount_kopecks + 100')
  await pass(DAY_SECONDS + 7_200)
  await jobs.compareDays()
  const found = ['refund_missing', 'refund_unknown']
  assert.deepEqual(await rules(), found)
  await jobs.recheck()
  assert.deepEqual(await rules(), found)
  await tamper('update refunds set amount_kopecks = amount_kopecks - 100')
  await jobs.recheck()
  assert.deepEqual(await rules(), [])
})

test('an order that was marked as credited by hand, with its posting, is found', async () => {
  await sweepAfter(15)
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.db.query(
    `update orders set state = 'credited', credited_at = ledger_now(), credited_by = 'webhook',
       lot = (ledger_credit(book_id, 'purchase', id, credits, 'clearing', '')).seq
     where id = $1`,
    [id],
  )
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), [], 'the order and its posting agree')
  await sweepAfter(120)
  assert.deepEqual(await rules(), ['payment_missing'])
})

test('a refund that only the provider has is found for its day, until it is applied', async () => {
  const { jobs } = at.room.payments
  const { id } = await paid()
  await sweepAfter(15)
  await at.room.sim('refund', { orderId: id, value: '300.00' })
  await pass(DAY_SECONDS + 7_200)
  assert.equal(await jobs.compareDays(), 1)
  assert.deepEqual(await rules(), ['payment_refunded', 'refund_unknown'])
  await jobs.sweepRefunds()
  await jobs.recheck()
  assert.deepEqual(await rules(), [])
})

test('one unreadable refund does not stop the others of its payment', async () => {
  const { jobs } = at.room.payments
  const { id } = await paid()
  await sweepAfter(15)
  const first = await at.room.sim('refund', { orderId: id, value: '100.00' })
  await at.room.sim('refund', { orderId: id, value: '200.00' })
  const { id: refundId } = (first.refund ?? first) as { id: string }
  await at.room.sim('alter', { refundId, members: { created_at: 'yesterday' } })
  await jobs.sweepRefunds()
  assert.ok((await rules()).includes('refund_unreadable'))
  const { rows } = await at.room.db.query('select amount_kopecks as amount from refunds')
  assert.deepEqual(rows, [{ amount: 20_000n }])
  await at.room.sim('alter', { refundId, isUndone: true })
  await jobs.sweepRefunds()
  await jobs.recheck()
  await jobs.recheck()
  assert.deepEqual(await rules(), [])
})

test('a refund that only we have is found for its day', async () => {
  const { jobs, requestRefund } = at.room.payments
  const { id } = await paid()
  await sweepAfter(15)
  await requestRefund({ order: id, attempt: 'one', by: 'anna', reason: 'asked' })
  await tamper(`update refunds set state = 'succeeded', provider_refund_id = 'invented',
    ended_at = ledger_now(), next_at = null, request_body = null`)
  await pass(DAY_SECONDS + 7_200)
  await jobs.compareDays()
  assert.ok((await rules()).includes('refund_missing'))
})
