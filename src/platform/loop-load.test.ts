// When the event loop counts as short of time, measured on a real loop.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createLoopLoad } from './loop-load.ts'

/** Keeps the event loop occupied for so long. */
function block(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}

test('a loop that has time left is not busy', async () => {
  const isBusy = createLoopLoad(() => performance.now())
  await delay(200)
  assert.equal(isBusy(), false)
})

test('a loop without time is busy, and for half a minute after', async () => {
  const ahead = { ms: 0 }
  const isBusy = createLoopLoad(() => performance.now() + ahead.ms)
  await delay(1)
  block(200)
  assert.equal(isBusy(), true)
  await delay(300)
  assert.equal(isBusy(), true)
  await delay(300)
  ahead.ms = 31_000
  assert.equal(isBusy(), false)
})
