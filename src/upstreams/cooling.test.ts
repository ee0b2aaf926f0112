// Cooling models of one target, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCooling } from './cooling.ts'

function create() {
  const clock = { ms: 50_000 }
  const cooling = createCooling(() => clock.ms)
  return {
    ...cooling,
    /** How long the model cools down from now on. */
    leftMs(model: string): number {
      const untilMs = cooling.freeAtMs(model)
      assert.equal(cooling.isCooling(model), untilMs > clock.ms)
      return Math.max(0, untilMs - clock.ms)
    },
    clock,
  }
}

test('only the limited model cools down, for as long as the target asked', () => {
  const cooling = create()
  cooling.coolDown('large', 7_000)
  assert.deepEqual([cooling.leftMs('large'), cooling.leftMs('small')], [7_000, 0])
  cooling.clock.ms += 6_999
  assert.equal(cooling.leftMs('large'), 1)
  cooling.clock.ms += 1
  assert.equal(cooling.leftMs('large'), 0)
})

test('a 429 without a time counts as a second, one that asks for an hour as a minute', () => {
  const cooling = create()
  cooling.coolDown('large', 0)
  cooling.coolDown('small', 3_600_000)
  assert.deepEqual([cooling.leftMs('large'), cooling.leftMs('small')], [1_000, 60_000])
})

test('the longest of several requested times counts', () => {
  const cooling = create()
  for (const askedMs of [10_000, 30_000, 0]) cooling.coolDown('large', askedMs)
  assert.equal(cooling.leftMs('large'), 30_000)
})
