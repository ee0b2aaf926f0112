// Tests of usage: charts, log pages and single requests agree with the entries before, between and
// after runs of the aggregation, in every time zone and for rare filters.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { createLedgerCustomer } from '../../../test/support/ledger-customer.ts'
import { insertPastRequests, models, preparePastUsage } from '../../../test/support/past-usage.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Entry } from '../queries.ts'
import type { LogQuery } from './log.ts'

const DAY_MS = 86_400_000
const DAYS = 20
const nowMs = Date.now()
const startMs = nowMs - DAYS * DAY_MS + 60_000
const zones = [
  ...['UTC', 'Europe/Moscow', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/New_York'],
  ...['Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Kiritimati'],
]
const at = {} as { database: TestDatabase; ledger: TestLedger; book: BookId }

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
  at.book = await at.ledger.createBook(at.database.db)
  await preparePastUsage({ db: at.database.db, ledger: at.ledger }, at.book, DAYS)
  const half = (startMs + nowMs) / 2
  const { book } = at
  await insertPastRequests(at.database.db, { book, fromMs: startMs, toMs: half, requests: 2_500 })
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

test('inserts test data in which the audit finds nothing', async () => {
  assert.deepEqual(await at.ledger.audit('all'), [])
})

// One test, because the second half of the requests must be inserted after the first run.
test('shows the same usage as the entries before, between and after aggregation', async () => {
  await checkAll('before the first aggregation')
  assert.equal(await at.ledger.aggregateUsage(), true)
  await checkAll('after the first aggregation')
  const fromMs = (startMs + nowMs) / 2 + 1
  const more = { book: at.book, fromMs, toMs: nowMs, requests: 2_500, seed: 9 }
  await insertPastRequests(at.database.db, more)
  await checkAll('with half of the entries after the mark')
  assert.equal(await at.ledger.aggregateUsage(), true)
  assert.equal(await at.ledger.aggregateUsage(), true)
  await checkAll('after the second aggregation')
  assert.ok((await at.ledger.aggregationLagSeconds()) < 60)
})

test('finds a request by its id, with its hold and without it', async () => {
  const entries = (await entriesOf(at.book)).filter(({ holdId }) => holdId !== null)
  const some = entries.filter((_, i) => i % 97 === 0 || i === entries.length - 1)
  for (const entry of some) {
    const id = entry.holdId as HoldId
    assert.deepEqual(await at.ledger.usage.find(at.book, id), entry)
    const stranger = (at.book + 1n) as BookId
    assert.equal(await at.ledger.usage.find(stranger, id), undefined)
  }
  for (const first of [some[0], some.at(-1)]) {
    const other = `${first?.holdId?.slice(0, -1)}f` as HoldId
    assert.equal(await at.ledger.usage.find(at.book, other), undefined)
  }
})

test('finds the charge of a hold that was settled after the sweep voided it', async () => {
  const customer = await createLedgerCustomer(at.ledger)
  const id = await customer.hold()
  await customer.void(id, 'process_lost')
  await customer.settle(id, 30)
  assert.equal((await at.ledger.usage.find(customer.book, id))?.kind, 'charge')
  await at.ledger.aggregateUsage()
  await at.database.db.query('delete from holds where id = $1', [id])
  await at.database.db.query(`alter table ${await weekOf(id)} rename to holds_forgotten`)
  try {
    assert.equal((await at.ledger.usage.find(customer.book, id))?.kind, 'charge')
  } finally {
    await at.database.db.query(`alter table holds_forgotten rename to ${await weekOf(id)}`)
  }
})

test('aggregates an entry that has an earlier day because the clock was set back', async () => {
  const customer = await createLedgerCustomer(at.ledger)
  await turnClock(at.database.db, '3 days')
  await customer.settle(await customer.hold(), 30)
  await at.ledger.aggregateUsage()
  await turnClock(at.database.db, '0 seconds')
  await customer.settle(await customer.hold(), 20)
  assert.equal(await at.ledger.aggregateUsage(), true)
  const { rows } = await at.database.db.query(
    'select sum(spent)::int8 as spent from usage_sums where book_id = $1 and minutes = 60',
    [customer.book],
  )
  assert.deepEqual(rows, [{ spent: 50_000_000n }])
})

test('adds each entry once with several workers while requests run', async () => {
  const workers = await Promise.all([1, 2, 3].map(() => createTestLedger(at.database.url)))
  const customers = await Promise.all(
    [1, 2, 3, 4].map(() => createLedgerCustomer(at.ledger, 100_000)),
  )
  const state = { isOver: false }
  const adding = workers.map(async (worker) => {
    while (!state.isOver) await worker.aggregateUsage()
  })
  await Promise.all(
    customers.map(async (customer) => {
      for (let i = 0; i < 60; i++) await customer.settle(await customer.hold(), 2 + (i % 7))
    }),
  )
  state.isOver = true
  await Promise.all(adding)
  for (const worker of workers) await worker.end()
  assert.equal(await at.ledger.aggregateUsage(), true)
  for (const { book } of customers) assert.equal(await difference(book), 0n)
})

test('stops at a missing entry of one book and aggregates the others', async () => {
  const [broken, whole] = [
    await createLedgerCustomer(at.ledger),
    await createLedgerCustomer(at.ledger),
  ]
  await broken.settle(await broken.hold(), 30)
  const set = (by: number) =>
    at.database.db.query(`update books set seq = seq + ${by} where id = $1`, [broken.book])
  await set(1)
  await whole.settle(await whole.hold(), 30)
  assert.equal(await at.ledger.aggregateUsage(), false)
  assert.equal(await difference(whole.book), 0n)
  await set(-1)
  assert.equal(await at.ledger.aggregateUsage(), true)
  assert.equal(await difference(broken.book), 0n)
})

test('detaches a day only after its aggregation, and keeps its chart', async () => {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const next = new Date(startMs + DAY_MS).toISOString().slice(0, 10)
  const { db } = at.database
  const { book } = at
  const query = { book, zone: 'UTC', from: day, to: next, step: 'day', split: 'model' } as const
  const chart = await at.ledger.usage.explore(query)
  const mark = await db.query('delete from usage_marks where book_id = $1 returning *', [book])
  await assert.rejects(db.query('select ledger_day_checkpoint($1)', [day]), /not all added up/)
  const { seq, day: marked } = mark.rows[0] as { seq: bigint; day: Date }
  await db.query('insert into usage_marks values ($1, $2, $3)', [book, seq, marked])
  const kept = (Date.parse(await at.ledger.usage.today('UTC')) - Date.parse(next)) / DAY_MS
  assert.deepEqual((await at.ledger.days.retire(kept)).detached, [day])
  assert.deepEqual(await at.ledger.usage.explore(query), chart)
  await checkPages({ book, ...any, limit: 200 }, await entriesOf(book), 'after a day was detached')
})

const any = {
  ...{ model: null, endings: null, before: null, from: null, to: null },
  ...{ session: null, agent: null, label: null },
} as const

/** Compares every chart and every filter with the entries. */
async function checkAll(when: string): Promise<void> {
  const entries = await entriesOf(at.book)
  for (const zone of zones) {
    for (const step of ['day', 'hour'] as const) await checkChart(entries, zone, step, when)
  }
  await checkRecentDays(entries, when)
  const { book } = at
  const noon = new Date(startMs + 5.3 * DAY_MS)
  const later = new Date(startMs + 6.1 * DAY_MS)
  const queries: Partial<LogQuery>[] = [
    { limit: 200 },
    { model: models[1] ?? null },
    { model: models[3] ?? null, limit: 3 },
    { model: models[4] ?? null, limit: 1 },
    { model: 'model-nobody-used' },
    { endings: ['client_left'], limit: 11 },
    { endings: ['refused'], limit: 1 },
    { endings: ['given_up'] },
    { endings: ['refused', 'upstream_failed', 'process_lost', 'given_up', 'overdue'], limit: 7 },
    { from: noon, to: later, limit: 31 },
    { from: noon, endings: ['upstream_failed'], limit: 5 },
    { to: noon, model: models[2] ?? null, limit: 50 },
    { from: later, to: noon },
    { session: 'session-1-8', limit: 7 },
    { session: 'session-9-13', endings: ['complete'], limit: 20 },
    { session: 'session-nobody-used' },
    { agent: 'session-1-5-agent-1', limit: 2 },
    { label: 'label-2', limit: 200 },
    { label: 'label-3', model: models[1] ?? null, from: noon, to: later, limit: 9 },
    { label: 'label-4', session: 'session-1-21', limit: 3 },
    { label: 'label-1', model: models[3] ?? null, limit: 1 },
    { label: 'label-0', model: models[2] ?? null, endings: ['complete', 'client_left'], limit: 4 },
    { label: 'label-2', endings: ['upstream_failed', 'refused', 'given_up'], limit: 1 },
    { label: 'label-3', model: 'model-nobody-used' },
    { session: 'session-1-8', model: models[2] ?? null, limit: 2 },
  ]
  for (const query of queries) {
    await checkPages({ book, ...any, limit: 50, ...query }, entries, when)
  }
}

async function checkPages(query: LogQuery, entries: readonly Entry[], when: string): Promise<void> {
  const expected = entries
    .filter(({ kind }) => kind === 'charge' || kind === 'void')
    .filter((one) => query.model === null || one.model === query.model)
    .filter(({ details }) => query.session === null || details.sessionId === query.session)
    .filter(({ details }) => query.agent === null || details.agentId === query.agent)
    .filter(({ details }) => query.label === null || details.label === query.label)
    .filter(({ ending }) => query.endings === null || (ending && query.endings.includes(ending)))
    .filter(
      (one) => (query.from === null || one.at >= query.from) && (!query.to || one.at < query.to),
    )
  const found: Entry[] = []
  for (let before: bigint | null = null; ; ) {
    const page = await at.ledger.usage.page({ ...query, before })
    found.push(...page.entries)
    if (page.next === null) break
    assert.equal(page.entries.length, query.limit)
    before = page.next
  }
  const what = JSON.stringify({ ...query, book: '' })
  assert.deepEqual(
    found,
    expected.toSorted((a, b) => (a.seq > b.seq ? -1 : 1)),
    `${when}: ${what}`,
  )
}

/** Compares the recent usage of the API and the days of the overview with the entries. */
async function checkRecentDays(entries: readonly Entry[], when: string): Promise<void> {
  const charges = entries.filter(({ kind }) => kind === 'charge')
  const spent = (list: readonly Entry[]) => list.reduce((sum, { amount }) => sum - amount, 0n)
  const dayOf = (entry: Entry) => entry.at.toISOString().slice(0, 10)
  const today = await at.ledger.usage.today('UTC')
  const { requestsToday, spent30Days } = await at.ledger.usage.recent(at.book)
  const ofToday = charges.filter((entry) => dayOf(entry) === today)
  assert.deepEqual([requestsToday, spent30Days], [BigInt(ofToday.length), spent(charges)], when)
  const days = await at.ledger.usage.days({ book: at.book, zone: 'UTC', days: DAYS + 2 })
  assert.equal(days.length, DAYS + 2)
  for (const { day, requests, spent: sum } of days) {
    const own = charges.filter((entry) => dayOf(entry) === day)
    assert.deepEqual([requests, sum], [BigInt(own.length), spent(own)], `${when}: ${day}`)
  }
}

/** Compares a chart with days or hours that PostgreSQL computes from the entries alone. */
async function checkChart(
  entries: readonly Entry[],
  zone: string,
  step: 'day' | 'hour',
  when: string,
): Promise<void> {
  const today = await at.ledger.usage.today(zone)
  // For hours, the days around the middle, where the second half of the requests starts.
  const [first, last] = step === 'day' ? [DAYS + 3, 0] : [DAYS / 2 + 2, DAYS / 2 - 2]
  const dayAgo = (days: number) =>
    new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10)
  const [from, to] = [dayAgo(first), dayAgo(last)]
  const query = { book: at.book, zone, from, to, step, split: 'model' } as const
  const chart = await at.ledger.usage.explore(query)
  const { rows } = await at.database.db.query(
    `select to_char(date_trunc($2, e.at at time zone $3), 'YYYY-MM-DD HH24') as local, t.model,
       count(*) as requests, count(*) filter (where e.kind = 'void') as free,
       coalesce(sum(e.input), 0)::int8 as input, coalesce(sum(output), 0)::int8 as output,
       coalesce(sum(e.cache_read), 0)::int8 as "cacheRead",
       coalesce(sum(e.cache_write_5m), 0)::int8 as "cacheWrite5m",
       coalesce(sum(e.cache_write_1h), 0)::int8 as "cacheWrite1h", -sum(amount)::int8 as spent
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and (e.at at time zone $3)::date between $4 and $5
     group by 1, 2`,
    [at.book, step, zone, from, to],
  )
  assert.ok(entries.length > 0 && rows.length > 0)
  const shown = chart.buckets.flatMap(({ local, series }) => {
    const [day = '', hour = '00:00'] = local.split('T')
    return series.map(({ key: model, requests, free, input, output, ...one }) => {
      const { cacheRead, cacheWrite5m, cacheWrite1h, spent } = one
      const figures = { model, requests, free, input, output, cacheRead, cacheWrite5m }
      return { local: `${day} ${hour.slice(0, 2)}`, ...figures, cacheWrite1h, spent }
    })
  })
  const key = (one: unknown) => JSON.stringify(one, (_, v) => (typeof v === 'bigint' ? `${v}` : v))
  const sorted = (list: unknown[]) => list.map((one) => key(one)).sort()
  assert.deepEqual(sorted(shown), sorted(rows), `${when}: ${zone} by ${step}`)
}

async function entriesOf(book: BookId): Promise<Entry[]> {
  return (await at.ledger.statement({ book, beforeSeq: null, limit: 100_000 })).reverse()
}

/** How much more the sums and spans of a book contain than its entries. */
async function difference(book: BookId): Promise<bigint> {
  const { rows } = await at.database.db.query(
    `select (select coalesce(sum(spent * 1000 + requests), 0) from usage_sums where book_id = $1)
       + (select coalesce(sum(requests), 0) from usage_spans where book_id = $1)
       - (select 4 * coalesce(sum(-amount * 1000), 0) + 5 * count(*) from entries
         where book_id = $1 and kind in ('charge', 'void')) as difference`,
    [book],
  )
  return BigInt((rows[0] as { difference: string }).difference)
}

async function weekOf(id: HoldId): Promise<string> {
  return `holds_${Math.floor(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / 604_800_000)}`
}
