// Which waits make a client responsible for a limit or for an upstream that closes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientWait } from './client-wait.ts'

const SECOND = 1_000

/** Waits and times of reading in turn, in seconds, beginning with reading. */
function afterSeconds(...spans: readonly number[]) {
  const wait = new ClientWait(0, () => 0)
  let nowMs = 0
  spans.forEach((seconds, i) => {
    if (i % 2 === 1) wait.begin(nowMs)
    nowMs += seconds * SECOND
    if (i % 2 === 1) wait.end(nowMs)
  })
  return { wait, nowMs }
}

function stalled(...spans: readonly number[]): boolean {
  const { wait, nowMs } = afterSeconds(...spans)
  return wait.hasStalledUpstream(nowMs)
}

function overdue(...spans: readonly number[]): boolean {
  const { wait, nowMs } = afterSeconds(...spans)
  return wait.explainsTimeLimit(nowMs, nowMs)
}

test('a wait of ten seconds stalls the upstream, a shorter one does not', () => {
  assert.deepEqual([stalled(0, 10), stalled(0, 9.9), stalled(600)], [true, false, false])
})

test('short waits count together while they are most of the time', () => {
  assert.equal(stalled(0, 4, 1, 4, 1, 4), true)
  assert.equal(stalled(0, 4, 5, 4, 5, 4), false)
})

test('a wait that is over explains a close for as long as it lasted', () => {
  assert.deepEqual([stalled(900, 30, 29), stalled(900, 30, 31)], [true, false])
  assert.equal(stalled(0, 30, 10, 0.1, 10, 0.1, 5), true)
})

test('a time limit is the client’s after a minute of waiting, or after half of the time', () => {
  assert.deepEqual([overdue(1_860, 1_740), overdue(3_540, 61)], [true, true])
  assert.deepEqual([overdue(3_600), overdue(3_550, 59), overdue(55, 45)], [false, false, false])
  assert.deepEqual([overdue(45, 55), overdue(0, 31, 3_500, 31)], [true, true])
})

test('time in which our own event loop was blocked is not the client’s', () => {
  const blocked = { ms: 0 }
  const wait = new ClientWait(0, () => blocked.ms)
  wait.begin(0)
  blocked.ms = 55 * SECOND
  assert.equal(wait.currentMs(62 * SECOND), 7 * SECOND)
  assert.equal(wait.hasStalledUpstream(62 * SECOND), false)
  assert.equal(wait.explainsTimeLimit(62 * SECOND, 62 * SECOND), false)
  assert.equal(wait.hasStalledUpstream(72 * SECOND), true, 'ten seconds more are')
})
