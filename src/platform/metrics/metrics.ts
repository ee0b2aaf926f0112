// Metrics for Prometheus, on a port of their own, with health checks beside them. Names follow the
// gen_ai conventions where there is one. Never an account, key or request as a label: they would
// leak who our customers are, and each would be a time series.
import { createServer, type Server } from 'node:http'
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client'

/** The conventions' own buckets for tokens and for seconds. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const SECOND_BUCKETS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

/** What one process counts. Reading a gauge asks its owner. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'gateway_' })
  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Answers by route and status',
    labelNames: ['route', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'gen_ai_server_request_duration_seconds',
    help: 'From the first byte of a message request to the end of its reply',
    buckets: SECOND_BUCKETS,
    labelNames: ['gen_ai_request_model'],
    registers,
  })
  const firstChunks = new Histogram({
    name: 'gen_ai_client_operation_time_to_first_chunk_seconds',
    help: 'From sending upstream to its status',
    buckets: SECOND_BUCKETS,
    labelNames: ['gen_ai_request_model'],
    registers,
  })
  const tokens = new Histogram({
    name: 'gen_ai_client_token_usage',
    help: 'Billable tokens of replies',
    buckets: TOKEN_BUCKETS,
    labelNames: ['gen_ai_token_type', 'gen_ai_request_model'],
    registers,
  })
  const endings = new Counter({
    name: 'gateway_endings_total',
    help: 'How message requests ended',
    labelNames: ['ending'],
    registers,
  })
  const answered = remembered<Counter.Internal>()
  const lasted = remembered<Histogram.Internal<string>>()
  const began = remembered<Histogram.Internal<string>>()
  const used = remembered<Histogram.Internal<string>>()
  const ended = remembered<Counter.Internal>()

  return {
    registry,
    answered: (route: string, status: number) =>
      answered(`${route} ${status}`, () => requests.labels({ route, status })).inc(),
    lasted: (model: string, seconds: number) =>
      lasted(model, () => durations.labels({ gen_ai_request_model: model })).observe(seconds),
    began: (model: string, seconds: number) =>
      began(model, () => firstChunks.labels({ gen_ai_request_model: model })).observe(seconds),
    used: (model: string, kind: 'input' | 'output', count: number) =>
      used(`${kind} ${model}`, () =>
        tokens.labels({ gen_ai_token_type: kind, gen_ai_request_model: model }),
      ).observe(count),
    ended: (ending: string) => ended(ending, () => endings.labels({ ending })).inc(),
    /** A number that is asked for when it is read. */
    gauge(name: string, help: string, read: () => number | Readonly<Record<string, number>>): void {
      const labelled = typeof read() === 'object'
      const gauge: Gauge<string> = new Gauge({
        name,
        help,
        labelNames: labelled ? ['of'] : [],
        registers,
        collect() {
          const value = read()
          if (typeof value === 'number') this.set(value)
          else for (const [of, one] of Object.entries(value)) this.set({ of }, one)
        },
      })
      void gauge
    },
    /** A number that only grows, and starts anew with its process. */
    counter(name: string, help: string, read: () => number): void {
      const counter: Counter = new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
      void counter
    },
    /** A gauge for numbers that take a question to the database, asked at each scrape. */
    asked(name: string, help: string, read: () => Promise<Readonly<Record<string, number>>>): void {
      const gauge: Gauge<string> = new Gauge({
        name,
        help,
        labelNames: ['of'],
        registers,
        async collect() {
          // Without an answer there is no number: an old one would hide that nobody answers.
          this.reset()
          const values = await read().catch(() => ({}))
          for (const [of, one] of Object.entries(values)) this.set({ of }, one)
        },
      })
      void gauge
    },
  }
}

/** Labels are hashed at each use: 6 us a request, and they are few. */
function remembered<T>() {
  const known = new Map<string, T>()
  return (key: string, make: () => T): T => {
    const found = known.get(key) ?? make()
    if (!known.has(key)) known.set(key, found)
    return found
  }
}

export type Metrics = ReturnType<typeof createMetrics>

export type Health = { readonly isReady: boolean; readonly why: string }

/**
 * The metrics port. `text` gives the page; `health` says whether requests should come here. The
 * health paths include those that probes of other gateways already ask for.
 */
export function createMetricsServer(options: {
  readonly text: () => Promise<string>
  readonly health: () => Health
}): Server {
  return createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0]
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
      response.end(body)
    }
    if (path === '/metrics') {
      options.text().then(
        (text) => answer(200, text, 'text/plain; version=0.0.4; charset=utf-8'),
        (error: unknown) => answer(500, String(error)),
      )
    } else if (path === '/healthz' || path === '/health/liveliness') answer(200, 'alive\n')
    else if (path === '/readyz' || path === '/health/readiness') {
      const { isReady, why } = options.health()
      answer(isReady ? 200 : 503, `${why}\n`)
    } else answer(404, 'metrics, healthz and readyz are here\n')
  })
}

/** In the parent of a fleet: the sum over its processes. */
export function createFleetMetrics(): { text(): Promise<string> } {
  const aggregator = new AggregatorRegistry()
  return { text: () => aggregator.clusterMetrics() }
}

/** In a process of a fleet: its registry is what the parent asks for. */
export function shareMetrics(registry: Registry): void {
  new AggregatorRegistry() // only a constructed one listens for the parent's question
  AggregatorRegistry.setRegistries(registry)
}
