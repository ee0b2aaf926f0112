// The job that makes and removes partitions meets strangers: an open reader, a dump that is stopped
// while it holds its locks, and a worker that comes back after 30 days. No request fails or waits
// for it; with --full, no call of the ledger takes longer than 500 ms.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { checkDays, createDaysStage, type DaysStage, runPartitionsJob } from './load.ts'

const DAY_MS = 86_400_000
const CALL_MS_MAX = 500
/** A dump of the stage takes its locks within a second. */
const DUMP_MS_MAX = 15_000

export const drill: Drill = async ({ isFull, seed, say }) => {
  const stage = await createDaysStage(random(seed))
  try {
    const awayDays = isFull ? 30 : 9
    const away = await workerAway(stage, awayDays, isFull ? 400 : 100)
    say(
      `worker away for ${awayDays} days: ${away.requests} requests; then ${away.made} made, ` +
        `${away.detached} days retired in ${away.ms} ms, longest call ${away.longestMs} ms`,
    )
    const reader = await besideStranger(stage, awayDays + 7, openReader)
    say(`open reader: ${describe(reader)}`)
    const dump = await besideStranger(stage, awayDays + 14, openStoppedDump)
    say(`stopped ${dump.what}: ${describe(dump)}`)
    const calm = await calmLoad(stage)
    say(`no job: longest call ${calm} ms`)
    for (const { longestMs } of [reader, dump]) {
      ensure(!isFull || longestMs <= CALL_MS_MAX, `no call over ${CALL_MS_MAX} ms (${longestMs})`)
    }
    await stage.turn((awayDays + 15) * DAY_MS)
    const { waiting } = await runPartitionsJob(stage.ledger, isFull ? 3 : 100)
    ensure(waiting.length === 0, 'the next run makes what was waiting')
    ensure((await stage.ledger.partitionDaysAhead()) > 60, 'every day ahead has its partition')
    await checkDays(stage, 'in the end')
    return {
      awayRequests: away.requests,
      awayLongestMs: away.longestMs,
      readerLongestMs: reader.longestMs,
      dumpLongestMs: dump.longestMs,
      calmLongestMs: calm,
    }
  } finally {
    await stage.end()
  }
}

type Beside = Awaited<ReturnType<typeof besideStranger>>

function describe({ requests, longestMs, made, waiting, ms }: Beside): string {
  const job = `job of ${ms} ms: ${made} made, ${waiting} wait`
  return `${requests} requests, longest call ${longestMs} ms; ${job}`
}

/** Days pass under load without any job; then the jobs run, still under load. */
async function workerAway(stage: DaysStage, awayDays: number, dayMs: number) {
  const { load, stop } = stage.startLoad()
  for (let day = 1; day <= awayDays; day++) {
    await stage.turn(day * DAY_MS)
    await sleep(dayMs)
  }
  ensure(load.requests > awayDays, 'requests ran on all days')
  load.longestMs = 0
  const { made, waiting, detached, ms } = await runPartitionsJob(stage.ledger, 3)
  ensure((await stage.ledger.audit('new')).length === 0, 'the audit catches up')
  await sleep(200)
  await stop()
  ensure(waiting.length === 0, 'all partitions are made')
  ensure(detached.length >= awayDays - 3, `retention catches up (${detached.length} days)`)
  await checkDays(stage, 'after the worker came back')
  const figures = { made: made.length, detached: detached.length, ms }
  return { ...figures, requests: load.requests, longestMs: Math.round(load.longestMs) }
}

type Stranger = { readonly what: string; close(): Promise<void> }

/** The job runs under load while a stranger holds locks on the ledger's tables. */
async function besideStranger(
  stage: DaysStage,
  day: number,
  open: (stage: DaysStage) => Promise<Stranger>,
) {
  await stage.turn(day * DAY_MS)
  const stranger = await open(stage)
  const { load, stop } = stage.startLoad()
  try {
    await sleep(300)
    load.longestMs = 0
    const { made, waiting, ms } = await runPartitionsJob(stage.ledger, 3)
    await sleep(200)
    await stop()
    const days = made.filter((name) => name.startsWith('entries_')).length
    ensure(days > 0, 'days are made beside a reader')
    const job = { made: made.length, waiting: waiting.length, ms }
    const longestMs = Math.round(load.longestMs)
    return { what: stranger.what, requests: load.requests, longestMs, ...job }
  } finally {
    load.isOver = true
    await stranger.close()
  }
}

async function openReader({ database }: DaysStage): Promise<Stranger> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from entries')
  await client.query('select count(*) from holds')
  return { what: 'reader', close: () => client.end() }
}

/**
 * pg_dump blocks when its output is not read, and is then stopped with its locks. A pg_dump that
 * is older than the server refuses to run; then a session takes the same locks.
 */
async function openStoppedDump(stage: DaysStage): Promise<Stranger> {
  const { database } = stage
  const child = spawn('pg_dump', [database.url], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit').catch(() => undefined)
  child.on('error', () => undefined)
  if (await holdsLocks(stage, child)) {
    child.kill('SIGSTOP')
    return {
      what: 'pg_dump',
      async close() {
        child.kill('SIGKILL')
        await ended
        await lockersGone(stage)
      },
    }
  }
  await ended
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query('begin isolation level repeatable read read only')
  const { rows } = await client.query(
    `select oid::regclass::text as name from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  )
  const names = rows.map((row: { name: string }) => row.name).join(', ')
  await client.query(`lock table ${names} in access share mode`)
  return { what: 'session with the locks of pg_dump', close: () => client.end() }
}

async function holdsLocks({ database }: DaysStage, child: ChildProcess): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < DUMP_MS_MAX; waitedMs += 50) {
    if (child.exitCode !== null || child.pid === undefined) return false
    if ((await dumpLocks(database.db)) > 0) return true
    await sleep(50)
  }
  return false
}

/** The server ends the session of a killed dump when it next writes to it. */
async function lockersGone({ database }: DaysStage): Promise<void> {
  await database.db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'pg_dump'`,
  )
  for (let i = 0; i < 100 && (await dumpLocks(database.db)) > 0; i++) await sleep(50)
}

async function dumpLocks(db: DaysStage['database']['db']): Promise<number> {
  const { rows } = await db.query(
    `select from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where a.datname = current_database() and a.application_name = 'pg_dump' and l.granted
       and l.relation in ('entries'::regclass, 'holds_default'::regclass)`,
  )
  return rows.length
}

/** What a call takes on this machine at most without any job, for comparison. */
async function calmLoad(stage: DaysStage): Promise<number> {
  const { load, stop } = stage.startLoad()
  await sleep(300)
  load.longestMs = 0
  await sleep(1_000)
  const longestMs = Math.round(load.longestMs)
  await stop()
  return longestMs
}
