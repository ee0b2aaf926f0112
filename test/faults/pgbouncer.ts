// PgBouncer in transaction mode stands between the product and PostgreSQL. With database.directUrl
// gateway, worker and cabinet serve behind it and every request is charged exactly once, though
// PgBouncer's few sessions are shared by all pools. Without it, with a role whose commits can be
// lost, or with another cell, every role refuses to start with one sentence.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { createGatewayStage } from '../stages/served/gateway.ts'
import { startPaymentProcess } from '../stages/served/process.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, sleep } from '../support/drill.ts'
import { onServer } from '../support/harness.ts'
import { createLimitedDbUser } from '../support/limited-db-user.ts'
import { type PgBouncer, pgBouncerVersion, startPgBouncer } from '../support/pgbouncer.ts'
import { runProgram } from '../support/run-to-end.ts'
import { call } from './support/gateway-caller.ts'

const ROLES = [['serve'], ['work'], ['cabinet'], ['op', 'acts']]
/**
 * A refusal takes two seconds on a quiet machine and twenty on a busy one. A role that starts in
 * spite of all is killed after this time.
 */
const REFUSED_MS_MAX = 90_000
const JOB_MS_MAX = 15_000
const CLIENTS = 16

type Stage = Awaited<ReturnType<typeof createGatewayStage>>
type Env = Readonly<Record<string, string>>

export const drill: Drill = async ({ isFull, say }) => {
  const version = pgBouncerVersion()
  ensure(version !== undefined, 'PgBouncer is installed: apt-get install pgbouncer')
  const stage = await createGatewayStage(20)
  const { url } = stage.database
  // The first refuses startup options, as it is installed; the second drops them.
  const strict = await startPgBouncer(url)
  const lenient = await startPgBouncer(url, ['options', 'extra_float_digits', 'statement_timeout'])
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-pgbouncer-'))
  try {
    const spoolDirectory = join(directory, 'spool')
    const refused = await refuseAll(stage, { strict, lenient }, spoolDirectory, isFull)
    say(`${refused} starts were refused, each with its sentence`)
    const served = await serveBehind(stage, strict, spoolDirectory, isFull ? 20_000 : 500)
    say(`${served.requests} requests through PgBouncer ${version}`)
    return { version, refused, ...served, ...(await stage.check()) }
  } finally {
    await strict.stop()
    await lenient.stop()
    await stage.end()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Starts a command that must end with code 2 and one line. */
async function refuse(args: readonly string[], env: Env, sentence: RegExp): Promise<void> {
  const { code, out, err } = await runProgram(args, { env, limitMs: REFUSED_MS_MAX })
  const isOneLine = err.trim().split('\n').length === 1
  if (code === 2 && isOneLine && sentence.test(err)) return
  throw new Error(`${args.join(' ')} ended with ${code}: ${err}${out}`)
}

/** The short form starts every role once; the full one, every role in each case. */
async function refuseAll(
  { database }: Stage,
  { strict, lenient }: { strict: PgBouncer; lenient: PgBouncer },
  spoolDirectory: string,
  isFull: boolean,
): Promise<number> {
  const dbUser = await createLimitedDbUser(database)
  const role = new URL(dbUser.url).username
  await onServer((client) => client.query(`alter role ${role} set synchronous_commit = off`))
  const { url } = database
  const pooler = /^database\.url leads to a connection pooler .*; set database\.directUrl to /
  const cases: (readonly [Env, RegExp])[] = [
    [{ DATABASE_URL: lenient.urlOf(url) }, pooler],
    [{ DATABASE_URL: strict.urlOf(url) }, pooler],
    [
      { DATABASE_URL: lenient.urlOf(url), DATABASE_DIRECT_URL: strict.urlOf(url) },
      /^database\.directUrl leads to a connection pooler .*; it must be the address of Postgre/,
    ],
    [
      { DATABASE_URL: strict.urlOf(url), DATABASE_DIRECT_URL: dbUser.url },
      /synchronous_commit = off, with which .* loses charges; .*ALTER ROLE/,
    ],
    [
      { DATABASE_URL: strict.urlOf(url), DATABASE_DIRECT_URL: url, TOLLGATE_CELL: '5' },
      /^cell: the configuration says 5, but the database is cell 0; /,
    ],
  ]
  const starts = cases.flatMap(([env, sentence], i) =>
    [...ROLES, ['migrate']]
      .filter((_, n) => isFull || n === i)
      .map((args) => () => refuse(args, { ...portless(spoolDirectory), ...env }, sentence)),
  )
  // Two at a time, because a start needs a core for a second.
  for (let i = 0; i < starts.length; i += 2) {
    await Promise.all(starts.slice(i, i + 2).map((start) => start()))
  }
  await dbUser.drop()
  return starts.length
}

/** A role that starts in spite of all must not meet a port in use. */
function portless(spoolDirectory: string): Env {
  return {
    LEDGER_SPOOL_DIRECTORY: spoolDirectory,
    GATEWAY_PORT: '0',
    CABINET_PORT: '0',
    METRICS_PORT: '0',
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
  }
}

/** All roles behind PgBouncer: charges, a job, and the pages of the cabinet. */
async function serveBehind(stage: Stage, bouncer: PgBouncer, spool: string, requests: number) {
  const { database } = stage
  const vendor = await startVendor({ requestsMax: 1_000_000 })
  const env = {
    DATABASE_URL: bouncer.urlOf(database.url),
    DATABASE_DIRECT_URL: database.url,
    UPSTREAM_URL: vendor.url,
  }
  // No payment provider runs here, so its list is read once and not again.
  const beside = { ...portless(spool), ...env, PAYMENTS_SWEEP_SECONDS: '300' }
  const agent = new Agent({ connections: CLIENTS })
  // One after the other: on a busy machine each start needs most of its time limit.
  const serving = await stage.serve({ ...env, GATEWAY_PROCESSES: '2' })
  const work = await startPaymentProcess('work', beside)
  const cabinet = await startPaymentProcess('cabinet', beside)
  try {
    const ms = await load(stage, { agent, url: serving.url }, requests)
    const jobMs = await runJob(stage)
    const page = await fetch(`http://127.0.0.1:${cabinet.ready.port}/api/prices`)
    ensure(page.status === 200, `the cabinet answers behind PgBouncer (${page.status})`)
    for (const one of [work, cabinet]) {
      const complaints = one.complaints()
      ensure(complaints.length === 0, `no errors are logged: ${complaints.join('\n')}`)
    }
    ensure((await serving.stop()) === 0, 'the gateway drains behind PgBouncer')
    return {
      requests,
      p50Ms: round(percentile(ms, 0.5)),
      p99Ms: round(percentile(ms, 0.99)),
      jobMs,
    }
  } finally {
    await Promise.all([work.stop(), cabinet.stop()])
    await agent.destroy()
    await vendor.close()
  }
}

const round = (ms: number) => Math.round(ms * 10) / 10

/** Sends the requests; each has a number of its own, under which it is charged exactly once. */
async function load(stage: Stage, to: { agent: Agent; url: string }, requests: number) {
  const state = { next: 1 }
  const ms: number[] = []
  const failed: string[] = []
  const run = async () => {
    while (state.next <= requests) {
      const number = state.next
      state.next += 1
      const key = stage.keys[number % stage.keys.length] as string
      const startMs = performance.now()
      const answer = await call(to.agent, to.url, { number, key, isStream: number % 2 === 0 })
      ms.push(performance.now() - startMs)
      if (!answer.isWhole) failed.push(`${answer.status} ${answer.error}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, run))
  ensure(failed.length === 0, `every request succeeds: ${failed.length} failed, ${failed[0]}`)
  const charges = await stage.charges()
  ensure(charges.size === requests, `every request is charged (${charges.size} of ${requests})`)
  const twice = [...charges.values()].filter(({ count }) => count !== 1)
  ensure(twice.length === 0, `each request is charged once (${twice.length} are not)`)
  return ms
}

/** A job reaches the worker by LISTEN, and its statements go through PgBouncer. */
async function runJob({ database: { db } }: Stage): Promise<number> {
  const startMs = performance.now()
  await db.query(`select graphile_worker.add_job('usage', job_key => 'pgbouncer')`)
  // A job that succeeded is deleted; one that failed stays with its error.
  const waits = async () =>
    (await db.query(`select last_error from graphile_worker.jobs where key = 'pgbouncer'`)).rows[0]
  for (let left = await waits(); left !== undefined; left = await waits()) {
    const isInTime = performance.now() - startMs < JOB_MS_MAX
    ensure(isInTime, `a job runs behind PgBouncer: ${JSON.stringify(left)}`)
    await sleep(20)
  }
  return Math.round(performance.now() - startMs)
}
