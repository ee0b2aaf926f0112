// Tests of charts in time zones with offsets of 15 or 30 minutes, and on days when clocks change:
// every bucket of a whole year is the sum of its quarters of an hour, and does not contain a model
// that was used only just before or after it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase, TestLedger } from '../../../test/support/harness.ts'
import { createTestDatabase, createTestLedger } from '../../../test/support/harness.ts'
import type { BookId } from '../../platform/ids.ts'
import type { UsageSeries } from '../ledger.ts'

const YEAR = { from: '2026-01-01', to: '2026-12-31' }
/** Two weeks around each change of clocks in 2026; two weeks in June for zones without one. */
const zones: Record<string, readonly (readonly [from: string, to: string])[]> = {
  UTC: [['2026-06-01', '2026-06-14']],
  'Europe/Moscow': [['2026-06-01', '2026-06-14']],
  'Asia/Kolkata': [['2026-06-01', '2026-06-14']],
  'Asia/Kathmandu': [['2026-06-01', '2026-06-14']],
  'Pacific/Marquesas': [['2026-06-01', '2026-06-14']],
  'Asia/Kamchatka': [['2026-06-01', '2026-06-14']],
  'Pacific/Kiritimati': [['2026-06-01', '2026-06-14']],
  'Pacific/Pago_Pago': [['2026-06-01', '2026-06-14']],
  'Europe/Berlin': [
    ['2026-03-22', '2026-04-04'],
    ['2026-10-18', '2026-10-31'],
  ],
  // -3:30, and an hour less in summer.
  'America/St_Johns': [
    ['2026-03-01', '2026-03-14'],
    ['2026-10-25', '2026-11-07'],
  ],
  // +12:45, and an hour more in summer.
  'Pacific/Chatham': [
    ['2026-03-29', '2026-04-11'],
    ['2026-09-20', '2026-10-03'],
  ],
  // +10:30, and half an hour more in summer: one day ends with half an hour.
  'Australia/Lord_Howe': [
    ['2026-03-29', '2026-04-11'],
    ['2026-09-27', '2026-10-10'],
  ],
  // Clocks are changed at midnight: one day begins at 01:00.
  'America/Santiago': [
    ['2026-03-29', '2026-04-11'],
    ['2026-08-30', '2026-09-12'],
  ],
}
const at = {} as { database: TestDatabase; ledger: TestLedger; book: BookId }

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
  at.book = await at.ledger.createBook(at.database.db)
  await at.database.db.query(INSERT_SUMS, [at.book])
  await at.database.db.query(`insert into usage_split_marks values ($1, 0, '-infinity', true)`, [
    at.book,
  ])
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

for (const [zone, fortnights] of Object.entries(zones)) {
  test(`${zone}: every day of a year is the sum of its quarters of an hour`, async () => {
    const chart = await explore({ zone, ...YEAR, step: 'day' })
    assert.equal(chart.buckets.length, 365)
    const plain = await sumQuarters('(at at time zone $2)::date::text', zone, YEAR)
    assert.ok(plain.length > 365)
    assert.deepEqual(
      shown(chart.buckets, ({ local }) => local),
      plain,
    )
    assert.deepEqual(
      shown([{ local: 'all', series: chart.totals }], () => 'all'),
      await sumQuarters(`'all'::text`, zone, YEAR),
    )
  })

  for (const [from, to] of fortnights) {
    test(`${zone}: every hour from ${from} is the sum of its quarters`, async () => {
      const period = { from, to }
      const chart = await explore({ zone, ...period, step: 'hour' })
      const hour = `floor(extract(epoch from at - ($3::date::timestamp at time zone $2)) / 3600)
        ::int4::text`
      const plain = await sumQuarters(hour, zone, period)
      assert.ok(plain.length > 336)
      assert.deepEqual(
        shown(chart.buckets, (_, i) => String(i)),
        plain,
      )
    })
  }
}

type Explored = Parameters<TestLedger['usage']['explore']>[0]

function explore(query: Omit<Explored, 'book' | 'split'>) {
  return at.ledger.usage.explore({ book: at.book, split: 'model', ...query })
}

type Step = { readonly local: string; readonly series: readonly UsageSeries[] }

function shown(steps: readonly Step[], nameOf: (step: Step, i: number) => string): string[] {
  return steps
    .flatMap((step, i) =>
      step.series.map((one) => {
        const { key, requests, free, input, output, cacheRead, cacheWrite5m, spent } = one
        const sums = [
          requests,
          free,
          input,
          output,
          cacheRead,
          cacheWrite5m,
          one.cacheWrite1h,
          spent,
        ]
        return [nameOf(step, i), key, ...sums].join(' ')
      }),
    )
    .sort()
}

/** The expected lines: sums of the quarters, computed by PostgreSQL alone. */
async function sumQuarters(
  bucket: string,
  zone: string,
  { from, to }: { from: string; to: string },
): Promise<string[]> {
  const { rows } = await at.database.db.query(
    `select concat_ws(' ', ${bucket}, key, sum(requests), sum(free), sum(input), sum(output),
       sum(cache_read), sum(cache_write_5m), sum(cache_write_1h), sum(spent)) as line
     from usage_split_sums
     where book_id = $1 and minutes = 15 and (at at time zone $2)::date between $3 and $4
     group by ${bucket}, key`,
    [at.book, zone, from, to],
  )
  return (rows as { line: string }[]).map(({ line }) => line).sort()
}

// Inserts sums for every quarter of an hour of the year, and some days more at each end: one model
// nearly always, one seldom, one for some hours of a month. Longer sums are computed from these.
const INSERT_SUMS = `
  with quarters as (
    select at, model, abs(hashint8extended(extract(epoch from at)::int8, length(model))) as h
    from generate_series('2025-12-30 00:00+00'::timestamptz, '2027-01-02 00:00+00', '15 minutes')
      as at, unnest(array['often', 'seldom', 'in bursts']) as model
  ), used as (
    select at, model, h % 5 + 1 as requests, h % 2 as free, h % 3001 as input, h % 907 as output,
      h % 70001 as read, h % 503 as short, h % 211 as long, h % 9000000000001 as spent
    from quarters
    where case model when 'often' then h % 10 > 0 when 'seldom' then h % 20 = 0
      else extract(day from at) = 7 and h % 2 = 0 end
  )
  insert into usage_split_sums (book_id, at, minutes, split, key, requests, free, errors, known,
    input, output, cache_read, cache_write_5m, cache_write_1h, spent, cache_saved, first_byte,
    total)
  select $1, date_bin(make_interval(mins => minutes), at, 'epoch'), minutes, 'model', model,
    sum(requests), sum(free), 0, 0, sum(input), sum(output), sum(read), sum(short), sum(long),
    sum(spent), 0, '{}', '{}'
  from used, (values (15), (60), (180), (1440)) as step (minutes)
  group by 2, 3, 5`
