// Counts of refused requests: gathered in memory, added to the table, listed for an owner and for
// operators, and removed with their days.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import {
  createTestDatabase,
  createTestLedger,
  quiet,
  turnClock,
} from '../../../test/support/harness.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { createRefused } from './refused.ts'

const at = {} as { database: TestDatabase; ledger: TestLedger }
before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

const everything = { from: null, to: null }
const shown = (rows: readonly { reason: string; requests: bigint }[]) =>
  rows.map(({ reason, requests }) => `${reason} ${requests}`)
const newBook = () => at.ledger.createBook(at.database.db)

async function count(book: BookId, reason: string, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) at.ledger.usage.refused.count(book, reason)
  await at.ledger.usage.refused.flush()
}

test('adds up refusals by account and reason, the latest reason first', async () => {
  const [book, other] = [await newBook(), await newBook()]
  await count(book, 'credits_insufficient', 3)
  await count(book, 'field_invalid')
  await count(other, 'field_invalid', 7)
  await count(book, 'credits_insufficient', 2)
  const listed = await at.ledger.usage.refused.list({ book, ...everything })
  assert.deepEqual(shown(listed), ['credits_insufficient 5', 'field_invalid 1'])
  const [first] = listed
  assert.ok(Math.abs(Date.now() - (first?.lastAt.getTime() ?? 0)) < 60_000)
  assert.deepEqual(await at.ledger.usage.refused.list({ book: await newBook(), ...everything }), [])
})

test('two processes that count the same accounts lose nothing and do not deadlock', async () => {
  const books = [await newBook(), await newBook(), await newBook()]
  const processes = [1, 2].map(() =>
    createRefused({ db: at.database.db, clock: systemClock, log: quiet }),
  )
  for (let round = 0; round < 20; round++) {
    for (const [i, one] of processes.entries()) {
      for (const book of i === 0 ? books : books.toReversed()) {
        one.count(book, 'field_invalid')
        one.count(book, 'credits_insufficient')
      }
    }
    await Promise.all(processes.map((one) => one.flush()))
  }
  for (const book of books) {
    const listed = await at.ledger.usage.refused.list({ book, ...everything })
    assert.deepEqual(shown(listed).toSorted(), ['credits_insufficient 40', 'field_invalid 40'])
  }
})

test('keeps the counts while the database is away, of a bounded number of pairs', async () => {
  const book = await newBook()
  const state = { isAway: true }
  const db = {
    query: (text: string, values: unknown[]) =>
      state.isAway ? Promise.reject(new Error('away')) : at.database.db.query(text, values),
  } as unknown as Db
  const refused = createRefused({ db, clock: systemClock, log: quiet })
  refused.count(book, 'field_invalid')
  await refused.flush()
  refused.count(book, 'field_invalid')
  for (let i = 0; i < 20_000; i++) refused.count((book + 1_000n + BigInt(i)) as BookId, 'other')
  state.isAway = false
  await refused.flush()
  const { rows } = await at.database.db.query(
    `select count(*)::int4 as rows from refused_requests where reason = 'other'`,
  )
  assert.deepEqual(rows, [{ rows: 9_999 }])
  const listed = await at.ledger.usage.refused.list({ book, ...everything })
  assert.deepEqual(shown(listed), ['field_invalid 2'])
  await at.database.db.query(`delete from refused_requests where reason = 'other'`)
})

test('lists a period, the reasons with the most requests, and removes old days', async () => {
  const book = await newBook()
  await count(book, 'operator_blocked', 2)
  await turnClock(at.database.db, '3 days')
  await count(book, 'operator_blocked', 5)
  const day = (days: number) => new Date(Date.now() + days * 86_400_000)
  const { refused } = at.ledger.usage
  const inPeriod = async (from: Date | null, to: Date | null) =>
    shown(await refused.list({ book, from, to }))
  assert.deepEqual(await inPeriod(null, day(1.5)), ['operator_blocked 2'])
  assert.deepEqual(await inPeriod(day(1.5), null), ['operator_blocked 5'])
  assert.deepEqual(await inPeriod(day(-1), day(4)), ['operator_blocked 7'])
  const most = async (days: number) => shown(await refused.listMost({ book, days, limit: 10 }))
  assert.deepEqual([await most(1), await most(4)], [['operator_blocked 5'], ['operator_blocked 7']])
  const [first] = await refused.listMost({ book: null, days: 1, limit: 1 })
  assert.deepEqual([first?.book, first?.requests], [book, 5n])

  await turnClock(at.database.db, '90 days')
  assert.ok((await refused.removeOld()) > 0)
  assert.deepEqual(await inPeriod(null, null), ['operator_blocked 5'])
  await turnClock(at.database.db, '93 days')
  assert.equal(await refused.removeOld(), 1)
  assert.deepEqual(await inPeriod(null, null), [])
})
