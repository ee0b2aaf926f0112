// A stolen database password of a program is not enough to be paid back for credits that were kept:
// a refund that took none, too few, or whose request is for more, is not posted, and one that was
// posted by other means is found.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { onServer } from '../../../test/support/harness.ts'
import { urlAs } from '../../../tools/program-roles.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'

const at = { room: undefined as unknown as TestPayments, refunds: 0 }
beforeEach(async () => {
  at.room = await createTestPayments()
})
afterEach(() => at.room.end())

/** Runs as a program's role, whose password somebody has. */
async function as(role: string, sql: string, values: readonly unknown[]): Promise<unknown[]> {
  const { rows } = await onServer(
    (client) => client.query(sql, [...values]),
    urlAs(at.room.database.url, role),
  )
  return rows
}

async function credited() {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  const { rows } = await at.room.db.query(
    'select provider_payment_id as "paymentId", lot from orders where id = $1',
    [id],
  )
  return { book, id, ...(rows[0] as { paymentId: string; lot: bigint }) }
}

type Forged = {
  readonly order: OrderId
  readonly paymentId: string
  readonly kopecks: number
  readonly credits: number
  /** What the request says, if not the same. */
  readonly asked?: { readonly paymentId: string; readonly value: string }
}

const newId = () => `rfd_${(++at.refunds).toString(16).padStart(32, '0')}`

async function forge(role: string, p: Forged, id = newId()): Promise<string> {
  const value = p.asked?.value ?? (p.kopecks / 100).toFixed(2)
  const body = JSON.stringify({
    payment_id: p.asked?.paymentId ?? p.paymentId,
    amount: { value, currency: 'RUB' },
    metadata: { refund_id: id },
  })
  await as(
    role,
    `insert into refunds (id, order_id, provider, provider_payment_id, attempt, state,
       amount_kopecks, credits, asked_by, reason, request_body, next_at)
     values ($1, $2, 'yookassa', $3, $1, 'created', $4, $5, 'owner', '', $6, ledger_now())`,
    [id, p.order, p.paymentId, p.kopecks, p.credits, body],
  )
  return id
}

/** Takes credits of a lot, as every program that refunds may. */
const take = (role: string, book: BookId, lot: bigint, id: string, credits: number) =>
  as(role, `select outcome from ledger_refund($1, $2, $3, $4, '')`, [book, lot, id, credits])

async function assertWithheld(id: string, why: RegExp): Promise<void> {
  await at.room.payments.jobs.pollRefunds()
  const { rows } = await at.room.db.query('select state, next_at from refunds where id = $1', [id])
  assert.deepEqual(rows, [{ state: 'created', next_at: null }])
  const found = (await at.room.payments.findings()).find(({ subject }) => subject === id)
  assert.equal(found?.rule, 'refund_unbacked')
  assert.match(found.detail, why)
}

for (const role of ['tollgate_cabinet', 'tollgate_worker', 'tollgate_operator']) {
  test(`a refund that took no credits is not posted: ${role}`, async () => {
    const { id, book, paymentId } = await credited()
    await at.room.spend(book, 35_000_000)
    const refund = await forge(role, { order: id, paymentId, kopecks: 130_000, credits: 0 })
    await assertWithheld(refund, /has not taken its credits/)
    await at.room.payments.jobs.tie()
    const open = await at.room.payments.findings()
    assert.deepEqual(
      open.map(({ subject }) => subject),
      [refund],
    )
  })
}

test('a refund of more than its credits are worth is not posted', async () => {
  const { id, book, paymentId, lot } = await credited()
  const refund = newId()
  await take('tollgate_cabinet', book, lot, refund, 1)
  await forge('tollgate_cabinet', { order: id, paymentId, kopecks: 130_000, credits: 1 }, refund)
  await assertWithheld(refund, /worth less/)
})

test('a request for more than its row, or for another payment, is not posted', async () => {
  const { id, book, paymentId, lot } = await credited()
  const other = await credited()
  for (const asked of [
    { paymentId, value: '1300.00' },
    { paymentId: other.paymentId, value: '13.00' },
  ]) {
    const refund = newId()
    await take('tollgate_worker', book, lot, refund, 350_000_000_000)
    const row = { order: id, paymentId, kopecks: 1_300, credits: 350_000_000_000, asked }
    await forge('tollgate_worker', row, refund)
    await assertWithheld(refund, /not for the amount and payment/)
    await at.room.payments.jobs.tie()
    await assertWithheld(refund, /not for the amount and payment/)
  }
})

test('a refund of another order’s payment is not posted', async () => {
  const [thief, victim] = [await credited(), await credited()]
  const { paymentId } = victim
  const row = { order: thief.id, paymentId, kopecks: 130_000, credits: 0 }
  const refund = await forge('tollgate_cabinet', row)
  await assertWithheld(refund, new RegExp(`paid for ${victim.id}`))
})

test('a refund that was made by other means, or reversed afterwards, is found', async () => {
  const { id, paymentId } = await credited()
  const refund = await forge('tollgate_worker', {
    ...{ order: id, paymentId, kopecks: 130_000, credits: 0 },
  })
  await as(
    'tollgate_worker',
    `update refunds set state = 'succeeded', provider_refund_id = 'x', ended_at = ledger_now(),
       next_at = null, request_body = null where id = $1`,
    [refund],
  )
  const real = await credited()
  const { id: reversed } = await at.room.payments.requestRefund({
    ...{ order: real.id, attempt: 'one', by: 'anna', reason: 'asked' },
  })
  await at.room.payments.jobs.tie()
  const subjects = async () =>
    (await at.room.payments.findings()).map(({ subject }) => subject).toSorted()
  assert.deepEqual(await subjects(), [refund], 'an honest refund is none')
  await as('tollgate_cabinet', `select ledger_refund_reverse($1, $2, $3, '')`, [
    ...[real.book, real.lot, reversed],
  ])
  await at.room.payments.jobs.tie()
  assert.deepEqual(await subjects(), [refund, reversed].toSorted())
})
