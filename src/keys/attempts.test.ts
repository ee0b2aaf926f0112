// Tests of the count of wrong keys per address and minute, with a clock that the tests set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAttempts } from './attempts.ts'

function attempts(changes: { perMinute?: number; addressesMax?: number } = {}) {
  const time = { ms: 5 }
  const clock = { nowMs: () => 0, spanMs: () => time.ms }
  return { time, ...createAttempts({ clock, perMinute: 3, ...changes }) }
}

test('limits the wrong keys of an address in a minute', () => {
  const { time, isOverLimit: isOver, countWrong } = attempts()
  assert.equal(isOver('192.0.2.1'), false)
  assert.deepEqual(
    [1, 2, 3, 4].map(() => countWrong('192.0.2.1')),
    [false, false, true, false],
  )
  assert.equal(isOver('192.0.2.1'), true)
  assert.equal(isOver('192.0.2.2'), false)
  time.ms += 59_999
  assert.equal(isOver('192.0.2.1'), true)
  time.ms += 1
  assert.equal(isOver('192.0.2.1'), false)
  countWrong('192.0.2.1')
  assert.equal(isOver('192.0.2.1'), false)
})

test('removes the address whose last wrong key is oldest when the table is full', () => {
  const { isOverLimit: isOver, countWrong, size } = attempts({ perMinute: 1, addressesMax: 2 })
  countWrong('192.0.2.1')
  countWrong('192.0.2.2')
  countWrong('192.0.2.1')
  countWrong('192.0.2.3')
  assert.equal(size(), 2)
  assert.deepEqual(
    ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => isOver(address)),
    [true, false, true],
  )
})
