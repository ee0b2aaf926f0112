// Tests of the audit: it finds nothing in a correct ledger, also after old days were detached, and
// each corruption is found by its rule. Corruptions are planted one at a time in a transaction that
// is rolled back, with the triggers and constraints that would refuse them switched off.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import type { LedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { millionths, ONE, type Price } from '../../units/price.ts'
import { noTokens, tokens } from '../../units/tokens.ts'

const DAY_MS = 86_400_000
const startMs = Date.now()
let database: TestDatabase
let ledger: TestLedger
let alice: LedgerCustomer
let bob: LedgerCustomer

before(async () => {
  database = await createTestDatabase()
  ledger = await createTestLedger(database.url)
  alice = await createLedgerCustomer(ledger, 0)
  bob = await createLedgerCustomer(ledger, 0)
})
after(async () => {
  await ledger.end()
  await database.drop()
})

test('finds nothing in a correct ledger, on the first day and on the next', async () => {
  assert.deepEqual(await findings(), [])
  await simulateDay(0)
  assert.deepEqual(await findings(), [])
  await simulateDay(1)
  assert.deepEqual(await findings(), [])
})

test('accepts a correction against revenue, as closing and op adjust write it', async () => {
  const book = await ledger.createBook(database.db)
  const write = (ref: string, amount: number) =>
    database.db.transaction((tx) =>
      ledger.adjust(tx, { book, ref, amount: credits(amount), contra: 'revenue', note: '' }),
    )
  await write('a charge that was too high', 5)
  await write('the account was closed', -5)
  assert.deepEqual(await findings(), [])
})

test('reports a finding in every run until it is repaired', async () => {
  const add = (by: number) =>
    database.db.query(`update books set available = available + ${by} where id = $1`, [bob.book])
  await add(1)
  for (const _ of ['at first', 'and again']) {
    const found = await ledger.audit('new')
    assert.deepEqual(
      found.map(({ rule, book }) => ({ rule, book })),
      [{ rule: 'book_balance', book: bob.book }],
    )
  }
  await add(-1)
  assert.deepEqual(await findings(), [])
})

test('a finding in one book does not stop the marks of the others', async () => {
  const isMarked = async ({ book }: LedgerCustomer) => {
    const { rows } = await database.db.query(
      `select b.seq = m.seq as is_marked from books b join audit_marks m on m.book_id = b.id
       where b.id = $1`,
      [book],
    )
    return (rows[0] as { is_marked: boolean }).is_marked
  }
  for (const customer of [alice, bob]) await customer.credit('promo', 'mark', 5)
  const add = (by: number) =>
    database.db.query(`update books set available = available + ${by} where id = $1`, [bob.book])
  await add(1)
  assert.deepEqual(
    (await ledger.audit('new')).map(({ book }) => book),
    [bob.book],
  )
  assert.deepEqual([await isMarked(alice), await isMarked(bob)], [true, false])
  await add(-1)
})

test('writes checkpoints of days oldest first only', async () => {
  await assert.rejects(
    database.db.query(`select ledger_day_checkpoint('${dateOf(1)}')`),
    /an older day .* has no checkpoints/,
  )
})

test('continues the chain from checkpoints after old days were detached', async () => {
  // The audit of new entries has read the first two days, but not the next three.
  for (const day of [2, 3, 4]) await simulateDay(day)
  const { checkpointed, detached } = await ledger.days.retire(1)
  assert.deepEqual(detached.slice(-3), [0, 1, 2].map(dateOf))
  assert.deepEqual(checkpointed, detached)
  assert.deepEqual(await findings(), [])
  await simulateDay(5)
  assert.deepEqual(await findings(), [])
  const left = await ledger.statement({ book: alice.book, beforeSeq: null, limit: 1_000 })
  assert.equal(left.at(-1)?.at.toISOString().slice(0, 10), dateOf(3))
})

describe('a planted corruption is found by its rule', () => {
  // Words in capitals stand for conditions: the newest CHARGE of alice and its HOLD, her OPEN hold,
  // an ADJUSTment before it, and her BOOK.
  const plants: [what: string, rule: string, sql: string][] = [
    ['an amount is changed', 'balance_chain', 'update entries set amount = 8 where ADJUST'],
    ['a balance is changed', 'balance_chain', 'update entries set balance = 0 where CHARGE'],
    ['an entry is missing', 'seq_gap', 'delete from entries where ADJUST'],
    ['a seq is skipped', 'seq_gap', 'update entries set seq = seq + 9 where CHARGE'],
    ['the book is a seq ahead', 'book_seq', 'update books set seq = seq + 1 where BOOK'],
    ['the book is richer', 'book_balance', 'update books set available = available + 1 where BOOK'],
    [
      'the book owes',
      'book_balance',
      'update books set debt = available, available = 0 where BOOK',
    ],
    [
      'held is wrong',
      'held',
      'update books set held = held + 1, available = available - 1 where BOOK',
    ],
    ['an open hold is lost', 'held', 'delete from holds where OPEN'],
    ['a hold has no book', 'held', 'update holds set book_id = 99999 where OPEN'],
    ['a hold is forgotten', 'hold_overdue', `update holds set deadline_at = 'epoch' where OPEN`],
    [
      'a charge is doubled and the book agrees',
      'charge_and_hold_differ charged_twice',
      `create temp table twin on commit drop as select * from entries where CHARGE;
       update twin set seq = seq + 1, balance = balance + amount;
       insert into entries select * from twin;
       update books set seq = seq + 1, available = available - 9000000, requests = requests + 1,
         spent_total = spent_total + 9000000, day_spent = day_spent + 9000000 where BOOK`,
    ],
    [
      'a charge is taken back and the book agrees',
      'charge_missing',
      `delete from entries where CHARGE;
       update books set seq = seq - 1, available = available + 9000000, requests = requests - 1,
         spent_total = spent_total - 9000000, day_spent = day_spent - 9000000 where BOOK`,
    ],
    [
      'a charged hold is open again and the book agrees',
      'charge_and_hold_differ',
      `update holds set state = 'open', ending = null, closed_at = null, charged = null,
         entry_seq = null where HOLD;
       update books set held = held + 9000000, available = available - 9000000 where BOOK`,
    ],
    ['a hold says less', 'charge_and_hold_differ', 'update holds set charged = 1 where HOLD'],
    ['a hold moves', 'charge_and_hold_differ', 'update holds set book_id = 2 where HOLD'],
    [
      'a hold ends otherwise',
      'charge_and_hold_differ',
      `update holds set ending = 'client_left'
       where HOLD`,
    ],
    ['a hold is gone', 'charge_without_hold', 'delete from holds where HOLD'],
    ['a price list is changed', 'price', 'update tariffs set coefficient = 3'],
    ['an input price is changed', 'price', 'update tariffs set input = 3'],
    ['a pass is forgotten', 'price', `update entries set parts = parts - 'passes' where PARTS`],
    ['a use is forgotten', 'price', `update entries set parts = parts - 'uses' where PARTS`],
    [
      'another model answered',
      'price',
      `update entries set parts = parts || jsonb_build_object('served',
         parts #> '{passes,0}') where PARTS`,
    ],
    [
      'a pass is dearer',
      'price',
      `update entries set parts = jsonb_set(parts, '{passes,0,price,1}', '"3"') where PARTS`,
    ],
    [
      'a price with parts is changed and the book agrees',
      'price',
      'update entries set priced = priced + 1, written_off = written_off + 1 where PARTS',
    ],
    [
      'an entry changes its tariff',
      'charge_and_hold_differ',
      `update entries set tariff = 99
       where CHARGE`,
    ],
    ['a token count is changed', 'price', 'update entries set input = input + 1 where CHARGE'],
    ['a price is changed', 'price', 'update entries set priced = 1, written_off = 1 where CHARGE'],
    ['a loss is hidden', 'written_off', 'update entries set written_off = 1 where CHARGE'],
    ['an entry is before its day', 'entry_day', 'update entries set day = day - 1 where CHARGE'],
    ['a day goes back', 'day_back', 'update entries set day = day + 1 where ADJUST'],
    ['an entry has no book', 'book_missing', 'update entries set book_id = 99999 where CHARGE'],
    ['a charge is no revenue', 'contra', `update entries set contra = 'loss' where CHARGE`],
    [
      'a purchase is revenue before it is spent',
      'contra',
      `update entries set contra = 'revenue' where kind = 'purchase'`,
    ],
    [
      'a void hold is open again and the book agrees',
      'void_and_hold_differ',
      `update holds set state = 'open', ending = null, closed_at = null, granted = 0, floor = 0
       where VOIDED`,
    ],
    [
      'a posting has no entry',
      'posting_without_entry',
      `insert into postings
       select kind, 'x', book_id, amount, seq, lot, at from postings where ADJUST`,
    ],
    ['a posting says more', 'posting_without_entry', 'update postings set amount = 8 where ADJUST'],
    ['an entry has no posting', 'entry_without_posting', 'delete from postings where ADJUST'],
    [
      'a kind is changed',
      'entry_without_posting',
      `update entries set kind = 'promo' where ADJUST`,
    ],
    ['a lot is changed', 'lot', 'update lots set credited = credited + 1 where ADJUST'],
    ['a lot is gone', 'lot', 'delete from lots where ADJUST'],
    ['a lot gave more back', 'taken_back', 'update lots set taken_back = 1 where ADJUST'],
    ['no lot gave back', 'taken_back', 'update lots set taken_back = 0'],
    ['requests are miscounted', 'requests', 'update books set requests = requests + 1 where BOOK'],
    ['spending is wrong', 'spent_total', 'update books set spent_total = 1 where BOOK'],
    ['the day is wrong', 'day_spent', 'update books set day_spent = day_spent + 1 where BOOK'],
    ['a checkpoint is richer', 'checkpoint', 'update checkpoints set balance = balance + 1'],
    ['a checkpoint is ahead', 'checkpoint', 'update checkpoints set seq = seq + 1'],
    ['checkpoint sums are wrong', 'checkpoint', 'update checkpoint_sums set amount = 1'],
    [
      'a checkpoint counts less',
      'checkpoint',
      `update checkpoint_sums set entries = entries - 1
       where kind = 'void'`,
    ],
    [
      'a checkpoint swaps kinds',
      'spent_total',
      `update checkpoint_sums
       set amount = amount + case kind when 'charge' then 1 else -1 end
       where kind in ('charge', 'promo')`,
    ],
  ]
  const places: Record<string, string> = {}
  let client: pg.Client

  before(async () => {
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query('set session_replication_role = replica')
    const row = async (text: string) =>
      (await database.db.query(text)).rows[0] as { seq: bigint; hold: HoldId }
    const newest = (what: string) =>
      row(`select seq, hold_id as hold from entries where book_id = ${alice.book} and ${what}
           order by seq desc limit 1`)
    const charge = await newest(`kind = 'charge'`)
    const adjust = await newest(`kind = 'adjust'`)
    const voided = await newest(`kind = 'void' and ending = 'upstream_failed'`)
    const open = await row(
      `select id as hold from holds where book_id = ${alice.book} and state = 'open'`,
    )
    places.CHARGE = `book_id = ${alice.book} and seq = ${charge.seq}`
    places.ADJUST = `book_id = ${alice.book} and seq = ${adjust.seq}`
    places.HOLD = `id = '${charge.hold}'`
    places.OPEN = `id = '${open.hold}'`
    const withParts = await newest('parts is not null')
    places.PARTS = `book_id = ${alice.book} and seq = ${withParts.seq}`
    places.VOIDED = `id = '${voided.hold}'`
    places.BOOK = `id = ${alice.book}`
  })

  /** The rules that the whole audit reports with one corruption; it is rolled back afterwards. */
  async function rulesWith(sql: string): Promise<string[]> {
    const planted = sql.replace(/[A-Z]{4,}/g, (word) => places[word] ?? word)
    await client.query('begin')
    await client.query(`alter table entries drop constraint entries_keep_their_rules; ${planted}`)
    const { rows } = await client.query(
      `select rule from ledger_audit_chain(true)
       union select rule from ledger_audit_holds()
       union select rule from ledger_audit_charges()
       union select rule from ledger_audit_entries()
       union select rule from ledger_audit_postings()
       union select rule from ledger_audit_sums()`,
    )
    return rows.map((one: { rule: string }) => one.rule).sort()
  }
  afterEach(() => client.query('rollback'))

  after(() => client.end())

  test('finds nothing without a corruption', async () => {
    assert.deepEqual(await rulesWith('select'), [])
  })
  for (const [what, rule, sql] of plants) {
    test(`${what}: ${rule}`, async () => {
      const found = await rulesWith(sql)
      if (what.endsWith('agrees')) assert.equal(found.join(' '), rule)
      else assert.ok(found.includes(rule), `found: ${found}`)
    })
  }
})

/** Simulates a day with every kind of entry, and a hold that stays open over midnight. */
async function simulateDay(day: number): Promise<void> {
  await turnClock(database.db, `${day} days`)
  await ledger.makePartitions()
  for (const customer of [alice, bob]) {
    const hold = (worst: number) => customer.hold(worst, startMs + day * DAY_MS)
    const lot = await customer.credit('purchase', `p${day}`, 1_000)
    await customer.credit('promo', `c${day}`, 5)
    const yesterdays = carried.get(customer)
    if (yesterdays !== undefined) await customer.settle(yesterdays, 11)
    await customer.settle(await hold(100), 60)
    await customer.settle(await hold(50), 80)
    await customer.void(await hold(30), 'upstream_failed')
    const late = await hold(30)
    await customer.void(late, 'process_lost')
    await customer.settle(late, 12)
    await settleWithParts(customer, await hold(100))
    await postRareKinds(customer.book, day, lot)
    const last = await hold(9)
    carried.set(customer, await hold(25))
    await customer.settle(last, 9)
  }
}

/** A charge by another list, with a pass of another model, two uses, and something unlisted. */
async function settleWithParts(customer: LedgerCustomer, id: HoldId): Promise<void> {
  const [price, dear] = [priceOf(2n), priceOf(3n)]
  const list = 'speed=fast'
  const tariff = await ledger.tariff({ catalogueVersion: 1, model: 'model', list, price })
  const counts = { ...noTokens, input: tokens(4), output: tokens(1) }
  await ledger.settle({
    ...customer.settleInput(id),
    counts,
    tariff,
    priced: credits(5 * 2 + 5 * 3 + 2 * 7),
    parts: {
      passes: [{ model: 'other', list: '', price: dear, counts }],
      uses: [{ feature: 'web_search', count: 2, each: credits(7) }],
      unlisted: ['speed'],
    },
  })
}

function priceOf(each: bigint): Price {
  const price = millionths(each * ONE)
  return {
    ...{ input: price, coefficient: price },
    ...{ cacheRead: price, cacheWrite5m: price, cacheWrite1h: price },
  }
}

const carried = new Map<LedgerCustomer, HoldId>()

async function postRareKinds(book: BookId, day: number, lot: bigint): Promise<void> {
  const ref = `${day} ${book}`
  const p = { book, note: '', ref, contra: 'loss' as const }
  await database.db.transaction(async (tx) => {
    await ledger.adjust(tx, { ...p, ref: `down ${ref}`, amount: credits(-3) })
    await ledger.adjust(tx, { ...p, amount: credits(7) })
    await ledger.refund(tx, { ...p, lot, amount: credits(20) })
    if (day % 2 === 1) await ledger.reverseRefund(tx, { ...p, lot })
    if (book === bob.book) await ledger.forceDebit(tx, { ...p, lot, amount: credits(40) })
  })
}

async function findings() {
  return [...(await ledger.audit('new')), ...(await ledger.audit('all'))]
}

function dateOf(day: number): string {
  return new Date(startMs + day * DAY_MS).toISOString().slice(0, 10)
}
