// How often a receipt is made again that the tax service refuses, and how often one is read that
// waits there. The database's clock stands still here: each pause is exact to the second.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import type { OrderId } from '../../platform/ids.ts'

const MINUTE = 60
const HOUR = 3_600
const DAY = 24 * HOUR

const receipt = {
  ...{ vatCode: 11, taxSystem: 0, subject: 'service', mode: 'full_prepayment', measure: 'piece' },
  completions: 'at_end',
} as const

const at = { room: undefined as unknown as TestPayments, start: '' }
before(async () => {
  at.room = await createTestPayments({ yookassa: { receipt } })
  const { rows } = await at.room.db.query('select clock_timestamp()::text as start')
  at.start = (rows[0] as { start: string }).start
})
after(() => at.room.end())

/** The time of the database is so many seconds after the start, and stays there. */
async function stopClock(seconds: number): Promise<void> {
  await at.room.db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as $$ select timestamptz '${at.start}' + interval '${seconds} seconds' $$`,
  )
}

/** The id of a paid order; its receipt has been looked at once. */
async function bought(): Promise<OrderId> {
  await stopClock(0)
  const { id } = await at.room.buy(await at.room.newBook())
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  await at.room.payments.jobs.receipts()
  return id
}

async function receiptOf(id: OrderId) {
  const { rows } = await at.room.db.query(
    'select state, attempt, tries from receipts where order_id = $1',
    [id],
  )
  return rows[0] as { readonly state: string; readonly attempt: number; readonly tries: number }
}

/** Runs the job a second before each pause is over, where nothing happens, and when it is. */
async function passPauses(id: OrderId, counter: 'attempt' | 'tries', pauses: readonly number[]) {
  let [count, now] = [1, 0]
  for (const pause of pauses) {
    for (const [early, counted] of [
      [1, count],
      [0, count + 1],
    ] as const) {
      await stopClock(now + pause - early)
      await at.room.payments.jobs.receipts()
      const seen = (await receiptOf(id))[counter]
      assert.equal(seen, counted, `${counter} ${count}, ${early} s before ${pause} s are over`)
    }
    count += 1
    now += pause
  }
  return now
}

async function atBank(id: OrderId): Promise<{ readonly status: string }[]> {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  const paymentId = (payments as { id: string }[])[0]?.id
  const { receipts } = await at.room.sim(`receipts?paymentId=${paymentId}`, {}, 'GET')
  return receipts as { status: string }[]
}

test('a refused receipt is made ten times in a week, then a person decides', async () => {
  await at.room.sim('settings', { receiptStatus: 'canceled' })
  const id = await bought()
  assert.deepEqual(await receiptOf(id), { state: 'failed', attempt: 1, tries: 1 })
  const firstDay = [10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR]
  const now = await passPauses(id, 'attempt', [...firstDay, DAY, DAY, DAY, DAY, DAY])
  assert.equal((await atBank(id)).length, 10)

  await at.room.sim('settings', { receiptStatus: 'succeeded' })
  await stopClock(now + 60 * DAY)
  await at.room.payments.jobs.receipts()
  const { state, attempt } = await receiptOf(id)
  assert.deepEqual([state, attempt, (await atBank(id)).length], ['failed', 10, 10])
  assert.ok((await at.room.payments.failedReceipts()).some(({ order }) => order === id))
})

test('a receipt that waits is read after seconds, then minutes, then every hour', async () => {
  await at.room.sim('settings', { receiptStatus: 'succeeded', receiptDelayMs: DAY * 1_000 })
  const id = await bought()
  assert.deepEqual(await receiptOf(id), { state: 'pending', attempt: 1, tries: 1 })
  const minutes = [10, 30, MINUTE, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE]
  const now = await passPauses(id, 'tries', [...minutes, HOUR, HOUR, HOUR])
  await at.room.sim('advance', { hours: 25 })
  await stopClock(now + HOUR)
  await at.room.payments.jobs.receipts()
  assert.equal((await receiptOf(id)).state, 'registered')
  assert.equal((await atBank(id)).length, 1, 'reading makes no other')
})
