// op orders and op receipts: an order that was paid while nobody listened is credited once, and a
// failed receipt waits until a person has dealt with it.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { turnClock } from '../../../test/support/harness.ts'
import { credits } from '../../units/credits.ts'

let stage: OperatorStage

before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())
afterEach(() => turnClock(stage.db, '0 seconds'))

const available = async (book: bigint) =>
  (await stage.ledger.balance(book as never))?.available ?? -1n

/** Paid, but the provider's notification is lost and no worker runs. */
async function paidUnseen() {
  const book = await stage.newBook()
  const { id } = await stage.buy(book)
  await stage.sim('pay', { orderId: id })
  return { book, id }
}

test('an order whose notification was lost is found and credited, once', async () => {
  const { book, id } = await paidUnseen()
  await turnClock(stage.db, '2 hours')
  const { orders } = await stage.json<{ orders: { id: string }[] }>('orders', 'stuck')
  assert.ok(orders.some((one) => one.id === id))
  assert.match(
    (await stage.op(['orders', 'stuck'])).out,
    new RegExp(`${id} +1 300.00 {2}pending {2}no$`),
  )
  const { err, out, code } = await stage.op(['orders', 'check', id], 'y')
  assert.match(err, /here: pending, not credited\n {2}the provider: succeeded at .*, 1300\.00 RUB/)
  assert.deepEqual([code, out], [0, `${id} is credited`])
  assert.equal(await available(book), credits(35_000_000))
  const again = await stage.json('orders', 'check', id)
  assert.equal(again.state, 'credited')
  assert.equal(await available(book), credits(35_000_000), 'once')
  assert.equal((await stage.op(['orders', 'stuck'])).out, 'no order hangs')
})

test('an unpaid order changes nothing, and a canceled one ends', async () => {
  const book = await stage.newBook()
  const { id } = await stage.buy(book)
  const { err } = await stage.op(['orders', 'check', id, '--yes'])
  assert.match(err, /the provider: pending[^\n]*\n {2}nothing changes until it is paid/)
  await stage.sim('expire', { orderId: id })
  assert.equal((await stage.json('orders', 'check', id)).state, 'canceled')
  assert.equal(await available(book), 0n)
})

test('says when the provider does not answer, and credits nothing', async () => {
  const { book, id } = await paidUnseen()
  await stage.sim('faults', { path: '/payments', method: 'GET', kind: 'reset', times: 2 })
  const { err, code } = await stage.op(['orders', 'check', id, '--yes'])
  await stage.sim('faults', {}, 'DELETE')
  assert.match(err, /the provider did not say: /)
  assert.equal(code, 0)
  assert.equal(await available(book), 0n)
})

test('a failed receipt waits for a person, and leaves with a note', async () => {
  const anna = await stage.person('anna')
  const { id } = await stage.buyPack(anna)
  assert.equal((await stage.op(['receipts', 'list'])).out, 'no failed receipt waits')
  const early = await stage.op(['receipts', 'dismiss', id, '--note', 'x', '--yes'])
  assert.deepEqual([early.code, early.err], [1, `no receipt of ${id} failed`])
  await stage.db.query(`update orders set receipt_state = 'canceled' where id = $1`, [id])
  const line = new RegExp(`^${id} {2}prepayment {2}1 300.00 RUB\n.*anna@`)
  assert.match((await stage.op(['receipts'])).out, line)
  const done = await stage.json('receipts', 'dismiss', id, '--note', 'made in the portal')
  assert.equal(done.isDone, true)
  assert.equal((await stage.op(['receipts', 'list'])).out, 'no failed receipt waits')
  const twice = await stage.json('receipts', 'dismiss', id, '--note', 'again')
  assert.equal(twice.refusal, 'order_state_wrong')
})
