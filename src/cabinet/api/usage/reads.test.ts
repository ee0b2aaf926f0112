// One owner who reads usage many times at once, while the database is slow: the pages of other
// owners still get a connection, and the reads are answered in turn.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../../test/stages/cabinet.ts'
import type { BookId } from '../../../platform/ids.ts'
import type { UsageSessions } from '../../contract/sessions.ts'
import { createUsageReads } from './reads.ts'

/** More than the pool has connections. */
const READS = 20
const at = {} as { stage: CabinetStage }

before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

test("one owner's reads of usage leave connections to other owners", async () => {
  const [heavy, other] = [await at.stage.person('heavy'), await at.stage.person('light')]
  const path = 'GET /api/usage/sessions'
  const { reads, first } = await at.stage.db.transaction(async (tx) => {
    await tx.query('lock table usage_sessions in access exclusive mode')
    const started = Array.from({ length: READS }, () => heavy.expectOk<UsageSessions>(path))
    // All of them run or wait; without a bound they have every connection.
    await waitFor(async () => {
      const { rows } = await tx.query(
        `select count(*)::int4 as n from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return (rows[0] as { n: number }).n >= 4
    })
    const late = Promise.withResolvers<'late'>()
    const timer = setTimeout(() => late.resolve('late'), 3_000)
    const answered = other.expectOk('GET /api/guards').then(() => 'answered')
    const won = await Promise.race([answered, late.promise])
    clearTimeout(timer)
    return { reads: started, first: won }
  })
  assert.equal(first, 'answered', 'while the reads wait')
  for (const { body } of await Promise.all(reads)) assert.deepEqual(body.lines, [])
})

test('reads beyond those that can wait are refused, and other accounts come first', async () => {
  const reads = createUsageReads({ spanMs: () => 0 }, 8)
  const [heavy, light] = [1n as BookId, 2n as BookId]
  const end = Promise.withResolvers<void>()
  const order: string[] = []
  const read = (book: BookId, name: string) =>
    reads.inTurn(book, async () => {
      await end.promise
      order.push(name)
    })
  const all = Promise.allSettled(Array.from({ length: 12 }, () => read(heavy, 'heavy')))
  await assert.rejects(read(heavy, 'beyond'), { code: 'overloaded' })
  const one = read(light, 'light')
  end.resolve()
  await one
  const refused = (await all).filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 1, 'one that waited made room for the other account')
  assert.equal(order.indexOf('light'), 4, 'directly after the four that ran')
})

async function waitFor(isTrue: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 100 && !(await isTrue()); i++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
