// The ration of Argon2id: so many at once, so many waiting, the rest refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal } from '../platform/refusal.ts'
import { createHashing, createRation } from './hashing.ts'

test('so many run at once, and the queue is first come first served', async () => {
  const ration = createRation(2, 2)
  const order: string[] = []
  const enter = (name: string) => ration.enter().then((isIn) => isIn && order.push(name))
  await Promise.all([enter('a'), enter('b')])
  const [third, fourth] = [enter('c'), enter('d')]
  assert.equal(await ration.enter(), false)
  assert.deepEqual([ration.running(), ration.waiting(), order], [2, 2, ['a', 'b']])
  ration.leave()
  await third
  ration.leave()
  await fourth
  assert.deepEqual([ration.running(), ration.waiting(), order], [2, 0, ['a', 'b', 'c', 'd']])
  ration.leave()
  ration.leave()
  assert.equal(ration.running(), 0)
})

test('a full queue refuses the check and says nothing about the key', async () => {
  const hashing = createHashing({ waitingMax: 1, atOnce: 1 })
  const asked = ['a', 'b', 'c'].map((plain) => hashing.make(plain, 'issued'))
  const [first, second, third] = await Promise.allSettled(asked)
  assert.equal(first?.status, 'fulfilled')
  assert.equal(second?.status, 'fulfilled')
  assert.ok(third?.status === 'rejected' && isRefusal(third.reason, 'key_checks_overloaded'))
  assert.deepEqual(hashing.stats(), { runs: 2, overflows: 1, running: 0, waiting: 0 })
})

test('a hash is Argon2id at the cost of its origin, and different every time', async () => {
  const hashing = createHashing({ waitingMax: 4 })
  const [issued, again, imported] = await Promise.all([
    hashing.make('plain', 'issued'),
    hashing.make('plain', 'issued'),
    hashing.make('plain', 'imported'),
  ])
  assert.match(issued, /^\$argon2id\$v=19\$m=4096,t=1,p=1\$/)
  assert.match(imported, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(issued, again)
  assert.deepEqual(await hashing.match('plain', [{ hash: issued }]), { hash: issued })
  assert.equal(await hashing.match('Plain', [{ hash: issued }, { hash: imported }]), undefined)
})

test('a check that fails gives its place back', async () => {
  const hashing = createHashing({ waitingMax: 0, atOnce: 1 })
  await assert.rejects(hashing.match('plain', [{ hash: 'no hash' }]))
  assert.equal(hashing.stats().running, 0)
})
