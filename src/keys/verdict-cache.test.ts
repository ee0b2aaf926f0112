// Tests of the cache of key checks, with a clock that the tests set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createLru, createVerdictCache, type Verdict } from './verdict-cache.ts'

function cache() {
  const time = { ms: 0 }
  const clock = { nowMs: () => 0, spanMs: () => time.ms }
  return { time, ...createVerdictCache<string>({ clock, verifiedMax: 2, wrongMax: 2 }) }
}

const answer = (verdict: Verdict<string>) => async () => verdict
const unknown = answer({ kind: 'unknown' })
const right = (caller: string) => answer({ kind: 'verified', caller })

test('runs one check for a hundred requests with the same new key', async () => {
  const { verdictOf, stats } = cache()
  const done = Promise.withResolvers<Verdict<string>>()
  const all = Array.from({ length: 100 }, () => verdictOf('key', () => done.promise))
  done.resolve({ kind: 'verified', caller: 'ann' })
  for (const verdict of await Promise.all(all)) {
    assert.deepEqual(verdict, { kind: 'verified', caller: 'ann' })
  }
  assert.deepEqual([stats().checks, stats().joined], [1, 99])
})

test('keeps the most recently used keys', async () => {
  const { verdictOf, findCaller, stats } = cache()
  await verdictOf('one', right('ann'))
  await verdictOf('two', right('bob'))
  assert.equal(findCaller('one'), 'ann')
  await verdictOf('three', right('eve'))
  assert.deepEqual(['one', 'two', 'three'].map(findCaller), ['ann', undefined, 'eve'])
  assert.equal(stats().verified, 2)
})

test('keeps a wrong key for 30 seconds', async () => {
  const { time, verdictOf, stats } = cache()
  await verdictOf('key', unknown)
  time.ms = 29_999
  assert.deepEqual(await verdictOf('key', right('ann')), { kind: 'unknown' })
  assert.equal(stats().wrongHits, 1)
  time.ms = 30_000
  assert.deepEqual(await verdictOf('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('limits the number of wrong keys that it keeps', async () => {
  const { verdictOf, stats } = cache()
  for (const key of ['one', 'two', 'three']) await verdictOf(key, unknown)
  assert.equal(stats().wrong, 2)
})

test('checks a pending key again, so that it works once confirmed', async () => {
  const { verdictOf } = cache()
  const pending = { kind: 'pending', book: 1n as BookId } as const
  assert.deepEqual(await verdictOf('key', answer(pending)), pending)
  assert.deepEqual(await verdictOf('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('keeps no verdict of a check that failed', async () => {
  const { verdictOf } = cache()
  const failing = () => Promise.reject(new Error('away'))
  const both = [verdictOf('key', failing), verdictOf('key', failing)]
  for (const one of both) await assert.rejects(one, /away/)
  assert.deepEqual(await verdictOf('key', right('ann')), { kind: 'verified', caller: 'ann' })
})

test('checks a key again after forget', async () => {
  const { verdictOf, findCaller, forget } = cache()
  await verdictOf('key', right('ann'))
  forget('key')
  assert.equal(findCaller('key'), undefined)
})

test('evicts no entry when an existing one is written again', () => {
  const lru = createLru<number>(2)
  lru.set('a', 1)
  lru.set('b', 2)
  lru.set('b', 3)
  assert.deepEqual([lru.get('a'), lru.get('b'), lru.size()], [1, 3, 2])
})
