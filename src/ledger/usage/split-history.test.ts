// The tables by split on an installation that has history: charts by model stay as they were before
// and after the job has filled them, also for days that left the ledger; old sessions are removed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { insertPastRequests, preparePastUsage } from '../../../test/support/past-usage.ts'
import type { BookId } from '../../platform/ids.ts'
import type { UsageSplit } from '../ledger.ts'
import { LATENCY_BOUNDS } from './latency.ts'

const DAY_MS = 86_400_000
const DAYS = 8
const REQUESTS = 3_000
const at = {} as { database: TestDatabase; ledger: TestLedger; book: BookId }

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
  at.book = await at.ledger.createBook(at.database.db)
  await preparePastUsage({ db: at.database.db, ledger: at.ledger }, at.book, DAYS)
  const toMs = Date.now()
  const fromMs = toMs - DAYS * DAY_MS + 60_000
  const { book } = at
  await insertPastRequests(at.database.db, { book, fromMs, toMs, requests: REQUESTS })
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

async function explore(split: UsageSplit) {
  const zone = 'Asia/Kolkata'
  const to = await at.ledger.usage.today(zone)
  const from = new Date(Date.parse(to) - 20 * DAY_MS).toISOString().slice(0, 10)
  const query = { book: at.book, zone, from, to, step: 'day', split } as const
  return at.ledger.usage.explore(query)
}

/** What every version has shown. */
function shown({ buckets }: Awaited<ReturnType<typeof explore>>): string[] {
  return buckets.flatMap(({ local, series }) =>
    series.map(({ key, requests, free, input, output, spent }) =>
      [local, key, requests, free, input, output, spent].join(' '),
    ),
  )
}

test('shows history that the version before added up, and learns the rest of it', async () => {
  const { db } = at.database
  assert.equal(await at.ledger.aggregateUsage(), true)
  const full = await explore('model')
  assert.equal(full.whole.requests, BigInt(REQUESTS))
  assert.equal(full.whole.known, full.whole.requests)
  // Days left under the version before, so only their sums by model are there.
  const { detached } = await at.ledger.days.retire(DAYS - 2)
  assert.ok(detached.length > 0)
  // As migration 0046 leaves it.
  await db.query(`truncate usage_split_marks, usage_split_sums, usage_split_spans, usage_sessions`)
  const before = await explore('model')
  assert.deepEqual(shown(before), shown(full))
  assert.deepEqual([before.whole.known, before.whole.errors, before.whole.total], [0n, 0n, null])
  const [rest, ...others] = (await explore('session')).totals
  assert.deepEqual([rest?.isOther, rest?.requests, others], [true, BigInt(REQUESTS), []])
  const { rows } = await db.query(
    `select count(*) as kept from entries where book_id = $1 and kind in ('charge', 'void')`,
    [at.book],
  )
  const { kept } = rows[0] as { kept: bigint }
  assert.ok(kept > 0n && kept < BigInt(REQUESTS))
  assert.equal(await at.ledger.aggregateUsage(), true)
  const later = await explore('model')
  assert.deepEqual(shown(later), shown(full))
  assert.equal(later.whole.known, kept)
  const unknown = (await explore('ending')).totals.find(({ isOther }) => isOther)
  assert.equal(unknown?.requests, BigInt(REQUESTS) - kept)
})

test('lets no day leave that is not in the sums by split', async () => {
  const { db } = at.database
  const set = (by: number) =>
    db.query('update usage_split_marks set seq = seq + $2 where book_id = $1', [at.book, by])
  await set(-REQUESTS)
  const { rows } = await db.query(
    'select min(day)::text as day from entries where book_id = $1 and hold_id is not null',
    [at.book],
  )
  const { day } = rows[0] as { day: string }
  await assert.rejects(db.query('select ledger_day_checkpoint($1)', [day]), /not all added up/)
  await set(REQUESTS)
})

test('removes sessions and labels after their days, and keeps the whole', async () => {
  const before = await explore('session')
  const { sessions } = at.ledger.usage
  const listed = async () =>
    (await sessions.page({ book: at.book, kind: 'session', before: null, limit: 200 })).sessions
  const count = async () => (await listed()).length
  const known = await listed()
  assert.ok(known.length > 20)
  /** Those that a link opens. */
  const found = async () => {
    const all = known.map(({ id }) => sessions.find({ book: at.book, kind: 'session', id }))
    return (await Promise.all(all)).filter((one) => one !== undefined).length
  }
  await turnClock(at.database.db, '86 days')
  const to = await at.ledger.usage.today('UTC')
  const from = new Date(Date.parse(to) - 200 * DAY_MS).toISOString().slice(0, 10)
  const read = (split: UsageSplit) =>
    at.ledger.usage.explore({ book: at.book, zone: 'UTC', from, to, step: 'day', split })
  const half = [await read('session'), await read('label'), await count()] as const
  assert.equal(await found(), await count())
  assert.ok((await at.ledger.removeOldSessions()) > 0)
  // What is about to be removed is no longer shown: the job changes nothing that people see.
  assert.deepEqual([await read('session'), await read('label'), await count()], half)
  await turnClock(at.database.db, '200 days')
  assert.ok((await at.ledger.removeOldSessions()) > 0)
  assert.equal(await at.ledger.removeOldSessions(), 0)
  assert.equal(await count(), 0)
  await turnClock(at.database.db, '0 seconds')
  const after = await explore('session')
  assert.deepEqual(after.whole, before.whole)
  assert.deepEqual(
    after.totals.map(({ key, isOther }) => [key, isOther]),
    [
      [null, false],
      [null, true],
    ],
  )
})

test('counts times in the steps that the readers know', async () => {
  const { rows } = await at.database.db.query(
    `select ms, usage_latency_step(ms) as step from generate_series(0, 3000) as ms
     union all select b + d, usage_latency_step(b + d) from unnest($1::int4[]) as b,
       generate_series(-1, 1) as d`,
    [LATENCY_BOUNDS],
  )
  for (const { ms, step } of rows as { ms: number; step: number }[]) {
    assert.equal(step, LATENCY_BOUNDS.filter((bound) => bound <= ms).length, `${ms} ms`)
  }
})

test('adds histograms, also beyond what one element holds', async () => {
  const most = 2 ** 25 - 1
  const { rows } = await at.database.db.query(
    `select usage_histogram_add(array[64 * 3 + 5, 64 * $1::int4 + 7], array[64 + 5, 64 * 2 + 7])
       as sum, usage_histogram_add('{}', array[64]) as one`,
    [most],
  )
  const { sum, one } = rows[0] as { sum: number[]; one: number[] }
  assert.deepEqual(one, [64])
  assert.deepEqual(
    sum
      .map((element) => [element % 64, Math.floor(element / 64)])
      .sort((a, b) => (a.join() < b.join() ? -1 : 1)),
    [
      [5, 4],
      [7, 2],
      [7, most],
    ],
  )
})

test('prices cached tokens by the model that answered', async () => {
  const { rows } = await at.database.db.query(
    `select usage_cache_saved($1, t, 100, 10, 1) as served, usage_cache_saved(null, t, 100, 10, 1)
       as own, usage_cache_saved(null, t, null, null, null) as free
     from tariffs t where model = 'model-medium'`,
    [{ served: { price: ['2000000', '9000000', '200000', '2500000', '4000000'] } }],
  )
  // Ten reads save 0.9 each and writes cost 0.25 and 1 more; the other model costs twice as much.
  assert.deepEqual(rows, [{ served: 173_000_000n, own: 86_500_000n, free: 0n }])
})

test('an agent that was idle for longer stays as long as its session', async () => {
  const { db } = at.database
  const book = await at.ledger.createBook(db)
  await preparePastUsage({ db, ledger: at.ledger }, book, 3)
  const nowMs = Date.now()
  // One session: an agent for each request, from the first to the last day.
  const many = { book, requests: 30, ids: 'agent', seed: 77 } as const
  await insertPastRequests(db, { ...many, fromMs: nowMs - 3 * DAY_MS, toMs: nowMs })
  assert.equal(await at.ledger.aggregateUsage(), true)
  await turnClock(db, '89 days')
  await at.ledger.removeOldSessions()
  const one = { book, kind: 'session', id: 'session-77' } as const
  const found = await at.ledger.usage.sessions.find(one)
  await turnClock(db, '200 days')
  assert.ok((await at.ledger.removeOldSessions()) > 0)
  await turnClock(db, '0 seconds')
  assert.equal(found?.agents.length, 30)
  assert.equal(
    found?.agents.reduce((sum, agent) => sum + agent.spent, 0n),
    found?.spent,
  )
  const { rows } = await db.query('select from usage_sessions where book_id = $1', [book])
  assert.equal(rows.length, 0, 'the agents are deleted with it')
})
