// Closing an account over HTTP, with the worker that takes its steps: what its owner sees, what is
// refunded, and that nothing stays in the book whatever happens meanwhile.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage, type Person } from '../../../test/stages/cabinet.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'
import type { Closing } from '../contract/closing.ts'
import type { Me, NewKey, Order } from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  const receipt = {
    ...{ vatCode: 11, taxSystem: 0, subject: 'service', mode: 'full_prepayment' },
    ...{ measure: 'piece', completions: 'at_end' as const },
  }
  at.stage = await createCabinetStage({ yookassa: { receipt } })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the books tie out in the end')
  await at.stage.end()
})
afterEach(async () => {
  await at.stage.sim('faults', {}, 'DELETE')
  await at.stage.sim('hold-refunds', { isHeld: false })
  await turnClock(at.stage.db, '0')
})

const begin = (own: Person, unspent: 'refund' | 'forfeit') =>
  own.expectOk<Closing>('POST /api/closing', { unspent })
const processOf = async (own: Person) =>
  (await own.expectOk<Closing>('GET /api/closing')).body.process
const isGone = async (own: Person) => (await own.refusal('GET /api/me')) === '401 session_missing'
const stateOf = async (book: BookId) => {
  const found = await at.stage.ledger.balance(book)
  return [found?.available, found?.held, found?.debt]
}
const refundsOf = async (book: BookId) =>
  (await at.stage.payments.refunds(book)).map(({ state, amount }) => [state, amount])

test('closing refunds paid credits, forfeits the rest, and ends every session', async () => {
  const { person, buyPack, spend, payments, ledger, keys, runClosings } = at.stage
  const own = await person('closing')
  await payments.createPromo({
    ...{ code: 'GIFT', credits: credits(5_000), redemptionsMax: 1, by: 'a test', note: '' },
    ...{ startsAt: new Date(0), endsAt: new Date('2100-01-01') },
  })
  const { id } = await buyPack(own)
  await own.expectOk('POST /api/promo', { code: 'GIFT' })
  await spend(own.book, 14_000_000)
  const { body: key } = await own.expectOk<NewKey>('POST /api/key')
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  const { preview } = (await own.expectOk<Closing>('GET /api/closing')).body
  assert.deepEqual(
    [preview?.refundKopecks, preview?.reviewedKopecks, preview?.forfeited.whole],
    ['78000', '0', '5000'],
  )
  await begin(own, 'refund')
  assert.deepEqual(await keys.find(own.book), {}, 'the key stops at once')
  assert.equal((await ledger.balance(own.book))?.blockedReason, 'owner_suspended')
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
  const [refund] = await payments.refunds(own.book)
  assert.deepEqual([refund?.order, refund?.amount, refund?.state], [id, 78_000n, 'succeeded'])
  const [last] = await ledger.statement({ book: own.book, beforeSeq: null, limit: 1 })
  assert.deepEqual([last?.kind, last?.amount], ['adjust', -credits(5_000)])
})

test('the closing completes what was used and forfeited, with a receipt at once', async () => {
  const { person, buyPack, spend, payments, runClosings } = at.stage
  const receiptsOf = async (book: BookId) =>
    (await payments.receipts.ofBook(book)).map(({ kind, amountKopecks }) => [kind, amountKopecks])
  const own = await person('receipts')
  await buyPack(own)
  await payments.jobs.receipts()
  await spend(own.book, 14_000_000)
  await begin(own, 'forfeit')
  await runClosings()
  await payments.jobs.receipts()
  assert.deepEqual(await receiptsOf(own.book), [
    ['prepayment', 130_000n],
    ['completion', 130_000n],
  ])
})

test('credits that a running request holds are refunded when they are free', async () => {
  const { person, buyPack, beginRequest, runClosings, emailKindsTo } = at.stage
  const own = await person('running')
  await buyPack(own)
  const request = await beginRequest(own.book, 20_000_000)
  await begin(own, 'refund')
  await runClosings()
  const seen = await processOf(own)
  assert.deepEqual([seen?.step, seen?.held.whole, seen?.canStop], ['closing', '20000000', true])
  assert.deepEqual(await refundsOf(own.book), [], 'nothing before the request has ended')
  await request.settle(7_000_000)
  await runClosings()
  assert.ok(await isGone(own))
  // 28 of 35 million credits for 1,300 roubles.
  assert.deepEqual(await refundsOf(own.book), [['succeeded', 104_000n]])
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
  const kinds = await emailKindsTo(own.email)
  for (const kind of ['account-closing', 'payment-refunded', 'account-closed'])
    assert.equal(kinds.filter((one) => one === kind).length, 1, kind)
})

test('an order that is paid during the closing is refunded, whatever was chosen', async () => {
  const { person, sim, payments, runClosings } = at.stage
  for (const unspent of ['refund', 'forfeit'] as const) {
    const own = await person(`payer-${unspent}`)
    const order = { pack: 'pack-35m', method: 'card', attempt: 'one' }
    const { body } = await own.expectOk<Order>('POST /api/orders', order)
    await begin(own, unspent)
    await runClosings()
    const seen = await processOf(own)
    assert.deepEqual([seen?.step, seen?.payableOrders], ['closing', 1])
    await sim('pay', { orderId: body.id })
    await payments.jobs.sweep()
    await runClosings()
    assert.ok(await isGone(own), unspent)
    assert.deepEqual(await refundsOf(own.book), [['succeeded', 130_000n]])
    assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
  }
})

const bank = { by: 'anna', note: 'letter of the bank' }

test('what a dispute leaves of a payment waits for the bank, and goes back if won', async () => {
  const { person, buyPack, payments, runClosings } = at.stage
  const own = await person('disputed')
  const { id } = await buyPack(own)
  const part = { order: id as OrderId, amountKopecks: kopecks(30_000), ...bank }
  await payments.dispute({ act: 'open', ...part })
  const { preview } = (await own.expectOk<Closing>('GET /api/closing')).body
  assert.deepEqual([preview?.refundKopecks, preview?.reviewedKopecks], ['100000', '100000'])
  await begin(own, 'refund')
  await runClosings()
  const seen = await processOf(own)
  assert.deepEqual([seen?.step, seen?.disputedOrders], ['drained', 1])
  await payments.dispute({ act: 'won', ...part })
  await payments.jobs.pollRefunds()
  await runClosings()
  assert.ok(await isGone(own))
  const back = (await payments.refunds(own.book)).map(({ amount }) => amount)
  assert.deepEqual(back.toSorted(), [100_000n, 30_000n])
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
})

test('credits that a request held when the dispute began are not forfeited', async () => {
  const { person, buyPack, payments, beginRequest, runClosings } = at.stage
  const own = await person('disputed-running')
  const { id } = await buyPack(own)
  const request = await beginRequest(own.book, 20_000_000)
  await payments.dispute({ order: id as OrderId, act: 'open', ...bank })
  await begin(own, 'refund')
  await request.settle(0)
  await runClosings()
  assert.equal((await processOf(own))?.disputedOrders, 1)
  await payments.dispute({ order: id as OrderId, act: 'won', ...bank })
  await payments.jobs.pollRefunds()
  await runClosings()
  const back = (await payments.refunds(own.book)).reduce((sum, { amount }) => sum + amount, 0n)
  assert.deepEqual([back, await isGone(own)], [130_000n, true])
})

test('what a lost dispute leaves of a payment is decided by a person', async () => {
  const { person, buyPack, payments, runClosings } = at.stage
  const own = await person('dispute-lost')
  const { id } = await buyPack(own)
  const part = { order: id as OrderId, amountKopecks: kopecks(30_000), ...bank }
  await payments.dispute({ act: 'open', ...part })
  await begin(own, 'refund')
  await runClosings()
  await payments.dispute({ act: 'lost', ...part })
  await runClosings()
  const seen = await processOf(own)
  assert.deepEqual(
    seen?.refunds.map(({ state, amountKopecks }) => [state, amountKopecks]),
    [['review', '100000']],
  )
  const review = (await payments.reviewQueue()).find(({ order }) => order === id)
  await payments.resolveReview({ id: review?.id as bigint, decision: 'refund', ...bank })
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
})

test('an order without an answer of the provider delays closing by an hour at most', async () => {
  const { person, sim, runClosings, db } = at.stage
  const own = await person('unanswered')
  await sim('faults', { kind: 'error', when: 'before', method: 'POST', path: '/payments' })
  await own.expectOk('POST /api/orders', { pack: 'pack-35m', method: 'card', attempt: 'one' })
  await begin(own, 'forfeit')
  await runClosings()
  assert.equal((await processOf(own))?.payableOrders, 1)
  await turnClock(db, '61 minutes')
  await runClosings()
  assert.ok(await isGone(own))
})

test('a closing account buys nothing, redeems nothing and makes no key', async () => {
  const { person, buyPack, beginRequest, runClosings } = at.stage
  const own = await person('shut')
  const { id } = await buyPack(own)
  const request = await beginRequest(own.book, 1_000)
  await begin(own, 'forfeit')
  const refused = '409 account_closing'
  const order = { pack: 'pack-35m', method: 'card', attempt: 'late' }
  assert.equal(await own.refusal('POST /api/orders', order), refused)
  assert.equal(await own.refusal('POST /api/promo', { code: 'GIFT' }), refused)
  assert.equal(await own.refusal('POST /api/key'), refused)
  assert.equal(await own.refusal('POST /api/guards/resume'), refused)
  assert.equal(await own.refusal(`POST /api/orders/${id}/refund`, { attempt: 'x' }), refused)
  assert.equal((await own.expectOk<Me>('GET /api/me')).body.isClosing, true)
  await request.settle(10)
  await runClosings()
  assert.ok(await isGone(own))
})

test('a stopped closing leaves the credits and lets a new key work', async () => {
  const { person, buyPack, beginRequest, ledger, runClosings } = at.stage
  const own = await person('stays')
  await buyPack(own)
  const request = await beginRequest(own.book, 1_000)
  await begin(own, 'refund')
  const { body } = await own.expectOk<Closing>('POST /api/closing/stop')
  assert.equal(body.process, null)
  assert.equal((await ledger.balance(own.book))?.blockedReason, null)
  const { body: key } = await own.expectOk<NewKey>('POST /api/key')
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  await request.settle(0)
  await runClosings()
  assert.deepEqual(await stateOf(own.book), [credits(35_000_000), 0n, 0n])
})

test('a refund that the bank cancels is requested again by the owner, at once', async () => {
  const { person, buyPack, sim, payments, runClosings, emailKindsTo } = at.stage
  const own = await person('again')
  const { id } = await buyPack(own)
  await sim('hold-refunds', { orderId: id })
  await begin(own, 'refund')
  await runClosings()
  const [sent] = (await processOf(own))?.refunds ?? []
  assert.equal(sent?.state, 'sent')
  assert.equal(await own.refusal('POST /api/closing/stop'), '409 closing_final')
  const again = `POST /api/closing/refunds/${sent?.id}/again`
  assert.equal(await own.refusal(again), '409 refund_not_waiting')
  const [made] = await payments.refunds(own.book)
  await sim('cancel-refund', { refundId: made?.refundId })
  await turnClock(at.stage.db, '2 minutes')
  await payments.jobs.pollRefunds()
  const [waits] = (await processOf(own))?.refunds ?? []
  assert.deepEqual([waits?.state, waits?.amountKopecks], ['again', '130000'])
  assert.ok(waits?.againAt !== null)
  assert.ok((await emailKindsTo(own.email)).includes('refund-again'))
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n], 'reserved meanwhile')

  await sim('hold-refunds', { orderId: id, isHeld: false })
  await own.expectOk(`POST /api/closing/refunds/${waits?.id}/again`)
  await payments.jobs.pollRefunds()
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await refundsOf(own.book), [
    ['succeeded', 130_000n],
    ['canceled', 130_000n],
  ])
})

test('what only a person may refund waits visibly and is never forfeited silently', async () => {
  const { person, buyPack, payments, runClosings, emailKindsTo } = at.stage
  const own = await person('budget')
  for (let i = 0; i < 7; i++) await buyPack(own)
  const { preview } = (await own.expectOk<Closing>('GET /api/closing')).body
  assert.deepEqual([preview?.refundKopecks, preview?.reviewedKopecks], ['910000', '260000'])
  await begin(own, 'refund')
  await runClosings()
  const seen = await processOf(own)
  assert.equal(seen?.step, 'drained')
  const states = seen?.refunds.map(({ state }) => state).toSorted()
  assert.deepEqual(states, [
    ...['returned', 'returned', 'returned', 'returned', 'returned'],
    ...['review', 'review'],
  ])
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n], 'reserved meanwhile')
  const kinds = await emailKindsTo(own.email)
  assert.equal(kinds.filter((kind) => kind === 'refund-review').length, 2)

  const reviews = (await payments.reviewQueue()).filter(({ order }) =>
    seen?.refunds.some((one) => one.order === order),
  )
  const [first, second] = reviews.map(({ id }) => id) as [bigint, bigint]
  await payments.resolveReview({ id: first, decision: 'refund', by: 'anna', note: 'fair' })
  await runClosings()
  assert.equal((await processOf(own))?.step, 'drained', 'one more waits')
  await payments.resolveReview({ id: second, decision: 'dismiss', by: 'anna', note: 'abuse' })
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await stateOf(own.book), [0n, 0n, 0n])
  const done = (await refundsOf(own.book)).filter(([state]) => state === 'succeeded')
  assert.equal(done.length, 6)
})

test('the account closes although the outcome of a refund is unknown at first', async () => {
  const { person, buyPack, sim, payments, runClosings } = at.stage
  const own = await person('unknown')
  await buyPack(own)
  await sim('faults', { kind: 'error', when: 'after', method: 'POST', path: '/refunds', times: 1 })
  await begin(own, 'refund')
  await runClosings()
  assert.equal((await processOf(own))?.step, 'drained')
  await turnClock(at.stage.db, '2 minutes')
  await payments.jobs.pollRefunds()
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await refundsOf(own.book), [['succeeded', 130_000n]])
})

test('a promo code that is redeemed while the account closes adds nothing', async () => {
  const { person, payments, accounts, ledger, open, runClosings } = at.stage
  const own = await person('redeeming')
  await payments.createPromo({
    ...{ code: 'LATE', credits: credits(5_000), redemptionsMax: 1, by: 'a test', note: '' },
    ...{ startsAt: new Date(0), endsAt: new Date('2100-01-01') },
  })
  const redeeming = open({
    async ownerOf(book, tx) {
      const owner = await accounts.ownerOf(book, tx)
      await begin(own, 'forfeit')
      return owner
    },
  })
  await assert.rejects(redeeming.redeem(own.book, 'LATE'), { code: 'promo_refused' })
  assert.equal((await ledger.balance(own.book))?.available, 0n)
  await runClosings()
})

test('an account closes on a quiet night, with the worker away until the morning', async () => {
  const { person, buyPack, runClosings, db } = at.stage
  const own = await person('night')
  await buyPack(own)
  await begin(own, 'refund')
  await turnClock(db, '9 hours')
  assert.equal((await processOf(own))?.step, 'closing', 'nothing moved without the worker')
  await runClosings()
  assert.ok(await isGone(own))
  assert.deepEqual(await refundsOf(own.book), [['succeeded', 130_000n]])
})
