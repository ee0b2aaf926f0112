// op reviews, op disputes and op promo as an operator types them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const available = async (book: bigint) =>
  (await at.stage.ledger.balance(book as Parameters<typeof at.stage.ledger.balance>[0]))?.available

/** An order that was paid with another amount. */
async function inReview(value = '1299.00') {
  const book = await at.stage.newBook()
  const { id } = await at.stage.buy(book)
  await at.stage.sim('alter', { orderId: id, value })
  await at.stage.sim('pay', { orderId: id })
  await at.stage.payments.check(id)
  const { reviews } = await at.stage.json<{ reviews: { id: string; order: string }[] }>('reviews')
  const review = reviews.find(({ order }) => order === id)
  assert.ok(review, 'it waits for a person')
  return { book, id, review: review.id }
}

test('lists a payment that differs, and credits it once', async () => {
  const { book, review } = await inReview()
  const { out } = await at.stage.op(['reviews'])
  assert.match(out, new RegExp(`^review ${review}  amount, 1 299\\.00 RUB paid$`, 'm'))
  const resolve = ['reviews', 'resolve', review, 'credit', '--note', 'the bank rounds']
  assert.equal((await at.stage.op(resolve, '1300.00')).out, 'nothing was changed')
  assert.equal(await available(book), 0n)
  assert.equal((await at.stage.op(resolve, '1299')).code, 0)
  assert.equal(await available(book), credits(35_000_000))
  const { code, err } = await at.stage.op(resolve, '1299')
  assert.deepEqual([code, /no review \d+ waits/.test(err)], [1, true])
})

test('prints and records what the payments module refuses about a review', async () => {
  const { review } = await inReview()
  await at.stage.sim('faults', { kind: 'error', when: 'before', method: 'GET', times: 1 })
  const said = await at.stage.json('reviews', 'resolve', review, 'credit', '--note', 'x')
  assert.deepEqual([said.isDone, said.refusal], [false, 'order_state_wrong'])
  assert.equal((await at.stage.acts()).at(-1)?.outcome, 'refused')
  const over = await at.stage.json('reviews', 'resolve', review, 'dismiss', '--note', 'x')
  assert.equal(over.isDone, true)
})

test('never refunds more than the plan of a review showed', async () => {
  const { id, review } = await inReview()
  await at.stage.sim('alter', { orderId: id, value: '9000.00' })
  const resolve = ['reviews', 'resolve', review, 'refund', '--note', 'x']
  const { code, err } = await at.stage.op(resolve, '1299')
  assert.equal(code, 1)
  assert.match(err, /larger than its review says/)
  const { rows } = await at.stage.db.query('select from refunds where order_id = $1', [id])
  assert.equal(rows.length, 0)
  const dismiss = ['reviews', 'resolve', review, 'dismiss', '--note', 'x', '--yes']
  assert.equal((await at.stage.op(dismiss)).code, 0)
})

test('a dispute reserves the pack; won releases it, lost takes it', async () => {
  const anna = await at.stage.person('anna')
  const order = await at.stage.buyPack(anna)
  const { op } = at.stage
  const open = ['disputes', 'open', order.id, '--note', 'letter 17', '--block']
  assert.equal((await op(open, 'somebody@example.org')).code, 1)
  assert.equal((await op(open, anna.email)).code, 0)
  assert.equal(await available(anna.book), 0n)
  const listed = /opened\n {2}answer by .*\n {2}1 300\.00 RUB, 35 000 000 set aside/
  assert.match((await op(['disputes'])).out, listed)
  assert.equal((await at.stage.json('disputes', 'won', order.id, '--note', 'x')).state, 'won')
  assert.equal(await available(anna.book), credits(35_000_000))
  const again = await at.stage.json('disputes', 'lost', order.id, '--note', 'x')
  assert.equal(again.refusal, 'order_state_wrong')
  assert.equal((await at.stage.ledger.balance(anna.book))?.blockedReason, 'operator_blocked')
})

test('creates, lists, redeems and ends a promo code', async () => {
  const { op, payments } = at.stage
  const make = ['promo', 'create', 'winter-26', '1000', '--times', '500', '--until', '2099-12-31']
  assert.equal((await op(make, '1000')).code, 1, 'what is typed again is what it may cost in all')
  assert.equal((await op(make, '500 000')).out, 'code WINTER-26 is made')
  const { book } = await at.stage.person('winter')
  assert.equal((await payments.redeem(book, 'WINTER-26')).credits, credits(1_000))
  assert.match((await op(['promo'])).out, /WINTER-26 +1 000 +1\/500 +0 .* 2100-01-01 00:00/)
  assert.equal((await at.stage.json(...make)).refusal, 'field_invalid')
  assert.equal((await op(['promo', 'end', 'winter-26'], 'y')).code, 0)
  assert.match((await op(['promo', 'list'])).out, /WINTER-26 .* over/)
  await assert.rejects(
    payments.redeem((await at.stage.person('late')).book, 'WINTER-26'),
    (error) => isRefusal(error, 'promo_refused'),
  )
  assert.equal((await at.stage.json('promo', 'end', 'WINTER-26')).refusal, 'field_invalid')
})

test('ends a code that has not started', async () => {
  const later = ['--times', '1', '--from', '2090-01-01', '--until', '2099-12-31']
  await at.stage.json('promo', 'create', 'SPRING', '10', ...later)
  assert.equal((await at.stage.json('promo', 'end', 'SPRING')).isDone, true)
})
