// A worker process whose database role lacks a grant: it names the role and the grant, does not
// take the database for absent, and is not ready until the job has run again.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePorts } from '../../tools/free-port.ts'
import { until } from '../stages/mail.ts'
import { type Served, startServed } from '../stages/served/served.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { createPlainDbUser, type PlainDbUser } from '../support/plain-db-user.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  dbUser: undefined as unknown as PlainDbUser,
  worker: undefined as unknown as Served,
  directory: '',
  port: 0,
}

before(async () => {
  at.database = await createTestDatabase()
  at.dbUser = await createPlainDbUser(at.database)
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-grants-'))
  const [port = 0] = await freePorts(1)
  at.port = port
  const env = {
    DATABASE_URL: at.dbUser.url,
    LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
    METRICS_WORK_PORT: String(at.port),
  }
  at.worker = await startServed('work', env, /"working"/)
})
after(async () => {
  await at.worker.stop()
  await at.dbUser.drop()
  await at.database.drop()
  await rm(at.directory, { recursive: true, force: true })
})

async function readiness(): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${at.port}/readyz`)
  return { status: response.status, body: await response.text() }
}
const isReady = async () => (await readiness()).status === 200
const isBlocked = async () => (await readiness()).status === 503
const enqueue = (job: string) =>
  at.database.db.query('select graphile_worker.add_job($1, max_attempts => 1)', [job])
const lines = (words: string) =>
  at.worker
    .printed()
    .split('\n')
    .filter((line) => line.includes(words))

/** Cron starts many jobs each minute; one that met a missing grant runs again a minute later. */
async function betweenMinutes(): Promise<void> {
  const isBetween = async () => (Date.now() / 1_000) % 60 > 3 && (Date.now() / 1_000) % 60 < 45
  await until('cron has started its jobs', isBetween)
  await until('the worker is ready', isReady)
}

test('is not ready while it may not ask for jobs', async () => {
  await until('the worker is blocked', isBlocked)
  // graphile-worker protects its tables by row-level security, which knows only their owner.
  const sentence = `role ${at.dbUser.name} may not do this: .*row-level security .*"_private_tasks"`
  assert.match((await readiness()).body, new RegExp(`^jobs: .*${sentence}`, 'm'))
  assert.match(at.worker.printed(), new RegExp(sentence.replaceAll('"', '\\\\"')))
  assert.deepEqual(lines('away'), [])
  await at.dbUser.allowJobs()
  await until('the worker is ready', isReady)
})

test('is not ready while a job lacks a grant, and logs the grant and the role once', async () => {
  await betweenMinutes()
  await at.dbUser.run('revoke select on letters from NAME')
  await enqueue('letters')
  await until('the job is blocked', isBlocked)
  const { body } = await readiness()
  assert.match(body, /^letters: /m)
  assert.match(body, new RegExp(`role ${at.dbUser.name} .* on table letters`))
  await enqueue('letters')
  const done = async () => {
    // A failed job without attempts left stays.
    const { rows } = await at.database.db.query(
      'select from graphile_worker.jobs where attempts < max_attempts or locked_at is not null',
    )
    return rows.length === 0
  }
  await until('the job has failed again', done)
  assert.equal(lines('permission denied for table letters').length, 1, at.worker.printed())
  assert.deepEqual(lines('away'), [])

  await at.dbUser.run('grant select on letters to NAME')
  assert.equal(await isBlocked(), true, 'a grant alone does not prove that the job runs')
  await enqueue('letters')
  await until('the worker is ready again', isReady)
})

test('is not ready while a loop lacks a grant', async () => {
  await betweenMinutes()
  await at.dbUser.run('revoke select, update on orders from NAME')
  await until('the loops are blocked', isBlocked)
  assert.match((await readiness()).body, /^(?:poll|recover): .* on table orders/m)
  await at.dbUser.run('grant select, update on orders to NAME')
  await until('the worker is ready again', isReady)
})
