// What pages ask for again and again is read once for all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remember } from './remember.ts'

function arrange() {
  const time = { ms: 0 }
  const clock = { nowMs: () => 0, spanMs: () => time.ms }
  const readings: PromiseWithResolvers<string>[] = []
  const read = remember(clock, 5_000, () => {
    const reading = Promise.withResolvers<string>()
    readings.push(reading)
    return reading.promise
  })
  return { time, readings, read }
}

test('a reading is shared while it is under way, however long it takes', async () => {
  const { time, readings, read } = arrange()
  const first = read()
  time.ms += 60_000
  const second = read()
  assert.equal(readings.length, 1, 'a slow database gets no second reading')
  readings[0]?.resolve('found')
  assert.deepEqual([await first, await second], ['found', 'found'])
})

test('what was read is answered for the time, and then read again', async () => {
  const { time, readings, read } = arrange()
  const first = read()
  time.ms += 60_000
  readings[0]?.resolve('old')
  await first
  time.ms += 4_999
  assert.equal(await read(), 'old')
  time.ms += 1
  const next = read()
  readings[1]?.resolve('new')
  assert.equal(await next, 'new')
})

test('what failed is not remembered', async () => {
  const { readings, read } = arrange()
  const first = read()
  readings[0]?.reject(new Error('the database is away'))
  await assert.rejects(first)
  const next = read()
  readings[1]?.resolve('found')
  assert.equal(await next, 'found')
})
