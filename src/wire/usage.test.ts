// Counters are merged one by one; what was never said is not zero.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateOutput } from './events.ts'
import { mergeUsage, tokenCounts, type Usage } from './usage.ts'

function merged(...reports: readonly object[]): Usage {
  const usage: Usage = {}
  for (const report of reports) mergeUsage(usage, { ...report })
  return usage
}

test('a later report overwrites member by member and takes nothing away', () => {
  const usage = merged(
    { input_tokens: 8, output_tokens: 1, cache_read_input_tokens: 77_249 },
    { output_tokens: 500, input_tokens: null, server_tool_use: { web_search_requests: 2 } },
  )
  assert.deepEqual(usage, {
    inputTokens: 8,
    outputTokens: 500,
    cacheReadTokens: 77_249,
    webSearches: 2,
  })
})

test('numbers that cannot be counts are not taken', () => {
  for (const value of [-1, 1.5, '7', Number.NaN, 2 ** 60, true, {}]) {
    assert.deepEqual(merged({ input_tokens: value }), {})
  }
})

test('passes that the sums leave out are listed, the others not', () => {
  const { hiddenPasses } = merged({
    iterations: [
      { type: 'message', input_tokens: 1, output_tokens: 1 },
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
      { type: 'advisor_message', model: 'claude-y', input_tokens: 9, output_tokens: 4 },
      { type: 'fallback_message', model: 'claude-z', input_tokens: 5 },
      7,
    ],
  })
  assert.deepEqual(hiddenPasses, [
    {
      kind: 'compaction',
      model: undefined,
      usage: { inputTokens: 180_000, outputTokens: 3_500 },
    },
    { kind: 'advisor_message', model: 'claude-y', usage: { inputTokens: 9, outputTokens: 4 } },
  ])
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
