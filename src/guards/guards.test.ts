// Guards on a real ledger and a real outbox: who is told, how often, and how soon a stop is lifted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  quiet,
  type TestDatabase,
  type TestLedger,
  turnClock,
} from '../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../test/support/ledger-customer.ts'
import { systemClock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { createMail } from '../platform/mail/mail.ts'
import { Masked } from '../platform/masked.ts'
import { credits } from '../units/credits.ts'
import { kopecks } from '../units/kopecks.ts'
import { createGuards, type Guards } from './guards.ts'

const brand = { name: 'Gate', supportEmail: 'help@example.org', cabinetUrl: 'https://c.example' }
const at = {
  database: undefined as unknown as TestDatabase,
  ledger: undefined as unknown as TestLedger,
  guards: undefined as unknown as Guards,
}
const pack = { credits: credits(1_000), priceKopecks: kopecks(500) }
const none = { dayLimit: null, velocity: null }
const by = { atMs: 0, address: '203.0.113.7', allowLooser: () => undefined }

/** The room as one more process has it. */
function open(): Guards {
  const { db } = at.database
  const smtpUrl = new Masked('smtp://127.0.0.1:1')
  const mail = createMail({
    ...{ db, smtpUrl, brand },
    ...{ from: 'a@example.org', log: quiet, clock: systemClock },
  })
  const ownerOf = async (book: BookId) =>
    ({ email: `${book}@example.org`, language: 'ru' }) as const
  const lastPackOf = async () => pack
  return createGuards({ db, ledger: at.ledger, mail, brand, log: quiet, ownerOf, lastPackOf })
}
before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
  at.guards = open()
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

async function customer(whole: number): Promise<LedgerCustomer> {
  const one = await createLedgerCustomer(at.ledger, whole)
  await at.guards.read(one.book)
  return one
}

/** A request that needs all of it. */
async function spend(one: LedgerCustomer, amount: number): Promise<void> {
  const input = { ...one.holdInput(amount), floor: credits(amount) }
  await at.ledger.hold(input)
  await one.settle(input.id, amount)
}

async function lettersTo({ book }: LedgerCustomer): Promise<string[]> {
  const { rows } = await at.database.db.query(
    'select kind from letters where recipient = $1 order by posted_at',
    [`${book}@example.org`],
  )
  return (rows as { kind: string }[]).map(({ kind }) => kind)
}

test('a guard made for an account with a history counts only what is spent since', async () => {
  const one = await createLedgerCustomer(at.ledger, 10_000)
  await spend(one, 9_000)
  await at.guards.read(one.book)
  await spend(one, 100)
  const { pace, lowBy } = await at.guards.warnings(one.book)
  assert.deepEqual([pace.perDay, pace.daysLeft, lowBy], [credits(100), 9, null])
})

test('the letter about a low balance has roubles at the price of the last pack', async () => {
  const one = await customer(1_000)
  await at.guards.setThresholds(one.book, { lowCredits: credits(500), lowDays: null })
  await spend(one, 600)
  await at.guards.jobs.checkBalances()
  const { rows } = await at.database.db.query(
    'select body_text as text from letters where recipient = $1',
    [`${one.book}@example.org`],
  )
  assert.match((rows[0] as { text: string }).text, /400\sкредитов \(около\s2,00\s₽\)/)
})

test('ten looks at once write one letter', async () => {
  const one = await customer(1_000)
  await at.guards.setThresholds(one.book, { lowCredits: credits(500), lowDays: null })
  await spend(one, 600)
  const rooms = Array.from({ length: 10 }, open)
  await Promise.all(rooms.map((room) => room.jobs.checkBalances()))
  assert.deepEqual(await lettersTo(one), ['low-balance'])
  await one.credit('purchase', 'more', 1_000)
  await at.guards.jobs.checkBalances()
  await spend(one, 1_000)
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['low-balance', 'low-balance'])
})

test('a request under way is no low balance', async () => {
  const one = await customer(1_000)
  await at.guards.setThresholds(one.book, { lowCredits: credits(500), lowDays: null })
  await spend(one, 100)
  const hold = await one.hold(800)
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), [])
  await one.void(hold, 'refused')
})

test('who is refused for want of credits is told once, until credits come', async () => {
  const one = await customer(1_000)
  await at.guards.setThresholds(one.book, { lowCredits: null, lowDays: null })
  await spend(one, 990)
  const refused = () => assert.rejects(spend(one, 50), { code: 'credits_insufficient' })
  await refused()
  await refused()
  await at.guards.jobs.checkBalances()
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['balance-empty'])
  await one.credit('purchase', 'more', 100)
  await at.guards.jobs.checkBalances()
  await spend(one, 100)
  await refused()
  // Credits that come before the look: there is nothing to tell any more.
  await one.credit('purchase', 'again', 100)
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['balance-empty'])
  await spend(one, 100)
  await refused()
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['balance-empty', 'balance-empty'])
})

test('the limit of the day is told once a day, and a granted hold leaves no mark', async () => {
  const one = await customer(10_000)
  await at.guards.setThresholds(one.book, { lowCredits: null, lowDays: null })
  await at.guards.setLimits(one.book, { ...none, dayLimit: credits(100) }, by)
  await spend(one, 60)
  const marks = async () =>
    (
      await at.database.db.query('select day_limit_met, short_seq from books where id = $1', [
        one.book,
      ])
    ).rows[0]
  assert.deepEqual(await marks(), { day_limit_met: null, short_seq: null })
  const refused = () => assert.rejects(spend(one, 50), { code: 'day_limit_reached' })
  await refused()
  await at.guards.jobs.checkBalances()
  await refused()
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['day-limit-reached'])
  const beyond = async () => (await at.guards.warnings(one.book)).beyondDayLimit
  const { resetsAtMs = 0, ...figures } = (await beyond()) ?? {}
  const needed = { needed: credits(50), left: credits(40) }
  assert.deepEqual(figures, { dayLimit: credits(100), ...needed })
  assert.equal(resetsAtMs % 86_400_000, 0, 'midnight UTC')
  await turnClock(at.database.db, '1 day')
  assert.equal(await beyond(), null, 'a new day')
  await spend(one, 60)
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['day-limit-reached'], 'a new day, and nothing refused')
  await refused()
  await at.guards.jobs.checkBalances()
  assert.deepEqual(await lettersTo(one), ['day-limit-reached', 'day-limit-reached'])
  await at.guards.setLimits(one.book, { ...none, dayLimit: credits(110) }, by)
  assert.equal(await beyond(), null, 'such a request would be served now')
  await turnClock(at.database.db, '0')
})

test('a stop for speed is told once, whoever looks; the next one is told again', async () => {
  const one = await customer(10_000)
  const velocity = { limit: credits(100), minutes: 10 }
  await at.guards.setLimits(one.book, { ...none, velocity }, by)
  await spend(one, 101)
  await assert.rejects(one.hold(1), { code: 'velocity_stopped' })
  const rooms = Array.from({ length: 5 }, open)
  await Promise.all(rooms.map((room) => room.jobs.checkStops()))
  await at.guards.jobs.checkStops()
  assert.deepEqual(await lettersTo(one), ['velocity-stopped'])
  // Other limits while it is stopped are no other stop.
  await at.guards.setLimits(one.book, { dayLimit: credits(5_000), velocity }, by)
  await open().jobs.checkStops()
  assert.deepEqual(await lettersTo(one), ['velocity-stopped'])

  await at.guards.resume(one.book)
  await spend(one, 50)
  await at.guards.jobs.checkStops()
  await spend(one, 51)
  await at.guards.jobs.checkStops()
  assert.deepEqual(await lettersTo(one), ['velocity-stopped', 'velocity-stopped'])
})

test('a changed speed limit starts no new window', async () => {
  const one = await customer(10_000)
  const limited = (limit: number, minutes: number) =>
    at.guards.setLimits(one.book, { ...none, velocity: { limit: credits(limit), minutes } }, by)
  await limited(100, 10)
  await spend(one, 90)
  await limited(99, 10)
  await limited(99, 20)
  await spend(one, 10)
  await assert.rejects(one.hold(1), { code: 'velocity_stopped' })
})

test('a pause is lifted by its owner, an operator’s stop is not', async () => {
  const one = await customer(1_000)
  await at.guards.suspend(one.book)
  await assert.rejects(one.hold(1), { code: 'owner_suspended' })
  await at.guards.resume(one.book)
  await spend(one, 1)
  await at.ledger.block(at.database.db, one.book, 'operator_blocked')
  await at.guards.suspend(one.book)
  await at.guards.resume(one.book)
  await assert.rejects(one.hold(1), { code: 'operator_blocked' })
})

test('looser limits are told, stricter are not; a refused word changes nothing', async () => {
  const one = await customer(1_000)
  const refusing = {
    ...by,
    allowLooser: () => {
      throw new Error('not fresh')
    },
  }
  await at.guards.setLimits(one.book, { ...none, dayLimit: credits(500) }, refusing)
  await at.guards.setLimits(one.book, { ...none, dayLimit: credits(400) }, refusing)
  assert.deepEqual(await lettersTo(one), [])
  await assert.rejects(at.guards.setLimits(one.book, none, refusing), /not fresh/)
  assert.equal((await at.guards.read(one.book)).dayLimit, credits(400))
  await at.guards.setLimits(one.book, none, by)
  assert.deepEqual(await lettersTo(one), ['limits-loosened'])
})
