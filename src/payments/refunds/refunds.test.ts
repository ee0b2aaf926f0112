// Refunds: amounts, reserved credits that cannot be spent, parts that add up to the whole, and
// refunds made in the provider's merchant portal when the credits are already spent.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())
beforeEach(async () => {
  await at.room.sim('faults', {}, 'DELETE')
  await at.room.sim('hold-refunds', { isHeld: false })
  await turnClock(at.room.db, '0')
})

const refused = (code: string) => (error: unknown) => isRefusal(error, code)
const bookOf = (book: BookId) => at.room.ledger.balance(book)

async function bought(room = at.room) {
  const book = await room.newBook()
  const order = await room.buy(book)
  await room.sim('pay', { orderId: order.id })
  const view = await room.payments.check(order.id)
  assert.equal(view.state, 'credited')
  return { book, id: order.id }
}

const state = { clicks: 0 }
function requestRefund(order: OrderId, book: BookId, amountKopecks?: Kopecks, room = at.room) {
  state.clicks += 1
  return room.payments.requestRefund({
    order,
    book,
    attempt: `click ${state.clicks}`,
    ...(amountKopecks !== undefined && { amountKopecks }),
    by: 'owner',
    reason: 'changed my mind',
  })
}

const stateOf = async (id: OrderId, book: BookId) => (await at.room.payments.order(id, book)).state

async function paymentOf(id: OrderId) {
  const { payments } = await at.room.sim(`payments?orderId=${id}`, {}, 'GET')
  return (payments as { id: string; refunded_amount?: { value: string } }[])[0]
}

test('an unused pack is refunded in full', async () => {
  const { book, id } = await bought()
  const can = await at.room.payments.refundable(id, book)
  assert.deepEqual(can, { amountKopecks: 130_000n, credits: pack.credits, why: null })
  const refund = await requestRefund(id, book)
  assert.equal(refund.state, 'succeeded')
  assert.equal((await bookOf(book))?.available, 0n)
  assert.equal(await stateOf(id, book), 'refunded')
  assert.equal((await paymentOf(id))?.refunded_amount?.value, '1300.00')
  assert.equal((await at.room.payments.refundable(id, book)).why, 'refunded')
  await assert.rejects(requestRefund(id, book), refused('refund_refused'))
  assert.ok((await at.room.letters()).includes('payment-refunded'))
})

test('refunds the unspent part of a pack, rounded down to a kopeck', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 12_345_678)
  const can = await at.room.payments.refundable(id, book)
  // 1300.00 × 22 654 322 / 35 000 000 = 841.4462…
  assert.equal(can.amountKopecks, 84_144n)
  assert.equal(can.credits, credits(22_654_322))
  await requestRefund(id, book)
  assert.equal((await bookOf(book))?.available, 0n)
  assert.equal(await stateOf(id, book), 'partially_refunded')
  assert.equal((await paymentOf(id))?.refunded_amount?.value, '841.44')
})

test('partial refunds add up to exactly the price', async () => {
  const { book, id } = await bought()
  for (const part of [43_333, 43_333, 43_333]) await requestRefund(id, book, kopecks(part))
  assert.equal(await stateOf(id, book), 'partially_refunded')
  assert.equal((await at.room.payments.refundable(id, book)).amountKopecks, 1n)
  await assert.rejects(requestRefund(id, book, kopecks(2)), refused('refund_exceeds_unspent'))
  await requestRefund(id, book)
  assert.equal((await paymentOf(id))?.refunded_amount?.value, '1300.00')
  assert.equal((await bookOf(book))?.available, 0n)
  assert.equal(await stateOf(id, book), 'refunded')
})

test('one attempt makes one refund', async () => {
  const { book, id } = await bought()
  const click = { order: id, book, attempt: 'once', amountKopecks: kopecks(100) }
  const both = await Promise.all(
    [1, 2, 3].map(() => at.room.payments.requestRefund({ ...click, by: 'owner', reason: '' })),
  )
  assert.equal(new Set(both.map((one) => one.id)).size, 1)
  assert.equal((await paymentOf(id))?.refunded_amount?.value, '1.00')
})

test('reserved credits cannot be spent, and a canceled refund releases them', async () => {
  const { book, id } = await bought()
  await at.room.sim('hold-refunds', { isHeld: true })
  const refund = await requestRefund(id, book)
  assert.equal(refund.state, 'pending')
  assert.equal(await stateOf(id, book), 'refund_pending')
  await assert.rejects(at.room.spend(book, 1), refused('credits_insufficient'))
  await at.room.sim('cancel-refund', { refundId: refund.refundId, reason: 'insufficient_funds' })
  await turnClock(at.room.db, '2 minutes')
  await at.room.payments.jobs.pollRefunds()
  assert.equal(await stateOf(id, book), 'credited')
  assert.equal((await bookOf(book))?.available, pack.credits)
  assert.ok((await at.room.letters()).includes('refund-canceled'))
  const [told] = await at.room.payments.refunds(book)
  assert.deepEqual([told?.state, told?.cancelReason], ['canceled', 'insufficient_funds'])
  await at.room.sim('hold-refunds', { isHeld: false })
  assert.equal((await requestRefund(id, book)).state, 'succeeded', 'it may be asked again')
})

test('a pending refund becomes final when the bank confirms it', async () => {
  const { book, id } = await bought()
  await at.room.sim('hold-refunds', { isHeld: true })
  const refund = await requestRefund(id, book, kopecks(10_000))
  await at.room.sim('complete-refund', { refundId: refund.refundId })
  await turnClock(at.room.db, '2 minutes')
  await at.room.payments.jobs.pollRefunds()
  assert.equal(await stateOf(id, book), 'partially_refunded')
})

test('a refund with an unknown outcome is posted again with its key and made once', async () => {
  for (const when of ['before', 'after']) {
    const { book, id } = await bought()
    await at.room.sim('faults', { kind: 'reset', when, method: 'POST', path: '/refunds' })
    const refund = await requestRefund(id, book)
    assert.equal(refund.state, 'created')
    await turnClock(at.room.db, '3 seconds')
    await at.room.payments.jobs.pollRefunds()
    await turnClock(at.room.db, '0')
    assert.equal(await stateOf(id, book), 'refunded', when)
    const { refunds } = await at.room.sim(
      `refunds?paymentId=${(await paymentOf(id))?.id}`,
      {},
      'GET',
    )
    assert.equal((refunds as unknown[]).length, 1)
  }
})

test('after 23 hours a refund is searched at the provider, and released if absent', async () => {
  const table = [
    ['after', 'refunded'],
    ['before', 'credited'],
  ] as const
  const made: { id: OrderId; book: BookId }[] = []
  for (const [when] of table) {
    const one = await bought()
    await at.room.sim('faults', { kind: 'reset', when, method: 'POST', path: '/refunds' })
    await requestRefund(one.id, one.book)
    made.push(one)
  }
  await turnClock(at.room.db, '24 hours')
  await at.room.payments.jobs.pollRefunds()
  for (const [i, [, expected]] of table.entries()) {
    const one = made[i] as (typeof made)[number]
    assert.equal(await stateOf(one.id, one.book), expected)
  }
})

test('a refused refund releases the reserved credits', async () => {
  const { book, id } = await bought()
  // The payment was refunded in the provider's merchant portal before: nothing is left to refund.
  await at.room.sim('refund', { orderId: id, isPending: true })
  const refund = await requestRefund(id, book)
  assert.equal(refund.state, 'canceled')
  assert.equal((await bookOf(book))?.available, pack.credits)
})

test('a refund in the merchant portal takes the credits; spent ones become debt', async () => {
  const { book, id } = await bought()
  await at.room.spend(book, 20_000_000)
  await at.room.sim('refund', { orderId: id })
  await at.room.db.query('update orders set looked_at = null')
  await at.room.payments.jobs.sweepRefunds()
  const inDebt = await bookOf(book)
  assert.deepEqual([inDebt?.available, inDebt?.debt], [0n, credits(20_000_000)])
  assert.equal(await stateOf(id, book), 'refunded')
  const again = await at.room.buy(book)
  await at.room.sim('pay', { orderId: again.id })
  await at.room.payments.check(again.id)
  const covered = await bookOf(book)
  assert.deepEqual([covered?.available, covered?.debt], [credits(15_000_000), 0n])
  assert.deepEqual(await at.room.ledger.audit('all'), [])
})

test('a notification of a refund made elsewhere finds its order by the payment', async () => {
  const { book, id } = await bought()
  await at.room.intake()
  for (const [i, value] of ['433.33', '433.33', '433.34'].entries()) {
    await at.room.sim('refund', { orderId: id, value })
    await at.room.sim('settle')
    await turnClock(at.room.db, `${i + 1} minutes`)
    await at.room.payments.jobs.applyNotification()
    await at.room.payments.jobs.applyNotification()
  }
  assert.equal(await stateOf(id, book), 'refunded')
  const { available, debt } = (await bookOf(book)) ?? {}
  assert.deepEqual([available, debt], [0n, 0n], 'thirds add up to the whole')
  await at.room.sim('settings', { webhookUrl: null })
})

test('a canceled refund that succeeds after all is debited by force', async () => {
  const { book, id } = await bought()
  await at.room.sim('hold-refunds', { isHeld: true })
  const refund = await requestRefund(id, book)
  await at.room.sim('cancel-refund', { refundId: refund.refundId })
  await turnClock(at.room.db, '2 minutes')
  await at.room.payments.jobs.pollRefunds()
  await at.room.spend(book, 5_000_000)
  await at.room.sim('alter', { refundId: refund.refundId, members: { status: 'succeeded' } })
  await at.room.intake()
  const object = { id: refund.refundId, payment_id: refund.paymentId }
  await at.room.sim('forge', { event: 'refund.succeeded', object })
  await at.room.payments.jobs.applyNotification()
  const { available, debt } = (await bookOf(book)) ?? {}
  assert.deepEqual([available, debt], [0n, credits(5_000_000)])
  assert.equal(await stateOf(id, book), 'refunded')
  assert.deepEqual(await at.room.ledger.audit('all'), [])
  await at.room.sim('settings', { webhookUrl: null })
})

test('our refund and one in the merchant portal take no more than the pack', async () => {
  const { book, id } = await bought()
  await requestRefund(id, book, kopecks(65_000))
  await at.room.sim('refund', { orderId: id })
  await at.room.payments.jobs.sweepRefunds()
  const { available, debt } = (await bookOf(book)) ?? {}
  assert.deepEqual([available, debt], [0n, 0n])
  assert.equal(await stateOf(id, book), 'refunded')
  await at.room.payments.jobs.sweepRefunds()
  assert.equal((await at.room.payments.refunds(book)).length, 2, 'each is known once')
})

test('a refused refund gives back no credits whose money the portal has returned', async () => {
  const { book, id } = await bought()
  await at.room.sim('faults', { kind: 'error', when: 'before', method: 'POST', path: '/refunds' })
  assert.equal((await requestRefund(id, book)).state, 'created')
  await at.room.sim('refund', { orderId: id, value: '650.00' })
  await at.room.payments.jobs.sweepRefunds()
  await turnClock(at.room.db, '5 minutes')
  await at.room.payments.jobs.pollRefunds()
  const own = (await at.room.payments.refunds(book)).map((one) => [one.state, one.amount])
  assert.deepEqual(own, [
    ['succeeded', 65_000n],
    ['canceled', 130_000n],
  ])
  assert.equal((await bookOf(book))?.available, (pack.credits as bigint) / 2n)
  assert.equal(await stateOf(id, book), 'partially_refunded')
  await requestRefund(id, book)
  assert.deepEqual([(await bookOf(book))?.available, await stateOf(id, book)], [0n, 'refunded'])
  assert.deepEqual(await at.room.ledger.audit('all'), [])
})

test('a payment refunded before we learned of it is credited and debited again', async () => {
  const book = await at.room.newBook()
  const order = await at.room.buy(book)
  await at.room.sim('pay', { orderId: order.id })
  await at.room.sim('refund', { orderId: order.id })
  await at.room.payments.jobs.sweep()
  assert.equal(await stateOf(order.id, book), 'refunded')
  const { available, debt } = (await bookOf(book)) ?? {}
  assert.deepEqual([available, debt], [0n, 0n])
})

test('a list of refunds that cannot be read is not taken for an empty one', async () => {
  const { book, id } = await bought()
  await at.room.sim('refund', { orderId: id })
  await at.room.sim('faults', { kind: 'error', when: 'before', method: 'GET', path: '/refunds' })
  await assert.rejects(at.room.payments.jobs.sweepRefunds(), /list of refunds could not be read/)
  await at.room.payments.jobs.sweepRefunds()
  assert.equal(await stateOf(id, book), 'refunded')
})

test('an account that keeps spending is refunded exactly what is left', async () => {
  const { book, id } = await bought()
  const spending = Array.from({ length: 20 }, () => at.room.spend(book, 100_000).catch(() => 0))
  const [refund] = await Promise.all([
    requestRefund(id, book).catch((error: unknown) => {
      if (!isRefusal(error, 'refund_exceeds_unspent')) throw error
      return undefined
    }),
    ...spending,
  ])
  const left = (await bookOf(book)) as NonNullable<Awaited<ReturnType<typeof bookOf>>>
  const taken = refund?.credits ?? 0n
  assert.equal(left.available + left.spentTotal + taken, pack.credits)
  assert.deepEqual(await at.room.ledger.audit('all'), [])
})

test('the refund policy applies to owners, not to operators', async () => {
  const table = [
    ['none', 0, 'policy'],
    ['full', 0, null],
    ['full', 1, 'policy'],
    ['prorata', 1, null],
  ] as const
  for (const [refundPolicy, spent, why] of table) {
    const { book, id } = await bought()
    if (spent > 0) await at.room.spend(book, spent)
    const payments = at.room.open({ refundPolicy })
    assert.equal((await payments.refundable(id, book)).why, why, `${refundPolicy} ${spent}`)
    assert.equal((await payments.refundable(id)).why, null)
    const input = { order: id, attempt: 'x', by: 'owner', reason: '' }
    if (why !== null) {
      await assert.rejects(payments.requestRefund({ ...input, book }), refused('refund_refused'))
    }
  }
})

test('refuses to refund an unpaid order or another book’s order', async () => {
  const book = await at.room.newBook()
  const order = await at.room.buy(book)
  assert.equal((await at.room.payments.refundable(order.id, book)).why, 'not_credited')
  await assert.rejects(requestRefund(order.id, book), refused('refund_refused'))
  await assert.rejects(requestRefund(order.id, await at.room.newBook()), refused('order_unknown'))
})

test('promo credits are never refunded, whether spent first or last', async () => {
  const { book, id } = await bought()
  const code = { code: 'GIFT-2026', credits: credits(1_000), redemptionsMax: 1 }
  const [startsAt, endsAt] = [new Date(Date.now() - 1_000), new Date(Date.now() + 60_000)]
  await at.room.payments.createPromo({ ...code, startsAt, endsAt, by: 'op', note: '' })
  await at.room.payments.redeem(book, 'gift-2026')
  await requestRefund(id, book)
  assert.equal((await bookOf(book))?.available, credits(1_000))
})
