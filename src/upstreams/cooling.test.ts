// The pauses of one target, path and model, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createCooling } from './cooling.ts'

const [ONE, OTHER, THIRD] = [1n, 2n, 3n] as [BookId, BookId, BookId]

function create() {
  const clock = { ms: 50_000 }
  const cooling = createCooling(() => clock.ms)
  return {
    clock,
    ...cooling,
    /** For how much longer the pause applies to the account. */
    leftMs: (book: BookId) => Math.max(0, cooling.freeAtMs(book) - clock.ms),
  }
}

test('applies for as long as the upstream asked, between a second and a minute', () => {
  for (const [askedMs, ms] of [
    [0, 1_000],
    [37_000, 37_000],
    [3_600_000, 60_000],
  ] as const) {
    const cooling = create()
    cooling.coolDown(ONE, askedMs)
    assert.equal(cooling.leftMs(ONE), ms)
    cooling.clock.ms += ms - 1
    assert.equal(cooling.isCooling(ONE), true)
    cooling.clock.ms += 1
    assert.equal(cooling.isCooling(ONE), false)
  }
})

test('applies to the account that got the answer, and to all after a second one got it', () => {
  const cooling = create()
  assert.equal(cooling.coolDown(ONE, 30_000), true, 'a pause begins')
  assert.equal(cooling.coolDown(ONE, 30_000), false)
  assert.deepEqual([ONE, OTHER].map(cooling.isCooling), [true, false])
  assert.equal(cooling.coolDown(OTHER, 20_000), true, 'it applies to all')
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.isCooling), [true, true, true])
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [30_000, 20_000, 20_000])
})

test('one account’s long pause does not become that of all, whoever got its answer first', () => {
  for (const books of [
    [ONE, OTHER],
    [OTHER, ONE],
  ]) {
    const cooling = create()
    for (const book of books) cooling.coolDown(book, book === ONE ? 60_000 : 1_000)
    cooling.coolDown(ONE, 60_000)
    assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [60_000, 1_000, 1_000])
    cooling.clock.ms += 1_000
    assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [59_000, 0, 0])
    assert.equal(cooling.sharedUntilMs(), 0)
  }
})

test('of three accounts, the time counts for which two were asked to wait', () => {
  const cooling = create()
  for (const [book, askedMs] of [
    [ONE, 10_000],
    [OTHER, 20_000],
    [THIRD, 30_000],
  ] as const) {
    cooling.coolDown(book, askedMs)
  }
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [20_000, 20_000, 30_000])
})

test('a new pause begins with one account again', () => {
  const cooling = create()
  cooling.coolDown(ONE, 2_000)
  cooling.coolDown(OTHER, 2_000)
  cooling.clock.ms += 2_000
  cooling.coolDown(THIRD, 2_000)
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.isCooling), [false, false, true])
})

test('allows one request a second', () => {
  const cooling = create()
  cooling.coolDown(ONE, 30_000)
  assert.equal(cooling.isProbeDue(ONE), false)
  cooling.clock.ms += 1_000
  assert.equal(cooling.isProbeDue(ONE), true)
  cooling.claim(ONE)
  assert.equal(cooling.isProbeDue(ONE), false)
  cooling.lift(ONE, cooling.clock.ms)
  assert.equal(cooling.isCooling(ONE), false)
})

test('lasts although a request is served that was sent before it', () => {
  const cooling = create()
  const sentMs = cooling.clock.ms
  cooling.clock.ms += 10
  cooling.coolDown(ONE, 30_000)
  cooling.lift(ONE, sentMs)
  assert.equal(cooling.isCooling(ONE), true)
  cooling.clock.ms += 10
  cooling.coolDown(OTHER, 20_000)
  cooling.lift(THIRD, cooling.clock.ms - 1)
  assert.deepEqual([ONE, OTHER].map(cooling.leftMs), [0, 20_000], 'the first has ended')
})

test('answers to two accounts concern only them, once a third one was served meanwhile', () => {
  const cooling = create()
  for (const book of [ONE, OTHER]) cooling.coolDown(book, 30_000)
  cooling.clock.ms += 1_000
  assert.deepEqual([ONE, THIRD].map(cooling.isProbeDue), [false, true], 'the third goes first')
  cooling.lift(THIRD, cooling.clock.ms)
  for (const book of [ONE, OTHER]) cooling.coolDown(book, 30_000)
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [30_000, 30_000, 0])
  cooling.clock.ms += 600_000
  for (const book of [ONE, OTHER]) cooling.coolDown(book, 30_000)
  assert.deepEqual([ONE, OTHER, THIRD].map(cooling.leftMs), [30_000, 30_000, 30_000])
})
