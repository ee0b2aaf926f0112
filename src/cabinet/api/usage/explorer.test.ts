// The explorer, its files, sessions and the log by session, as the owner's browser asks for them:
// the files have the same numbers, parts add up to the whole, and nobody sees another's sessions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type CabinetStage,
  createCabinetStage,
  type Person,
} from '../../../../test/stages/cabinet.ts'
import { insertPastRequests, preparePastUsage } from '../../../../test/support/past-usage.ts'
import type { SessionFigures, UsageSessionDetails, UsageSessions } from '../../contract/sessions.ts'
import type { LogPage, Usage, UsageFigures } from '../../contract/usage.ts'

const DAY_MS = 86_400_000
const DAYS = 4
const REQUESTS = 600
const at = {} as { stage: CabinetStage; own: Person; other: Person }

before(async () => {
  at.stage = await createCabinetStage()
  at.own = await at.stage.person('explorer')
  at.other = await at.stage.person('other')
  await at.stage.buyPack(at.own)
  const { book } = at.own
  const { db, ledger } = at.stage
  await preparePastUsage({ db, ledger }, book, DAYS)
  const nowMs = Date.now()
  const middleMs = nowMs - 2 * DAY_MS
  const half = { book, requests: REQUESTS / 2 }
  await insertPastRequests(db, { ...half, fromMs: nowMs - 3.5 * DAY_MS, toMs: middleMs })
  assert.equal(await ledger.aggregateUsage(), true)
  await insertPastRequests(db, { ...half, fromMs: middleMs + 1, toMs: nowMs, seed: 2 })
})
after(() => at.stage.end())

const explore = async (query: string) =>
  (await at.own.expectOk<Usage>(`GET /api/usage?${query}`)).body

for (const split of ['model', 'ending', 'session', 'label']) {
  for (const step of ['hour', 'day', 'week']) {
    test(`parts by ${split} and ${step} add up to the whole`, async () => {
      const usage = await explore(`split=${split}&step=${step}&compare=1&zone=Asia/Kolkata`)
      assert.deepEqual([usage.split, usage.step], [split, step])
      const whole = numbersOf([usage.whole])
      assert.deepEqual(numbersOf(usage.totals), whole)
      assert.deepEqual(numbersOf(usage.buckets.map((bucket) => bucket.whole)), whole)
      assert.deepEqual(numbersOf(usage.buckets.flatMap(({ series }) => series)), whole)
      assert.ok(usage.totals.length <= 13)
      // Two days, the default by hours, have few sessions.
      const hasOther = split === 'session' && step !== 'hour'
      assert.equal(
        usage.totals.some(({ isOther }) => isOther),
        hasOther,
      )
      assert.ok(usage.whole.firstByte !== null && usage.whole.errors !== '0')
      const days = (Date.parse(usage.to) - Date.parse(usage.from)) / DAY_MS
      assert.equal(Date.parse(usage.from) - Date.parse(usage.previous?.to ?? ''), DAY_MS)
      assert.equal(
        Date.parse(usage.from) - Date.parse(usage.previous?.from ?? ''),
        (days + 1) * DAY_MS,
      )
    })
  }
}

test('the last pack says what a million credits cost', async () => {
  assert.equal((await explore('')).kopecksPerMillion, '3715')
  assert.equal((await at.other.expectOk<Usage>('GET /api/usage')).body.kopecksPerMillion, null)
  assert.equal(await at.own.refusal('GET /api/usage?split=person'), '400 field_invalid')
  assert.equal(
    await at.own.refusal('GET /api/usage?step=hour&from=2026-01-01'),
    '400 field_invalid',
  )
})

test('the files have the numbers of the answer', async () => {
  const query = 'split=session&zone=Europe/Moscow'
  const usage = await explore(query)
  const json = await fetch(`${at.stage.url}/api/usage/file?${query}&format=json`, {
    headers: at.own.headers(),
  })
  assert.match(json.headers.get('content-disposition') ?? '', /usage-session-day-.*\.json"$/)
  assert.deepEqual(await json.json(), usage)
  const csv = await fetch(`${at.stage.url}/api/usage/file?${query}&format=csv`, {
    headers: at.own.headers(),
  })
  const [columns = '', ...lines] = (await csv.text()).replace('\uFEFF', '').trimEnd().split('\r\n')
  const expected = usage.buckets.flatMap(({ local, series }) =>
    series.map((one) =>
      [
        local,
        one.key ?? '',
        one.requests,
        one.errors,
        one.credits.exact,
        one.total?.p95 ?? '',
      ].join(),
    ),
  )
  const names = columns.split(',')
  const chosen = ['local', 'key', 'requests', 'errors', 'credits', 'totalP95Ms']
  assert.deepEqual(
    lines.map((line) => chosen.map((name) => line.split(',')[names.indexOf(name)]).join()),
    expected,
  )
  assert.equal(await at.own.refusal(`GET /api/usage/file?${query}`), '400 field_invalid')
})

test('sessions, their agents and their requests agree', async () => {
  const first = (await at.own.expectOk<UsageSessions>('GET /api/usage/sessions?limit=5')).body
  assert.deepEqual([first.lines.length, first.keptDays], [5, 90])
  const next = `GET /api/usage/sessions?limit=5&before=${first.next}`
  const second = (await at.own.expectOk<UsageSessions>(next)).body
  assert.ok((first.lines.at(-1)?.lastAt ?? '') > (second.lines[0]?.lastAt ?? ''))
  for (const line of [...first.lines, ...second.lines]) {
    const path = `GET /api/usage/session?id=${line.id}`
    const { body } = await at.own.expectOk<UsageSessionDetails>(path)
    assert.deepEqual([body.line, body.agents.length, body.others], [line, line.agents, null])
    const sum = body.agents.reduce((all, agent) => all + BigInt(agent.requests), 0n)
    assert.equal(String(sum), line.requests)
    const log = (await at.own.expectOk<LogPage>(`GET /api/log?limit=200&session=${line.id}`)).body
    assert.equal(String(log.lines.length), line.requests)
    for (const { id, requests } of body.agents) {
      if (id === null) continue
      const own = (await at.own.expectOk<LogPage>(`GET /api/log?limit=200&agent=${id}`)).body
      assert.equal(String(own.lines.length), requests)
    }
    assert.equal(await at.other.refusal(path), '404 usage_session_unknown')
  }
  const labels = (await at.own.expectOk<UsageSessions>('GET /api/usage/sessions?kind=label')).body
  assert.deepEqual(
    labels.lines.map(({ id }) => id).sort(),
    [0, 1, 2, 3, 4].map((n) => `label-${n}`),
  )
  const [label] = labels.lines
  const query = `limit=200&label=${label?.id}&ending=free`
  const free = (await at.own.expectOk<LogPage>(`GET /api/log?${query}`)).body.lines
  assert.equal(String(free.length), label?.free)
})

test('a session of many agents lists 50; with the others they add up to it', async () => {
  const { book, ...many } = await at.stage.person('many')
  const { db, ledger } = at.stage
  await preparePastUsage({ db, ledger }, book, 1)
  const toMs = Date.now()
  await insertPastRequests(db, {
    ...{ book, fromMs: toMs - 60_000, toMs, requests: 60, seed: 60, ids: 'agent' },
  })
  const [line] = (await many.expectOk<UsageSessions>('GET /api/usage/sessions')).body.lines
  const path = 'GET /api/usage/session?id=session-60'
  const { body } = await many.expectOk<UsageSessionDetails>(path)
  assert.deepEqual([body.line, line?.agents], [line, 60])
  assert.deepEqual([body.agents.length, body.others?.agents], [50, 10])
  const parts = body.others === null ? [] : [...body.agents, body.others]
  const sums = (figures: readonly SessionFigures[]) =>
    numbersOf(figures.map((one) => ({ ...one, known: '0', firstByte: null, total: null })))
  assert.deepEqual(sums(parts), sums([body.line]))
})

/** Every amount, added up. */
function numbersOf(figures: readonly UsageFigures[]) {
  const sum = (of: (one: UsageFigures) => string) =>
    figures.reduce((all, one) => all + BigInt(of(one)), 0n)
  const exact = (text: string) => {
    const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? []
    return `${sign}${whole}${fraction.padEnd(6, '0')}`
  }
  return [
    ...[sum((one) => one.requests), sum((one) => one.free), sum((one) => one.errors)],
    ...[sum((one) => one.known), sum((one) => one.input), sum((one) => one.output)],
    ...[sum((one) => one.cacheRead), sum((one) => one.cacheWrite5m)],
    ...[sum((one) => one.cacheWrite1h), sum((one) => exact(one.credits.exact))],
    sum((one) => exact(one.cacheSaved.exact)),
  ]
}

test('refuses text that PostgreSQL cannot have', async () => {
  for (const query of ['log?session=%00', 'log?model=a%00', 'usage/session?id=%00b']) {
    assert.equal(await at.own.refusal(`GET /api/${query}`), '400 field_invalid', query)
  }
})
