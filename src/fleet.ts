// Several processes on one port. The parent owns the listening socket and serves no requests
// itself, so that the port stays open when a process dies or is replaced. SIGTERM drains; SIGHUP
// replaces one process after the other, each only when its successor is ready.
import cluster, { type Worker } from 'node:cluster'
import { systemClock } from './platform/clock.ts'
import type { Log } from './platform/log.ts'

/**
 * Time between two starts: otherwise a process that dies at once would be restarted without pause.
 */
const RESTART_MS = 1_000
/** A process that is not ready by then is killed; the one that it should replace keeps serving. */
const READY_MS = 60_000

/** The exit code of a process that refuses its settings, after it has printed why. */
export const REFUSED_CODE = 2

export type FleetMessage = 'ready' | 'drain'

/** Resolves with the exit code of the parent: 0 after `ended`, or REFUSED_CODE. */
export async function runFleet(options: {
  readonly processes: number
  readonly log: Log
  /** Called once, when every process is ready. */
  onReady(): void
  /** Resolves when the fleet should end. */
  readonly ended: Promise<void>
  /** Called once with the function that replaces all processes, for SIGHUP. */
  onReplace(replace: () => Promise<void>): void
}): Promise<number> {
  const { log, processes } = options
  const { state, start, drain, replaceAll } = createProcesses(log, processes)
  const replacing = { last: Promise.resolve() }
  options.onReplace(() => {
    replacing.last = replacing.last.then(replaceAll)
    return replacing.last
  })
  await Promise.all(Array.from({ length: processes }, start)).catch((error: unknown) => {
    if (!state.isRefused) throw error
  })
  if (state.isRefused) return REFUSED_CODE
  state.isReady = true
  options.onReady()
  log.info({ processes }, 'the fleet is ready')
  await options.ended
  state.isEnding = true
  const all = livingWorkers()
  for (const worker of all) drain(worker)
  await Promise.all(all.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
  return 0
}

/** The processes of a fleet: starts, drains and replaces them. */
function createProcesses(log: Log, processes: number) {
  const state = { isReady: false, isRefused: false, isEnding: false }
  /** Processes that are not draining. A draining one may serve its streams for a long time. */
  const members = new Set<Worker>()

  function start(): Promise<Worker> {
    const worker = cluster.fork()
    const startedMs = systemClock.spanMs()
    const ready = Promise.withResolvers<Worker>()
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), READY_MS)
    members.add(worker)
    worker.on('message', (message: FleetMessage) => {
      if (message === 'ready') ready.resolve(worker)
    })
    // A message was sent to a process that is dying; its exit is logged below.
    worker.on('error', (error) =>
      log.warn({ process: worker.process.pid, err: error }, 'a message did not reach a process'),
    )
    worker.once('exit', (code, signal) => {
      ready.reject(new Error(`ended with ${signal ?? code}`))
      // At the first start another process would read the same settings and refuse them again.
      if (code === REFUSED_CODE && !state.isReady) state.isRefused = state.isEnding = true
      if (!members.delete(worker) || state.isEnding) return
      log.error({ process: worker.process.pid, code, signal }, 'a process died; starting another')
      const livedMs = systemClock.spanMs() - startedMs
      setTimeout(() => void startMissing(), Math.max(0, RESTART_MS - livedMs))
    })
    return ready.promise.finally(() => clearTimeout(timer))
  }

  /** Starts a process if one is missing. */
  async function startMissing(): Promise<void> {
    if (state.isEnding || members.size >= processes) return
    await start().catch((error: unknown) => log.error({ err: error }, 'a process did not start'))
  }

  function drain(worker: Worker): void {
    members.delete(worker)
    if (worker.isConnected()) worker.send('drain' satisfies FleetMessage)
  }

  /** Starts a new process for each old one, and drains the old one when the new one is ready. */
  async function replaceAll(): Promise<void> {
    for (const old of [...members]) {
      if (state.isEnding) return
      if (!members.has(old)) continue // it died meanwhile and has been replaced
      const fresh = await start().catch((error: unknown) => {
        log.error({ err: error }, 'a new process did not start; the old ones go on')
        return undefined
      })
      if (fresh === undefined) return
      drain(old)
    }
    // A process that died while its successor started has not been replaced yet.
    await startMissing()
    log.info('every process was replaced')
  }

  return { state, start, drain, replaceAll }
}

function livingWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(
    (worker): worker is Worker => worker !== undefined && !worker.isDead(),
  )
}

/**
 * For a process of the fleet: reports to the parent, and resolves `drained` when it should drain.
 */
export function joinFleet(): { ready(): void; drained: Promise<void> } {
  const drained = Promise.withResolvers<void>()
  process.on('message', (message: FleetMessage) => {
    if (message === 'drain') drained.resolve()
  })
  // The parent has ended and closed its socket: no new connection will arrive.
  process.on('disconnect', () => drained.resolve())
  return {
    ready: () => void process.send?.('ready' satisfies FleetMessage),
    drained: drained.promise,
  }
}

export const isFleetMember = (): boolean => cluster.isWorker
