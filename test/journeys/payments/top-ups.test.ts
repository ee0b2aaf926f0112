// A worker that dies in the middle of a top-up: the next one finds the order, asks the provider
// with the same key, and the owner is charged and credited once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BookId, newAccountId } from '../../../src/platform/ids.ts'
import { credits } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import type { ReceivedCall } from '../../../stand-ins/bank/calls.ts'
import { pack } from '../../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../../stages/served/payments.ts'

const at = { stage: undefined as unknown as PaymentStage }
/** As the workers' catalogue has it. */
const sold = { ...pack, id: 'pack-35m' }
before(async () => {
  at.stage = await createPaymentStage({
    workers: 1,
    env: { PAYMENTS_HAS_TOP_UPS: 'true' },
    payments: { hasTopUps: true, packOf: (id) => (id === sold.id ? sold : undefined) },
  })
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the books tie out in the end')
  await at.stage.end()
})

/** An account whose owner left a card and said when to buy. */
async function owner(): Promise<BookId> {
  const { stage } = at
  const { id, book } = await stage.bought({ savesMethod: true, pack: sold })
  await stage.db.query('insert into accounts (id, email, book_id) values ($1, $2, $3)', [
    newAccountId(),
    `${book}@example.org`,
    book,
  ])
  await stage.sim('pay', { orderId: id })
  await stage.untilState(id, 'credited')
  const { topUps } = stage.payments
  await topUps.turnOn({
    ...{ book, packId: sold.id, version: topUps.consentVersion, address: '203.0.113.7' },
    ...{ priceKopecks: sold.priceKopecks, credits: sold.credits },
    threshold: credits(1_000_000),
    ceilingKopecks: kopecks(1_000_000),
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

test('a worker killed while the bank is charging: credited once by the next one', async () => {
  const { stage } = at
  const book = await owner()
  // The bank charges the card and never answers: nobody here knows.
  await stage.sim('faults', { kind: 'hang', when: 'after', method: 'POST', path: '/payments' })
  // Nor does it tell anybody later.
  await stage.sim('settings', { webhookUrl: null })
  await stage.spend(book, 34_500_000)
  const order = await stage.until('the worker is at it', async () => {
    const [one] = await topUpsOf(book)
    return one !== undefined && (await callsOf(one.id)) === 1 && one
  })
  assert.equal(order.state, 'created')
  await stage.workers.pop()?.kill()
  stage.workers.push(await stage.startWorker(), await stage.startWorker())
  await stage.turn({ oursSeconds: 60 })
  await stage.untilState(order.id, 'credited')
  const { entries, amount } = await stage.credit(order.id)
  assert.deepEqual([entries, amount], [1, sold.credits])
  assert.equal(await stage.availableOf(book), credits(35_500_000))
  const { payments } = await stage.sim(`payments?orderId=${order.id}`, {}, 'GET')
  assert.equal((payments as object[]).length, 1, 'the card was charged once')
  assert.equal((await topUpsOf(book)).length, 1)
})
