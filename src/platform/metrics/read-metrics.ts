// Metrics that read their numbers from a module at each scrape. A reader returns one number, or an
// object of numbers, which become the label `of`.
import { Counter, Gauge, type Registry } from 'prom-client'

export type Numbers = number | Readonly<Record<string, number>>

export function createReadMetrics(registry: Registry) {
  const registers = [registry]
  const labelsOf = (read: () => Numbers) => (typeof read() === 'object' ? ['of'] : [])
  return {
    /** `aggregator`: how the values of a fleet's processes become one. */
    gauge(
      name: string,
      help: string,
      read: () => Numbers,
      aggregator: 'sum' | 'max' | 'min' = 'sum',
    ): void {
      const gauge: Gauge<string> = new Gauge({
        name,
        help,
        aggregator,
        labelNames: labelsOf(read),
        registers,
        collect() {
          const value = read()
          // Labels that are no longer there must not keep their last value.
          this.reset()
          if (typeof value === 'number') this.set(value)
          else for (const [of, one] of Object.entries(value)) this.set({ of }, one)
        },
      })
      void gauge
    },
    /** It starts at zero with its process. */
    counter(name: string, help: string, read: () => Numbers): void {
      const counter: Counter<string> = new Counter({
        name,
        help,
        labelNames: labelsOf(read),
        registers,
        collect() {
          const value = read()
          this.reset()
          if (typeof value === 'number') this.inc(value)
          else for (const [of, one] of Object.entries(value)) this.inc({ of }, one)
        },
      })
      void counter
    },
    /** A gauge that queries the database. */
    asyncGauge(
      name: string,
      help: string,
      read: () => Promise<Readonly<Record<string, number>>>,
    ): void {
      const gauge: Gauge<string> = new Gauge({
        name,
        help,
        labelNames: ['of'],
        registers,
        async collect() {
          // Without an answer report no number: an old one would hide that the database does not
          // answer.
          this.reset()
          const values = await read().catch(() => ({}))
          for (const [of, one] of Object.entries(values)) this.set({ of }, one)
        },
      })
      void gauge
    },
  }
}
