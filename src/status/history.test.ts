// What probes leave in the history, on a real database whose clock the test sets: outages need two
// probes, gaps stay gaps, and a clock that goes back overwrites nothing.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { createTestDatabase, quiet, type TestDatabase } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { Masked } from '../platform/masked.ts'
import type { ProbeState } from './components.ts'
import { probeClaim, probeRecord } from './queries.ts'
import { createStatus } from './status.ts'

const at = { database: undefined as unknown as TestDatabase }
before(async () => {
  at.database = await createTestDatabase()
})
after(() => at.database.drop())
beforeEach(async () => {
  await at.database.db.query(
    `truncate status_samples, status_days, status_outages, status_incidents,
       status_incident_updates`,
  )
  await at.database.db.query(
    `update status_components set state = 'unmeasured', first_at = null, probed_at = null,
       recorded_to = null, next_at = '2026-01-01', run_kind = null, run_length = 0, turn = 0`,
  )
  await setTime('2026-11-18 12:00:00')
})

const status = () =>
  createStatus({
    ...{ db: at.database.db, clock: systemClock, log: quiet, probeSeconds: 30 },
    ...{ apiUrl: 'http://127.0.0.1:1', key: new Masked('none'), model: () => 'small' },
    ...{ isSelling: true, targets: async () => [], letters: async () => ({ heldUpSeconds: 0 }) },
    payments: async () => ({ delayP99: null, sweepSeconds: 1, sweepFailures: 0 }),
    relayProblem: async () => undefined,
  })

async function setTime(text: string): Promise<void> {
  await at.database.db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as $$ select timestamptz '${text}+00' $$`,
  )
}

/** Probes at times of 18 November, each with what it saw: `12:00:30 failed`. */
async function probes(...lines: string[]): Promise<string[]> {
  const events: string[] = []
  for (const line of lines) {
    const [time = '', state = ''] = line.split(' ')
    await setTime(time.includes('T') ? time.replace('T', ' ') : `2026-11-18 ${time}`)
    const changes = await probeRecord(at.database.db, {
      ...{ component: 'gateway', state: state as ProbeState, reason: `it ${state}` },
      ...{ gapMs: 120_000, nextMs: 30_000 },
    })
    events.push(...changes.map(({ event }) => `${time} ${event}`))
  }
  return events
}

async function gateway() {
  const { components, outages, incidents } = await status().read()
  const own = components.find(({ component }) => component === 'gateway')
  assert.ok(own)
  const days = own.days.map((day) => Object.values(day).join(' '))
  const spans = outages.map(({ beganAt, endedAt }) =>
    [beganAt, endedAt].map((one) => one?.toISOString().slice(11, 19) ?? 'open').join(' to '),
  )
  return { ...own, days, spans, incidents }
}

async function samples(): Promise<string[]> {
  const { rows } = await at.database.db.query(
    `select to_char(at at time zone 'UTC', 'HH24:MI:SS') || ' ' || state as line
     from status_samples where component = 'gateway' order by at`,
  )
  return (rows as { line: string }[]).map(({ line }) => line)
}

test('before the first probe nothing is shown as working', async () => {
  const own = await gateway()
  assert.deepEqual([own.state, own.uptime, own.observed, own.days], ['unmeasured', null, null, []])
})

test('one failed probe is no outage; two in a row are one, from the first on', async () => {
  assert.deepEqual(await probes('12:00:00 working', '12:00:30 failed'), [])
  assert.equal((await gateway()).state, 'slow')
  assert.deepEqual(await probes('12:00:45 working', '12:01:15 failed'), [])
  assert.deepEqual(await probes('12:01:30 failed'), ['12:01:30 opened'])
  const own = await gateway()
  assert.deepEqual([own.state, own.spans], ['down', ['12:01:15 to open']])
})

test('one good probe ends no outage; two do, and the history keeps it', async () => {
  await probes('12:00:00 working', '12:00:30 failed', '12:00:45 failed')
  assert.deepEqual(await probes('12:01:15 working', '12:01:30 failed', '12:02:00 working'), [])
  assert.equal((await gateway()).state, 'down')
  assert.deepEqual(await probes('12:02:30 slow'), ['12:02:30 closed'])
  const own = await gateway()
  assert.deepEqual([own.state, own.spans], ['slow', ['12:00:30 to 12:02:00']])
  // Between two probes it was as bad as the worse of them; only the last half minute was good.
  assert.deepEqual(own.days, ['2026-11-18 30 120 0 0'])
  assert.equal(own.uptime, 2_000)
})

test('time without a probe is not observed, and the return of the worker says so', async () => {
  await probes('12:00:00 working', '12:01:00 working')
  await setTime('2026-11-18 12:03:01')
  assert.equal((await gateway()).state, 'unknown', 'nobody looks')
  assert.deepEqual((await gateway()).days, ['2026-11-18 60 0 0 121'])
  await probes('13:00:00 working', '13:01:00 working')
  const own = await gateway()
  assert.deepEqual([own.state, own.days], ['working', ['2026-11-18 120 0 0 3540']])
  assert.deepEqual([own.uptime, own.observed], [10_000, 327])
  assert.deepEqual(await samples(), ['12:00:00 working', '12:01:00 unknown', '13:00:00 working'])
})

test('failures on both sides of a gap are no run, and an open outage goes on', async () => {
  assert.deepEqual(await probes('12:00:00 failed', '12:05:00 failed'), [])
  assert.deepEqual(await probes('12:05:15 failed', '12:20:00 working'), ['12:05:15 opened'])
  const [span] = (await gateway()).spans
  assert.equal(span, '12:05:00 to open', 'one good probe after a gap')
})

test('a clock that was set back overwrites nothing and counts no time twice', async () => {
  await probes('12:00:00 working', '12:01:00 working', '12:02:00 failed')
  const before = await gateway()
  const rows = await samples()
  await probes('11:30:00 working', '11:31:00 working', '11:32:00 working')
  assert.deepEqual(await samples(), rows)
  assert.equal((await gateway()).state, 'working', 'the state is kept up')
  await setTime('2026-11-18 12:02:00')
  assert.deepEqual((await gateway()).days, before.days)
  await probes('12:01:30 working', '12:02:30 working')
  assert.deepEqual((await gateway()).days, ['2026-11-18 90 60 0 0'])
})

test('failures in an announced maintenance are planned; after it they are an outage', async () => {
  await at.database.db.query(
    `insert into status_incidents (kind, components, title_ru, title_en, begins_at, ends_at,
       opened_by)
     values ('maintenance', '{gateway}', 'Работы', 'Works', '2026-11-18 12:00Z',
       '2026-11-18 12:05Z', 'olga')`,
  )
  await probes('12:00:00 working', '12:01:00 failed')
  assert.deepEqual(await probes('12:02:00 failed', '12:03:00 failed', '12:04:50 failed'), [])
  assert.equal((await gateway()).state, 'maintenance')
  assert.deepEqual((await gateway()).days, ['2026-11-18 0 0 290 0'])
  assert.deepEqual(await probes('12:05:10 failed'), ['12:05:10 opened'])
})

test('a day ends at midnight UTC, and each day has its own part', async () => {
  await probes('2026-11-18T23:59:30 working', '2026-11-19T00:00:10 failed')
  const own = await gateway()
  assert.deepEqual(own.days, ['2026-11-18 0 30 0 0', '2026-11-19 0 10 0 0'])
})

test('what nobody measures is shown so, and ends an outage', async () => {
  await probes('12:00:00 failed', '12:00:30 failed')
  assert.deepEqual(await probes('12:01:00 unmeasured'), ['12:01:00 closed'])
  assert.equal((await gateway()).state, 'unmeasured')
})

test('one process probes at a time, and another one takes over when it dies', async () => {
  const { db } = at.database
  const claim = () => probeClaim(db, 'models', 30_000)
  const both = await Promise.all([claim(), claim()])
  assert.deepEqual(both.map((one) => one?.turn).sort(), [1n, undefined])
  await setTime('2026-11-18 12:00:29')
  assert.equal(await claim(), undefined)
  await setTime('2026-11-18 12:00:30')
  assert.equal((await claim())?.turn, 2n)
  await setTime('2026-11-17 12:00:00')
  assert.equal((await claim())?.turn, 3n, 'a lease from before the clock was set back')
})

test('what is older than 90 days is removed, and the last word before that stays', async () => {
  await probes('2026-08-01T10:00:00 failed', '2026-08-01T10:00:30 failed')
  await probes('2026-08-01T10:01:00 working', '2026-08-01T10:01:30 working')
  await probes('12:00:00 working')
  await status().forget()
  const own = await gateway()
  assert.deepEqual([own.days.length, own.days[0], own.spans], [90, '2026-08-21 0 0 0 86400', []])
  assert.equal((await samples()).length, 2, 'the gap, and the return')
})
