// The measured time in which the event loop stood still.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { watchEventLoop } from './event-loop.ts'

test('counts a block at once, and once', async (t) => {
  const loop = watchEventLoop()
  t.after(loop.stop)
  const before = loop.blockedMs()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  const atOnce = loop.blockedMs() - before
  assert.ok(atOnce > 700 && atOnce <= 1_100, `${atOnce} ms`)
  await wait(300)
  const later = loop.blockedMs() - before
  assert.ok(later >= atOnce && later < 1_900, `${later} ms, after ${atOnce}`)
})
