// Passes of a reply that its own counters do not explain: how later cache writes are split, and a
// fallback to a model that the catalogue does not have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCatalogue } from '../../src/pricing/catalogue.ts'
import { snapshotOf } from '../../src/pricing/versions.ts'
import { tableCatalogue } from './catalogue.ts'
import { meterReply } from './reply.ts'

const parsed = parseCatalogue(tableCatalogue)
assert.ok('catalogue' in parsed)
const catalogue = snapshotOf(parsed.catalogue)

test('charges cache writes of an hour that only the passes report as such', () => {
  const written = (count: number) => ({
    cache_creation_input_tokens: count,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: count },
  })
  const usage = {
    input_tokens: 20,
    output_tokens: 10,
    // The split of the first pass, the sum of both.
    ...written(1_000),
    cache_creation_input_tokens: 51_000,
    iterations: [
      { type: 'message', input_tokens: 10, output_tokens: 5, ...written(1_000) },
      { type: 'message', input_tokens: 10, output_tokens: 5, ...written(50_000) },
    ],
  }
  const { counts, parts } = meterReply(catalogue, 'dear', usage)
  assert.deepEqual([counts.cacheWrite5m, counts.cacheWrite1h, parts], [0n, 51_000n, null])
})

test('shows that a model answered which the catalogue does not have', () => {
  const counts = { input_tokens: 9, output_tokens: 7 }
  const iterations = [{ type: 'fallback_message', model: 'nobody', ...counts }]
  const { parts } = meterReply(catalogue, 'dear', { ...counts, iterations })
  assert.deepEqual(parts, { unlisted: ['iterations.model'] })
})
