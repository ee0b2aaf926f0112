// A worker dies in the middle of a top-up: the next one finds the order and repeats the call with
// the same idempotency key, so that the owner is charged and credited once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BookId, newAccountId } from '../../../src/platform/ids.ts'
import { credits } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import type { ReceivedCall } from '../../../stand-ins/bank/calls.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../../stages/served/payments.ts'

const at = { stage: undefined as unknown as PaymentStage }
/** The same as in the workers' catalogue. */
const soldPack = { ...pack, id: 'pack-35m' }
before(async () => {
  at.stage = await createPaymentStage({
    workers: 1,
    env: { PAYMENTS_HAS_TOP_UPS: 'true' },
    payments: { hasTopUps: true, packOf: (id) => (id === soldPack.id ? soldPack : undefined) },
  })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the audit finds no differences')
  await at.stage.end()
})

/** The book of an account with a saved card and top-ups turned on. */
async function bookWithTopUps(): Promise<BookId> {
  const { stage } = at
  const { id, book } = await stage.bought({ savesMethod: true, pack: soldPack })
  await stage.db.query('insert into accounts (id, email, book_id) values ($1, $2, $3)', [
    newAccountId(),
    `${book}@example.org`,
    book,
  ])
  await stage.sim('pay', { orderId: id })
  await stage.untilState(id, 'credited')
  const { topUps } = stage.payments
  await topUps.turnOn({
    ...{ book, packId: soldPack.id, version: topUps.consentVersion, address: '203.0.113.7' },
    ...{ priceKopecks: soldPack.priceKopecks, credits: soldPack.credits },
    threshold: credits(1_000_000),
    dayCeilingKopecks: kopecks(1_000_000),
    monthCeilingKopecks: kopecks(1_000_000),
  })
  return book
}

async function topUpsOf(book: BookId) {
  const orders = await at.stage.payments.orders({ book, before: null, limit: 10 })
  return orders.filter(({ isTopUp }) => isTopUp)
}

async function callsOf(id: string): Promise<number> {
  const { calls } = await at.stage.sim(`calls?orderId=${id}&method=POST&last=1000`, {}, 'GET')
  return (calls as ReceivedCall[]).length
}

test('a top-up is credited once when its worker is killed during the charge', async () => {
  const { stage } = at
  const book = await bookWithTopUps()
  // The bank charges the card and never answers, so we do not know the result.
  await stage.sim('faults', { kind: 'hang', when: 'after', method: 'POST', path: '/payments' })
  // It sends no notification later either.
  await stage.sim('settings', { webhookUrl: null })
  await stage.spend(book, 34_500_000)
  const order = await stage.until('the worker has called the bank', async () => {
    const [one] = await topUpsOf(book)
    return one !== undefined && (await callsOf(one.id)) === 1 && one
  })
  assert.equal(order.state, 'created')
  await stage.workers.pop()?.kill()
  stage.workers.push(await stage.startWorker(), await stage.startWorker())
  await stage.turn({ oursSeconds: 60 })
  await stage.untilState(order.id, 'credited')
  const { entries, amount } = await stage.credit(order.id)
  assert.deepEqual([entries, amount], [1, soldPack.credits])
  assert.equal(await stage.availableOf(book), credits(35_500_000))
  const { payments } = await stage.sim(`payments?orderId=${order.id}`, {}, 'GET')
  assert.equal((payments as object[]).length, 1, 'the card was charged once')
  assert.equal((await topUpsOf(book)).length, 1)
})
