// A histogram whose observation is two additions. prom-client hashes the labels at every one, 1.4
// us each and six a request; here whoever observes holds the series. Read by prom-client's registry
// as one of its own.
import type { Registry } from 'prom-client'

export type Series = { observe(value: number): void }

type Value = {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  readonly metricName: string
}

export function createTally<Label extends string>(options: {
  readonly name: string
  readonly help: string
  readonly buckets: readonly number[]
  readonly registry: Registry
}) {
  const { name, buckets } = options
  const all: { labels: Record<string, string>; counts: Float64Array; sum: number }[] = []

  function valuesOf({ labels, counts, sum }: (typeof all)[number]): Value[] {
    let below = 0
    const bounds = [...buckets, '+Inf'].map((le, i) => {
      below += counts[i] as number
      return { value: below, labels: { le, ...labels }, metricName: `${name}_bucket` }
    })
    return [
      ...bounds,
      { value: sum, labels, metricName: `${name}_sum` },
      { value: below, labels, metricName: `${name}_count` },
    ]
  }

  const metric = {
    name,
    help: options.help,
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({
      name,
      help: options.help,
      type: 'histogram',
      aggregator: 'sum',
      values: all.flatMap(valuesOf),
    }),
    reset: () => void all.splice(0),
  }
  // The registry asks a metric for `get` and `name` only, though its types want a class.
  options.registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])

  return {
    /** A series of its own; ask once and keep it. */
    series(labels: Record<Label, string>): Series {
      const one = { labels, counts: new Float64Array(buckets.length + 1), sum: 0 }
      all.push(one)
      return {
        observe(value) {
          let at = 0
          while (at < buckets.length && value > (buckets[at] as number)) at += 1
          one.counts[at] = (one.counts[at] as number) + 1
          one.sum += value
        },
      }
    },
  }
}
