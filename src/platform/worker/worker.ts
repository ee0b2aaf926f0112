// Runs jobs: graphile-worker inside our PostgreSQL, so that a job enqueued in a transaction exists
// exactly when the transaction does. Which jobs there are is the table in src/jobs.ts.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import {
  Logger,
  makeWorkerUtils,
  parseCronItems,
  type Runner,
  run,
  runMigrations,
  type WorkerEvents,
} from 'graphile-worker'
import type pg from 'pg'
import type { Clock } from '../clock.ts'
import { isTransient, markTransient } from '../db/database-errors.ts'
import { createPatience, type Patience } from '../db/patience.ts'
import { openPool } from '../db/pool.ts'
import type { Log } from '../log.ts'

export type Job = {
  readonly name: string
  /** A cron pattern (UTC) for jobs by the clock; undefined for jobs that others enqueue. */
  readonly every?: string
  /** Longer than this is logged: the next round would start before this one ended. */
  readonly limitMs: number
  /** A job that waits for the outside world has so many places of its own, and no others. */
  readonly places?: number
  run(payload: unknown): Promise<void>
}

/** Several jobs wait for the network or for locks; four at a time keep a worker busy. */
const CONCURRENCY = 4

/** graphile-worker's own tables. Safe when several processes start at once. */
export async function migrateJobs(databaseUrl: string, log: Log): Promise<void> {
  await runMigrations({ connectionString: databaseUrl, logger: loggerOf(log) })
}

export type WorkerOptions = {
  readonly databaseUrl: string
  readonly jobs: readonly Job[]
  readonly clock: Clock
  readonly log: Log
}

/** A runner that ended sooner than this is given a longer pause each time. */
const STEADY_MS = 60_000
/**
 * When PostgreSQL has refused the ends of several jobs one after the other, graphile-worker 0.18
 * counts them wrongly (`batch` in its main.js) and its runner never resolves, though its jobs are
 * over. It says so by an event, and a runner in order resolves within milliseconds after that.
 */
const STOPPED_MS_MAX = 2_000

/**
 * The pool of one runner, because graphile-worker's own keeps its connections to a server that
 * became read-only and asks it for jobs for ever. Ten connections are graphile-worker's default:
 * one for each place, the listener, cron and ends of jobs. Its statements take milliseconds.
 */
function openJobsPool(databaseUrl: string, onError: (error: Error) => void): pg.Pool {
  const config = {
    connectionString: databaseUrl,
    application_name: 'tollgate jobs',
    max: 10,
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
  return openPool(config, onError)
}

/**
 * Starts working, and goes on when the database was away. `stop` lets running jobs end; `broken`
 * tells of what no waiting mends. A job with places of its own has a runner of its own: were it in
 * the common one, a relay or provider that hangs would take every place there. graphile-worker's
 * named queues would limit it too, but a process that dies leaves its queue locked for four hours.
 */
export function startWorker(options: WorkerOptions): {
  readonly broken: Promise<unknown>
  stop(): Promise<void>
} {
  const ending = new AbortController()
  const patience = createPatience({ ...options, signal: ending.signal })
  const broken = Promise.withResolvers<unknown>()
  const common = options.jobs.filter((job) => job.places === undefined)
  const keepers = [createKeeper(options, patience, common, CONCURRENCY)]
  for (const job of options.jobs) {
    if (job.places !== undefined) {
      keepers.push(createKeeper(options, patience, [job], job.places))
    }
  }
  const kept = keepers.map((keeper) => keeper.keep(ending.signal).catch(broken.resolve))
  return {
    broken: broken.promise,
    async stop() {
      ending.abort()
      for (const keeper of keepers) keeper.end()
      await Promise.all(kept)
    },
  }
}

/**
 * Keeps one runner going. graphile-worker ends a runner that could not tell the database how a job
 * ended; the next one frees what it left locked, or the job would stand still for four hours.
 */
function createKeeper(
  options: WorkerOptions,
  patience: Patience,
  jobs: readonly Job[],
  concurrency: number,
) {
  const { databaseUrl, clock, log } = options
  const now: { runner?: Runner | undefined; ended?: Promise<void> } = {}
  const pgPool = openJobsPool(databaseUrl, patience.failed)
  const workerPools: string[] = []

  async function start(): Promise<void> {
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => void workerPools.push(workerPool.id))
    events.on('worker:getJob:error', ({ error }) => patience.failed(error))
    events.on('worker:getJob:empty', patience.answered)
    events.on('job:start', patience.answered)
    if (workerPools.length > 0) {
      const utils = await makeWorkerUtils({ pgPool, logger: loggerOf(log, patience) })
      await utils.forceUnlockWorkers(workerPools).finally(() => utils.release())
      workerPools.length = 0
    }
    const stopped = Promise.withResolvers<unknown>()
    events.on('pool:gracefulShutdown:complete', stopped.resolve)
    events.on('pool:forcefulShutdown:complete', stopped.resolve)
    events.on('pool:forcefulShutdown:error', stopped.resolve)
    const runner = await startRunner(options, jobs, { pgPool, concurrency, events, patience })
    now.runner = runner
    now.ended = Promise.race([runner.promise, stopped.promise.then(() => pause(STOPPED_MS_MAX))])
  }

  /** `keep` waits for it. One that is ending already says so. */
  function end(): void {
    now.runner?.stop().catch(() => undefined)
  }

  async function keepOn(signal: AbortSignal): Promise<void> {
    let tries = 0
    while (await patience.persist(() => markTransient(start()))) {
      const startedMs = clock.spanMs()
      if (signal.aborted) end() // it was late to begin
      await now.ended
      end() // stops cron of a runner that never resolved
      now.runner = undefined
      if (signal.aborted) return
      tries = clock.spanMs() - startedMs > STEADY_MS ? 0 : tries + 1
      await patience.wait(tries)
    }
  }

  return {
    keep: (signal: AbortSignal) => keepOn(signal).finally(() => pgPool.end()),
    end,
  }
}

function startRunner(
  options: WorkerOptions,
  jobs: readonly Job[],
  at: { pgPool: pg.Pool; concurrency: number; events: WorkerEvents; patience: Patience },
): Promise<Runner> {
  const { log, clock } = options
  return run({
    pgPool: at.pgPool,
    concurrency: at.concurrency,
    events: at.events,
    noHandleSignals: true, // main.ts decides when the process ends
    logger: loggerOf(log, at.patience),
    // By itself graphile-worker does not wait for the word that a job ended: when the database does
    // not take it, nobody catches the error and the process dies. In batches it ends the runner.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    parsedCronItems: parseCronItems(
      jobs.flatMap((job) =>
        // Missed rounds are not made up: each round looks at everything that is due.
        job.every === undefined
          ? []
          : [{ task: job.name, match: job.every, options: { maxAttempts: 1 } }],
      ),
    ),
    taskList: Object.fromEntries(
      jobs.map((job) => [
        job.name,
        async (payload: unknown) => {
          const startedMs = clock.spanMs()
          await job.run(payload)
          const tookMs = Math.round(clock.spanMs() - startedMs)
          if (tookMs > job.limitMs) log.warn({ job: job.name, tookMs }, 'a job took too long')
        },
      ]),
    ),
  })
}

// graphile-worker reports every job at info; our log keeps its warnings and errors. Of a database
// that is away it tells with each attempt of each part: that is said once.
function loggerOf(log: Log, patience?: Patience): Logger {
  return new Logger(() => (level, message, meta) => {
    const error = meta?.error ?? meta?.fatalError
    if (patience !== undefined && meta?.failure !== true && error instanceof Error) {
      if (isTransient(error)) {
        patience.failed(error)
        return log.debug({ from: 'jobs' }, message)
      }
    }
    if (level === 'error') log.error({ from: 'jobs' }, message)
    else if (level === 'warning') log.warn({ from: 'jobs' }, message)
    else log.debug({ from: 'jobs' }, message)
  })
}
