// Lists of addresses and networks as operators write them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNetworks } from './networks.ts'

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
