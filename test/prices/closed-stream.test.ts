// A stream that its client closes is charged for the tool results that it has sent.
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

function metered(events: readonly { type: string }[]) {
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
  assert.deepEqual([priced, isEstimated], [credits(100 * 10 + 2_500 + 700), true])
})

test('the uses that the end of the stream reports decide', () => {
  const { priced, isEstimated } = metered([start, ...sent, end])
  assert.deepEqual([priced, isEstimated], [credits(100 * 10 + 3 * 2_500), false])
})
