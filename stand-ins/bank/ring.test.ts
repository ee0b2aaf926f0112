// Records of a long run stay within their limit and keep the newest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRing } from './ring.ts'

test('a ring never holds more than its limit and always the newest', () => {
  const ring = createRing<number>(100)
  for (let item = 1; item <= 1000; item += 1) {
    ring.add(item)
    assert.ok(ring.size <= 100)
    assert.deepEqual(ring.last(1), [item])
  }
  assert.deepEqual(ring.last(3), [998, 999, 1000])
  assert.deepEqual(
    ring.last(2, (item) => item % 10 === 0),
    [990, 1000],
  )
})
