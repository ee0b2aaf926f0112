// Interval loops: one run at a time, failed runs do not end the loop, and stop waits for the runs
// under way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '../../../test/support/harness.ts'
import { markTransient } from '../db/database-errors.ts'
import { createLog } from '../log.ts'
import { createBlockedWork } from './blocked-work.ts'
import { createIntervalLoops } from './interval-loops.ts'

test('an immediate loop runs at the start, and not only after its first interval', async () => {
  const counts = { immediate: 0, other: 0 }
  const loop = (name: keyof typeof counts) => ({
    name,
    everyMs: 60_000,
    isImmediate: name === 'immediate',
    async run() {
      counts[name] += 1
    },
  })
  const loops = createIntervalLoops([loop('immediate'), loop('other')], quiet)
  loops.start()
  await loops.stop()
  assert.deepEqual(counts, { immediate: 1, other: 0 })
})

test('a loop never runs twice at a time, survives failures, and stop waits for it', async () => {
  const counts = { started: 0, running: 0, most: 0 }
  const third = Promise.withResolvers<void>()
  const loops = createIntervalLoops(
    [
      {
        name: 'slow',
        everyMs: 1,
        async run() {
          counts.started += 1
          counts.running += 1
          counts.most = Math.max(counts.most, counts.running)
          await new Promise((resolve) => setTimeout(resolve, 5))
          counts.running -= 1
          if (counts.started === 3) third.resolve()
          throw new Error('every run fails')
        },
      },
    ],
    quiet,
  )
  loops.start()
  await third.promise
  await loops.stop()
  assert.equal(counts.most, 1)
  assert.equal(counts.running, 0)
  const { started } = counts
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(counts.started, started, 'no run after the stop')
})

test('a loop logs once that the database is away', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (one) => void lines.push(one) } })
  const ninth = Promise.withResolvers<void>()
  const count = { runs: 0 }
  async function run(): Promise<void> {
    count.runs += 1
    if (count.runs === 9) ninth.resolve()
    if (count.runs === 4) return
    const refused = Object.assign(new Error('no connection left'), { code: '53300' })
    await markTransient(Promise.reject(Object.assign(refused, { severity: 'FATAL' })))
  }
  const loops = createIntervalLoops([{ name: 'look', everyMs: 1, run }], log)
  loops.start()
  await ninth.promise
  await loops.stop()
  assert.equal(lines.length, 2, lines.join(''))
})

test('a process whose password has expired is not ready, and says so once', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (one) => void lines.push(one) } })
  const fifth = Promise.withResolvers<void>()
  const count = { runs: 0 }
  async function run(): Promise<void> {
    count.runs += 1
    if (count.runs === 5) fifth.resolve()
    const refused = Object.assign(new Error('password has expired'), { code: '28P01' })
    await markTransient(Promise.reject(Object.assign(refused, { severity: 'FATAL' })))
  }
  const blockedWork = createBlockedWork(log)
  const loops = createIntervalLoops([{ name: 'look', everyMs: 1, run }], log, blockedWork)
  loops.start()
  await fifth.promise
  await loops.stop()
  assert.deepEqual(blockedWork.health(), { isReady: false, why: 'look: password has expired' })
  assert.equal(lines.length, 1, lines.join(''))
})
