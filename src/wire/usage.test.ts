// Counters are merged one by one; an absent counter is not zero.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateOutput } from './events.ts'
import { fallbackPass, hiddenPasses, mergeUsage, tokenCounts, type Usage } from './usage.ts'

function merged(...reports: readonly object[]): Usage {
  const usage: Usage = {}
  for (const report of reports) mergeUsage(usage, { ...report })
  return usage
}

test('a later report overwrites single members and removes none', () => {
  const usage = merged(
    { input_tokens: 8, output_tokens: 1, cache_read_input_tokens: 77_249 },
    { output_tokens: 500, input_tokens: null, server_tool_use: { web_search_requests: 2 } },
  )
  assert.deepEqual(usage, {
    inputTokens: 8,
    outputTokens: 500,
    cacheReadTokens: 77_249,
    uses: { web_search: 2 },
  })
})

test('ignores numbers that cannot be counts', () => {
  for (const value of [-1, 1.5, '7', Number.NaN, 2 ** 60, true, {}]) {
    assert.deepEqual(merged({ input_tokens: value }), { unknown: new Set(['input_tokens']) })
  }
})

test('lists only passes that the sums do not include', () => {
  const usage = merged({
    iterations: [
      { type: 'message', input_tokens: 1, output_tokens: 1 },
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
      { type: 'advisor_message', model: 'claude-y', input_tokens: 9, output_tokens: 4 },
      { type: 'fallback_message', model: 'claude-z', input_tokens: 5 },
      7,
    ],
  })
  assert.equal(fallbackPass(usage)?.model, 'claude-z')
  assert.deepEqual(hiddenPasses(usage), [
    {
      kind: 'compaction',
      model: undefined,
      usage: { inputTokens: 180_000, outputTokens: 3_500 },
    },
    { kind: 'advisor_message', model: 'claude-y', usage: { inputTokens: 9, outputTokens: 4 } },
  ])
})

test('keeps the values that multiply a price; null counts as absent', () => {
  const usage = merged(
    { speed: 'fast', inference_geo: null, service_tier: 'standard' },
    { speed: null, inference_geo: 'us', service_tier: 'priority' },
  )
  assert.deepEqual(usage, { speed: 'fast', inferenceGeo: 'us', serviceTier: 'priority' })
  assert.equal(merged({ speed: 2 }).speed, 'unreadable')
})

test('counts the uses of each server tool', () => {
  const uses = { web_search_requests: 3, web_fetch_requests: 0, code_execution_requests: 1 }
  assert.deepEqual(merged({ server_tool_use: uses }).uses, {
    web_search: 3,
    web_fetch: 0,
    code_execution: 1,
  })
})

test('lists members that are not known, at most eight, shortened', () => {
  const usage = merged({
    input_tokens: 1,
    output_tokens_details: { thinking_tokens: 1 },
    dream_tokens: 9,
    nothing: null,
    server_tool_use: { image_requests: 2 },
  })
  assert.deepEqual([...(usage.unknown ?? [])], ['dream_tokens', 'server_tool_use.image_requests'])
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`m${i}`.repeat(50), 1]))
  const unknown = [...(merged(many).unknown ?? [])]
  assert.equal(unknown.length, 8)
  assert.ok(unknown.every((name) => name.length <= 64))
})

const silent: readonly [promise: string, json: object, unknown: readonly string[]][] = [
  ['a counter that is no number', { cache_read_input_tokens: '9' }, ['cache_read_input_tokens']],
  [
    'a use that is no number',
    { server_tool_use: { web_search_requests: 1.5 } },
    ['server_tool_use.web_search_requests'],
  ],
  [
    'a lifetime of the cache',
    { cache_creation: { ephemeral_24h_input_tokens: 9 } },
    ['cache_creation.ephemeral_24h_input_tokens'],
  ],
  [
    'a member of a pass',
    { iterations: [{ type: 'message', dream_tokens: 9 }] },
    ['iterations.dream_tokens'],
  ],
  ['a kind of pass', { iterations: [{ type: 'dream', input_tokens: 9 }] }, ['iterations.dream']],
  ['a pass without a type', { iterations: [{ input_tokens: 9 }, 7] }, ['iterations']],
  ['passes that are no list', { iterations: { input_tokens: 9 } }, ['iterations']],
  [
    'more passes than are read',
    { iterations: Array(257).fill({ type: 'message' }) },
    ['iterations'],
  ],
  [
    'nothing: null and zero',
    { cache_creation: { ephemeral_24h_input_tokens: 0 }, speed: null },
    [],
  ],
]
for (const [promise, json, unknown] of silent) {
  test(`lists as unknown ${promise}`, () => {
    assert.deepEqual([...(merged(json).unknown ?? [])], unknown)
  })
}

test('no counter is larger than what the sums of usage can add up', () => {
  assert.equal(merged({ input_tokens: Number.MAX_SAFE_INTEGER }).inputTokens, 1_000_000_000)
})

const none = { input: 1n, output: 2n, cacheRead: 0n, cacheWrite5m: 0n, cacheWrite1h: 0n }
const counted: readonly [promise: string, usage: Usage, counts: object][] = [
  ['cached tokens are zero when not mentioned', {}, none],
  [
    'cache writes are split as reported',
    { cacheWriteTokens: 30, cacheWrite5mTokens: 10, cacheWrite1hTokens: 20 },
    { ...none, cacheWrite5m: 10n, cacheWrite1h: 20n },
  ],
  [
    'cache writes without a split count as the cheaper kind',
    { cacheWriteTokens: 30, cacheReadTokens: 4 },
    { ...none, cacheRead: 4n, cacheWrite5m: 30n },
  ],
  [
    'a split without a sum is its own sum',
    { cacheWrite1hTokens: 20 },
    { ...none, cacheWrite1h: 20n },
  ],
  [
    'a split never exceeds the sum',
    { cacheWriteTokens: 5, cacheWrite1hTokens: 20 },
    { ...none, cacheWrite1h: 5n },
  ],
]

for (const [promise, usage, counts] of counted) {
  test(promise, () => {
    assert.deepEqual(tokenCounts({ inputTokens: 1, outputTokens: 2, ...usage }), counts)
  })
}

test('without input or output there are no counts', () => {
  assert.equal(tokenCounts({ inputTokens: 1 }), undefined)
  assert.equal(tokenCounts({ outputTokens: 1 }), undefined)
})

test('the estimate rounds up once, exactly', () => {
  assert.equal(estimateOutput(0, 0), 0n)
  assert.equal(estimateOutput(1, 0), 1n)
  assert.equal(estimateOutput(4, 3), 2n)
  assert.equal(estimateOutput(5, 3), 3n)
  assert.equal(estimateOutput(3, 1), 2n)
  assert.equal(estimateOutput(2, 1), 1n)
})
