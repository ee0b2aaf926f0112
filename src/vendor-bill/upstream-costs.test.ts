// What a day costs at each upstream, by the vendor's example prices.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { quiet } from '../../test/support/harness.ts'
import type { DayCounts } from '../ledger/ledger.ts'
import { systemClock } from '../platform/clock.ts'
import { createPricing } from '../pricing/pricing.ts'
import { micro } from '../units/credits.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import { upstreamCosts } from './upstream-costs.ts'

const root = join(import.meta.dirname, '../..')
const textOf = (name: string) => readFileSync(join(root, name), 'utf8')
// Nothing here reads the database.
const pricing = createPricing({ db: undefined as never, log: quiet, clock: systemClock })
const catalogue = pricing.parse(textOf('catalogue.example.yaml'))
const vendor = pricing.parseVendorPrices(textOf('vendor-prices.example.yaml'))
assert.ok('catalogue' in catalogue && 'prices' in vendor)
const known = { catalogue: catalogue.catalogue, prices: vendor.prices }

const counted = (target: string | null, input: number, certainty = 'reported') => ({
  ...{ model: 'model-large', list: '', target, ending: 'complete', certainty, requests: 1 },
  ...{ charged: micro(5n), writtenOff: micro(0n) },
  counts: { ...noTokens, input: tokens(input) },
})

function costs(rows: readonly ReturnType<typeof counted>[], prices = true) {
  const counts = { day: '2026-11-14', used: [], acrossMidnight: [], counted: rows }
  const found = upstreamCosts({
    counts: counts as unknown as DayCounts,
    ...{ catalogue: known.catalogue, pricing },
    vendor: prices ? known.prices : undefined,
  })
  return found.map(({ upstream, requests, unreported, cost }) => [
    ...[upstream, requests, unreported],
    cost && pricing.money.roublesUp(cost),
  ])
}

test('each upstream costs what its own requests used', () => {
  const rows = [counted('east', 1_000_000), counted('east', 1_000_000), counted('west', 1_000_000)]
  const [[, , , east], [, , , west]] = costs(rows) as [unknown[], unknown[]]
  assert.equal(Number(east), 2 * Number(west))
  assert.ok(Number(west) > 0)
  assert.deepEqual(
    costs(rows).map((one) => one.slice(0, 3)),
    [
      ['east', 2, 0],
      ['west', 1, 0],
    ],
  )
})

test('names requests without a reported usage, and a cost without prices as unknown', () => {
  const rows = [counted('east', 1_000_000), counted('east', 0, 'unknown')]
  assert.deepEqual(costs(rows, false), [['east', 2, 1, undefined]])
})
