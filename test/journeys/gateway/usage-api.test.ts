// GET /v1/usage by key: its figures are the sums that PostgreSQL computes from the entries, for
// hours, days and months, by every group, page by page, before and after they are added up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createTestLedger, type TestLedger } from '../../support/harness.ts'
import { insertPastRequests, preparePastUsage } from '../../support/past-usage.ts'
import { type Caller, createCaller } from './caller.ts'
import { question, refusalOf } from './client.ts'

type Figures = {
  readonly requests: number
  readonly free: number
  readonly errors: number
  readonly tokens: Readonly<Record<string, number>>
  readonly credits: string
  readonly cache_saved: string
}
type Group = Figures & { readonly key: string | null; readonly is_other: boolean }
type Bucket = Figures & {
  readonly at: string
  readonly local: string
  readonly groups?: readonly Group[]
}
type Usage = {
  readonly data: readonly Bucket[]
  readonly total: Figures & { readonly groups?: readonly Group[] }
  readonly next_cursor: string | null
}

const DAY_MS = 86_400_000
const DAYS = 75
const ZONE = 'Asia/Kathmandu'
const columns = {
  ...{ model: 't.model', ending: 'e.ending::text', session: 'e.session_id', label: 'e.label' },
}
const locals = { hour: 'YYYY-MM-DD"T"HH24:00', day: 'YYYY-MM-DD', month: 'YYYY-MM-01' }
const at = {} as { gateway: TestGateway; owner: TestLedger; who: Caller }

before(async () => {
  at.gateway = await createTestGateway()
  at.owner = await createTestLedger(at.gateway.database.url, {}, { isStarted: false })
  at.who = await createCaller(at.gateway, 0)
  await preparePastUsage({ db: at.owner.db, ledger: at.owner }, at.who.book, DAYS + 1)
})
after(async () => {
  at.who?.end()
  await at.owner?.end()
  await at.gateway.end()
})

async function read<T>(who: Caller, path: string): Promise<T> {
  const { status, bytes } = await who.ask({ path, method: 'GET' })
  assert.equal(status, 200, bytes.toString())
  return JSON.parse(bytes.toString())
}

/** All pages as one answer. */
async function whole(query: string): Promise<Usage> {
  let page = await read<Usage>(at.who, `/v1/usage?${query}`)
  const data = [...page.data]
  while (page.next_cursor !== null) {
    page = await read(at.who, `/v1/usage?${query}&cursor=${page.next_cursor}`)
    data.push(...page.data)
  }
  return { ...page, data }
}

/** One line for each bucket and key that has requests, as text. */
async function bySql(from: string, to: string, local: string, key: string): Promise<string[]> {
  const { rows } = await at.gateway.database.db.query(
    `select concat_ws(' ', to_char(greatest(e.at at time zone $2, $3::date::timestamp), $5),
       coalesce(${key}, 'none'), count(*), count(*) filter (where e.kind = 'void'),
       count(*) filter (where e.kind = 'void' and e.ending <> 'given_up'),
       coalesce(sum(e.input), 0), coalesce(sum(e.output), 0), coalesce(sum(e.cache_read), 0),
       coalesce(sum(e.cache_write_5m), 0), coalesce(sum(e.cache_write_1h), 0),
       trim_scale(-sum(e.amount) / 1000000.0)) as line
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and e.kind in ('charge', 'void')
       and (e.at at time zone $2)::date between $3::date and $4::date
     group by to_char(greatest(e.at at time zone $2, $3::date::timestamp), $5), ${key}`,
    [at.who.book, ZONE, from, to, local],
  )
  return (rows as { line: string }[]).map(({ line }) => line).sort()
}

function lineOf(local: string, key: string, { requests, free, errors, ...one }: Figures): string {
  const counts = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h']
  const tokens = counts.map((kind) => one.tokens[kind])
  return [local, key, requests, free, errors, ...tokens, one.credits].join(' ')
}

async function assertEqualsEntries(step: keyof typeof locals, days: number): Promise<void> {
  const today = await at.owner.usage.today(ZONE)
  const from = new Date(Date.parse(today) - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  const query = `step=${step}&zone=${ZONE}&from=${from}&to=${today}`
  // The first month begins with the period, not on its first day.
  const local = (text: string) => (step === 'month' ? text.replace(/\d\d$/, '01') : text)
  const used = ({ requests }: Figures) => requests > 0
  const plain = await whole(`${query}&limit=${step === 'hour' ? 7 : 100}`)
  assert.deepEqual(
    plain.data
      .filter(used)
      .map((one) => lineOf(local(one.local), 'all', one))
      .sort(),
    await bySql(from, today, locals[step], `'all'::text`),
  )
  const total = await bySql(from, today, '"total"', `'all'::text`)
  assert.deepEqual([lineOf('total', 'all', plain.total)], total)
  for (const [group, column] of Object.entries(columns)) {
    const { data, total: sums } = await whole(`${query}&group=${group}`)
    const expected = await bySql(from, today, locals[step], column)
    const shown = data.flatMap((one) =>
      (one.groups ?? []).map((part) => ({ ...part, local: local(one.local) })),
    )
    const named = shown.filter((one) => !one.is_other)
    const lines = named.map((one) => lineOf(one.local, one.key ?? 'none', one)).sort()
    const isFolded = shown.some((one) => one.is_other)
    assert.deepEqual(lines, isFolded ? expected.filter((one) => lines.includes(one)) : expected)
    if (step !== 'hour') assert.equal(isFolded, group === 'session', group)
    for (const part of [...data, sums]) assertAddsUp(part, part.groups ?? [])
  }
}

function assertAddsUp(sum: Figures, parts: readonly Figures[]): void {
  const added = (of: (one: Figures) => number) => parts.reduce((all, one) => all + of(one), 0)
  assert.equal(
    added(({ requests }) => requests),
    sum.requests,
  )
  assert.equal(
    added(({ errors }) => errors),
    sum.errors,
  )
  assert.equal(
    added(({ tokens }) => tokens.cache_read ?? 0),
    sum.tokens.cache_read,
  )
  // Amounts below 2^53 microcredits are exact as numbers.
  const micro = (text: string) => Math.round(Number(text) * 1_000_000)
  assert.equal(
    added(({ credits }) => micro(credits)),
    micro(sum.credits),
  )
  assert.equal(
    added(({ cache_saved }) => micro(cache_saved)),
    micro(sum.cache_saved),
  )
}

test('every figure equals the entries, before and after they are added up', async () => {
  const { book } = at.who
  const endMs = Date.now() - 1_000
  const startMs = endMs - DAYS * DAY_MS
  const middleMs = endMs - 3 * DAY_MS
  const { db } = at.gateway.database
  await insertPastRequests(db, { book, fromMs: startMs, toMs: middleMs, requests: 1_200, seed: 7 })
  assert.equal(await at.owner.aggregateUsage(), true)
  await insertPastRequests(db, { book, fromMs: middleMs + 1, toMs: endMs, requests: 150, seed: 8 })
  for (const _ of ['half', 'all']) {
    await assertEqualsEntries('hour', 4)
    await assertEqualsEntries('day', 40)
    await assertEqualsEntries('month', DAYS)
    assert.equal(await at.owner.aggregateUsage(), true)
  }
})

test('a request is in the usage as soon as its reply has ended', async () => {
  const who = await createCaller(at.gateway)
  const empty = await read<Usage>(who, '/v1/usage')
  assert.deepEqual([empty.data.length, empty.total.requests, empty.next_cursor], [30, 0, null])
  const { headers } = await who.ask({ body: question('Hi') })
  const { total } = await read<Usage>(who, '/v1/usage?step=hour&group=model')
  assert.equal(total.credits, headers['x-credit-charged'])
  assert.deepEqual(
    total.groups?.map(({ key, requests }) => [key, requests]),
    [['model-small', 1]],
  )
  who.end()
})

test('a zone without a slash is the one that it is in the cabinet', async () => {
  for (const [name, zone, at0] of [
    ['IST', 'Asia/Calcutta', '2026-06-30T18:30:00.000Z'],
    ['CET', 'Europe/Brussels', '2026-06-30T22:00:00.000Z'],
    ['UTC', 'UTC', '2026-07-01T00:00:00.000Z'],
  ]) {
    const path = `/v1/usage?from=2026-07-01&to=2026-07-01&zone=${name}`
    const used = await read<Usage & { readonly zone: string }>(at.who, path)
    assert.deepEqual([used.zone, used.data[0]?.at], [zone, at0])
  }
})

test('a period that is too long or a parameter that is wrong is refused', async () => {
  for (const [query, message] of [
    ['step=week', 'step: Input should be one of hour, day, month'],
    ['group=agent', 'group: Input should be one of model, ending, session, label'],
    ['limit=101', 'limit: Input should be between 1 and 100'],
    ['step=hour&from=2026-10-01&to=2026-10-15', 'from: A period by hour has from 1 to 14 days'],
    ['from=2025-01-01&to=2026-01-02', 'from: A period by day has from 1 to 366 days'],
    ['step=month&from=2020-01-01&to=2026-01-02', 'from: A period by month has from 1 to 731 days'],
    ['from=2026-10-02&to=2026-10-01', 'from: A period by day has from 1 to 366 days'],
    ['from=2026-10-01T00:00:00Z', 'from: Input should be a day, such as 2026-11-15'],
    ['zone=Moon', 'zone: Input should be the name of a time zone, such as Europe/Moscow'],
    [`cursor=${cursor('usage 2026-02-30,2026-03-01,0')}`, /^cursor: /],
    [`cursor=${cursor('usage 2020-01-01,2026-03-01,0')}`, /^from: A period by day/],
    [`cursor=${cursor('requests 7')}`, /^cursor: /],
    ['model=x', /^model: expected one of step, group, /],
  ] as const) {
    const refused = await at.who.ask({ path: `/v1/usage?${query}`, method: 'GET' })
    const { error } = refusalOf(refused)
    assert.equal(refused.status, 400, query)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
  }
  const posted = await at.who.ask({ path: '/v1/usage', method: 'POST', body: '{}' })
  assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD'])
})

function cursor(text: string): string {
  return Buffer.from(text).toString('base64url')
}
