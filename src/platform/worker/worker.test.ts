// Jobs while the database has no connection left: the process survives, logs it once and goes on.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { until } from '../../../test/stages/mail.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/harness.ts'
import { createLimitedDbUser, type LimitedDbUser } from '../../../test/support/limited-db-user.ts'
import { systemClock } from '../clock.ts'
import { createLog } from '../log.ts'
import { startWorker } from './worker.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  dbUser: undefined as unknown as LimitedDbUser,
  lines: [] as string[],
  done: [] as string[],
  /** What the jobs under way wait for, in order. */
  gates: [] as PromiseWithResolvers<void>[],
}

before(async () => {
  at.database = await createTestDatabase()
  at.dbUser = await createLimitedDbUser(at.database)
})
beforeEach(async () => {
  await at.database.db.query('delete from graphile_worker._private_jobs')
  await at.dbUser.allowConnections()
  at.gates = [1, 2, 3, 4].map(() => Promise.withResolvers<void>())
  at.lines.length = 0
  at.done.length = 0
})
after(async () => {
  await at.database.drop()
  await at.dbUser.drop()
})

function start(databaseUrl = at.dbUser.url) {
  const log = createLog({
    level: 'debug',
    destination: { write: (one) => void at.lines.push(one) },
  })
  const run = async (payload: unknown) => {
    const { name, gate } = payload as { name: string; gate?: number }
    if (gate !== undefined) await at.gates[gate]?.promise
    at.done.push(name)
  }
  const jobs = [{ name: 'errand', limitMs: 60_000, concurrency: 4, run }]
  return startWorker({ databaseUrl, jobs, clock: systemClock, log })
}

async function enqueue(payload: object): Promise<void> {
  await at.database.db.query(`select graphile_worker.add_job('errand', $1::json)`, [
    JSON.stringify(payload),
  ])
}

async function jobs(): Promise<{ locked_by: string | null }[]> {
  const { rows } = await at.database.db.query('select locked_by from graphile_worker._private_jobs')
  return rows as { locked_by: string | null }[]
}

const said = (words: string) => at.lines.filter((line) => line.includes(words))

test('a job that ends while no connection is left does not end the process', async () => {
  const worker = start()
  await enqueue({ name: 'first', gate: 0 })
  await until('the first job is under way', async () => (await jobs())[0]?.locked_by != null)
  await at.dbUser.refuseConnections()
  at.gates[0]?.resolve()
  await until('the first job is done', async () => at.done.length > 0)
  await until('it is said', async () => said('the database is away').length > 0)
  await enqueue({ name: 'second' })
  await at.dbUser.allowConnections()
  await until('the second job is done', async () => at.done.includes('second'))
  await until('nothing stays locked', async () => (await jobs()).length === 0)
  await worker.stop()
  assert.equal(said('the database is away').length, 1)
  assert.deepEqual(said('"level":"error"'), [])
})

test('survives several jobs that end while no connection is left', async () => {
  const worker = start()
  for (const gate of at.gates.keys()) await enqueue({ name: `held ${gate}`, gate })
  const isLocked = async () => (await jobs()).every(({ locked_by }) => locked_by !== null)
  await until('all jobs are under way', isLocked)
  await at.dbUser.refuseConnections()
  for (const [i, gate] of at.gates.entries()) {
    gate.resolve()
    await until('one more cannot be told', async () => said('Failed to complete jobs').length > i)
  }
  await enqueue({ name: 'last' })
  await at.dbUser.allowConnections()
  await until('the last job is done', async () => at.done.includes('last'))
  await until('nothing stays locked', async () => (await jobs()).length === 0)
  await worker.stop()
})

test('goes on when a read-only database accepts writes again', async () => {
  const worker = start()
  await enqueue({ name: 'first', gate: 0 })
  await until('the first job is under way', async () => (await jobs())[0]?.locked_by != null)
  await at.dbUser.makeReadOnly()
  at.gates[0]?.resolve()
  await until('it is said', async () => said('the database is away').length > 0)
  await enqueue({ name: 'second' })
  // Sessions that began before stay read-only: only new connections can write.
  await at.dbUser.allowWrites()
  await until('the second job is done', async () => at.done.includes('second'))
  await until('nothing stays locked', async () => (await jobs()).length === 0)
  await worker.stop()
  assert.deepEqual(said('"level":"fatal"'), [])
})

test('a worker started without a free connection starts when there is one', async () => {
  await at.dbUser.refuseConnections()
  const worker = start()
  await enqueue({ name: 'early' })
  await until('it is said', async () => said('the database is away').length > 0)
  await at.dbUser.allowConnections()
  await until('the job is done', async () => at.done.includes('early'))
  await worker.stop()
  assert.equal(said('the database is away').length, 1)
})

test('a worker that waits for the database can be stopped', async () => {
  await at.dbUser.refuseConnections()
  const worker = start()
  await until('it waits', async () => said('the database is away').length > 0)
  await worker.stop()
  assert.deepEqual(at.done, [])
})

test('does not wait for a database that does not exist', async () => {
  const url = new URL(at.database.url)
  url.pathname = '/tollgate_never_was'
  const worker = start(url.href)
  const error = (await worker.broken) as { code?: string }
  assert.equal(error.code, '3D000')
  await worker.stop()
})
