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
  type WorkerEvents,
} from 'graphile-worker'
import type pg from 'pg'
import type { Clock } from '../clock.ts'
import { isTransient, markTransient } from '../db/database-errors.ts'
import { isMissingGrant } from '../db/missing-grants.ts'
import { openPool } from '../db/pool.ts'
import { createDatabaseRetry, type DatabaseRetry } from '../db/retry.ts'
import type { Log } from '../log.ts'
import { type BlockedWork, createBlockedWork } from './blocked-work.ts'

export type Job = {
  readonly name: string
  /** A cron pattern (UTC) for jobs by the clock; undefined for jobs that others enqueue. */
  readonly every?: string
  /** A longer run is logged, because the next run would start before this one ended. */
  readonly limitMs: number
  /** The other server that the job waits for; the jobs of one server have their own runner. */
  readonly waitsFor?: string
  /** How many jobs of its runner run at a time, if not CONCURRENCY. */
  readonly concurrency?: number
  run(payload: unknown): Promise<void>
}

/** Jobs wait for the network or for locks, so four at a time keep a worker busy. */
const CONCURRENCY = 4

export type WorkerOptions = {
  readonly databaseUrl: string
  readonly jobs: readonly Job[]
  readonly clock: Clock
  readonly log: Log
  readonly blockedWork?: BlockedWork
}

/** If a runner ends sooner than this, the pause before the next one grows. */
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
 * Starts the runners, and restarts them after the database was away. `stop` waits for running jobs;
 * `broken` resolves with an error that retrying does not cure. Jobs that wait for another server
 * have a runner of their own: in the common one, an SMTP server or provider that hangs would block
 * all other jobs. graphile-worker's named queues would limit it too, but a process that dies leaves
 * its queue locked for four hours.
 */
export function startWorker(options: WorkerOptions): {
  readonly broken: Promise<unknown>
  stop(): Promise<void>
} {
  const ending = new AbortController()
  const databaseRetry = createDatabaseRetry({ ...options, signal: ending.signal })
  const { blockedWork = createBlockedWork(options.log) } = options
  const broken = Promise.withResolvers<unknown>()
  const runners = Map.groupBy(options.jobs, (job) => job.waitsFor)
  const supervisors = [...runners.values()].map((jobs) =>
    createSupervisor({ ...options, blockedWork }, databaseRetry, jobs, concurrencyOf(jobs)),
  )
  const supervised = supervisors.map((supervisor) =>
    supervisor.supervise(ending.signal).catch(broken.resolve),
  )
  return {
    broken: broken.promise,
    async stop() {
      ending.abort()
      for (const supervisor of supervisors) supervisor.end()
      await Promise.all(supervised)
    },
  }
}

function concurrencyOf(jobs: readonly Job[]): number {
  return Math.max(...jobs.map((job) => job.concurrency ?? CONCURRENCY))
}

/**
 * Supervises one runner. graphile-worker ends a runner that could not store a job's result; the
 * next one unlocks the jobs that it left locked, which would otherwise wait for four hours.
 */
function createSupervisor(
  options: Required<WorkerOptions>,
  databaseRetry: DatabaseRetry,
  jobs: readonly Job[],
  concurrency: number,
) {
  const { databaseUrl, clock, log, blockedWork } = options
  /** The work of asking for jobs, in messages. */
  const queue = ['jobs', jobs[0]?.waitsFor].filter(Boolean).join(' of the ')
  const now: { runner?: Runner | undefined; ended?: Promise<void> } = {}
  const pgPool = openJobsPool(databaseUrl, databaseRetry.reportFailure)
  const workerPools: string[] = []

  async function start(): Promise<void> {
    const events: WorkerEvents = new EventEmitter()
    events.on('pool:create', ({ workerPool }) => void workerPools.push(workerPool.id))
    const refused = Promise.withResolvers<void>()
    events.on('worker:getJob:error', ({ error }) => {
      if (!isMissingGrant(error)) return databaseRetry.reportFailure(error)
      blockedWork.fail(queue, error)
      refused.resolve()
    })
    const reportJobsRead = () => {
      blockedWork.succeed(queue)
      databaseRetry.reportSuccess()
    }
    events.on('worker:getJob:empty', reportJobsRead)
    events.on('job:start', reportJobsRead)
    if (workerPools.length > 0) {
      const utils = await makeWorkerUtils({ pgPool, logger: loggerOf(log, databaseRetry) })
      await utils.forceUnlockWorkers(workerPools).finally(() => utils.release())
      workerPools.length = 0
    }
    const stopped = Promise.withResolvers<unknown>()
    events.on('pool:gracefulShutdown:complete', stopped.resolve)
    events.on('pool:forcefulShutdown:complete', stopped.resolve)
    events.on('pool:forcefulShutdown:error', stopped.resolve)
    const runner = await startRunner(options, jobs, {
      pgPool,
      concurrency,
      events,
      databaseRetry,
    })
    now.runner = runner
    // graphile-worker keeps the rejected promise of its task list, so only another runner recovers.
    void refused.promise.then(() => runner.stop()).catch(() => undefined)
    now.ended = Promise.race([runner.promise, stopped.promise.then(() => pause(STOPPED_MS_MAX))])
  }

  /** `supervise` waits for the end. A runner that is already ending rejects, which is ignored. */
  function end(): void {
    now.runner?.stop().catch(() => undefined)
  }

  async function superviseUntil(signal: AbortSignal): Promise<void> {
    let tries = 0
    while (await databaseRetry.retryUntilAvailable(() => markTransient(start()))) {
      const startedMs = clock.spanMs()
      if (signal.aborted) end() // stop was called while the runner started
      await now.ended
      end() // stops the cron of a runner that never resolved
      now.runner = undefined
      if (signal.aborted) return
      tries = clock.spanMs() - startedMs > STEADY_MS ? 0 : tries + 1
      await databaseRetry.backOff(tries)
    }
  }

  return {
    supervise: (signal: AbortSignal) => superviseUntil(signal).finally(() => pgPool.end()),
    end,
  }
}

function startRunner(
  options: Required<WorkerOptions>,
  jobs: readonly Job[],
  at: { pgPool: pg.Pool; concurrency: number; events: WorkerEvents; databaseRetry: DatabaseRetry },
): Promise<Runner> {
  const { log, clock, blockedWork } = options
  return run({
    pgPool: at.pgPool,
    concurrency: at.concurrency,
    events: at.events,
    noHandleSignals: true, // main.ts decides when the process ends
    logger: loggerOf(log, at.databaseRetry),
    // By default graphile-worker does not await the statement that ends a job: if it fails, the
    // error is not caught and the process dies. In batches such an error ends only the runner.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    parsedCronItems: parseCronItems(
      jobs.flatMap((job) =>
        // Missed runs are not repeated: each run handles everything that is due.
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
          await blockedWork.run(job.name, () => job.run(payload))
          const tookMs = Math.round(clock.spanMs() - startedMs)
          if (tookMs > job.limitMs) log.warn({ job: job.name, tookMs }, 'a job took too long')
        },
      ]),
    ),
  })
}

// graphile-worker logs every job at level info; we log only its warnings and errors. While the
// database is away it logs every attempt of every part, for which `databaseRetry` logs one line; so
// does `blockedWork` for a missing grant.
function loggerOf(log: Log, databaseRetry?: DatabaseRetry): Logger {
  return new Logger(() => (level, message, meta) => {
    const error = meta?.error ?? meta?.fatalError
    if (databaseRetry !== undefined && isMissingGrant(error)) {
      return log.debug({ from: 'jobs' }, message)
    }
    if (databaseRetry !== undefined && meta?.failure !== true && error instanceof Error) {
      if (isTransient(error)) {
        databaseRetry.reportFailure(error)
        return log.debug({ from: 'jobs' }, message)
      }
    }
    if (level === 'error') log.error({ from: 'jobs' }, message)
    else if (level === 'warning') log.warn({ from: 'jobs' }, message)
    else log.debug({ from: 'jobs' }, message)
  })
}
