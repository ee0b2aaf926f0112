// A top-up is sent only under its own living mandate, whenever it was made: each end of a mandate,
// from a new account, keeps a waiting order from being sent, and the database refuses what the
// program must not do.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createMandateSteps, emailOf, type MandateSteps } from '../../../test/stages/mandates.ts'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'

/** What the shop sells; tests change it. */
const shop = { credits: pack.credits }
const at = {
  stage: undefined as unknown as TestPayments,
  steps: undefined as unknown as MandateSteps,
}
before(async () => {
  at.stage = await createTestPayments({
    payments: {
      hasTopUps: true,
      packOf: (id) => (id === pack.id ? { ...pack, ...shop } : undefined),
      ownerOf: async (book) => ({
        ...{ email: emailOf(book), language: 'en', createdAt: new Date(0) },
      }),
    },
  })
  at.steps = createMandateSteps(at.stage)
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the audit finds nothing in the end')
  await at.stage.end()
})
beforeEach(async () => {
  shop.credits = pack.credits
  await at.stage.sim('faults', {}, 'DELETE')
  await turnClock(at.stage.db, '0')
  // The owners of other tests would use up the faults of this one.
  await at.stage.db.query(
    `update mandates set ended_at = ledger_now(), ended_why = 'owner' where ended_at is null`,
  )
})

const run = () => at.stage.payments.jobs.topUp()

async function recoverAfter(span: string): Promise<void> {
  await turnClock(at.stage.db, span)
  await at.stage.payments.jobs.recover()
}

/** A top-up order that was posted once without an answer, and without a charge. */
async function unanswered(book: BookId): Promise<OrderId> {
  const fault = { kind: 'error', when: 'before', method: 'POST', path: '/payments' }
  await at.stage.sim('faults', fault)
  await run()
  const [order] = await at.steps.topUpsOf(book)
  assert.equal(order?.state, 'created')
  return order.id
}

type Account = { readonly book: BookId; readonly first: OrderId }
/** Each end of a mandate, by the reason that is stored. */
const ends: Record<string, (account: Account) => Promise<unknown>> = {
  owner: ({ book }) => at.stage.payments.topUps.turnOff(book),
  forgotten: ({ book }) =>
    at.stage.db.transaction((tx) => at.stage.payments.topUps.forget(tx, book)),
  closed: ({ book }) => at.stage.db.transaction((tx) => at.stage.payments.topUps.close(tx, book)),
  card_replaced: ({ book }) => at.steps.purchase(book, true),
  refunded: ({ book, first }) =>
    at.stage.payments.requestRefund({ order: first, book, attempt: 'r', by: 'owner', reason: '' }),
  disputed: ({ first }) =>
    at.stage.payments.dispute({ act: 'open', order: first, by: 'olga', note: 'a letter' }),
  pack_changed: async () => {
    shop.credits = credits(34_000_000)
  },
}

for (const [why, end] of Object.entries(ends)) {
  test(`an order made hours ago is not sent after the end "${why}"`, async () => {
    const { steps } = at
    const account = await steps.owner()
    await unanswered(account.book)
    await end(account)
    await recoverAfter('5 hours')
    await recoverAfter('7 hours')
    assert.equal(await steps.endedWhy(account.book), why)
    assert.deepEqual(await steps.states(account.book), ['canceled'])
    assert.deepEqual(await steps.chargesOf(account.book), { paid: 0, posts: 1 })
  })
}

test('the decline of an earlier order does not end a mandate given since', async () => {
  const { stage, steps } = at
  const { book, first } = await steps.owner()
  await stage.sim('faults', { kind: 'reset', when: 'after', method: 'POST', path: '/payments' })
  await stage.sim('method', { orderId: first, decline: 'insufficient_funds' })
  await run()
  await steps.agree(book, { threshold: 900_000 })
  await recoverAfter('2 minutes')
  assert.deepEqual(await steps.states(book), ['canceled'])
  assert.equal(await steps.endedWhy(book), null)
  assert.deepEqual(await steps.emails(book, 'top-up-declined'), [])
})

test('a top-up that never reached the bank in a day is no decline', async () => {
  const { steps } = at
  const { book } = await steps.owner()
  await unanswered(book)
  await recoverAfter('25 hours')
  assert.deepEqual(await steps.states(book), ['canceled'])
  assert.equal(await steps.endedWhy(book), null)
  await run()
  assert.deepEqual(await steps.states(book), ['credited', 'canceled'], 'the next order is new')
  assert.equal((await steps.chargesOf(book)).paid, 1)
})

test('two tabs that agree at once leave one living mandate', async () => {
  const { steps, stage } = at
  const { book } = await steps.owner()
  await Promise.all([1, 2, 3, 4].map((n) => steps.agree(book, { threshold: 900_000 + n })))
  const { mandates } = await stage.payments.topUps.history(book)
  assert.equal(mandates.length, 5)
  assert.equal(mandates.filter(({ endedAt }) => endedAt === null).length, 1)
})

test('the database refuses a top-up without a living mandate of its terms', async () => {
  const { stage, steps } = at
  const { book } = await steps.owner()
  await unanswered(book)
  const copy = (changes: string) =>
    stage.db.query(
      `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
         credits, price_kopecks, catalogue_version, email, locale, request_body, is_top_up,
         consent_id)
       select 'pay_' || repeat('0', 32), book_id, 'top-up 99', provider, method, 'failed', pack_id,
         pack_title, ${changes}, catalogue_version, email, locale, null, true, consent_id
       from orders where book_id = $1 and is_top_up`,
      [book],
    )
  const send = () =>
    stage.db.query('update orders set posted_at = ledger_now() where book_id = $1 and is_top_up', [
      book,
    ])
  await assert.rejects(copy('credits - 1, price_kopecks'), /needs a living mandate/)
  await assert.rejects(copy('credits, price_kopecks + 1'), /needs a living mandate/)
  await send()
  await stage.payments.topUps.turnOff(book)
  await assert.rejects(copy('credits, price_kopecks'), /needs a living mandate/)
  await assert.rejects(send(), /needs a living mandate/)
})
