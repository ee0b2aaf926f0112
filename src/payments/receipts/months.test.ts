// Completions of months: which use belongs to which month, whatever happens while it is counted,
// and which receipt at the provider is whose.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId, ReceiptId } from '../../platform/ids.ts'
import { kopecks } from '../../units/kopecks.ts'

const settings = {
  ...{ vatCode: 11, taxSystem: 0, subject: 'service', mode: 'full_prepayment', measure: 'piece' },
  completions: 'monthly' as const,
}
const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments({ yookassa: { receipt: settings } })
})
after(() => at.room.end())
beforeEach(async () => {
  await at.room.sim('settings', { receiptStatus: 'succeeded' })
  await turnClock(at.room.db, '0')
})

const run = () => at.room.payments.jobs.receipts()

async function bought() {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  return { book, id }
}

const refund = (order: OrderId, book: BookId) =>
  at.room.payments.requestRefund({
    ...{ order, book, attempt: 'click', by: 'owner', reason: '' },
    amountKopecks: kopecks(50_000),
  })

async function paymentId(id: OrderId): Promise<string> {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as { id: string }[])[0]?.id ?? ''
}

/** The amounts of the completions that the provider has, oldest first. */
async function completions(id: OrderId): Promise<string[]> {
  const query = `receipts?paymentId=${await paymentId(id)}`
  const { receipts } = await at.room.sim(query, {}, 'GET')
  type Made = {
    readonly status: string
    readonly items: readonly { payment_mode: string; amount: { value: string } }[]
  }
  return (receipts as Made[])
    .filter(({ status }) => status === 'succeeded')
    .flatMap(({ items }) => items.filter((item) => item.payment_mode === 'full_payment'))
    .map(({ amount }) => amount.value)
}

/** What we have, as `kind amount state`, oldest first. */
async function ours(id: OrderId): Promise<string[]> {
  const { rows } = await at.room.db.query(
    `select kind || ' ' || amount_kopecks || ' ' || state as line from receipts
     where order_id = $1 order by created_at, id`,
    [id],
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

/** A worker for which something happens between the first two reads of a book. */
function workerWhile(happens: () => Promise<unknown>) {
  const { ledger } = at.room
  const movement: typeof ledger.totals.movement = (tx, book, from) => {
    let reads = 0
    const query: typeof tx.query = async (...parameters: Parameters<typeof tx.query>) => {
      const found = await tx.query(...parameters)
      reads += 1
      if (reads === 1) await happens()
      return found
    }
    return ledger.totals.movement({ ...tx, query }, book, from)
  }
  return at.room.open({ ledger: { ...ledger, totals: { ...ledger.totals, movement } } })
}

test('what is used while a month is being completed belongs to the next one', async () => {
  const { room } = at
  const { book, id } = await bought()
  await room.spend(book, 7_000_000)
  await turnClock(room.db, '32 days')
  const worker = workerWhile(() => room.spend(book, 7_000_000))
  await worker.jobs.receipts()
  assert.deepEqual((await ours(id)).slice(1), ['completion 26000 registered'])
})

test('a refund that is made while a pack is being completed is not completed too', async () => {
  const { room } = at
  const { book, id } = await bought()
  await room.spend(book, 7_000_000)
  await turnClock(room.db, '32 days')
  const states: string[] = []
  const worker = workerWhile(async () => {
    if (states.length === 0) states.push((await refund(id, book)).state)
  })
  await worker.jobs.receipts()
  assert.deepEqual((await ours(id)).slice(1), ['return 50000 registered'])
  await turnClock(room.db, '32 days 2 hours')
  await run()
  assert.deepEqual(states, ['succeeded'])
  assert.deepEqual((await ours(id)).slice(1).toSorted(), [
    'completion 26000 registered',
    'return 50000 registered',
  ])
})

test('what a person made for one month does not serve for the next one', async () => {
  const { room } = at
  const { book, id } = await bought()
  await run()
  await room.spend(book, 7_000_000)
  await room.sim('settings', { receiptStatus: 'canceled' })
  await turnClock(room.db, '32 days')
  await room.sim('advance', { hours: 32 * 24 })
  await run()
  await room.sim('settings', { receiptStatus: 'succeeded' })
  const draft = {
    ...{ kind: 'completion' as const, paymentId: await paymentId(id), refundId: null },
    ...{ amount: kopecks(26_000), completed: kopecks(0), email: 'payer@example.org' },
    ...{ title: 'made by hand', settings: settings },
  }
  const body = room.provider.draftReceipt(draft)
  const made = await room.provider.createReceipt('rcp_byhand' as ReceiptId, body)
  assert.equal(made.kind, 'ok')
  const decided = { order: id, by: 'anna', note: 'made in the merchant portal' }
  await room.ledger.db.transaction((tx) => room.payments.decideReceipt(tx, decided))
  assert.deepEqual((await ours(id)).slice(1), ['completion 26000 dismissed'])
  await room.spend(book, 7_000_000)
  await room.sim('settings', { receiptStatus: 'canceled' })
  await turnClock(room.db, '63 days')
  await room.sim('advance', { hours: 31 * 24 })
  await run()
  assert.deepEqual((await ours(id)).slice(2), ['completion 26000 failed'])
  await room.sim('settings', { receiptStatus: 'succeeded' })
  await turnClock(room.db, '63 days 1 hour')
  await run()
  assert.deepEqual((await ours(id)).slice(2), ['completion 26000 registered'])
  assert.deepEqual(await completions(id), ['260.00', '260.00'])
})
