// Notices that are lost or late, or that a dying process receives; calls whose answer was lost;
// clocks that disagree; a worker killed between two writes. Two real workers still find every
// payment, and credit it once.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { OrderId } from '../../../src/platform/ids.ts'
import type { ReceivedCall } from '../../../stand-ins/bank/calls.ts'
import type { Delivery } from '../../../stand-ins/bank/webhooks.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../../stages/served/payments.ts'

const HOUR = 3_600
const LOCK = 31_337

const at = { stage: undefined as unknown as PaymentStage }
before(async () => {
  // The buyer's call times out early, so that a lost answer costs the test little time.
  at.stage = await createPaymentStage({ workers: 2, yookassa: { postTimeoutMs: 300 } })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the books tie out in the end')
  await at.stage.end()
})
afterEach(async () => {
  await at.stage.sim('faults', {}, 'DELETE')
  await at.stage.sim('modes', {}, 'DELETE')
})

async function assertCreditedOnce(id: OrderId) {
  await at.stage.untilState(id, 'credited')
  const credit = await at.stage.credit(id)
  assert.deepEqual([credit.entries, credit.amount], [1, pack.credits])
  return credit
}

/** The provider's payments for an order. */
async function paymentsOf(id: OrderId): Promise<number> {
  const { payments } = await at.stage.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as object[]).length
}

/** How often an order was posted to the provider. */
async function postsOf(id: OrderId): Promise<number> {
  const { calls } = await at.stage.sim(`calls?orderId=${id}&method=POST&last=1000`, {}, 'GET')
  return (calls as ReceivedCall[]).length
}

/** True while a transaction waits for the advisory lock of the stage. */
async function waitingForLock(): Promise<boolean> {
  const { rows } = await at.stage.db.query(
    `select from pg_locks where locktype = 'advisory' and objid = $1 and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    [LOCK],
  )
  return rows.length > 0
}

test('an hour without notices: the sweep credits, and late repeats change nothing', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  await stage.sim('settings', { webhookUrl: 'http://127.0.0.1:1/nobody' })
  await stage.sim('pay', { orderId: id })
  const credit = await assertCreditedOnce(id)
  assert.equal(credit.by, 'sweep')
  assert.ok((credit.seconds ?? Number.NaN) < 30, `${credit.seconds} s after the capture`)
  await stage.turn({ oursSeconds: HOUR, theirsSeconds: HOUR })
  await stage.sim('settings', { webhookUrl: stage.noticesUrl })
  await stage.turn({ oursSeconds: HOUR, theirsSeconds: HOUR })
  await stage.until('the late notice is accepted', async () => {
    const query = `deliveries?paymentId=${credit.paymentId}&last=1000`
    const { deliveries } = await stage.sim(query, {}, 'GET')
    return (deliveries as Delivery[]).some(({ outcome }) => outcome === 'accepted')
  })
  // It says what the order shows already, so it is not stored.
  assert.deepEqual(await stage.notices(credit.paymentId), [])
  await assertCreditedOnce(id)
})

test('a payment whose creation got no answer is found by posting the same key again', async () => {
  const { stage } = at
  // Reads of the provider fail, so that only the repeated post can find the payment.
  await stage.sim('faults', { kind: 'error', method: 'GET', times: null })
  await stage.sim('faults', { kind: 'hang', method: 'POST' })
  const { id, state } = await stage.bought()
  assert.equal(state, 'created')
  await stage.sim('pay', { orderId: id })
  const credit = await assertCreditedOnce(id)
  assert.equal(credit.by, 'recovery')
  assert.equal(await paymentsOf(id), 1)
})

test('after a day, when a key makes a second payment, an order is found in the list', async () => {
  const { stage } = at
  await stage.sim('faults', { kind: 'hang', method: 'POST' })
  await stage.sim('faults', { kind: 'error', when: 'before', method: 'POST', times: null })
  const made = await stage.bought()
  const never = await stage.bought()
  assert.deepEqual([made.state, never.state], ['created', 'created'])
  await stage.until('a worker posted each once more', async () => {
    return (await postsOf(made.id)) > 1 && (await postsOf(never.id)) > 1
  })
  await stage.sim('settings', { webhookUrl: null })
  await stage.sim('pay', { orderId: made.id })
  await stage.turn({ oursSeconds: 24 * HOUR, theirsSeconds: 24 * HOUR })
  await stage.sim('faults', {}, 'DELETE')
  await assertCreditedOnce(made.id)
  await stage.untilState(never.id, 'failed')
  assert.equal(await paymentsOf(made.id), 1, 'one payment for one order')
  assert.equal(await paymentsOf(never.id), 0, 'and none for what never arrived')
  await stage.sim('settings', { webhookUrl: stage.noticesUrl })
})

test('an order whose creation had no answer can be paid once it was found', async () => {
  const { stage } = at
  await stage.sim('faults', { kind: 'reset', method: 'POST' })
  const { id, state } = await stage.bought()
  assert.equal(state, 'created')
  await stage.untilState(id, 'pending')
  assert.equal((await stage.payments.check(id)).confirmation?.kind, 'redirect')
  await stage.sim('pay', { orderId: id })
  await assertCreditedOnce(id)
  assert.equal(await paymentsOf(id), 1)
})

test('money that arrives after our own expiry is credited', async () => {
  const { stage } = at
  const { id } = await stage.bought()
  await stage.turn({ oursSeconds: 71 * 60 })
  await stage.runJob('payments-expire')
  await stage.untilState(id, 'expired')
  await stage.sim('pay', { orderId: id })
  await assertCreditedOnce(id)
  await stage.turn({ theirsSeconds: 71 * 60 })
})

test('clocks five minutes apart, either way, hide no payment', async () => {
  const { stage } = at
  await stage.sim('settings', { webhookUrl: null })
  const theirsAhead = await stage.bought()
  await stage.turn({ theirsSeconds: 300 })
  await stage.sim('pay', { orderId: theirsAhead.id })
  const early = await assertCreditedOnce(theirsAhead.id)
  assert.ok((early.seconds ?? 0) < 0, 'credited before it was captured, by these clocks')

  const oursAhead = await stage.bought()
  await stage.turn({ oursSeconds: 600 })
  await stage.sim('pay', { orderId: oursAhead.id })
  const late = await assertCreditedOnce(oursAhead.id)
  assert.ok((late.seconds ?? 0) > 290, 'credited minutes after, by these clocks')
  // With our clock moved, the order's own poll is due as well, and either may come first.
  for (const { by } of [early, late]) assert.match(by ?? '', /^(?:sweep|poll)$/)
  await stage.turn({ theirsSeconds: 300 })
  await stage.sim('settings', { webhookUrl: stage.noticesUrl })
})

// Where a worker is killed: what it has written by then, the trigger, the column of the order id.
const deaths = [
  ['the ledger has it and the order does not', 'insert on postings', 'new.ref'],
  ['both have it and nothing is committed', 'update of credited_at on orders', 'new.id'],
] as const

for (const [where, event, ref] of deaths) {
  test(`kill -9 when ${where}: nothing happened, then everything once`, async () => {
    const { stage } = at
    const email = `killed-${event.slice(0, 6)}@example.org`
    const { id, book } = await stage.bought({ email })
    const holder = stage.db.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock($1)', [LOCK])
      await stop(stage, event, ref, id)
      await stage.sim('pay', { orderId: id })
      await stage.until('a worker is in the middle of it', waitingForLock)
      const inside = stage.workers.map((worker) => worker.kill())
      await Promise.all(inside)
      const seen = await stage.credit(id)
      assert.deepEqual([seen.entries, seen.by], [0, null], 'no half of it is visible')
    })
    await holder
    await stage.db.query(`drop trigger stopped on ${event.split(' on ')[1]}`)
    assert.equal(await stage.availableOf(book), 0n, 'what was not committed never was')
    assert.deepEqual(stage.mailbox.list({ to: email }), [])
    const fresh = await Promise.all(stage.workers.map(() => stage.startWorker()))
    stage.workers.splice(0, stage.workers.length, ...fresh)
    // What the dead worker had claimed becomes free when its lease expires.
    await stage.turn({ oursSeconds: 130, theirsSeconds: 130 })
    await assertCreditedOnce(id)
    assert.equal(await stage.availableOf(book), pack.credits)
    assert.equal((await stage.mailbox.wait({ to: email }, 10_000)).length, 1)
  })
}

/** Makes every transaction that writes this row wait for the lock, without a limit. */
async function stop(stage: PaymentStage, event: string, ref: string, id: OrderId) {
  await stage.db.query(
    `create or replace function stopped() returns trigger language plpgsql as $$
     begin
       if ${ref} = '${id}' then
         perform set_config('lock_timeout', '0', true);
         perform pg_advisory_xact_lock_shared(${LOCK});
       end if;
       return new;
     end $$`,
  )
  await stage.db.query(
    `create trigger stopped after ${event} for each row execute function stopped()`,
  )
}

test('three instances over one database credit forty orders forty times', async () => {
  const { stage } = at
  const orders = await Promise.all(Array.from({ length: 40 }, () => stage.bought()))
  const before = stage.workers.map((one) => one.said('an order was credited'))
  await Promise.all(orders.map(({ id }) => stage.sim('pay', { orderId: id })))
  // The payers return and their pages poll, while both workers have the notices and the sweep.
  await Promise.all(orders.map(({ id }) => stage.payments.check(id)))
  for (const { id, book } of orders) {
    await assertCreditedOnce(id)
    assert.equal(await stage.availableOf(book), pack.credits)
  }
  const said = stage.workers.map((one, i) => one.said('an order was credited') - (before[i] ?? 0))
  const { rows } = await stage.db.query(
    `select count(*)::int4 as n from orders where credited_by = 'return' and id = any($1)`,
    [orders.map(({ id }) => id)],
  )
  const byPage = (rows[0] as { n: number }).n
  assert.equal(
    said.reduce((sum, one) => sum + one, byPage),
    40,
    `${said} and ${byPage}`,
  )
})
