// A credential in and out of service, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStanding } from './standing.ts'

function create() {
  const clock = { ms: 50_000 }
  return { clock, ...createStanding(() => clock.ms) }
}

test('gets one request a minute while it is out of service', () => {
  const standing = create()
  assert.equal(standing.leave('unpaid'), true)
  assert.equal(standing.leave('unpaid'), false, 'that is known')
  let probes = 0
  for (let ms = 0; ms < 600_000; ms += 100, standing.clock.ms += 100) {
    if (standing.isOut()) continue
    probes += 1
    standing.claim()
  }
  assert.deepEqual([probes, standing.why()], [9, 'unpaid'])
})

test('is in service again when a request is served that was sent afterwards', () => {
  const standing = create()
  const beforeMs = standing.clock.ms - 1
  standing.leave('unauthorised')
  assert.equal(standing.serve(beforeMs), false)
  assert.equal(standing.isOut(), true)
  assert.equal(standing.serve(standing.clock.ms), true)
  assert.deepEqual([standing.isOut(), standing.why()], [false, undefined])
})
