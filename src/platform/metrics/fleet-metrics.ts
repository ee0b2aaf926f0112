// The metrics of a fleet: the sums over its processes. A process that does not answer in time
// counts with what it reported last. A dead one leaves its counters and histograms, because
// Prometheus would take a counter that falls for a restart of the whole fleet.
import { AggregatorRegistry, Registry } from 'prom-client'
import { createReadMetrics } from './read-metrics.ts'

/** Half of the second in which `/metrics` answers. */
const ANSWER_MS_MAX = 500

/** One metric, in the form in which prom-client passes it between processes. */
export type MetricSnapshot = { readonly name: string; readonly type: unknown }

type Ask = { readonly round: number; readonly missing: Set<number>; done(): void }

export function createFleetMetrics() {
  const registry = new Registry()
  const newest = new Map<number, readonly MetricSnapshot[]>()
  const state: { round: number; dead: readonly MetricSnapshot[] } = { round: 0, dead: [] }
  const asks = new Set<Ask>()

  function settle(id: number, round: number): void {
    for (const ask of asks) {
      if (ask.round <= round) ask.missing.delete(id)
      if (ask.missing.size === 0) ask.done()
    }
  }

  /** Resolves when these processes have answered or died, or time is up. */
  function answersOf(asked: readonly number[], round: number): Promise<void> {
    if (asked.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const ask: Ask = {
        round,
        missing: new Set(asked),
        done() {
          clearTimeout(timer)
          asks.delete(ask)
          resolve()
        },
      }
      const timer = setTimeout(ask.done, ANSWER_MS_MAX)
      asks.add(ask)
    })
  }

  return {
    /** The parent's own metrics. */
    own: createReadMetrics(registry),
    /** What a process reported, in answer to a round of questions or by itself (round 0). */
    keep(id: number, round: number, metrics: readonly MetricSnapshot[]): void {
      newest.set(id, metrics)
      settle(id, round)
    },
    /** The process has ended. */
    retire(id: number): void {
      const lasting = (newest.get(id) ?? []).filter(
        ({ type }) => type === 'counter' || type === 'histogram',
      )
      newest.delete(id)
      state.dead = aggregate([state.dead, lasting]).getMetricsAsArray()
      settle(id, Number.POSITIVE_INFINITY)
    },
    /** `ask` sends the question to each process and returns whom it asked. */
    async text(ask: (round: number) => readonly number[]): Promise<string> {
      state.round += 1
      await answersOf(ask(state.round), state.round)
      const own = await registry.getMetricsAsJSON()
      return rounded(aggregate([own, state.dead, ...newest.values()])).metrics()
    },
  }
}

/**
 * A process that ends changes the order of the sum, and with it the sixteenth digit of seconds. To
 * Prometheus that would be a counter that falls.
 */
function rounded(registry: Registry): Registry {
  for (const metric of registry.getMetricsAsArray()) {
    const { values } = metric as unknown as { values: { value: number }[] }
    for (const one of values) one.value = Math.round(one.value * 1e6) / 1e6
  }
  return registry
}

function aggregate(all: readonly (readonly MetricSnapshot[])[]): Registry {
  return AggregatorRegistry.aggregate(all as object[])
}
