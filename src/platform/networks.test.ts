// Lists of addresses and networks as operators write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf, readNetworks, siteOf } from './networks.ts'

test('a list matches an address by itself or by its network, in either notation', () => {
  const list = readNetworks('10.0.0.0/8, 192.0.2.7,2001:db8::/32 , ::1')
  assert.ok(!('problem' in list))
  const inside = ['10.255.0.1', '::ffff:10.0.0.1', '192.0.2.7', '2001:db8:1::5', '::1']
  const outside = ['11.0.0.1', '192.0.2.8', '2001:db9::1', '::2', 'unknown', '']
  assert.deepEqual(
    inside.filter((one) => !list.has(one)),
    [],
  )
  assert.deepEqual(
    outside.filter((one) => list.has(one)),
    [],
  )
})

test('none is an empty list, and an invalid list is refused', () => {
  const nobody = readNetworks('none')
  assert.ok(!('problem' in nobody) && !nobody.has('127.0.0.1'))
  for (const text of ['', '10.0.0.0/33', 'edge.example', '10.0.0.0/8/8', '::1/129', '1.1.1.1,']) {
    assert.ok('problem' in readNetworks(text), text)
  }
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

test('counts a /24 and a /48 as one site, in any notation', () => {
  assert.equal(siteOf('192.0.2.77'), '192.0.2.0/24')
  assert.equal(siteOf('::ffff:192.0.2.9'), '192.0.2.0/24')
  assert.equal(siteOf('2001:db8:7:1::9'), '2001:db8:7::/48')
  assert.equal(siteOf('2001:0db8:0007:ffff:1:2:3:4'), '2001:db8:7::/48')
  assert.notEqual(siteOf('2001:db8:8::9'), siteOf('2001:db8:7::9'))
  assert.equal(siteOf('unknown'), 'unknown')
})
