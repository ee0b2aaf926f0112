// What a process remembers about keys, with the clock turned by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLru, createVerified, type Verdict } from './verified.ts'

function verified() {
  const time = { ms: 0 }
  const clock = { nowMs: () => 0, spanMs: () => time.ms }
  return { time, ...createVerified<string>({ clock, verifiedMax: 2, wrongMax: 2 }) }
}

const answer = (verdict: Verdict<string>) => async () => verdict
const unknown = answer({ kind: 'unknown' })
const right = (caller: string) => answer({ kind: 'verified', caller })

test('a hundred requests with one unknown key wait for one check', async () => {
  const { judge, stats } = verified()
  const done = Promise.withResolvers<Verdict<string>>()
  const all = Array.from({ length: 100 }, () => judge('key', () => done.promise))
  done.resolve({ kind: 'verified', caller: 'ann' })
  for (const verdict of await Promise.all(all)) {
    assert.deepEqual(verdict, { kind: 'verified', caller: 'ann' })
  }
  assert.deepEqual([stats().checks, stats().joined], [1, 99])
})

test('the keys used last are remembered, the others are checked again', async () => {
  const { judge, find, stats } = verified()
  await judge('one', right('ann'))
  await judge('two', right('bob'))
  assert.equal(find('one'), 'ann')
  await judge('three', right('eve'))
  assert.deepEqual(['one', 'two', 'three'].map(find), ['ann', undefined, 'eve'])
  assert.equal(stats().verified, 2)
})

test('a wrong key is remembered for thirty seconds', async () => {
  const { time, judge, stats } = verified()
  await judge('key', unknown)
  time.ms = 29_999
  assert.deepEqual(await judge('key', right('ann')), { kind: 'unknown' })
  assert.equal(stats().wrongHits, 1)
  time.ms = 30_000
  assert.deepEqual(await judge('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('wrong keys are remembered in bounded number', async () => {
  const { judge, stats } = verified()
  for (const key of ['one', 'two', 'three']) await judge(key, unknown)
  assert.equal(stats().wrong, 2)
})

test('a pending key works from the moment it is confirmed', async () => {
  const { judge } = verified()
  assert.deepEqual(await judge('key', answer({ kind: 'pending' })), { kind: 'pending' })
  assert.deepEqual(await judge('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('a check that fails is no verdict: the next request checks again', async () => {
  const { judge } = verified()
  const failing = () => Promise.reject(new Error('away'))
  const both = [judge('key', failing), judge('key', failing)]
  for (const one of both) await assert.rejects(one, /away/)
  assert.deepEqual(await judge('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('a forgotten key is checked again', async () => {
  const { judge, find, forget } = verified()
  await judge('key', right('ann'))
  forget('key')
  assert.equal(find('key'), undefined)
})

test('writing an entry again does not push another out', () => {
  const lru = createLru<number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  lru.set('b', 3)
  assert.deepEqual([lru.get('a'), lru.get('b'), lru.size()], [1, 3, 2])
})
