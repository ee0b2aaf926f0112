// Usage added up: charts, pages and single requests agree with the entries at every moment, before
// the job has run, after it and in between, whichever zone is asked for and however rare a match.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createCustomer } from '../../../test/support/customer.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger, turnClock } from '../../../test/support/harness.ts'
import { makePast, models, plantRequests } from '../../../test/support/usage.ts'
import type { BookId, HoldId } from '../../platform/ids.ts'
import type { Entry } from '../queries.ts'
import type { LogAsk } from './log.ts'

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
  at.book = await at.ledger.open(at.database.db)
  await makePast(at.ledger, at.book, DAYS)
  const half = (startMs + nowMs) / 2
  const { book } = at
  await plantRequests(at.database.db, { book, fromMs: startMs, toMs: half, requests: 2_500 })
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

test('a planted past is a ledger that the audit finds nothing in', async () => {
  assert.deepEqual(await at.ledger.audit('all'), [])
})

// One test, because the second half comes after the first was added up.
test('charts and pages are the entries’ own, before, between and after adding up', async () => {
  await everything('before any of it is added up')
  assert.equal(await at.ledger.addUp(), true)
  await everything('when all is added up')
  const fromMs = (startMs + nowMs) / 2 + 1
  const more = { book: at.book, fromMs, toMs: nowMs, requests: 2_500, seed: 9 }
  await plantRequests(at.database.db, more)
  await everything('when half is younger than the mark')
  assert.equal(await at.ledger.addUp(), true)
  assert.equal(await at.ledger.addUp(), true)
  await everything('when all is added up again')
  assert.ok((await at.ledger.addedUpLagSeconds()) < 60)
})

test('a request opens by its number, with its hold and after it', async () => {
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

test('a charge that came after the hold was freed is what its number opens', async () => {
  const customer = await createCustomer(at.ledger)
  const id = await customer.hold()
  await customer.void(id, 'process_lost')
  await customer.settle(id, 30)
  assert.equal((await at.ledger.usage.find(customer.book, id))?.kind, 'charge')
  await at.ledger.addUp()
  await at.database.db.query('delete from holds where id = $1', [id])
  await at.database.db.query(`alter table ${await weekOf(id)} rename to holds_forgotten`)
  try {
    assert.equal((await at.ledger.usage.find(customer.book, id))?.kind, 'charge')
  } finally {
    await at.database.db.query(`alter table holds_forgotten rename to ${await weekOf(id)}`)
  }
})

test('an entry that a clock set back put on the day before is added up too', async () => {
  const customer = await createCustomer(at.ledger)
  await turnClock(at.database.db, '3 days')
  await customer.settle(await customer.hold(), 30)
  await at.ledger.addUp()
  await turnClock(at.database.db, '0 seconds')
  await customer.settle(await customer.hold(), 20)
  assert.equal(await at.ledger.addUp(), true)
  const { rows } = await at.database.db.query(
    'select sum(spent)::int8 as spent from usage_sums where book_id = $1 and minutes = 60',
    [customer.book],
  )
  assert.deepEqual(rows, [{ spent: 50_000_000n }])
})

test('workers at once, while requests run, add each entry once', async () => {
  const workers = await Promise.all([1, 2, 3].map(() => createTestLedger(at.database.url)))
  const customers = await Promise.all([1, 2, 3, 4].map(() => createCustomer(at.ledger, 100_000)))
  const state = { isOver: false }
  const adding = workers.map(async (worker) => {
    while (!state.isOver) await worker.addUp()
  })
  await Promise.all(
    customers.map(async (customer) => {
      for (let i = 0; i < 60; i++) await customer.settle(await customer.hold(), 2 + (i % 7))
    }),
  )
  state.isOver = true
  await Promise.all(adding)
  for (const worker of workers) await worker.end()
  assert.equal(await at.ledger.addUp(), true)
  for (const { book } of customers) assert.equal(await difference(book), 0n)
})

test('a book that lacks an entry stands still, and the others go on', async () => {
  const [broken, whole] = [await createCustomer(at.ledger), await createCustomer(at.ledger)]
  await broken.settle(await broken.hold(), 30)
  const set = (by: number) =>
    at.database.db.query(`update books set seq = seq + ${by} where id = $1`, [broken.book])
  await set(1)
  await whole.settle(await whole.hold(), 30)
  assert.equal(await at.ledger.addUp(), false)
  assert.equal(await difference(whole.book), 0n)
  await set(-1)
  assert.equal(await at.ledger.addUp(), true)
  assert.equal(await difference(broken.book), 0n)
})

test('a day leaves the ledger only when it is added up; its chart stays', async () => {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const next = new Date(startMs + DAY_MS).toISOString().slice(0, 10)
  const { db } = at.database
  const detach = () =>
    db.query('select ledger_entries_detach($1::text::regclass)', [
      `entries_${day.replaceAll('-', '')}`,
    ])
  const { book } = at
  const ask = { book, zone: 'UTC', from: day, to: next, step: 'day' } as const
  const chart = await at.ledger.usage.steps(ask)
  const mark = await db.query('delete from usage_marks where book_id = $1 returning *', [book])
  await assert.rejects(detach(), /not all added up/)
  const { seq, day: marked } = mark.rows[0] as { seq: bigint; day: Date }
  await db.query('insert into usage_marks values ($1, $2, $3)', [book, seq, marked])
  assert.deepEqual(await at.ledger.detachEntriesBefore(next), [
    `entries_${day.replaceAll('-', '')}`,
  ])
  assert.deepEqual(await at.ledger.usage.steps(ask), chart)
  await everyPage({ book, ...any, limit: 200 }, await entriesOf(book), 'after a day has left')
})

const any = { model: null, endings: null, before: null, from: null, to: null } as const

/** Compares every chart and every filter with the entries. */
async function everything(when: string): Promise<void> {
  const entries = await entriesOf(at.book)
  for (const zone of zones) {
    for (const step of ['day', 'hour'] as const) await oneChart(entries, zone, step, when)
  }
  await recentDays(entries, when)
  const { book } = at
  const noon = new Date(startMs + 5.3 * DAY_MS)
  const later = new Date(startMs + 6.1 * DAY_MS)
  const asks: Partial<LogAsk>[] = [
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
  ]
  for (const ask of asks) {
    await everyPage({ book, ...any, limit: 50, ...ask }, entries, when)
  }
}

async function everyPage(ask: LogAsk, entries: readonly Entry[], when: string): Promise<void> {
  const expected = entries
    .filter(({ kind }) => kind === 'charge' || kind === 'void')
    .filter((one) => ask.model === null || one.model === ask.model)
    .filter(({ ending }) => ask.endings === null || (ending && ask.endings.includes(ending)))
    .filter((one) => (ask.from === null || one.at >= ask.from) && (!ask.to || one.at < ask.to))
  const found: Entry[] = []
  for (let before: bigint | null = null; ; ) {
    const page = await at.ledger.usage.page({ ...ask, before })
    found.push(...page.entries)
    if (page.next === null) break
    assert.equal(page.entries.length, ask.limit)
    before = page.next
  }
  const what = JSON.stringify({ ...ask, book: '' })
  assert.deepEqual(
    found,
    expected.toSorted((a, b) => (a.seq > b.seq ? -1 : 1)),
    `${when}: ${what}`,
  )
}

/** What a client is told of its account, and the days of the first page. */
async function recentDays(entries: readonly Entry[], when: string): Promise<void> {
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

/** Days and hours by PostgreSQL's own calendar, from the entries and from nothing of ours. */
async function oneChart(
  entries: readonly Entry[],
  zone: string,
  step: 'day' | 'hour',
  when: string,
): Promise<void> {
  const today = await at.ledger.usage.today(zone)
  // By hours, days about the middle: there the second half of the requests begins.
  const [first, last] = step === 'day' ? [DAYS + 3, 0] : [DAYS / 2 + 2, DAYS / 2 - 2]
  const dayAgo = (days: number) =>
    new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10)
  const [from, to] = [dayAgo(first), dayAgo(last)]
  const chart = await at.ledger.usage.steps({ book: at.book, zone, from, to, step })
  const { rows } = await at.database.db.query(
    `select to_char(date_trunc($2, e.at at time zone $3), 'YYYY-MM-DD HH24') as local, t.model,
       count(*) as requests, count(*) filter (where e.kind = 'void') as free,
       coalesce(sum(input), 0)::int8 as input, coalesce(sum(output), 0)::int8 as output,
       coalesce(sum(e.cache_read), 0)::int8 as "cacheRead",
       coalesce(sum(e.cache_write_5m), 0)::int8 as "cacheWrite5m",
       coalesce(sum(e.cache_write_1h), 0)::int8 as "cacheWrite1h", -sum(amount)::int8 as spent
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and (e.at at time zone $3)::date between $4 and $5
     group by 1, 2`,
    [at.book, step, zone, from, to],
  )
  assert.ok(entries.length > 0 && rows.length > 0)
  const shown = chart.steps.flatMap(({ local, models: used }) => {
    const [day = '', hour = '00:00'] = local.split('T')
    return used.map((one) => ({ local: `${day} ${hour.slice(0, 2)}`, ...one }))
  })
  const key = (one: unknown) => JSON.stringify(one, (_, v) => (typeof v === 'bigint' ? `${v}` : v))
  const sorted = (list: unknown[]) => list.map((one) => key(one)).sort()
  assert.deepEqual(sorted(shown), sorted(rows), `${when}: ${zone} by ${step}`)
}

async function entriesOf(book: BookId): Promise<Entry[]> {
  return (await at.ledger.statement({ book, beforeSeq: null, limit: 100_000 })).reverse()
}

/** What the sums of a book say more than its entries. */
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
