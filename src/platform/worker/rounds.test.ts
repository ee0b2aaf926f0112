// The loops of a worker: one round at a time, failures that end with their round, and a stop that
// waits for what is under way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '../../../test/support/harness.ts'
import { markTransient } from '../db/database-errors.ts'
import { createLog } from '../log.ts'
import { createRounds } from './rounds.ts'

test('a round never runs beside itself, survives failures, and is waited for', async () => {
  const counts = { started: 0, running: 0, most: 0 }
  const third = Promise.withResolvers<void>()
  const rounds = createRounds(
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
          throw new Error('every round fails')
        },
      },
    ],
    quiet,
  )
  rounds.start()
  await third.promise
  await rounds.stop()
  assert.equal(counts.most, 1)
  assert.equal(counts.running, 0)
  const { started } = counts
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(counts.started, started, 'no round after the stop')
})

test('a round that fails because the database is away says so once', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (one) => void lines.push(one) } })
  const ninth = Promise.withResolvers<void>()
  const count = { rounds: 0 }
  async function run(): Promise<void> {
    count.rounds += 1
    if (count.rounds === 9) ninth.resolve()
    if (count.rounds === 4) return
    const refused = Object.assign(new Error('no connection left'), { code: '53300' })
    await markTransient(Promise.reject(Object.assign(refused, { severity: 'FATAL' })))
  }
  const rounds = createRounds([{ name: 'look', everyMs: 1, run }], log)
  rounds.start()
  await ninth.promise
  await rounds.stop()
  assert.equal(lines.length, 2, lines.join(''))
})
