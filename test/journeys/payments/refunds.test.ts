// Refunds with real workers: requested by owners while they spend, partial, canceled by the bank,
// made at the provider's own desk; and disputes. No kopeck is refunded twice, no credit is both
// spent and refunded, and no balance is negative.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { isDatabaseUnavailable } from '../../../src/platform/db/database-errors.ts'
import type { BookId, OrderId } from '../../../src/platform/ids.ts'
import { Refusal } from '../../../src/platform/refusal.ts'
import { credits } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../../stages/served/payments.ts'
import { sleep } from '../../support/drill.ts'

const at = { stage: undefined as unknown as PaymentStage }
before(async () => {
  at.stage = await createPaymentStage({
    workers: 2,
    // Above what one owner requests below; the budget has its own tests.
    payments: { refundsPerMonth: 100 },
  })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the books tie out in the end')
  await at.stage.end()
})
afterEach(() => at.stage.sim('hold-refunds', { isHeld: false }))

const state = { attempts: 0 }

/** Repeats a request that met a busy database, as the cabinet's owners can: it is one attempt. */
async function ask(order: OrderId, book: BookId, part?: number) {
  state.attempts += 1
  const input = {
    order,
    book,
    attempt: `refund ${state.attempts}`,
    ...(part !== undefined && { amountKopecks: kopecks(part) }),
    by: 'owner',
    reason: 'not needed',
  }
  for (let tries = 1; ; tries++) {
    try {
      return await at.stage.payments.requestRefund(input)
    } catch (error) {
      if (!isDatabaseUnavailable(error) || tries === 5) throw error
      await sleep(500)
    }
  }
}

/** A pack that a worker has credited. */
async function owned(email = 'owner@example.org') {
  const { id, book } = await at.stage.bought({ email })
  await at.stage.sim('pay', { orderId: id })
  await at.stage.untilState(id, 'credited')
  return { id, book }
}

async function bookOf(book: BookId) {
  const found = await at.stage.ledger.balance(book)
  assert.ok(found)
  return { available: found.available, held: found.held, debt: found.debt }
}

/** The sum that the provider has refunded for an order, in rubles. */
async function givenBack(id: OrderId): Promise<string> {
  const { payments } = await at.stage.sim(`payments?orderId=${id}`, {}, 'GET')
  const [payment] = payments as { refunded_amount?: { value: string } }[]
  return payment?.refunded_amount?.value ?? '0.00'
}

const refused = (code: string) => (error: unknown) =>
  error instanceof Refusal && error.code === code

test('a refund while requests spend returns what is left, to the credit', async () => {
  const { stage } = at
  const { id, book } = await owned()
  let spent = 0n
  const spending = Array.from({ length: 40 }, async () => {
    try {
      await stage.spend(book, 500_000)
      spent += credits(500_000)
    } catch (error) {
      assert.ok(refused('credits_insufficient')(error), String(error))
    }
  })
  const [refund] = await Promise.all([ask(id, book), ...spending])
  await stage.untilState(id, 'partially_refunded', 'refunded')
  assert.equal(refund.credits + spent, pack.credits, 'each credit was spent or returned')
  assert.deepEqual(await bookOf(book), { available: 0n, held: 0n, debt: 0n })
  const worth = (pack.priceKopecks * refund.credits) / pack.credits
  assert.equal(refund.amount, worth, 'and its worth went back, rounded down to a kopeck')
  assert.equal((await givenBack(id)).replace('.', ''), String(worth))
})

test('seven partial refunds at once add up to the whole and not a kopeck more', async () => {
  const { stage } = at
  const { id, book } = await owned()
  const parts = [1, 99, 43_333, 43_333, 43_233]
  const asked = await Promise.allSettled(
    [...parts, 43_333, 43_333].map((one) => ask(id, book, one)),
  )
  const done = asked.filter((one) => one.status === 'fulfilled').map((one) => one.value)
  const no = asked.filter((one) => one.status === 'rejected')
  // Whoever comes when nothing is left at all is told so.
  const [exceeds, nothingLeft] = [refused('refund_exceeds_unspent'), refused('refund_refused')]
  for (const { reason } of no) assert.ok(exceeds(reason) || nothingLeft(reason), String(reason))
  const sum = done.reduce((total, one) => total + one.amount, 0n)
  assert.ok(sum <= pack.priceKopecks, `${sum} kopecks`)
  const rest = await stage.payments.refundable(id, book)
  assert.equal(sum + rest.amountKopecks, pack.priceKopecks, 'nothing is lost between the parts')
  if (rest.amountKopecks > 0n) await ask(id, book)
  await stage.untilState(id, 'refunded')
  assert.equal(await givenBack(id), '1300.00')
  assert.deepEqual(await bookOf(book), { available: 0n, held: 0n, debt: 0n })
})

test('a refund that the bank cancels without a notice is credited back', async () => {
  const { stage } = at
  const email = 'canceled@example.org'
  const { id, book } = await owned(email)
  await stage.sim('hold-refunds', { isHeld: true })
  const refund = await ask(id, book)
  assert.deepEqual([refund.state, (await bookOf(book)).available], ['pending', 0n])
  await stage.sim('cancel-refund', { refundId: refund.refundId, reason: 'insufficient_funds' })
  await stage.turn({ oursSeconds: 61, theirsSeconds: 61 })
  await stage.runJob('payments-refunds')
  await stage.untilState(id, 'credited')
  assert.equal((await bookOf(book)).available, pack.credits)
  assert.equal((await stage.mailbox.wait({ to: email, kind: 'refund-canceled' }, 10_000)).length, 1)
  await stage.sim('hold-refunds', { isHeld: false })
  assert.equal((await ask(id, book)).state, 'succeeded', 'the owner can request it again')
  assert.equal(await givenBack(id), '1300.00')
})

test('a refund at the provider’s desk takes the pack back; what was spent is debt', async () => {
  const { stage } = at
  const email = 'desk@example.org'
  const { id, book } = await owned(email)
  await stage.spend(book, 5_000_000)
  await stage.sim('refund', { orderId: id })
  await stage.untilState(id, 'refunded')
  const debt = credits(5_000_000)
  assert.deepEqual(await bookOf(book), { available: 0n, held: 0n, debt })
  await assert.rejects(stage.spend(book, 1), refused('debt_outstanding'))
  const [sent] = await stage.mailbox.wait({ to: email, kind: 'payment-refunded' }, 10_000)
  assert.match(sent?.text ?? '', /долг/)
  const next = await stage.buy(book)
  await stage.sim('pay', { orderId: next.id })
  await stage.untilState(next.id, 'credited')
  const available = pack.credits - debt
  assert.deepEqual(await bookOf(book), { available, held: 0n, debt: 0n }, 'paid by the next pack')
  await stage.spend(book, 1)
})

test('the refund sweep finds two refunds at the desk whose notices are lost', async () => {
  const { stage } = at
  const { id, book } = await owned()
  await stage.sim('modes', { mode: 'drop', event: 'refund.succeeded', orderId: id, times: 2 })
  for (const value of ['433.33', '433.33']) await stage.sim('refund', { orderId: id, value })
  await stage.runJob('payments-refund-sweep')
  await stage.until('both are here', async () => (await stage.payments.refunds(book)).length === 2)
  assert.equal(await stage.stateOf(id), 'partially_refunded')
  const taken = (pack.credits * 86_666n) / 130_000n
  assert.deepEqual(await bookOf(book), { available: pack.credits - taken, held: 0n, debt: 0n })
})

test('a refund during a dispute returns nothing twice; a lost dispute takes the rest', async () => {
  const { stage } = at
  const { id, book } = await owned()
  await stage.spend(book, 10_000_000)
  const word = { order: id, by: 'operator', note: 'a letter of the provider' }
  await stage.payments.dispute({ ...word, act: 'open' })
  assert.equal(await stage.stateOf(id), 'disputed')
  assert.deepEqual(await bookOf(book), { available: 0n, held: 0n, debt: 0n }, 'set aside')
  await assert.rejects(ask(id, book), refused('refund_refused'))
  // The provider's staff refunds half meanwhile.
  await stage.sim('refund', { orderId: id, value: '650.00' })
  await stage.until(
    'the refund is recorded',
    async () => (await stage.payments.refunds(book)).length === 1,
  )
  await assert.rejects(
    stage.payments.dispute({ ...word, act: 'won' }),
    refused('order_state_wrong'),
  )
  await stage.payments.dispute({ ...word, act: 'lost' })
  const debt = credits(10_000_000)
  assert.deepEqual(await bookOf(book), { available: 0n, held: 0n, debt }, 'the whole pack is gone')
  await assert.rejects(ask(id, book), refused('refund_refused'))
})
