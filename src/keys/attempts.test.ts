// Tests of the count of wrong keys per address and minute, with a clock that the tests set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAttempts, networkOf } from './attempts.ts'

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

test('counts an IPv4 address alone and an IPv6 address with its /64', () => {
  const same = [
    ['192.0.2.1', '::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1'],
    ['2001:db8:1:2::1', '2001:DB8:1:2:ffff::', '2001:0db8:0001:0002:3:4:5:6', '2001:db8:1:2:3:4::'],
    ['::1', '::', '0:0:0:0:1:2:3:4', '::2:192.0.2.1'],
    ['fe80::1%eth0', 'fe80::2'],
    ['64:ff9b::192.0.2.1', '64:ff9b::1'],
  ]
  const names = same.map((group) => {
    const [name, ...others] = new Set(group.map(networkOf))
    assert.deepEqual(others, [], `${group}`)
    return name
  })
  assert.deepEqual(names, [
    '192.0.2.1',
    '2001:db8:1:2::/64',
    '0:0:0:0::/64',
    'fe80:0:0:0::/64',
    '64:ff9b:0:0::/64',
  ])
  assert.notEqual(networkOf('192.0.2.1'), networkOf('192.0.2.2'))
  assert.notEqual(networkOf('::ffff:192.0.2.1'), networkOf('::ffff:192.0.2.2'))
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
})

test('counts a text that is not an address, cut to 64 characters', () => {
  assert.equal(networkOf(''), '')
  assert.equal(networkOf('x'.repeat(10_000)).length, 64)
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
