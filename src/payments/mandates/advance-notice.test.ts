// The e-mail before a charge, which an owner may choose: it is off by default, the charge follows
// two hours after the e-mail, and it is not made if the mandate has ended or the balance has been
// topped up meanwhile.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createMandateSteps, emailOf, type MandateSteps } from '../../../test/stages/mandates.ts'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import type { BookId } from '../../platform/ids.ts'

const at = {
  stage: undefined as unknown as TestPayments,
  steps: undefined as unknown as MandateSteps,
}
before(async () => {
  at.stage = await createTestPayments({
    payments: {
      hasTopUps: true,
      ownerOf: async (book) => ({
        ...{ email: emailOf(book), language: 'en', zone: 'Asia/Yekaterinburg' },
        createdAt: new Date(0),
      }),
    },
  })
  at.steps = createMandateSteps(at.stage)
})
after(async () => {
  assert.deepEqual(await at.stage.ledger.audit('all'), [], 'the audit finds nothing in the end')
  await at.stage.end()
})
beforeEach(() => turnClock(at.stage.db, '0'))

const run = () => at.stage.payments.jobs.topUp()

async function recoverAfter(span: string): Promise<void> {
  await turnClock(at.stage.db, span)
  await at.stage.payments.jobs.recover()
}

/** A new account whose charge was announced. */
async function announced(): Promise<BookId> {
  const { book } = await at.steps.owner()
  await at.stage.payments.topUps.setAdvanceNotice(book, true)
  await run()
  await run()
  assert.deepEqual(await at.steps.states(book), ['created'])
  return book
}

test('an owner who did not choose it gets no e-mail before a charge', async () => {
  const { steps } = at
  const { book } = await steps.owner()
  assert.equal((await at.stage.payments.topUps.read(book)).hasAdvanceNotice, false)
  await run()
  assert.deepEqual(await steps.states(book), ['credited'])
  assert.deepEqual(await steps.emails(book, 'top-up-soon'), [])
})

test('the charge follows two hours after its e-mail, once', async () => {
  const { steps, stage } = at
  const book = await announced()
  const told = await steps.emails(book, 'top-up-soon')
  assert.equal(told.length, 1)
  assert.match(told[0] ?? '', /UTC\+5 we will charge RUB.1,300\.00 to the card •••• 4444/)
  assert.match(told[0] ?? '', /https:\/\/cabinet\.example\.org\/top-up/)
  await recoverAfter('119 minutes')
  assert.deepEqual(await steps.chargesOf(book), { paid: 0, posts: 0 })
  const { charges } = await stage.payments.topUps.history(book)
  const [charge] = charges
  const waitMs = (charge?.chargeAfter?.getTime() ?? 0) - (charge?.createdAt.getTime() ?? 0)
  assert.ok(Math.abs(waitMs - 7_200_000) < 1_000, `${waitMs} ms`)
  assert.equal((await stage.payments.health()).createdOld, 0, 'waiting is no alarm')
  await recoverAfter('121 minutes')
  assert.deepEqual(await steps.states(book), ['credited'])
  assert.deepEqual(await steps.chargesOf(book), { paid: 1, posts: 1 })
  assert.equal((await steps.emails(book, 'top-up-credited')).length, 1)
})

const reasons: Record<string, (book: BookId) => Promise<unknown>> = {
  'the owner ends the mandate': (book) => at.stage.payments.topUps.turnOff(book),
  'the card is deleted': (book) =>
    at.stage.db.transaction((tx) => at.stage.payments.topUps.forget(tx, book)),
  'the account is closed': (book) =>
    at.stage.db.transaction((tx) => at.stage.payments.topUps.close(tx, book)),
  'the owner agrees to another threshold': (book) => at.steps.agree(book, { threshold: 100_000 }),
  'the owner buys a pack': (book) => at.steps.purchase(book),
  'the operator stops offering top-ups': async () => {
    await turnClock(at.stage.db, '121 minutes')
    await at.stage.open({ hasTopUps: false }).jobs.recover()
  },
}

for (const [why, act] of Object.entries(reasons)) {
  test(`an announced charge is not made if ${why} first`, async () => {
    const book = await announced()
    await act(book)
    await recoverAfter('121 minutes')
    assert.deepEqual(await at.steps.states(book), ['canceled'])
    assert.deepEqual(await at.steps.chargesOf(book), { paid: 0, posts: 0 })
  })
}

test('the database refuses to send an announced charge early', async () => {
  const book = await announced()
  const early = at.stage.db.query(
    'update orders set posted_at = ledger_now() where book_id = $1 and is_top_up',
    [book],
  )
  await assert.rejects(early, /needs a living mandate/)
})
