// Orders and the ledger's purchase postings are tied: whatever is forged, lost or changed in one of
// them becomes a finding within a minute, an alarm, and a line of the whole check.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { alarmsOf } from '../reviews/alarms.ts'

const at = { room: undefined as unknown as TestPayments }
beforeEach(async () => {
  at.room = await createTestPayments()
})
afterEach(() => at.room.end())

async function credited(): Promise<{ book: BookId; id: OrderId }> {
  const book = await at.room.newBook()
  const { id } = await at.room.buy(book)
  await at.room.sim('pay', { orderId: id })
  await at.room.payments.check(id)
  return { book, id }
}

const alarms = async () => alarmsOf(await at.room.payments.health()).map(({ name }) => name)
const rules = async () => (await at.room.payments.findings()).map(({ rule }) => rule)

/** One SQL call that anybody with the database's password can make. */
async function forge(ref: string, amount = 1_000_000): Promise<void> {
  const book = await at.room.newBook()
  await at.room.db.query(`select ledger_credit($1, 'purchase', $2, $3, 'clearing', '')`, [
    book,
    ref,
    amount,
  ])
}

/** Changes rows as somebody would who disables the triggers first. */
async function tamper(statement: string): Promise<void> {
  await at.room.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    await tx.query(statement)
  })
}

test('a purchase without an order is found within a minute', async () => {
  await credited()
  await at.room.payments.jobs.tie()
  assert.deepEqual([await rules(), await alarms()], [[], []])
  await forge('gift')
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), ['posting_without_order'])
  assert.deepEqual(await alarms(), ['money_differs'])
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), ['posting_without_order'], 'it is one finding')
})

test('the first run compares rows of any age', async () => {
  await forge('old gift')
  await tamper(`update postings set at = at - interval '400 days'`)
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), ['posting_without_order'])
})

test('a clock that was ahead and is set back hides no posting', async () => {
  await turnClock(at.room.db, '3 days')
  await at.room.payments.jobs.tie()
  await turnClock(at.room.db, '0')
  await forge('gift while no worker ran')
  await tamper(`update postings set at = at - interval '1 hour'`)
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), ['posting_without_order'])
})

test('a credited order without its posting is found, and gone when it is back', async () => {
  const { id } = await credited()
  const posting = `kind = 'purchase' and ref = '${id}'`
  await tamper(`update postings set ref = 'away' where ${posting}`)
  await at.room.payments.jobs.tie()
  assert.deepEqual((await rules()).toSorted(), ['order_without_posting', 'posting_without_order'])
  await tamper(`update postings set ref = '${id}' where ref = 'away'`)
  await at.room.payments.jobs.tie()
  assert.deepEqual([await rules(), await alarms()], [[], []])
})

test('a posting with other credits than its order is found', async () => {
  const { id } = await credited()
  await tamper(`update orders set credits = credits + 1 where id = '${id}'`)
  await at.room.payments.jobs.tie()
  const [found] = await at.room.payments.findings()
  assert.deepEqual([found?.rule, found?.subject], ['posting_differs', id])
  assert.match(found?.detail ?? '', new RegExp(`${pack.credits + 1n}.*${pack.credits}`))
})

test('a posting for an order that nobody paid is found', async () => {
  const { id } = await at.room.buy(await at.room.newBook())
  await forge(id)
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), ['posting_of_uncredited_order'])
})

test('the whole check finds what is older than the mark', async () => {
  const { id } = await credited()
  await at.room.payments.jobs.tie()
  await turnClock(at.room.db, '2 hours')
  await at.room.payments.jobs.tie()
  await tamper(`update orders set credits = credits - 1 where id = '${id}'`)
  await at.room.payments.jobs.tie()
  assert.deepEqual(await rules(), [], 'each minute only what is new is read')
  const found = await at.room.payments.audit()
  assert.deepEqual(
    found.map(({ rule, subject }) => [rule, subject]),
    [['posting_differs', id]],
  )
  assert.deepEqual(await rules(), [], 'an operator’s check changes nothing')
  await at.room.payments.jobs.tieAll()
  assert.deepEqual(await rules(), ['posting_differs'])
})

test('more rows than a page are all compared', async () => {
  const id = await at.room.newBook()
  await at.room.db.query(
    `select ledger_credit($1, 'purchase', 'gift ' || n, 1, 'clearing', '')
     from generate_series(1, 1200) as n`,
    [id],
  )
  await at.room.payments.jobs.tie()
  assert.equal((await at.room.payments.findings(5_000)).length, 1_200)
})

test('no run for ten minutes raises an alarm', async () => {
  await at.room.payments.jobs.sweep()
  await at.room.payments.jobs.tie()
  assert.deepEqual(await alarms(), [])
  await turnClock(at.room.db, '11 minutes')
  await at.room.payments.jobs.sweep()
  assert.deepEqual(await alarms(), ['watch_stopped'])
})
