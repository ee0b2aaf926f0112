// How much work it is to tell requests that wait that there is room. The timers are manual.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createWaitQueue } from './wait-queue.ts'

function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = createWaitQueue({ nowMs: () => 0, spanMs: () => 0 })
  const looks = { count: 0 }
  return {
    queue,
    looks,
    /** Waits in a group, until `find` returns something. */
    wait(group: string, find: () => string | undefined) {
      const counted = () => {
        looks.count += 1
        return find()
      }
      const options = { group, find: counted, nextMs: () => undefined, untilMs: () => 1_500 }
      return queue.wait(options).found
    },
  }
}

test('room for one model makes no request look that waits for another', async (t) => {
  const on = setUp(t)
  const room = { small: 0 }
  for (let i = 0; i < 5_000; i += 1) void on.wait('large', () => undefined)
  const found = on.wait('small', () => (room.small > 0 ? 'found' : undefined))
  on.looks.count = 0
  room.small = 1
  on.queue.wakeOne('small')
  assert.equal(await found, 'found')
  assert.equal(on.looks.count, 1)
})

test('thousands that cannot use the room do not all look; one behind them gets it', (t) => {
  const on = setUp(t)
  const state = { room: 0, served: 0 }
  for (let i = 0; i < 5_000; i += 1) void on.wait('large', () => undefined)
  void on.wait('large', () => {
    state.served += state.room
    return state.room > 0 ? 'found' : undefined
  })
  on.looks.count = 0
  state.room = 1
  on.queue.wakeOne('large')
  assert.ok(on.looks.count <= 16, `${on.looks.count} looked`)
  for (let i = 0; i < 320; i += 1) on.queue.wakeOne('large')
  assert.equal(state.served, 1)
  assert.equal(on.queue.size(), 5_000)
})

test('of those that can use the room the one that waits longest gets it', async (t) => {
  const on = setUp(t)
  const state = { room: 0 }
  const take = (name: string) => () => {
    if (state.room === 0) return undefined
    state.room -= 1
    return name
  }
  const waits = ['first', 'second', 'third'].map((name) => on.wait('large', take(name)))
  for (const name of ['first', 'second', 'third']) {
    on.queue.wakeOne('large') // in vain
    state.room = 1
    on.queue.wakeOne('large')
    assert.equal(await Promise.any(waits.splice(0, 1)), name)
  }
})
