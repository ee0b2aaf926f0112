// The pauses after failures, measured with mocked timers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBackoff } from './backoff.ts'

test('without failures there is no pause', () => {
  const backoff = createBackoff()
  let ran = 0
  backoff.rest(() => ran++)
  assert.equal(ran, 1)
  assert.equal(backoff.isFailing(), false)
})

test('each failure in a row doubles the pause, from 50 ms up to a second', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const backoff = createBackoff()
  const pauses = Array.from({ length: 7 }, () => {
    backoff.fail()
    return pause(() => context.mock.timers.tick(1), backoff.rest)
  })
  assert.deepEqual(pauses, [50, 100, 200, 400, 800, 1_000, 1_000])
})

test('a success ends the pauses, and the next failure pauses 50 ms again', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const backoff = createBackoff()
  backoff.fail()
  backoff.fail()
  assert.equal(backoff.isFailing(), true)
  backoff.succeed()
  assert.equal(backoff.isFailing(), false)
  assert.equal(
    pause(() => context.mock.timers.tick(1), backoff.rest),
    0,
  )
  backoff.fail()
  assert.equal(
    pause(() => context.mock.timers.tick(1), backoff.rest),
    50,
  )
})

/** How many milliseconds `rest` waits. */
function pause(tick: () => void, rest: (next: () => void) => void): number {
  let isOver = false
  rest(() => {
    isOver = true
  })
  let ms = 0
  for (; !isOver; ms++) tick()
  return ms
}
