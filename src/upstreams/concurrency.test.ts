// How many requests a target gets at a time, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConcurrency } from './concurrency.ts'

function create(underWay: number) {
  const clock = { ms: 50_000 }
  const concurrency = createConcurrency(() => clock.ms, 64)
  for (let i = 0; i < underWay; i++) concurrency.begin()
  return { clock, ...concurrency, cutNow: () => concurrency.cut(0) }
}

test('has no limit until the upstream asks for less', () => {
  const concurrency = create(60)
  assert.deepEqual([concurrency.limit(), concurrency.isFull()], [Number.POSITIVE_INFINITY, false])
  concurrency.cutNow()
  assert.deepEqual([concurrency.limit(), concurrency.isFull()], [42, true])
})

test('answers within a second count once', () => {
  const concurrency = create(60)
  for (let i = 0; i < 20; i++) concurrency.cutNow()
  assert.equal(concurrency.limit(), 42)
  concurrency.clock.ms += 1_000
  concurrency.cutNow()
  assert.equal(concurrency.limit(), 30)
})

test('never falls below one', () => {
  const concurrency = create(0)
  for (let i = 0; i < 20; i++, concurrency.clock.ms += 1_000) {
    concurrency.cutNow()
    assert.ok(concurrency.limit() >= 1)
  }
  assert.equal(concurrency.isFull(), false)
  concurrency.begin()
  concurrency.begin()
  assert.equal(concurrency.isFull(), true)
})

test('grows by one a second, or by a twentieth, from the end of the pause', () => {
  const small = create(2)
  small.cut(small.clock.ms + 30_000)
  small.clock.ms += 30_000
  assert.equal(small.limit(), 1)
  small.clock.ms += 5_000
  assert.equal(small.limit(), 6)
  const large = create(60)
  large.cutNow()
  large.clock.ms += 5_000
  assert.equal(large.limit(), 52)
  large.clock.ms += 10_000
  assert.equal(large.limit(), Number.POSITIVE_INFINITY, 'there are no more connections')
})
