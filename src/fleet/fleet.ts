// Several processes on one port. The parent owns the listening socket and serves no requests
// itself, so that the port stays open when a process dies or is replaced. SIGTERM drains; SIGHUP
// replaces one process after the other, each only when its successor is ready. The parent knows
// which processes take requests, and says so in its readiness and its metrics.
import cluster from 'node:cluster'
import { systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { standardOutput } from '../platform/log-output.ts'
import { createFleetMetrics } from '../platform/metrics/fleet-metrics.ts'
import type { Health } from '../platform/metrics/metrics.ts'
import { createConnections, type ListenAddress } from './connections.ts'
import { createMember } from './member.ts'
import { isParentOlder, joinOlderParent } from './older-parent.ts'
import { createProcesses, type DeathCause, TICK_MS } from './processes.ts'

/** The exit code of a process that refuses its settings, after it has printed why. */
export const REFUSED_CODE = 2

const DEATHS: readonly DeathCause[] = ['died', 'frozen', 'late']

export function createFleet({ count, log }: { readonly count: number; readonly log: Log }) {
  const clock = systemClock
  const state: { isEnding: boolean; port: number | undefined } = {
    isEnding: false,
    port: undefined,
  }
  const deaths = Object.fromEntries(DEATHS.map((cause) => [cause, 0]))
  const firstReady = Promise.withResolvers<void>()
  const allReady = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<'refused'>()
  const metrics = createFleetMetrics()
  const connections = createConnections({ log, clock })
  const processes = createProcesses({
    ...{ count, log, clock, connections, refusedCode: REFUSED_CODE },
    onReady(serving) {
      firstReady.resolve()
      if (serving >= count) allReady.resolve()
    },
    onRefused: () => refused.resolve('refused'),
    onMetrics: metrics.keep,
    onEnd(id, cause) {
      metrics.retire(id)
      if (cause !== undefined) deaths[cause] = (deaths[cause] ?? 0) + 1
    },
  })
  watch()

  function watch(): void {
    metrics.own.gauge('gateway_ready', '1 while the parent is ready', () =>
      Number(health().isReady),
    )
    metrics.own.counter(
      'gateway_log_lines_dropped_total',
      'Log lines dropped because nobody read the log',
      standardOutput.dropped,
    )
    metrics.own.gauge('gateway_processes', 'Processes of the parent', processes.counts)
    metrics.own.counter('gateway_process_deaths_total', 'Processes that died', () => deaths)
    metrics.own.gauge(
      'gateway_connections_waiting',
      'Connections that no process has yet',
      () => connections.counts().waiting,
    )
    metrics.own.counter(
      'gateway_connections_passed_on_total',
      'Idle connections of dead processes that another process took over',
      () => connections.counts().inherited,
    )
    metrics.own.counter(
      'gateway_connections_dropped_total',
      'Connections closed because no process took them',
      () => connections.counts().dropped,
    )
  }

  function health(): Health {
    const { taking } = processes.counts()
    if (state.isEnding) return { isReady: false, why: 'draining' }
    if (state.port === undefined) return { isReady: false, why: 'starting' }
    if (taking === 0) return { isReady: false, why: 'no process takes requests' }
    return { isReady: true, why: ['ready', ...troubles(taking)].join('\n') }
  }

  /** What does not work, although requests are taken. */
  function troubles(taking: number): string[] {
    const all = processes.health()
    const away = all.filter((one) => one.isDatabaseAway).length
    const failing = all.filter((one) => one.areUpstreamsAway).length
    return [
      ...(taking < count ? [`only ${taking} of ${count} processes take requests`] : []),
      ...(away > 0 ? ['the database does not answer: requests wait for it'] : []),
      ...(failing > 0
        ? ['no upstream is well: each fails, refuses our credential, is drained or has none']
        : []),
    ]
  }

  return {
    health,
    /** The sums over all processes, also those that have died. */
    metricsText: () => metrics.text(processes.askMetrics),
    replaceAll: serialized(processes.replaceAll),
    /** Resolves with the exit code of the parent: 0 after `ended`. */
    async run(
      address: ListenAddress & {
        /** Resolves when the fleet should end. */
        readonly ended: Promise<void>
      },
    ): Promise<number> {
      const ended = address.ended.then(() => {
        state.isEnding = true
      })
      setInterval(() => {
        connections.tick()
        processes.tick()
      }, TICK_MS).unref()
      processes.startAll()
      const first = await Promise.race([firstReady.promise, refused.promise, ended])
      if (first === 'refused') return REFUSED_CODE
      if (!state.isEnding && !(await listen(address))) return 1
      await Promise.race([allReady.promise, ended])
      if (!state.isEnding) {
        log.info({ processes: count, host: address.host, port: state.port }, 'the fleet is ready')
      }
      await ended
      connections.close()
      await processes.drainAll()
      return 0
    },
  }

  async function listen(address: ListenAddress): Promise<boolean> {
    try {
      state.port = await connections.listen(address)
      return true
    } catch (error) {
      const { host, port } = address
      log.fatal({ err: error, host, port }, 'the port cannot be opened')
      return false
    }
  }
}

export const isFleetMember = (): boolean => cluster.isWorker

/** For a process of the fleet: its side of the parent's messages. */
export const joinFleet = () => (isParentOlder() ? joinOlderParent() : createMember())

/**
 * Runs the calls of a function one after the other. Calls while one waits are that one: each of
 * many hangups at once would else leave a set of processes that drain, with their connections.
 */
function serialized(act: () => Promise<void>): () => Promise<void> {
  const state = { last: Promise.resolve(), isWaiting: false }
  return () => {
    if (state.isWaiting) return state.last
    state.isWaiting = true
    state.last = state.last.then(() => {
      state.isWaiting = false
      return act()
    })
    return state.last
  }
}
