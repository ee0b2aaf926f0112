// Tests of totals over all books: lots have the same unspent part as for refunds, at any moment,
// with and without summed entries; and every kind of entry has a decided role.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
  turnClock,
} from '../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits, micro } from '../../units/credits.ts'
import { type BookPosting, type BookState, stateOf } from './lot-states.ts'
import { type BookMovement, rangesSince } from './totals.ts'

let database: TestDatabase
let ledger: TestLedger

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
})
after(async () => {
  await ledger.end()
  await database.drop()
})

const posting = (
  seq: number,
  kind: BookPosting['kind'],
  amount: number,
  more: Partial<BookPosting> = {},
): BookPosting => ({
  ...{ seq: BigInt(seq), kind, amount: BigInt(amount), ref: `rfd_${seq}`, lot: null },
  ...{ at: new Date(0), ...more },
})

const shown = ({ lots, ...rest }: BookState) => ({
  lots: lots.map(({ refunded, disputed, used, adjusted, left }) =>
    [refunded, disputed, used, adjusted, left].map(Number),
  ),
  beyond: [rest.usedBeyond, rest.adjustedBeyond].map(Number),
  balance: Number(rest.balance),
})

test('spent credits are laid over the lots, oldest first', () => {
  const lots = [posting(1, 'purchase', 10), posting(2, 'promo', 5), posting(3, 'purchase', 10)]
  assert.deepEqual(shown(stateOf(lots, 12n)), {
    lots: [
      [0, 0, 10, 0, 0],
      [0, 0, 2, 0, 3],
      [0, 0, 0, 0, 10],
    ],
    beyond: [0, 0],
    balance: 13,
  })
})

test('a refund takes from its own lot, and a dispute is told apart from it', () => {
  const lots = [
    posting(1, 'purchase', 10),
    posting(2, 'purchase', 10),
    posting(3, 'refund', -4, { lot: 2n }),
    posting(4, 'refund', -2, { lot: 2n, ref: 'dsp_1' }),
    posting(5, 'refund_reversal', 1, { lot: 2n }),
  ]
  const state = stateOf(lots, 3n)
  assert.deepEqual(shown(state).lots, [
    [0, 0, 3, 0, 7],
    [3, 2, 0, 0, 5],
  ])
})

test('an adjustment downwards takes what spending left, oldest first', () => {
  const lots = [posting(1, 'purchase', 10), posting(2, 'promo', 5), posting(3, 'adjust', -8)]
  const { lots: stated, balance } = shown(stateOf(lots, 4n))
  assert.deepEqual(stated, [
    [0, 0, 4, 6, 0],
    [0, 0, 0, 2, 3],
  ])
  assert.equal(balance, 3)
})

test('what no lot covers is the debt', () => {
  const lost = { lot: 1n, ref: 'dsp_1' }
  const lots = [posting(1, 'purchase', 10), posting(2, 'forced_debit', -10, lost)]
  assert.deepEqual(shown(stateOf(lots, 6n)), {
    lots: [[0, 10, 0, 0, 0]],
    beyond: [6, 0],
    balance: -6,
  })
})

test('every kind of entry of the database is decided', async () => {
  const { rows } = await database.db.query('select unnest(enum_range(null::entry_kind)) as kind')
  for (const { kind } of rows as { kind: BookPosting['kind'] }[]) {
    assert.doesNotThrow(() => stateOf([posting(1, kind, 1)], 0n), kind)
    const { balance, lots } = stateOf([posting(1, kind, 1)], 0n)
    const isCredit = ['purchase', 'promo', 'adjust', 'transfer'].includes(kind)
    assert.equal(lots.length, isCredit ? 1 : 0, kind)
    assert.equal(balance, 1n)
  }
})

test('sums of four lengths cover everything since a moment once', () => {
  const ranges = rangesSince(new Date('2026-11-30T18:15:00Z')).map(
    ({ minutes, from, to }) =>
      `${minutes} ${from.toISOString().slice(5, 16)} ${to?.toISOString().slice(5, 16) ?? ''}`,
  )
  assert.deepEqual(ranges, [
    '15 11-30T18:15 11-30T19:00',
    '60 11-30T19:00 11-30T21:00',
    '180 11-30T21:00 12-01T00:00',
    '1440 12-01T00:00 ',
  ])
})

async function movementOf(book: BookId, from: Date, to: Date | null): Promise<BookMovement> {
  const found: BookMovement[] = []
  await ledger.db.snapshot(async (tx) => {
    for await (const page of ledger.totals.walk(tx, { from, to }, { isActiveOnly: false })) {
      found.push(...page.filter((one) => one.book === book))
    }
  })
  assert.equal(found.length, 1)
  return found[0] as BookMovement
}

test('a book has at each moment what its lots have for a refund, summed or not', async () => {
  await database.db.query(
    'select ledger_entries_day_make(current_date - i) from generate_series(0, 9) as i',
  )
  await turnClock(database.db, '-5 days')
  const { book, credit, hold, settleInput } = await createLedgerCustomer(ledger, 1_000)
  const spend = async (whole: number) => ledger.settle(settleInput(await hold(whole), whole))
  await spend(300)
  await turnClock(database.db, '-2 days')
  const lot = await credit('purchase', 'second', 500)
  await credit('promo', 'gift', 50)
  await spend(800)
  const back = { book, lot, ref: 'rfd_back', amount: credits(100), note: '' }
  await ledger.db.transaction((tx) => ledger.refund(tx, back))
  const down = { book, ref: 'down', amount: micro(-20_000_000n), contra: 'loss', note: '' } as const
  await ledger.db.transaction((tx) => ledger.adjust(tx, down))
  await turnClock(database.db, '0 seconds')
  const dayMs = 86_400_000
  const middle = new Date(Math.floor(Date.now() / dayMs - 3) * dayMs)
  const check = async () => {
    const { from, to } = await movementOf(book, middle, null)
    assert.deepEqual([from.spent, to.spent], [credits(300), credits(1_100)])
    assert.deepEqual([from.balance, to.balance], [credits(700), credits(330)])
    const unspent = (await ledger.lots(book)).map(
      (one) => one.credited - one.takenBack - one.unspent,
    )
    assert.deepEqual(
      to.lots.map(({ used }) => used),
      unspent,
    )
    assert.equal(
      to.lots.reduce((sum, { left }) => sum + left, 0n),
      credits(330),
    )
    const past = await movementOf(book, middle, new Date(middle.getTime() + dayMs))
    assert.equal(past.to.balance, credits(700))
  }
  await check()
  await ledger.aggregateUsage()
  await check()
})

test('all books together may have more than one balance can hold', async () => {
  const from = new Date(Date.now() - 86_400_000)
  for (const name of ['one', 'other']) {
    const { book } = await createLedgerCustomer(ledger, 0)
    const amount = credits(9_000_000_000_000n)
    const p = {
      book,
      kind: 'purchase',
      ref: `${name} ${book}`,
      amount,
      contra: 'clearing',
    } as const
    await ledger.db.transaction((tx) => ledger.credit(tx, { ...p, note: '' }))
  }
  const [balances, postings, entries] = await ledger.db.snapshot(async (tx) => [
    await ledger.totals.balances(tx),
    await ledger.totals.postings(tx, { from, to: new Date(Date.now() + 86_400_000) }),
    await ledger.totals.entries(tx, { from, to: new Date(Date.now() + 86_400_000) }),
  ])
  const both = 2n * credits(9_000_000_000_000n)
  assert.ok(balances.available >= both)
  assert.ok((postings.find(({ kind }) => kind === 'purchase')?.added ?? 0n) >= both)
  assert.ok((entries.find(({ kind }) => kind === 'purchase')?.amount ?? 0n) >= both)
})
