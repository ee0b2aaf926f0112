// Tests of the comparison: which line ties, which is open, and which differs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tableCatalogue } from '../../test/prices/catalogue.ts'
import { quiet } from '../../test/support/harness.ts'
import type { CountCertainty, DayCounts } from '../ledger/ledger.ts'
import { systemClock } from '../platform/clock.ts'
import { createPricing } from '../pricing/pricing.ts'
import { micro } from '../units/credits.ts'
import { noTokens, type TokenCounts, tokens } from '../units/tokens.ts'
import { compareDay } from './compare.ts'

// Nothing here reads the database.
const pricing = createPricing({ db: undefined as never, log: quiet, clock: systemClock })
const read = pricing.parse(tableCatalogue)
assert.ok('catalogue' in read)
const { catalogue } = read
const lists = pricing.bills
const DAY = '2026-11-14'

type Given = { certainty?: CountCertainty; ending?: string; list?: string; model?: string }

const counted = (counts: Partial<Record<keyof TokenCounts, number>>, given: Given = {}) => ({
  ...{ model: 'cheap', list: '', target: null, ending: 'complete', certainty: 'reported' },
  ...{ requests: 1, charged: micro(5n), writtenOff: micro(0n), ...given },
  counts: {
    ...noTokens,
    ...Object.fromEntries(Object.entries(counts).map(([kind, n]) => [kind, tokens(n ?? 0)])),
  },
})

function verdicts(
  billed: Record<string, number>,
  rows: readonly ReturnType<typeof counted>[],
  more: Partial<DayCounts> & { values?: object; upstreams?: string[] } = {},
) {
  const { values = {}, upstreams, ...counts } = more
  const amounts = new Map(Object.entries(billed).map(([name, n]) => [name, BigInt(n)]))
  const compared = compareDay({
    ...{ billed: [{ day: DAY, model: 'vendor-cheap', values, amounts }], catalogue, lists },
    upstreams,
    counts: {
      ...{ day: DAY, used: [], acrossMidnight: [], ...counts },
      counted: rows as unknown as DayCounts['counted'],
    },
  })
  return compared.lines.map(({ dimension, rate, difference, verdict }) =>
    [dimension, rate, difference, verdict].filter((one) => one !== '').join(' '),
  )
}

test('ties by the name at the upstream, and finds one token', () => {
  assert.deepEqual(verdicts({ input: 9 }, [counted({ input: 9 })]), ['input 0 ties'])
  assert.deepEqual(verdicts({ input: 10 }, [counted({ input: 9 })]), ['input 1 differs'])
  assert.deepEqual(verdicts({ input: 8 }, [counted({ input: 9 })]), ['input -1 differs'])
})

test('compares each rate apart, without values that count as 1, and tiers together', () => {
  const fast = { speed: 'fast', inference_geo: 'global', service_tier: 'standard' }
  const rows = [
    counted({ input: 4 }, { list: 'speed=fast' }),
    counted({ input: 5 }, { list: 'above=100000 speed=fast' }),
  ]
  assert.deepEqual(verdicts({ input: 9 }, rows, { values: fast }), ['input speed=fast 0 ties'])
  assert.deepEqual(verdicts({ input: 9 }, rows), [
    ...['input 9 differs', 'input speed=fast -9 differs'],
  ])
})

test('the output of streams that were left is open, their input is not', () => {
  const left = counted({ input: 9, output: 4 }, { certainty: 'estimated', ending: 'client_left' })
  assert.deepEqual(verdicts({ input: 9, output: 4 }, [left]), ['input 0 ties', 'output 0 ties'])
  assert.deepEqual(verdicts({ input: 10, output: 40 }, [left]), [
    ...['input 1 differs', 'output 36 open'],
  ])
})

test('a failed reply may be billed or not, but no more input than it had reported', () => {
  const failed = counted({ input: 9 }, { certainty: 'seen', ending: 'upstream_failed' })
  const whole = counted({ input: 100 })
  assert.deepEqual(verdicts({ input: 100 }, [whole, failed]), ['input -9 open'])
  assert.deepEqual(verdicts({ input: 109 }, [whole, failed]), ['input 0 ties'])
  assert.deepEqual(verdicts({ input: 110 }, [whole, failed]), ['input 1 differs'])
  assert.deepEqual(verdicts({ input: 99 }, [whole, failed]), ['input -10 differs'])
})

test('a request that reported nothing leaves its model open', () => {
  const lost = counted({}, { certainty: 'unknown', ending: 'upstream_failed' })
  assert.deepEqual(verdicts({ input: 50 }, [lost]), ['input 50 open'])
  const other = { ...lost, model: 'plain' }
  assert.deepEqual(verdicts({ input: 50 }, [other]), ['input 50 differs'])
})

test('midnight may move a request to either day', () => {
  const late = { acrossMidnight: [{ model: 'cheap', target: null, requests: 1 }] }
  assert.deepEqual(verdicts({ input: 50 }, [], late), ['input 50 open'])
  const moved = counted({ input: 50 }, { certainty: 'midnight' })
  assert.deepEqual(verdicts({ input: 0 }, [moved]), ['input -50 open'])
  const whole = counted({ input: 100 })
  assert.deepEqual(verdicts({ input: 99 }, [whole, moved], late), ['input -51 differs'])
})

test('uses tie without a rate; tools that the report does not have are named', () => {
  const used = ['web_search', 'web_fetch'].map((feature) => ({
    ...{
      model: 'cheap',
      target: null,
      ending: 'complete' as const,
      certainty: 'reported' as const,
    },
    ...{ feature, count: 2n },
  }))
  const fast = { speed: 'fast' }
  assert.deepEqual(verdicts({ 'web_search use': 2 }, [], { used, values: fast }), [
    'web_search use 0 ties',
  ])
  assert.deepEqual(verdicts({ 'web_search use': 3 }, [], { used }), ['web_search use 1 differs'])
  assert.deepEqual(verdicts({ dream_tokens: 3 }, []), ['dream_tokens 3 differs'])
})

test('leaves out upstreams of other accounts', () => {
  const rows = [
    { ...counted({ input: 4 }), target: 'east' },
    { ...counted({ input: 5 }), target: 'west' },
  ] as unknown as ReturnType<typeof counted>[]
  assert.deepEqual(verdicts({ input: 4 }, rows, { upstreams: ['east'] }), ['input 0 ties'])
})
