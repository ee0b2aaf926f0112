// A credential in and out of service, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createStanding } from './standing.ts'

const ONE = 1n as BookId

function create() {
  const clock = { ms: 50_000 }
  const credential = { secret: 1 }
  const standing = createStanding(
    () => clock.ms,
    () => credential.secret,
  )
  return { clock, credential, ...standing }
}

test('gets one request a minute while it is out of service', () => {
  const standing = create()
  assert.equal(standing.leave(ONE, 'unpaid'), true)
  assert.equal(standing.leave(ONE, 'unpaid'), false, 'that is known')
  let probes = 0
  for (let ms = 0; ms < 600_000; ms += 100, standing.clock.ms += 100) {
    if (standing.isOut(ONE)) continue
    probes += 1
    standing.claim(ONE)
  }
  assert.deepEqual([probes, standing.why()], [9, 'unpaid'])
})

test('is in service again when a request is served that was sent afterwards', () => {
  const standing = create()
  const beforeMs = standing.clock.ms - 1
  standing.leave(ONE, 'unauthorised')
  assert.equal(standing.serve(ONE, beforeMs), false)
  assert.equal(standing.isOut(ONE), true)
  assert.equal(standing.serve(ONE, standing.clock.ms), true)
  assert.deepEqual([standing.isOut(ONE), standing.why()], [false, undefined])
})

test('gets another request a second after one that showed nothing', () => {
  const standing = create()
  const beforeMs = standing.clock.ms
  standing.clock.ms += 10
  standing.leave(ONE, 'unpaid')
  standing.end(ONE, beforeMs)
  standing.end(ONE, standing.clock.ms)
  standing.clock.ms += 2_000
  assert.equal(standing.isOut(ONE), true, 'the refused request and an earlier one change nothing')
  standing.clock.ms += 58_000
  assert.equal(standing.isOut(ONE), false)
  standing.claim(ONE)
  const sentMs = standing.clock.ms
  standing.clock.ms += 500
  standing.end(ONE, sentMs)
  assert.equal(standing.isOut(ONE), true)
  standing.clock.ms += 1_000
  assert.equal(standing.isOut(ONE), false)
})

test('gets the next request a minute after one that was refused', () => {
  const standing = create()
  standing.leave(ONE, 'unpaid')
  standing.clock.ms += 60_000
  const sentMs = standing.clock.ms
  standing.claim(ONE)
  standing.clock.ms += 500
  standing.leave(ONE, 'unpaid')
  standing.end(ONE, sentMs)
  standing.clock.ms += 59_999
  assert.equal(standing.isOut(ONE), true)
  standing.clock.ms += 1
  assert.equal(standing.isOut(ONE), false)
})

test('a new secret is in service until it is refused itself', () => {
  const standing = create()
  standing.leave(ONE, 'unauthorised')
  standing.credential.secret = 2
  assert.deepEqual([standing.isOut(ONE), standing.why()], [false, undefined])
  assert.equal(standing.leave(ONE, 'unauthorised'), true, 'that is new')
  assert.deepEqual([standing.isOut(ONE), standing.why()], [true, 'unauthorised'])
})
