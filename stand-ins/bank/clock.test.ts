// The clock that tests move by hand: tasks that fall due run in order, each moment is finished
// before the next, and canceled tasks do not run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { createClock } from './clock.ts'

test('moving the clock runs due tasks in order of time, also those added meanwhile', async () => {
  const clock = createClock()
  const startMs = clock.now()
  const seen: string[] = []
  const note = (word: string) => seen.push(`${word} ${Math.round((clock.now() - startMs) / 1000)}`)
  clock.at(startMs + 30_000, () => note('third'))
  clock.at(startMs + 10_000, async () => {
    await turnOfLoop()
    note('first')
    clock.at(clock.now() + 10_000, () => note('second'))
  })
  clock.at(startMs + 3_600_000, () => note('later'))
  await clock.advance(60_000)
  assert.deepEqual(seen, ['first 10', 'second 20', 'third 30'])
  assert.ok(clock.now() - startMs >= 60_000)
  clock.stop()
})

test('canceled tasks do not run, however many there were', async () => {
  const clock = createClock()
  const seen: number[] = []
  const dueMs = clock.now() + 1000
  for (let index = 0; index < 5000; index += 1) {
    const takeBack = clock.at(dueMs + index, () => seen.push(index))
    if (index % 1000 !== 0) takeBack()
  }
  await clock.advance(10_000)
  assert.deepEqual(seen, [0, 1000, 2000, 3000, 4000])
  clock.stop()
})

test('settling waits only for the tasks that are due now', async () => {
  const clock = createClock()
  const seen: string[] = []
  clock.at(clock.now(), async () => {
    await turnOfLoop()
    seen.push('due')
  })
  clock.at(clock.now() + 3_600_000, () => seen.push('later'))
  await clock.settle()
  assert.deepEqual(seen, ['due'])
  clock.stop()
})
