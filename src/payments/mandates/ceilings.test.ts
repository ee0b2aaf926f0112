// What a mandate limits: the card, the day and the month. A card that was replaced is not charged,
// and no UTC day or month costs more than its ceiling, by the moment of the charge.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createMandateSteps, emailOf, type MandateSteps } from '../../../test/stages/mandates.ts'
import { createTestPayments, pack, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import { kopecks } from '../../units/kopecks.ts'

const at = {
  stage: undefined as unknown as TestPayments,
  steps: undefined as unknown as MandateSteps,
}
before(async () => {
  at.stage = await createTestPayments({
    payments: {
      hasTopUps: true,
      ownerOf: async (book) => ({
        ...{ email: emailOf(book), language: 'ru', createdAt: new Date(0) },
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
  await at.stage.sim('faults', {}, 'DELETE')
  await turnClock(at.stage.db, '0')
})

const run = () => at.stage.payments.jobs.topUp()
const onePack = pack.priceKopecks

/** Moves the clock to some seconds before, or after, the next UTC midnight. */
async function turnToMidnight(seconds: number): Promise<void> {
  const { rows } = await at.stage.db.query(
    `select extract(epoch from date_trunc('day', now() at time zone 'UTC') + interval '1 day'
       - now() at time zone 'UTC')::float8 as left`,
  )
  const { left } = rows[0] as { left: number }
  await turnClock(at.stage.db, `${left + seconds} seconds`)
}

test('a day never costs more than its ceiling, and the next day starts at zero', async () => {
  const { steps } = at
  const { book } = await steps.owner({ day: kopecks(2n * onePack) })
  for (let i = 0; i < 4; i++) {
    await run()
    await steps.spendDownTo(book, 500_000)
  }
  assert.deepEqual(await steps.states(book), ['credited', 'credited'])
  const { daySpent, monthSpent } = await at.stage.payments.topUps.read(book)
  assert.deepEqual([daySpent, monthSpent], [2n * onePack, 2n * onePack])
  const told = await steps.emails(book, 'top-up-ceiling')
  assert.match(
    told.join(),
    /за эти сутки на автопополнение уже потрачено 2.600,00.₽.*обновится: .* 00:00 UTC/s,
  )
  assert.equal(told.length, 1, 'one e-mail a day')
  await turnToMidnight(60)
  await run()
  assert.deepEqual(await steps.states(book), ['credited', 'credited', 'credited'])
})

test('a charge counts on the day it is made, not on the day its order was', async () => {
  const { stage, steps } = at
  const { book } = await steps.owner({ day: onePack })
  await turnToMidnight(-20)
  await stage.sim('faults', { kind: 'error', when: 'before', method: 'POST', path: '/payments' })
  await run()
  assert.deepEqual(await steps.states(book), ['created'])
  await turnToMidnight(60)
  await stage.payments.jobs.recover()
  await steps.spendDownTo(book, 500_000)
  await run()
  assert.deepEqual(await steps.states(book), ['credited'], 'no second charge on the same day')
  assert.equal((await steps.chargesOf(book)).paid, 1)
})

test('another saved card ends the mandate: it is not charged without a new one', async () => {
  const { steps } = at
  const { book } = await steps.owner()
  await steps.purchase(book, true)
  assert.equal(await steps.endedWhy(book), 'card_replaced')
  await steps.spendDownTo(book, 500_000)
  await run()
  assert.deepEqual(await steps.states(book), [])
  assert.match((await steps.emails(book, 'top-up-stopped')).join(), /сохранена другая/)
  await steps.agree(book)
  await run()
  assert.deepEqual(await steps.states(book), ['credited'])
})

test('a purchase that saves no card leaves the mandate alone', async () => {
  const { steps } = at
  const { book } = await steps.owner()
  await steps.purchase(book)
  assert.equal(await steps.endedWhy(book), null)
})

test('the e-mail about a charge states amount, credits, card, balance, how to stop', async () => {
  const { steps } = at
  const { book } = await steps.owner()
  await run()
  const [text = '', ...more] = await steps.emails(book, 'top-up-credited')
  assert.deepEqual(more, [])
  assert.match(text, /списали 1.300,00.₽ с карты •••• 4444 и зачислили 35.000.000.кредитов/)
  assert.match(text, /Теперь на балансе 35.500.000.кредитов/)
  assert.match(text, /можно выключить в любой момент/)
  assert.match(text, /https:\/\/cabinet\.example\.org\/top-up/)
})

test('every top-up names its mandate, also in the history', async () => {
  const { stage, steps } = at
  const { book } = await steps.owner()
  await run()
  await steps.agree(book, { threshold: 2_000_000 })
  await steps.spendDownTo(book, 500_000)
  await run()
  const { mandates, charges } = await stage.payments.topUps.history(book)
  assert.deepEqual(
    charges.map(({ mandate, state }) => [mandate, state]),
    mandates.map(({ id }) => [id, 'credited']),
  )
  assert.deepEqual(
    mandates.map(({ endedWhy }) => endedWhy),
    [null, 'replaced'],
  )
})
