// Tests of reading reports: the vendor's JSON, its CSV, its costs, and what is not a report.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCosts } from './costs.ts'
import { readReport } from './report.ts'

const result = {
  account_id: null,
  api_key_id: 'apikey_1',
  uncached_input_tokens: 1_500,
  cache_read_input_tokens: 200,
  cache_creation: { ephemeral_1h_input_tokens: 1_000, ephemeral_5m_input_tokens: 500 },
  output_tokens: 500,
  server_tool_use: { web_search_requests: 10 },
  model: 'model-large',
  context_window: '0-200k',
  service_tier: 'standard',
  inference_geo: 'us',
  speed: null,
}
const bucket = { starting_at: '2026-11-14T00:00:00Z', ending_at: '2026-11-15T00:00:00Z' }
const page = (results: object[], more: object = {}) => ({
  ...{ data: [{ ...bucket, results }], has_more: false, next_page: null },
  ...more,
})

function rowsOf(report: string) {
  const read = readReport(report)
  assert.ok('rows' in read, JSON.stringify(read))
  return read.rows.map((row) => ({ ...row, amounts: Object.fromEntries(row.amounts) }))
}

function problemsOf(report: string): string {
  const read = readReport(report)
  assert.ok('problems' in read)
  return read.problems.join('\n')
}

const amounts = {
  ...{ input: 1_500n, 'cache read': 200n, output: 500n, 'web_search use': 10n },
  ...{ 'cache write 5m': 500n, 'cache write 1h': 1_000n },
}

test('reads a page, and several pages in a list', () => {
  const row = {
    ...{ day: '2026-11-14', model: 'model-large', amounts },
    values: { inference_geo: 'us', service_tier: 'standard' },
  }
  assert.deepEqual(rowsOf(JSON.stringify(page([result]))), [row])
  const pages = [page([result], { has_more: true, next_page: 'page_1' }), page([result])]
  assert.deepEqual(rowsOf(JSON.stringify(pages)), [row, row])
})

test('keeps counters of other forms too: parts of hours, and members of members', () => {
  const more = { ...result, container_hours: 0.5, dreams: { rem: { tokens: 7 } }, refunds: -3 }
  const [row] = rowsOf(JSON.stringify(page([more])))
  assert.equal(row?.amounts.container_hours, 1n, 'rounded up')
  assert.equal(row?.amounts['dreams.rem.tokens'], 7n)
  assert.equal(row?.amounts.refunds, 3n)
})

test('no counter of the report replaces another', () => {
  const more = { ...result, input: 1, server_tool_use: { output: 2 } }
  const [row] = rowsOf(JSON.stringify(page([more])))
  assert.deepEqual([row?.amounts.input, row?.amounts.output], [1_501n, 502n])
})

test('a day without rows is a day of the report, and days are those of UTC', () => {
  const empty = readReport(JSON.stringify(page([])))
  assert.deepEqual('days' in empty && empty.days, ['2026-11-14'])
  const west = { starting_at: '2026-11-13T19:00:00-05:00', ending_at: '2026-11-14T19:00:00-05:00' }
  const read = readReport(JSON.stringify(page([], { data: [{ ...west, results: [result] }] })))
  assert.deepEqual('days' in read && [read.days, read.rows[0]?.day], [['2026-11-14'], '2026-11-14'])
})

test('keeps counters that it does not know under their own names', () => {
  const more = { ...result, dream_tokens: 7, server_tool_use: { web_fetch_requests: 2, naps: 1 } }
  const [row] = rowsOf(JSON.stringify(page([more])))
  assert.equal(row?.amounts.dream_tokens, 7n)
  assert.equal(row?.amounts['web_fetch use'], 2n)
  assert.equal(row?.amounts.naps, 1n)
})

for (const [why, report, problem] of [
  ['a missing page', JSON.stringify(page([], { has_more: true })), /more pages/],
  ['hours', JSON.stringify(page([])).replace('-15T00', '-14T01'), /buckets of one day/],
  ['no models', JSON.stringify(page([{ ...result, model: null }])), /group_by\[\]=model/],
  ['a fraction', JSON.stringify(page([{ ...result, output_tokens: 0.5 }])), /output_tokens/],
  ['broken JSON', '{"data":', /expected array/],
  ['another CSV', 'a,b\n1,2\n', /there is no column usage_date_utc/],
] as const) {
  test(`refuses ${why}`, () => assert.match(problemsOf(report), problem))
}

const COLUMNS =
  'usage_date_utc,model_version,api_key,workspace,usage_type,context_window,' +
  'usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,' +
  'usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,' +
  'web_search_count,inference_geo,speed'

test('reads the CSV of the console', () => {
  const cells = '2026-11-14,model-large,"A, ""B""",Default,standard,≤ 200k,1500,500,1000,200,500,10'
  const csv = `\uFEFF${COLUMNS}\r\n${cells},us,\r\n`
  assert.deepEqual(rowsOf(csv), [
    {
      ...{ day: '2026-11-14', model: 'model-large', amounts },
      values: { inference_geo: 'us', service_tier: 'standard' },
    },
  ])
})

test('keeps columns of the CSV that it does not know, if their names count something', () => {
  const cells = '2026-11-14,m,k,w,standard,x,1,0,0,0,0,0,,,2,3'
  const csv = `${COLUMNS},web_fetch_count,container_hours\n${cells}\n`
  const [row] = rowsOf(csv)
  assert.deepEqual([row?.amounts['web_fetch use'], row?.amounts.container_hours], [2n, 3n])
})

test('names the line and the column of a wrong count', () => {
  const csv = `${COLUMNS}\n2026-11-14,m,k,w,standard,x,1.5,0,0,0,0,0,,\n`
  assert.equal(problemsOf(csv), 'line 2, usage_input_tokens_no_cache: 1.5 is not a count')
})

test('reads costs exactly: hundredths of the currency with decimals', () => {
  const cost = { currency: 'USD', amount: '123.78912', model: null }
  const read = readCosts(JSON.stringify(page([cost])))
  assert.ok('costs' in read)
  assert.deepEqual(read.costs, [
    { day: '2026-11-14', currency: 'USD', amount: { top: 12_378_912n, bottom: 10_000_000n } },
  ])
  assert.ok('problems' in readCosts(JSON.stringify(page([{ ...cost, amount: '-1' }]))))
  assert.ok('problems' in readCosts('nothing'))
})
