// Reads that take seconds leave the console to everybody else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createConsoleStage } from '../../../../test/stages/console.ts'
import { createInTurn } from './in-turn.ts'

test('while many long reads wait for the database, other pages are answered', async (t) => {
  const stage = await createConsoleStage()
  t.after(() => stage.end())
  const { token } = await stage.people.newcomer('finance', 'finance')
  const release = Promise.withResolvers<void>()
  t.after(() => release.resolve())
  const isLocked = Promise.withResolvers<void>()
  const held = stage.db.transaction(async (tx) => {
    await tx.query('lock table entries in access exclusive mode')
    isLocked.resolve()
    await release.promise
  })
  await isLocked.promise
  const names = ['requests', 'errors', 'spent', 'inputTokens', 'outputTokens', 'cacheReadTokens']
  const days = ['2026-01-01', '2026-01-02']
  const reads = names.flatMap((name) =>
    days.map((day) => stage.send(`GET /api/figures/${name}?day=${day}`, { token })),
  )
  // Long enough that each has a connection or waits for one.
  await setTimeout(300)
  const me = stage.send('GET /api/me', { token }).then(({ status }) => status)
  // Statements give up a lock after five seconds.
  assert.equal(await Promise.race([me, setTimeout(3_000, 'no answer')]), 200)
  release.resolve()
  await held
  assert.deepEqual([...new Set((await Promise.all(reads)).map(({ status }) => status))], [200])
})

test('a read shares one of its name that has not begun, and no other', async () => {
  const inTurn = createInTurn(1)
  const begun: string[] = []
  const first = Promise.withResolvers<string>()
  const read = (name: string, answer: () => Promise<string>) =>
    inTurn(name, () => {
      begun.push(name)
      return answer()
    })
  const running = read('months 1', () => first.promise)
  await setTimeout(1)
  const later = [
    read('months 1', async () => 'newer'),
    read('months 1', async () => 'never read'),
    read('months 2', () => Promise.reject(new Error('the database is away'))),
    read('months 3', async () => 'three'),
  ]
  first.resolve('older')
  const ends = await Promise.allSettled([running, ...later])
  assert.deepEqual(
    ends.map((end) => (end.status === 'fulfilled' ? end.value : 'failed')),
    ['older', 'newer', 'newer', 'failed', 'three'],
  )
  assert.deepEqual(begun, ['months 1', 'months 1', 'months 2', 'months 3'])
})
