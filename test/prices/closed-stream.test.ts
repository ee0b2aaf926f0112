// A stream that its client closes is charged for the tool results that it has sent, and for the
// passes of the model that read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meter } from '../../src/gateway/6-meter.ts'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { snapshotOf } from '../../src/pricing/versions.ts'
import { credits } from '../../src/units/credits.ts'
import { tableCatalogue } from './catalogue.ts'

const parsed = parseCatalogue(tableCatalogue)
assert.ok('catalogue' in parsed)
const catalogue = snapshotOf(parsed.catalogue)

const start = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'dear', usage: { input_tokens: 100, output_tokens: 1 } },
}
const blocks = [
  { type: 'server_tool_use', id: 'a', name: 'web_search', input: {} },
  { type: 'web_search_tool_result', tool_use_id: 'a', content: [{ type: 'web_search_result' }] },
  { type: 'web_search_tool_result', content: { type: 'web_search_tool_result_error' } },
  { type: 'bash_code_execution_tool_result', content: { type: 'bash_code_execution_result' } },
]
const end = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 0, server_tool_use: { web_search_requests: 3 } },
}

function metered(events: readonly { readonly type: string; readonly [member: string]: unknown }[]) {
  const model = catalogue.modelById.get('dear')
  assert.ok(model !== undefined)
  const reply = meter({ model, catalogue })
  for (const event of events) {
    reply.stream.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
  }
  return reply.ofAbandonedStream()
}

const sent = blocks.map((block, index) => ({
  ...{ type: 'content_block_start', index, content_block: block },
}))

test('each result that did not fail is a use', () => {
  const { priced, parts, isEstimated } = metered([start, ...sent])
  assert.deepEqual(
    parts?.uses?.map(({ feature, count }) => [feature, count]),
    [
      ['web_search', 1],
      ['code_execution', 1],
    ],
  )
  // One more pass: it reads the 100 tokens again, and the content of the three results.
  const results = [blocks[1], blocks[2], blocks[3]].map((block) => JSON.stringify(block?.content))
  const read = 100 + 100 + Math.ceil(results.join('').length / 4)
  assert.deepEqual([priced, isEstimated], [credits(read * 10 + 2_500 + 700), true])
})

test('the uses that the end of the stream reports decide', () => {
  const { priced, isEstimated } = metered([start, ...sent, end])
  assert.deepEqual([priced, isEstimated], [credits(100 * 10 + 3 * 2_500), false])
})

const result = (bytes: number) => ({
  ...{ type: 'content_block_start', index: 0 },
  content_block: { type: 'web_fetch_tool_result', content: 'x'.repeat(bytes - 2) },
})
const text = (bytes: number) => ({
  ...{ type: 'content_block_delta', index: 0 },
  delta: { type: 'text_delta', text: 'y'.repeat(bytes) },
})
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }

test('each pass after a result reads again what came before it', () => {
  const { counts } = metered([
    ...[start, block, text(40), result(400), result(800), block, text(80)],
    ...[result(4_000), block, text(4)],
  ])
  const second = 100 + (40 + 400 + 800) / 4
  const third = 100 + (40 + 400 + 800 + 80 + 4_000) / 4
  assert.deepEqual([counts.input, counts.output], [BigInt(100 + second + third), 31n])
})

test('leaving just before the end costs no less than the end', () => {
  // As the vendor counts: the content of results has fewer tokens than a quarter of its bytes.
  const events = [start, block, text(40), result(4_000), block, text(400)]
  const usage = { input_tokens: 100 + (100 + 10 + 900), output_tokens: 110 }
  const whole = metered([...events, { ...end, usage }])
  const left = metered(events)
  assert.deepEqual([whole.isEstimated, left.isEstimated], [false, true])
  assert.ok(left.priced >= whole.priced, `${left.priced} of ${whole.priced}`)
})

test('cached tokens of the first pass are read from the cache by the others', () => {
  const usage = {
    ...{ input_tokens: 7, cache_read_input_tokens: 50, cache_creation_input_tokens: 30 },
    output_tokens: 1,
  }
  const cached = { ...start, message: { ...start.message, usage } }
  const { counts } = metered([cached, block, result(400), block])
  assert.deepEqual(
    [counts.input, counts.cacheRead, counts.cacheWrite5m],
    [BigInt(7 + 7 + 100), BigInt(50 + 50 + 30), 30n],
  )
})

test('counts that the stream reports before its end replace the estimate up to then', () => {
  const delta = {
    type: 'message_delta',
    delta: {},
    usage: { input_tokens: 900, output_tokens: 77 },
  }
  const { counts } = metered([start, block, text(40), result(400), block, delta, text(8)])
  assert.deepEqual([counts.input, counts.output], [900n, 77n])
  const more = metered([start, block, text(40), result(400), block, delta, result(800), block])
  assert.equal(more.counts.input, BigInt(900 + 100 + (40 + 400 + 800) / 4))
})

test('a result too long to read counts with the bytes that were read', () => {
  const { counts } = metered([start, block, result(400_000), block])
  assert.equal(counts.input, BigInt(100 + 100 + 262_144 / 4))
})
