// Tests of what the database refuses by itself: another isolation level, a changed entry, an amount
// below zero. Also tests the fields of each entry in a statement.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../test/support/harness.ts'
import { Fault } from '../platform/assert.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import { newHoldId } from '../platform/ids.ts'
import { micro } from '../units/credits.ts'
import { millionths } from '../units/price.ts'
import { tokens } from '../units/tokens.ts'
import { creditPost } from './queries.ts'

const price = {
  input: millionths(1_000_000),
  coefficient: millionths(5_000_000),
  cacheRead: millionths(100_000),
  cacheWrite5m: millionths(1_250_000),
  cacheWrite1h: millionths(2_000_000),
}
const counts = {
  input: tokens(10),
  output: tokens(20),
  cacheRead: tokens(30),
  cacheWrite5m: tokens(40),
  cacheWrite1h: tokens(50),
}
// 10 + 20 × 5 + 30 × 0.1 + 40 × 1.25 + 50 × 2.
const priced = micro(263_000_000n)

let database: TestDatabase
let ledger: TestLedger
let book: BookId
let tariff: number
let settled: HoldId
let voided: HoldId

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  tariff = await ledger.tariff({ catalogueVersion: 7, model: 'model-a', price })
  book = await ledger.createBook(database.db)
  await database.db.transaction((tx) =>
    creditPost(tx, {
      book,
      kind: 'purchase',
      ref: 'pay_1',
      amount: micro(1_000_000_000n),
      contra: 'clearing',
      note: 'a pack',
    }),
  )
  settled = newHoldId(0, Date.now())
  voided = newHoldId(0, Date.now())
  for (const id of [settled, voided]) {
    const worst = micro(300_000_000n)
    await ledger.hold({ id, book, tariff, fence: 0n, worst, floor: micro(1n) })
  }
  await ledger.settle({
    id: settled,
    book,
    counts,
    priced,
    ending: 'client_left',
    isEstimated: true,
    messageId: 'msg_1',
  })
  await ledger.void({ id: voided, book, tariff, ending: 'upstream_failed', reason: 'status 529' })
})
after(async () => {
  await ledger.end()
  await database.drop()
})

test('lists in a statement the cost and the ending of each request, free ones too', async () => {
  const [free, charge, purchase] = await ledger.statement({ book, beforeSeq: null, limit: 10 })
  const same = { model: 'model-a', catalogueVersion: 7, price, balance: 737_000_000n }
  assert.partialDeepStrictEqual(charge, {
    ...same,
    ...counts,
    seq: 2n,
    kind: 'charge',
    amount: -263_000_000n,
    contra: 'revenue',
    holdId: settled,
    priced,
    writtenOff: 0n,
    ending: 'client_left',
    isEstimated: true,
    messageId: 'msg_1',
  })
  assert.partialDeepStrictEqual(free, {
    ...same,
    seq: 3n,
    kind: 'void',
    amount: 0n,
    contra: 'none',
    holdId: voided,
    ending: 'upstream_failed',
    note: 'status 529',
  })
  assert.partialDeepStrictEqual(purchase, {
    seq: 1n,
    kind: 'purchase',
    amount: 1_000_000_000n,
    balance: 1_000_000_000n,
    contra: 'clearing',
    ref: 'pay_1',
    note: 'a pack',
    model: null,
    price: null,
  })
  const older = await ledger.statement({ book, beforeSeq: 3n, limit: 1 })
  assert.deepEqual(older, [charge])
})

test('refuses another price for a model of a catalogue version', async () => {
  const again = await createTestLedger(database.url)
  assert.equal(await again.tariff({ catalogueVersion: 7, model: 'model-a', price }), tariff)
  await again.end()
  const other = await createTestLedger(database.url)
  const dearer = { ...price, coefficient: millionths(6_000_000) }
  const filing = other.tariff({ catalogueVersion: 7, model: 'model-a', price: dearer })
  await assert.rejects(filing, Fault)
  await other.end()
})

test('refuses to change or delete an entry or a tariff', async () => {
  for (const text of [
    'update entries set amount = amount + 1',
    `update entries set note = 'better'`,
    'delete from entries',
    'update tariffs set coefficient = 1',
    'delete from tariffs',
  ]) {
    await assert.rejects(database.db.query(text), { code: '23000' }, text)
  }
})

test('requires READ COMMITTED in every function', async () => {
  const hold = `${Math.floor(Date.now() / 86_400_000)}, '${settled}', ${book}`
  const holds = hold.replace(/'?([^', ]+)'?/g, "'{$1}'")
  const calls = [
    `ledger_hold(true, 1, 60, ${hold}, 1, 0, 1, 1)`,
    `ledger_hold_many(true, 1, 60, ${holds}, '{1}', '{0}', '{1}', '{1}')`,
    `ledger_settle(true, ${hold}, 1, 0, 0, 0, 0, 1, 'complete', false, null)`,
    `ledger_settle_many(true, ${holds}, '{1}', '{0}', '{0}', '{0}', '{0}', '{1}', '{complete}',
      '{f}', '{x}')`,
    `ledger_void(true, 1, ${hold}, 1, 'refused', '')`,
    `ledger_void_many(true, 1, ${holds}, '{1}', '{refused}', '{x}')`,
    `ledger_credit(${book}, 'purchase', 'x', 1, 'clearing', '')`,
    `ledger_adjust_down(${book}, 'x', 1, 'loss', '')`,
    `ledger_refund(${book}, 1, 'x', 1, '')`,
    `ledger_refund_reverse(${book}, 1, 'x', '')`,
    `ledger_forced_debit(${book}, null, 'x', 1, 'loss', '')`,
  ]
  for (const call of calls) {
    const work = database.db.transaction(async (tx) => {
      await tx.query('set transaction isolation level repeatable read')
      await tx.query(`select ${call}`)
    })
    await assert.rejects(work, { code: '25000' }, call)
  }
})

test('refuses a posting of zero or with the wrong sign', async () => {
  for (const call of [
    `ledger_credit(${book}, 'purchase', 'y', 0, 'clearing', '')`,
    `ledger_credit(${book}, 'purchase', 'y', -1, 'clearing', '')`,
    `ledger_credit(${book}, 'refund', 'y', 1, 'clearing', '')`,
    `ledger_adjust_down(${book}, 'y', 0, 'loss', '')`,
    `ledger_adjust_down(${book}, 'y', -1, 'loss', '')`,
    `ledger_forced_debit(${book}, null, 'y', 0, 'loss', '')`,
    `ledger_forced_debit(${book}, null, 'y', -1, 'loss', '')`,
  ]) {
    await assert.rejects(database.db.query(`select ${call}`), { code: '23514' }, call)
  }
})

test('refuses a reversal or a debit of a lot that does not exist', async () => {
  await database.db.query(`select ledger_refund(${book}, 1, 'r1', 5, '')`)
  for (const call of [
    `ledger_refund_reverse(${book}, 2, 'r1', '')`,
    `ledger_forced_debit(${book}, 2, 'f1', 1, 'loss', '')`,
  ]) {
    await assert.rejects(database.db.query(`select ${call}`), { code: '23503' }, call)
  }
  assert.deepEqual(await ledger.audit('all'), [])
})

test('refuses rows that break a rule of the tables', async () => {
  const entry = (columns: string, values: string) =>
    `insert into entries (book_id, seq, amount, balance, at, day, contra, ${columns})
     values (${book}, 99, -5, 0, ledger_now(), current_date, 'revenue', ${values})`
  const refused: Record<string, string> = {
    books_available_is_never_negative: 'update books set available = -1',
    books_held_is_never_negative: 'update books set held = -1',
    books_debt_is_never_negative: 'update books set debt = -1',
    books_debt_leaves_nothing_available: 'update books set debt = 1',
    books_day_limit_is_not_negative: 'update books set day_limit = -1',
    books_velocity_limit_is_not_negative: 'update books set velocity_limit = -1',
    books_velocity_window_is_positive: 'update books set velocity_seconds = 0',
    holds_grant_no_more_than_the_worst_case: 'update holds set granted = worst + 1',
    holds_charge_no_more_than_they_hold: 'update holds set charged = granted + 1',
    holds_settle_with_an_entry: `update holds set entry_seq = null where id = '${settled}'`,
    holds_close_with_an_ending: `update holds set ending = null where id = '${settled}'`,
    entries_charge_what_was_priced_less_what_was_written_off: entry(
      'kind, hold_id, ending, priced, written_off',
      `'charge', '${settled}', 'complete', 6, 0`,
    ),
    entries_of_requests_name_their_hold: entry('kind, priced, written_off', `'charge', 5, 0`),
    entries_of_voids_are_free: entry('kind, hold_id, ending', `'void', '${settled}', 'refused'`),
    entries_of_rare_kinds_name_their_posting: entry('kind', `'refund'`),
    postings_are_of_rare_kinds: `insert into postings
      values ('charge', 'z', ${book}, 1, 1, null, now())`,
    postings_refs_are_short: `insert into postings
      values ('refund', '', ${book}, 1, 1, null, now())`,
    lots_credit_something: 'update lots set credited = 0',
    lots_take_back_no_more_than_credited: 'update lots set taken_back = credited + 1',
    tariffs_input_is_not_negative: `insert into tariffs (catalogue_version, model, list, input,
        coefficient, cache_read, cache_write_5m, cache_write_1h)
      values (99, 'm', '', -1, 0, 0, 0, 0)`,
    tariffs_coefficient_is_not_negative:
      'insert into tariffs overriding system value values (99, 99, $$m$$, -1, 0, 0, 0)',
    cell_number_fits_ids: 'update cell set number = 4096',
    cell_is_one_row: 'insert into cell values (false, 1)',
  }
  for (const [constraint, text] of Object.entries(refused)) {
    await assert.rejects(database.db.query(text), { code: '23514', constraint }, constraint)
  }
})
