// Tests of the limit on Argon2id: how many run at once, how many wait, and refusal of the rest.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRefusal } from '../platform/refusal.ts'
import { createConcurrencyLimit, createHashing } from './hashing.ts'

test('runs at most two at once and serves the queue in order', async () => {
  const limit = createConcurrencyLimit(2, 2)
  const order: string[] = []
  const enter = (name: string) =>
    limit.acquire().then((isAcquired) => isAcquired && order.push(name))
  await Promise.all([enter('a'), enter('b')])
  const [third, fourth] = [enter('c'), enter('d')]
  assert.equal(await limit.acquire(), false)
  assert.deepEqual([limit.running(), limit.waiting(), order], [2, 2, ['a', 'b']])
  limit.release()
  await third
  limit.release()
  await fourth
  assert.deepEqual([limit.running(), limit.waiting(), order], [2, 0, ['a', 'b', 'c', 'd']])
  limit.release()
  limit.release()
  assert.equal(limit.running(), 0)
})

test('refuses with key_checks_overloaded when the queue is full', async () => {
  const hashing = createHashing({ waitingMax: 1, atOnce: 1 })
  const hashes = ['a', 'b', 'c'].map((plain) => hashing.hash(plain, 'issued'))
  const [first, second, third] = await Promise.allSettled(hashes)
  assert.equal(first?.status, 'fulfilled')
  assert.equal(second?.status, 'fulfilled')
  assert.ok(third?.status === 'rejected' && isRefusal(third.reason, 'key_checks_overloaded'))
  assert.deepEqual(hashing.stats(), { runs: 2, overflows: 1, running: 0, waiting: 0 })
})

test('hashes with Argon2id at the cost of the origin, with a new salt each time', async () => {
  const hashing = createHashing({ waitingMax: 4 })
  const [issued, again, imported] = await Promise.all([
    hashing.hash('plain', 'issued'),
    hashing.hash('plain', 'issued'),
    hashing.hash('plain', 'imported'),
  ])
  assert.match(issued, /^\$argon2id\$v=19\$m=4096,t=1,p=1\$/)
  assert.match(imported, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(issued, again)
  assert.deepEqual(await hashing.findMatch('plain', [{ hash: issued }]), { hash: issued })
  assert.equal(await hashing.findMatch('Plain', [{ hash: issued }, { hash: imported }]), undefined)
})

test('releases its place when a check fails', async () => {
  const hashing = createHashing({ waitingMax: 0, atOnce: 1 })
  await assert.rejects(hashing.findMatch('plain', [{ hash: 'no hash' }]))
  assert.equal(hashing.stats().running, 0)
})
