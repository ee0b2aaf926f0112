// What is left of an upstream's limits, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLimits } from './limits.ts'

const SENT = 'Tue, 17 Nov 2026 10:00:00 GMT'

function create(requests: { limit?: string; left?: string; reset?: string; date?: string }) {
  const clock = { ms: 0 }
  const limits = createLimits(() => clock.ms)
  const headers = {
    'anthropic-ratelimit-requests-limit': requests.limit,
    'anthropic-ratelimit-requests-remaining': requests.left,
    'anthropic-ratelimit-requests-reset': requests.reset,
    date: requests.date ?? SENT,
  }
  limits.learn(headers, Date.parse(SENT))
  return { clock, ...limits }
}

test('is low below a twentieth of a limit, and refills evenly until the reset', () => {
  const limits = create({ limit: '100', left: '0', reset: '2026-11-17T10:00:40Z' })
  assert.equal(limits.isLow(), true)
  limits.clock.ms += 1_999
  assert.equal(limits.isLow(), true)
  limits.clock.ms += 1
  assert.equal(limits.isLow(), false)
  limits.clock.ms += 18_000
  assert.deepEqual(limits.view(), { requests: { limit: 100, left: 50 } })
  limits.clock.ms += 60_000
  assert.deepEqual(limits.view(), { requests: { limit: 100, left: 100 } })
})

test('counts from the upstream’s clock, and a minute at most', () => {
  const ahead = { date: 'Tue, 17 Nov 2026 12:00:00 GMT', reset: '2026-11-17T12:00:10Z' }
  const limits = create({ limit: '100', left: '0', ...ahead })
  limits.clock.ms += 10_000
  assert.deepEqual(limits.view(), { requests: { limit: 100, left: 100 } })
  const late = create({ limit: '100', left: '0', reset: '2026-11-19T10:00:00Z' })
  late.clock.ms += 30_000
  assert.deepEqual(late.view(), { requests: { limit: 100, left: 50 } })
})

test('without usable headers nothing is known, and nothing is low', () => {
  for (const given of [{}, { limit: '0', left: '0' }, { limit: 'x', left: '1' }, { left: '0' }]) {
    const limits = create(given)
    assert.deepEqual([limits.isLow(), limits.view()], [false, {}])
  }
  assert.equal(create({ limit: '9', left: '0', reset: 'soon' }).isLow(), false)
})
