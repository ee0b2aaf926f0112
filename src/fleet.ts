// Several processes on one port. The parent keeps the listening socket and serves nothing itself,
// so a process may die, or be replaced by a new one, without the port being closed as long as
// another is there. SIGTERM drains; SIGHUP replaces one process after the other, each only when its
// successor is ready.
import cluster, { type Worker } from 'node:cluster'
import { systemClock } from './platform/clock.ts'
import type { Log } from './platform/log.ts'

/** Starts are so far apart: with one that dies at once the machine would do nothing else. */
const RESTART_MS = 1_000
/** A process that is not ready by then will not be; the one it should replace goes on. */
const READY_MS = 60_000

/** The exit code of a process that refuses its settings, after it has printed why. */
export const REFUSED_CODE = 2

export type FleetMessage = 'ready' | 'drain'

/** Resolves with the exit code of the parent: 0 when it was told to end, or REFUSED_CODE. */
export async function runFleet(options: {
  readonly processes: number
  readonly log: Log
  /** Called once, when every process answers. */
  onReady(): void
  /** Resolves when the fleet should end. */
  readonly ended: Promise<void>
  /** Called on SIGHUP and such; the given function replaces all processes. */
  onReplace(replace: () => Promise<void>): void
}): Promise<number> {
  const { log, processes } = options
  const { state, start, leave, replaceAll } = createMembers(log, processes)
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
  const all = living()
  for (const worker of all) leave(worker)
  await Promise.all(all.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
  return 0
}

/** The processes of a fleet: how one is started, leaves, and makes room for a new one. */
function createMembers(log: Log, processes: number) {
  const state = { isReady: false, isRefused: false, isEnding: false }
  /** Those that are to stay. Who was told to leave may serve its streams for long. */
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
    // Something was sent to it as it died; its end says the rest.
    worker.on('error', (error) => log.warn({ process: worker.process.pid, err: error }, 'unheard'))
    worker.once('exit', (code, signal) => {
      ready.reject(new Error(`ended with ${signal ?? code}`))
      // At the first start the next process would read the same settings, and refuse them again.
      if (code === REFUSED_CODE && !state.isReady) state.isRefused = state.isEnding = true
      if (!members.delete(worker) || state.isEnding) return
      log.error({ process: worker.process.pid, code, signal }, 'a process died; starting another')
      const livedMs = systemClock.spanMs() - startedMs
      setTimeout(() => void fill(), Math.max(0, RESTART_MS - livedMs))
    })
    return ready.promise.finally(() => clearTimeout(timer))
  }

  /** Starts one if one is missing. */
  async function fill(): Promise<void> {
    if (state.isEnding || members.size >= processes) return
    await start().catch((error: unknown) => log.error({ err: error }, 'a process did not start'))
  }

  function leave(worker: Worker): void {
    members.delete(worker)
    if (worker.isConnected()) worker.send('drain' satisfies FleetMessage)
  }

  /** A new process for each old one; the old one leaves when the new one is ready. */
  async function replaceAll(): Promise<void> {
    for (const old of [...members]) {
      if (state.isEnding) return
      if (!members.has(old)) continue // it died meanwhile, and has its successor
      const fresh = await start().catch((error: unknown) => {
        log.error({ err: error }, 'a new process did not start; the old ones go on')
        return undefined
      })
      if (fresh === undefined) return
      leave(old)
    }
    // One that died beside its successor was not missed until now.
    await fill()
    log.info('every process was replaced')
  }

  return { state, start, leave, replaceAll }
}

function living(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter(
    (worker): worker is Worker => worker !== undefined && !worker.isDead(),
  )
}

/** Inside a process of the fleet: tells the parent, and hears when to leave. */
export function joinFleet(): { ready(): void; drained: Promise<void> } {
  const drained = Promise.withResolvers<void>()
  process.on('message', (message: FleetMessage) => {
    if (message === 'drain') drained.resolve()
  })
  // The parent is gone: without its socket no connection will ever come again.
  process.on('disconnect', () => drained.resolve())
  return {
    ready: () => void process.send?.('ready' satisfies FleetMessage),
    drained: drained.promise,
  }
}

export const isFleetMember = (): boolean => cluster.isWorker
