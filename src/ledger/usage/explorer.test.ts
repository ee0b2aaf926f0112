// Random months in random time zones, half of them added up: every figure of the explorer and of
// the sessions equals plain SQL over the entries, parts add up to wholes, and percentiles are in
// the step of the exact ones.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { random } from '../../../test/support/drill.ts'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import { insertPastRequests, preparePastUsage } from '../../../test/support/past-usage.ts'
import type { BookId } from '../../platform/ids.ts'
import type { SessionFigures, UsageFigures, UsageSplit, UsageStep } from '../ledger.ts'
import { LATENCY_BOUNDS, type Latency } from './latency.ts'

const DAY_MS = 86_400_000
const DAYS = 31
const HALF = 1_200
const KEYS_MAX = 12
const zones = [
  ...['UTC', 'Europe/Moscow', 'Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns'],
  ...['Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Kiritimati', 'America/Los_Angeles'],
]
const splits: Readonly<Record<UsageSplit, string>> = {
  ...{ model: 't.model', ending: 'e.ending::text', session: 'e.session_id', label: 'e.label' },
}
const at = {} as { database: TestDatabase; ledger: TestLedger }

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

for (const seed of [11, 12, 13]) {
  test(`equals the entries: month ${seed}`, async () => {
    const draw = random(seed)
    const one = <Value>(of: readonly Value[]) => of[Math.floor(draw() * of.length)] as Value
    const book = await at.ledger.createBook(at.database.db)
    await preparePastUsage({ db: at.database.db, ledger: at.ledger }, book, DAYS)
    const nowMs = Date.now()
    const startMs = nowMs - DAYS * DAY_MS + 60_000
    const middleMs = startMs + (nowMs - startMs) * (0.2 + 0.6 * draw())
    const add = (fromMs: number, toMs: number, of: number) =>
      insertPastRequests(at.database.db, { book, fromMs, toMs, requests: HALF, seed: of })
    const check = async (when: string) => {
      for (const split of Object.keys(splits) as UsageSplit[]) {
        for (const step of ['hour', 'day', 'week', 'month'] as const) {
          await checkExplorer(book, { split, step, zone: one(zones), draw }, when)
        }
      }
      await checkSessions(book, when)
    }
    await add(startMs, middleMs, seed)
    await check('before the first aggregation')
    assert.equal(await at.ledger.aggregateUsage(), true)
    await add(middleMs + 1, nowMs, seed + 100)
    await check('half of it added up')
    assert.equal(await at.ledger.aggregateUsage(), true)
    await check('all of it added up')
  })
}

type Chosen = {
  readonly split: UsageSplit
  readonly step: UsageStep
  readonly zone: string
  readonly draw: () => number
}

async function checkExplorer(book: BookId, p: Chosen, when: string): Promise<void> {
  const today = Date.parse(await at.ledger.usage.today(p.zone))
  const days = p.step === 'hour' ? 3 : 9 + Math.floor(p.draw() * 20)
  const last = Math.floor(p.draw() * (DAYS - days))
  const day = (ago: number) => new Date(today - ago * DAY_MS).toISOString().slice(0, 10)
  const period = { zone: p.zone, from: day(last + days - 1), to: day(last) }
  const query = { book, step: p.step, split: p.split, withPrevious: true, ...period }
  const used = await at.ledger.usage.explore(query)
  const what = `${when}: ${JSON.stringify({ ...period, step: p.step, split: p.split })}`

  const totals = await plain(book, { ...period, key: splits[p.split], bucket: `''` })
  const ranked = totals.toSorted(byCredits).map(({ key }) => key)
  const shown = new Set(ranked.slice(0, KEYS_MAX))
  const fold = ranked.length > KEYS_MAX
  const isShown = `array_position($5::text[], coalesce(${splits[p.split]}, '')) is not null`
  const folded = {
    ...period,
    key: `case when ${isShown} then ${splits[p.split]} else 'other keys' end`,
    shown: [...shown].map((key) => key ?? ''),
  }
  const keyed = (series: readonly (UsageFigures & { key: string | null; isOther: boolean })[]) =>
    series.map(({ isOther, key, ...figures }) => ({
      key: isOther ? 'other keys' : key,
      ...figures,
    }))
  same(keyed(used.totals), await plain(book, { ...folded, bucket: `''` }), `${what} totals`)
  assert.equal(
    used.totals.some(({ isOther }) => isOther),
    fold,
    what,
  )
  assert.deepEqual(
    used.totals.filter(({ isOther }) => !isOther).map(({ key }) => key),
    ranked.slice(0, KEYS_MAX),
  )
  const steps = used.buckets.flatMap(({ local, series }, i) =>
    keyed(series).map((one) => ({ ...one, bucket: p.step === 'hour' ? String(i) : local })),
  )
  same(steps, await plain(book, { ...folded, bucket: BUCKETS[p.step] }), `${what} by step`)
  const wholes = (of: typeof used.buckets) =>
    of.flatMap(({ local, whole }, i) =>
      whole.requests === 0n
        ? []
        : [{ key: null, ...whole, bucket: p.step === 'hour' ? String(i) : local }],
    )
  const all = { ...period, key: 'null::text', bucket: BUCKETS[p.step] }
  same(wholes(used.buckets), await plain(book, all), `${what} whole by step`)
  const { previous } = used
  assert.ok(previous !== null)
  assert.equal(previous.to, day(last + days))
  const before = { zone: p.zone, from: previous.from, to: previous.to, key: 'null::text' }
  const sum = previous.whole.requests === 0n ? [] : [{ key: null, ...previous.whole }]
  same(sum, await plain(book, { ...before, bucket: `''` }), `${what} before`)
  if (p.step === 'day') {
    same(
      wholes(previous.buckets),
      await plain(book, { ...before, bucket: BUCKETS.day }),
      `${what} before, by step`,
    )
  }
}

const BUCKETS: Readonly<Record<UsageStep, string>> = {
  hour: `floor(extract(epoch from e.at - ($3::date::timestamp at time zone $2)) / 3600)::text`,
  day: '(e.at at time zone $2)::date::text',
  week: `greatest(date_trunc('week', e.at at time zone $2)::date, $3::date)::text`,
  month: `greatest(date_trunc('month', e.at at time zone $2)::date, $3::date)::text`,
}

type Plain = Omit<UsageFigures, 'firstByte' | 'total' | 'known'> & {
  readonly key: string | null
  readonly bucket: string
  readonly firstByte: (number | null)[]
  readonly total: (number | null)[]
}

/** The figures of a period, computed by PostgreSQL from the entries alone. */
async function plain(
  book: BookId,
  p: {
    readonly zone: string
    readonly from: string
    readonly to: string
    readonly key: string
    readonly bucket: string
    readonly shown?: readonly string[]
  },
): Promise<Plain[]> {
  const { rows } = await at.database.db.query(
    `select ${p.key} as key, ${p.bucket} as bucket, count(*) as requests,
       count(*) filter (where e.kind = 'void') as free,
       count(*) filter (where e.ending in ('refused', 'upstream_failed', 'process_lost', 'overdue',
         'drained', 'shed')) as errors,
       coalesce(sum(e.input), 0)::int8 as input, coalesce(sum(e.output), 0)::int8 as output,
       coalesce(sum(e.cache_read), 0)::int8 as "cacheRead",
       coalesce(sum(e.cache_write_5m), 0)::int8 as "cacheWrite5m",
       coalesce(sum(e.cache_write_1h), 0)::int8 as "cacheWrite1h", -sum(e.amount)::int8 as spent,
       coalesce(sum((e.cache_read + e.cache_write_5m + e.cache_write_1h) * t.input
         - e.cache_read * t.cache_read - e.cache_write_5m * t.cache_write_5m
         - e.cache_write_1h * t.cache_write_1h), 0)::int8 as "cacheSaved",
       percentile_disc(array[0.5, 0.95]) within group (order by e.first_byte_ms) as "firstByte",
       percentile_disc(array[0.5, 0.95]) within group (order by e.total_ms) as total
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and e.kind in ('charge', 'void')
       and (e.at at time zone $2)::date between $3::date and $4::date
       ${p.shown === undefined ? '' : 'and $5::text[] is not null'}
     group by 1, 2`,
    [book, p.zone, p.from, p.to, ...(p.shown === undefined ? [] : [p.shown])],
  )
  return rows as Plain[]
}

function same(
  read: readonly (UsageFigures & { key: string | null; bucket?: string })[],
  expected: readonly Plain[],
  what: string,
): void {
  const steps = (latency: Latency | null) =>
    latency === null ? [null, null] : [stepOf(latency.p50), stepOf(latency.p95)]
  const line = (one: Omit<Plain, 'firstByte' | 'total'>, times: (number | null)[]) =>
    [
      ...[one.bucket, one.key, one.requests, one.free, one.errors, one.input, one.output],
      ...[one.cacheRead, one.cacheWrite5m, one.cacheWrite1h, one.spent, one.cacheSaved, ...times],
    ].join(' ')
  assert.deepEqual(
    read
      .map((one) => line({ bucket: '', ...one }, [...steps(one.firstByte), ...steps(one.total)]))
      .sort(),
    expected
      .map((one) =>
        line(
          one,
          [...(one.firstByte ?? [null, null]), ...(one.total ?? [null, null])].map((ms) =>
            ms === null ? null : stepOf(ms),
          ),
        ),
      )
      .sort(),
    what,
  )
  for (const { known, requests } of read) assert.equal(known, requests, what)
}

function stepOf(ms: number): number {
  return LATENCY_BOUNDS.filter((bound) => bound <= ms).length
}

function byCredits(a: Plain, b: Plain): number {
  if (a.spent !== b.spent) return a.spent > b.spent ? -1 : 1
  return (a.key ?? '') < (b.key ?? '') ? -1 : 1
}

async function checkSessions(book: BookId, when: string): Promise<void> {
  for (const kind of ['session', 'label'] as const) {
    const column = kind === 'session' ? 'e.session_id' : 'e.label'
    const found = []
    for (let before: bigint | null = null; ; ) {
      const page = await at.ledger.usage.sessions.page({ book, kind, before, limit: 7 })
      found.push(...page.sessions)
      if (page.next === null) break
      assert.equal(page.sessions.length, 7)
      before = page.next
    }
    const wholes = await plainSessions(book, column, column)
    assert.deepEqual(found.map(lineOf), wholes, `${when}: ${kind}s`)
    const parts = await plainSessions(book, column, `${column}, e.agent_id`)
    for (const session of found.filter((_, i) => i % 5 === 0)) {
      const one = await at.ledger.usage.sessions.find({ book, kind, id: session.id })
      assert.deepEqual(one, { ...session, agents: one?.agents, others: null })
      const agents = one?.agents.map((agent) => lineOf({ ...agent, id: session.id }, agent.id))
      const own = parts.filter((part) => part.startsWith(`${session.id} `))
      assert.deepEqual(agents?.sort(), kind === 'label' ? [] : own.sort(), `${when}: ${session.id}`)
      const sum = one?.agents.reduce((all, agent) => all + agent.spent, 0n)
      assert.equal(kind === 'label' ? one?.spent : sum, one?.spent)
    }
  }
  assert.equal(await at.ledger.usage.sessions.find({ book, kind: 'label', id: 'none' }), undefined)
}

function lineOf(one: SessionFigures & { id: string }, agent?: string | null | number): string {
  return [
    ...[one.id, typeof agent === 'string' ? agent : '', one.requests, one.free, one.errors],
    ...[one.input, one.output, one.cacheRead, one.cacheWrite5m, one.cacheWrite1h, one.spent],
    ...[one.cacheSaved, one.busyMs, one.firstAt.getTime(), one.lastAt.getTime(), one.models],
  ].join(' ')
}

/** The latest request first. */
async function plainSessions(book: BookId, id: string, group: string): Promise<string[]> {
  const agent = group === id ? `''` : `coalesce(e.agent_id, '')`
  const { rows } = await at.database.db.query(
    `select concat_ws(' ', ${id}, ${agent}, count(*), count(*) filter (where e.kind = 'void'),
       count(*) filter (where e.kind = 'void' and e.ending <> 'given_up'),
       coalesce(sum(e.input), 0), coalesce(sum(e.output), 0), coalesce(sum(e.cache_read), 0),
       coalesce(sum(e.cache_write_5m), 0), coalesce(sum(e.cache_write_1h), 0), -sum(e.amount),
       coalesce(sum((e.cache_read + e.cache_write_5m + e.cache_write_1h) * t.input
         - e.cache_read * t.cache_read - e.cache_write_5m * t.cache_write_5m
         - e.cache_write_1h * t.cache_write_1h), 0),
       coalesce(sum(e.total_ms), 0), floor(extract(epoch from min(e.at)) * 1000)::int8,
       floor(extract(epoch from max(e.at)) * 1000)::int8,
       string_agg(distinct t.model, ',' order by t.model)) as line
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and ${id} is not null
     group by ${group} order by max(e.seq) desc`,
    [book],
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}
