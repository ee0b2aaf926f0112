// Runs jobs: graphile-worker inside our PostgreSQL, so that a job enqueued in a transaction exists
// exactly when the transaction does. Which jobs there are is the table in src/jobs.ts.
import { Logger, parseCronItems, run, runMigrations } from 'graphile-worker'
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

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

/**
 * Starts working. `stop` lets running jobs end. A job with places of its own has a runner of its
 * own: were it in the common one, a relay or provider that hangs would take every place there.
 * graphile-worker's named queues would limit it too, but a process that dies leaves its queue
 * locked for four hours.
 */
export async function startWorker(options: WorkerOptions): Promise<{ stop(): Promise<void> }> {
  const common = options.jobs.filter((job) => job.places === undefined)
  const runners = [await startRunner(options, common, CONCURRENCY)]
  for (const job of options.jobs) {
    if (job.places !== undefined) runners.push(await startRunner(options, [job], job.places))
  }
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()))
    },
  }
}

function startRunner(options: WorkerOptions, jobs: readonly Job[], concurrency: number) {
  const { log, clock } = options
  return run({
    connectionString: options.databaseUrl,
    concurrency,
    noHandleSignals: true, // main.ts decides when the process ends
    logger: loggerOf(log),
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

// graphile-worker reports every job at info; our log keeps its warnings and errors.
function loggerOf(log: Log): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.error({ from: 'jobs' }, message)
    else if (level === 'warning') log.warn({ from: 'jobs' }, message)
    else log.debug({ from: 'jobs' }, message)
  })
}
