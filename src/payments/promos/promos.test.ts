// Promo codes: the tables limit number, time and account; a refusal does not say why.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../../../test/stages/payments.ts'
import { turnClock } from '../../../test/support/harness.ts'
import { isRefusal, type Refusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'

const at = { room: undefined as unknown as TestPayments }
before(async () => {
  at.room = await createTestPayments()
})
after(() => at.room.end())

const HOUR_MS = 3_600_000
const codes = { made: 0 }

async function newCode(changes: { redemptionsMax?: number; endsAt?: Date } = {}) {
  codes.made += 1
  const { code } = await at.room.payments.createPromo({
    code: `welcome-${codes.made}`,
    credits: credits(1_000),
    redemptionsMax: 10,
    startsAt: new Date(Date.now() - HOUR_MS),
    endsAt: new Date(Date.now() + HOUR_MS),
    by: 'anna',
    note: 'spring',
    ...changes,
  })
  return code
}

/** The refusal that the owner sees. */
async function said(redeeming: Promise<unknown>): Promise<string> {
  return redeeming.then(
    () => 'credited',
    (error: Refusal) => `${error.code}: ${error.message}`,
  )
}

test('a code adds its credits once, as a promo entry', async () => {
  const { payments, newBook, entries } = at.room
  const [code, book] = [await newCode(), await newBook()]
  assert.deepEqual(await payments.redeem(book, ` ${code.toLowerCase()} `), {
    credits: credits(1_000),
  })
  assert.deepEqual(
    (await entries(book)).map(({ kind, amount, contra }) => [kind, amount, contra]),
    [['promo', credits(1_000), 'promo']],
  )
})

test('concurrent clicks redeem once, and the last redemption goes to one account', async () => {
  const { payments, newBook, ledger } = at.room
  const code = await newCode()
  const book = await newBook()
  const clicks = await Promise.all(
    Array.from({ length: 5 }, () => said(payments.redeem(book, code))),
  )
  assert.equal(clicks.filter((one) => one === 'credited').length, 1)
  assert.equal((await ledger.balance(book))?.available, credits(1_000))

  const rare = await newCode({ redemptionsMax: 1 })
  const books = await Promise.all(Array.from({ length: 5 }, () => newBook()))
  const tries = await Promise.all(books.map((one) => said(payments.redeem(one, rare))))
  assert.equal(tries.filter((one) => one === 'credited').length, 1)
})

test('wrong, used, exhausted and ended codes get the same refusal', async () => {
  const { payments, newBook } = at.room
  const book = await newBook()
  const used = await newCode()
  await payments.redeem(book, used)
  const up = await newCode({ redemptionsMax: 1 })
  await payments.redeem(await newBook(), up)
  const over = await newCode({ endsAt: new Date(Date.now() - 1_000) })
  const answers = [used, up, over, 'NO-SUCH-CODE', 'not a code!', '']
  const told = await Promise.all(answers.map((code) => said(payments.redeem(book, code))))
  assert.deepEqual(new Set(told), new Set(['promo_refused: This code cannot be used.']))
  const list = await payments.promos()
  assert.equal(list.find((one) => one.code === up)?.redeemed, 1, 'a refused try takes none')
})

test('an account that guesses codes is blocked for an hour', async () => {
  const { payments, newBook, db } = at.room
  const book = await newBook()
  for (let i = 0; i < 10; i++)
    assert.match(await said(payments.redeem(book, `GUESS-${i}`)), /refused/)
  const code = await newCode()
  assert.match(await said(payments.redeem(book, code)), /promo_attempts_exceeded/)
  assert.equal(await said(payments.redeem(await newBook(), code)), 'credited', 'others are not')
  await turnClock(db, '59 minutes 61 seconds')
  const later = await newCode({ endsAt: new Date(Date.now() + 2 * HOUR_MS) })
  assert.equal(await said(payments.redeem(book, later)), 'credited')
  await turnClock(db, '0')
})

test('refuses a code without credits, without redemptions, or that exists', async () => {
  const good = {
    code: 'GOOD-ONE',
    credits: credits(1),
    redemptionsMax: 1,
    startsAt: new Date(0),
    endsAt: new Date(1),
    by: 'anna',
    note: '',
  }
  await at.room.payments.createPromo(good)
  const wrong = [
    {},
    { code: 'x' },
    { code: 'with space' },
    { credits: credits(0) },
    { redemptionsMax: 0 },
    { endsAt: new Date(0) },
  ]
  for (const change of wrong) {
    const made = at.room.payments.createPromo({ ...good, code: 'GOOD-ONE', ...change })
    await assert.rejects(made, (error) => isRefusal(error, 'field_invalid'))
  }
})
