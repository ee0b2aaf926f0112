// The processes of a fleet: starts, watches, drains and replaces them. A process beats twice a
// second. One that is silent gets no new connection. One that stays silent is frozen: the parent
// kills it, passes its idle connections on and starts another.
import cluster, { Worker } from 'node:cluster'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { MetricSnapshot } from '../platform/metrics/fleet-metrics.ts'
import type { Connections, Receiver } from './connections.ts'
import { createMarks, type Marks } from './marks.ts'
import type { ParentMessage, ProcessHealth, ProcessMessage } from './messages.ts'
import { MEMBER_OPTION } from './older-parent.ts'

/** The parent counts its own ticks: if the whole machine pauses, no process looks silent. */
export const TICK_MS = 500
/** 2 s without a beat: four beats late is more than a busy event loop is. */
const SILENT_TICKS = 4
/** 5 s. A garbage collection or a large body never stops an event loop for so long. */
const FROZEN_TICKS = 10
/** Between two starts, doubled with each process that dies before it is ready. */
const RESTART_MS = 1_000
const RESTART_MS_MAX = 30_000
/**
 * A process that is not ready by then is killed; the one that it should replace keeps serving. Its
 * time begins again whenever it reports that it waits for the database.
 */
const READY_MS = 60_000

const HEALTHY: ProcessHealth = { isDatabaseAway: false, areUpstreamsAway: false }

type Stage = 'starting' | 'serving' | 'draining'

type Process = {
  readonly worker: Worker
  readonly receiver: Receiver
  readonly startedMs: number
  readonly ready: PromiseWithResolvers<Process>
  readonly readyTimer: NodeJS.Timeout
  stage: Stage
  ticksSilent: number
  health: ProcessHealth
  /** Why the parent killed it. */
  killedAs: 'frozen' | 'late' | undefined
}

export type DeathCause = 'frozen' | 'late' | 'died'

type ProcessesOptions = {
  readonly count: number
  readonly log: Log
  readonly clock: Clock
  readonly connections: Connections
  /** The exit code of a process that refuses its settings. */
  readonly refusedCode: number
  /** A process is ready; `serving` of them are. */
  onReady(serving: number): void
  /** A process refused its settings, before any was ready. */
  onRefused(): void
  onMetrics(id: number, round: number, metrics: readonly MetricSnapshot[]): void
  /** A process has ended; `cause` is undefined if it was to end. */
  onEnd(id: number, cause: DeathCause | undefined): void
}

export function createProcesses(options: ProcessesOptions) {
  const { log, clock, connections, count } = options
  const state = { isEnding: false, wasReady: false, failedStarts: 0 }
  const processes = new Set<Process>()
  const of = (stage: Stage) => [...processes].filter((one) => one.stage === stage)
  /** Processes that are not draining. A draining one may serve its streams for a long time. */
  const members = () => [...processes].filter((one) => one.stage !== 'draining')
  const taking = () => of('serving').filter((one) => one.receiver.isTaking)

  /** Rejects if the process cannot be created or dies before it is ready; both are logged. */
  function start(): Promise<Process> {
    const marks = createMarks()
    if (marks.stdio === 'ignore') log.warn('no room for the marks of a process')
    const worker = fork(marks)
    if (worker instanceof Worker) return watch(worker, marks)
    return worker.catch((error: unknown) => failStart(marks, error))
  }

  function failStart(marks: Marks, error: unknown): Promise<never> {
    marks.close()
    state.failedStarts += 1
    log.error({ err: error }, 'a process cannot be created; trying again')
    startLater(0)
    return Promise.reject(error)
  }

  function watch(worker: Worker, marks: Marks): Promise<Process> {
    const receiver = connections.add(marks, (message, socket, onUnsent) =>
      worker.process.send(message, socket, { keepOpen: true }, (error) => error && onUnsent()),
    )
    const one: Process = {
      ...{ worker, receiver, startedMs: clock.spanMs(), ready: Promise.withResolvers<Process>() },
      readyTimer: setTimeout(() => kill(one, 'late'), READY_MS),
      ...{ stage: 'starting', ticksSilent: 0, health: HEALTHY, killedAs: undefined },
    }
    processes.add(one)
    worker.on('message', (message: ProcessMessage) => receive(one, message))
    // A message was sent to a process that is dying; its exit is logged below.
    worker.on('error', (error) =>
      log.warn({ process: worker.process.pid, err: error }, 'a message did not reach a process'),
    )
    worker.once('exit', (code, signal) => bury(one, code, signal))
    return one.ready.promise.finally(() => clearTimeout(one.readyTimer))
  }

  function receive(one: Process, message: ProcessMessage): void {
    if (!processes.has(one)) return // it has died; what it said last is not needed
    if (message.kind === 'ready') {
      one.stage = 'serving'
      state.failedStarts = 0
      state.wasReady = true
      connections.setTaking(one.receiver, true)
      options.onReady(of('serving').length)
      one.ready.resolve(one)
    } else if (message.kind === 'beat') {
      one.ticksSilent = 0
      one.health = message.health
      if (one.stage === 'starting') one.readyTimer.refresh()
      if (one.stage === 'serving' && !one.receiver.isTaking) {
        connections.setTaking(one.receiver, true)
      }
    } else if (message.kind === 'connections') {
      connections.report(one.receiver, message)
    } else options.onMetrics(one.worker.id, message.round, message.metrics)
  }

  function kill(one: Process, as: 'frozen' | 'late'): void {
    one.killedAs = as
    one.worker.process.kill('SIGKILL')
  }

  function bury(one: Process, code: number | null, signal: string | null): void {
    processes.delete(one)
    connections.remove(one.receiver)
    one.ready.reject(new Error(`ended with ${signal ?? code}`))
    const isExpected = one.stage === 'draining' && code === 0
    options.onEnd(one.worker.id, isExpected ? undefined : (one.killedAs ?? 'died'))
    // At the first start another process would read the same settings and refuse them again.
    if (code === options.refusedCode && !state.wasReady) {
      state.isEnding = true
      options.onRefused()
    }
    const { pid } = one.worker.process
    if (one.stage === 'draining' && !isExpected) {
      log.error({ process: pid, code, signal }, 'a process died while it drained')
    }
    if (one.stage === 'draining' || state.isEnding) return
    if (one.stage === 'starting') state.failedStarts += 1
    log.error({ process: pid, code, signal }, 'a process died; starting another')
    startLater(clock.spanMs() - one.startedMs)
  }

  function startLater(livedMs: number): void {
    const pauseMs = pauseMsAfter(state.failedStarts)
    setTimeout(() => void startMissing(), Math.max(0, pauseMs - livedMs))
  }

  /** Starts a process if one is missing. */
  async function startMissing(): Promise<void> {
    if (state.isEnding || members().length >= count) return
    await start().catch(() => undefined) // it is logged
  }

  function drain(one: Process): void {
    one.stage = 'draining'
    connections.setTaking(one.receiver, false)
    tell(one, { kind: 'drain' })
  }

  function tell(one: Process, message: ParentMessage): void {
    if (one.worker.isConnected()) one.worker.send(message)
  }

  /** Starts a new process for each old one, and drains the old one when the new one is ready. */
  async function replaceAll(): Promise<void> {
    for (const old of members()) {
      if (state.isEnding) return
      if (!processes.has(old)) continue // it died meanwhile and has been replaced
      const fresh = await start().catch((error: unknown) => {
        log.error({ err: error }, 'a new process did not start; the old ones go on')
        return undefined
      })
      if (fresh === undefined) return
      if (processes.has(old)) drain(old)
    }
    // A process that died while its successor started has not been replaced yet.
    await startMissing()
    log.info('every process was replaced')
  }

  /** Looks for processes that do not beat. */
  function tick(): void {
    for (const one of [...of('serving'), ...of('draining')]) {
      one.ticksSilent += 1
      if (one.ticksSilent === SILENT_TICKS) connections.setTaking(one.receiver, false)
      if (one.ticksSilent !== FROZEN_TICKS) continue
      kill(one, 'frozen') // first: the log's reader may be what stands still
      log.error({ process: one.worker.process.pid }, 'a process is frozen; it was killed')
    }
  }

  return {
    /** Starts as many as are missing, and starts those again that die. */
    startAll(): void {
      for (let i = 0; i < count; i++) void startMissing()
    },
    replaceAll,
    tick,
    counts: () => ({
      configured: count,
      taking: taking().length,
      starting: of('starting').length,
      draining: of('draining').length,
    }),
    /** Of the processes that take requests. */
    health: () => taking().map((one) => one.health),
    /** Asks every process for its metrics; returns those that were asked. */
    askMetrics(round: number): number[] {
      const asked = [...of('serving'), ...of('draining')]
      for (const one of asked) tell(one, { kind: 'metrics', round })
      return asked.map((one) => one.worker.id)
    },
    /** Resolves when the last process has ended. */
    async drainAll(): Promise<void> {
      state.isEnding = true
      const ends = [...processes].map(({ worker }) => {
        return new Promise((resolve) => worker.once('exit', resolve))
      })
      for (const one of processes) drain(one)
      await Promise.all(ends)
    },
  }
}

const pauseMsAfter = (failedStarts: number): number =>
  Math.min(RESTART_MS_MAX, RESTART_MS * 2 ** Math.max(0, failedStarts - 1))

/** Of some errors (EAGAIN, EMFILE) Node tells by an event, of others by an exception. */
function fork(marks: Marks): Worker | Promise<never> {
  cluster.setupPrimary({
    stdio: ['inherit', 'inherit', 'inherit', 'ipc', marks.stdio],
    execArgv: [...process.execArgv, MEMBER_OPTION],
  })
  try {
    const worker = cluster.fork()
    if (worker.process.pid !== undefined) return worker
    delete cluster.workers?.[worker.id] // node:cluster would keep it until it exits
    return new Promise((_, reject) => worker.on('error', reject))
  } catch (error) {
    return Promise.reject(error)
  }
}
