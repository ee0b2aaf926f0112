// Metrics for Prometheus and health checks, on a separate port. Names follow the gen_ai conventions
// where they exist. Accounts, keys and requests are never labels: they would reveal our customers,
// and each value would become a time series.
import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Log } from '../log.ts'
import { createReadMetrics } from './read-metrics.ts'

/** The conventions' own buckets for tokens and for seconds. */
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, i) => 4 ** i)
const SECOND_BUCKETS = Array.from({ length: 14 }, (_, i) => 0.01 * 2 ** i)

/** A port that is in use may become free: the process that has it may be ending. */
const LISTEN_RETRY_MS = 5_000

/** The metrics of one process. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'gateway_' })
  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Answers by route and status, or by who closed the connection before one was sent',
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
  const answersCache = createLabelCache<Counter.Internal>()
  const durationsCache = createLabelCache<Histogram.Internal<string>>()
  const firstChunksCache = createLabelCache<Histogram.Internal<string>>()
  const tokensCache = createLabelCache<Histogram.Internal<string>>()
  const endingsCache = createLabelCache<Counter.Internal>()

  return {
    registry,
    countAnswer: (route: string, status: number | string) =>
      answersCache(`${route} ${status}`, () => requests.labels({ route, status })).inc(),
    observeDuration: (model: string, seconds: number) =>
      durationsCache(model, () => durations.labels({ gen_ai_request_model: model })).observe(
        seconds,
      ),
    observeFirstChunk: (model: string, seconds: number) =>
      firstChunksCache(model, () => firstChunks.labels({ gen_ai_request_model: model })).observe(
        seconds,
      ),
    observeTokens: (model: string, kind: 'input' | 'output', count: number) =>
      tokensCache(`${kind} ${model}`, () =>
        tokens.labels({ gen_ai_token_type: kind, gen_ai_request_model: model }),
      ).observe(count),
    countEnding: (ending: string) => endingsCache(ending, () => endings.labels({ ending })).inc(),
    ...refusalCounter(registers),
    ...usageCounters(registers),
    ...upstreamMetrics(registers),
    ...createReadMetrics(registry),
  }
}

function refusalCounter(registers: Registry[]) {
  const refusals = new Counter({
    name: 'gateway_refusals_total',
    help: 'Requests that were refused, by the code of docs/errors.md',
    labelNames: ['code'],
    registers,
  })
  const cache = createLabelCache<Counter.Internal>()
  return {
    countRefusal: (code: string) => cache(code, () => refusals.labels({ code })).inc(),
  }
}

/** The targets come from the configuration, and the outcomes from a closed list. */
function upstreamMetrics(registers: Registry[]) {
  const attempts = new Counter({
    name: 'gateway_upstream_attempts_total',
    help: 'Requests sent to a target, by what its answer meant; unanswered: none came',
    labelNames: ['target', 'outcome'],
    registers,
  })
  const retries = new Counter({
    name: 'gateway_upstream_retries_total',
    help: 'Requests sent to a target after another attempt had failed',
    labelNames: ['target'],
    registers,
  })
  const seconds = new Histogram({
    name: 'gateway_upstream_status_seconds',
    help: 'From choosing a target to its status; a plain reply has one only when it is complete',
    buckets: SECOND_BUCKETS,
    labelNames: ['target'],
    registers,
  })
  const attemptsCache = createLabelCache<Counter.Internal>()
  const secondsCache = createLabelCache<Histogram.Internal<string>>()
  return {
    observeUpstream(one: {
      readonly target: string
      readonly outcome: string
      readonly seconds: number
      readonly isRetry: boolean
    }): void {
      const { target, outcome } = one
      attemptsCache(`${target} ${outcome}`, () => attempts.labels({ target, outcome })).inc()
      secondsCache(target, () => seconds.labels({ target })).observe(one.seconds)
      if (one.isRetry) retries.labels({ target }).inc()
    },
  }
}

/** The names come from upstreams: without a limit each new one would become a time series. */
const MEMBERS_MAX = 50

/** Replies whose usage the catalogue or the hold does not cover. */
function usageCounters(registers: Registry[]) {
  const unlisted = new Counter({
    name: 'gateway_unlisted_usage_total',
    help: 'Replies whose usage has a member or a value that the catalogue does not list',
    labelNames: ['gen_ai_request_model', 'member'],
    registers,
  })
  const beyondHold = new Counter({
    name: 'gateway_usage_beyond_hold_total',
    help: 'Replies that cost more than was held; the excess was written off',
    registers,
  })
  const inputCounts = new Counter({
    name: 'gateway_input_counts_total',
    help: 'Calls of count_tokens for requests whose small reply did not fit the balance by bytes',
    labelNames: ['outcome'],
    registers,
  })
  const members = new Set<string>()
  return {
    countBeyondHold: () => beyondHold.inc(),
    countInputCount: (outcome: string) => inputCounts.labels({ outcome }).inc(),
    countUnlistedUsage(model: string, member: string): void {
      if (members.size < MEMBERS_MAX) members.add(member)
      const shown = members.has(member) ? member : 'other'
      unlisted.labels({ gen_ai_request_model: model, member: shown }).inc()
    },
  }
}

/** Caches the metrics of label sets: prom-client hashes labels at each use, 6 µs a request. */
function createLabelCache<T>() {
  const cache = new Map<string, T>()
  return (key: string, make: () => T): T => {
    const found = cache.get(key) ?? make()
    if (!cache.has(key)) cache.set(key, found)
    return found
  }
}

export type Metrics = ReturnType<typeof createMetrics>

export type Health = { readonly isReady: boolean; readonly why: string }

/**
 * The server of the metrics port. `text` returns the metrics; `health` says whether this process
 * should get requests. The health paths include those that probes for other gateways use.
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

/** A process works without its metrics too: a port that is in use is logged and tried again. */
export function listenForMetrics(
  server: Server,
  { port, host, log }: { readonly port: number; readonly host: string; readonly log: Log },
): Server {
  const state: { timer?: NodeJS.Timeout } = {}
  server.on('error', (error) => {
    log.warn({ err: error, port }, 'metrics are not served; trying again')
    state.timer = setTimeout(() => server.listen(port, host), LISTEN_RETRY_MS)
  })
  server.on('close', () => clearTimeout(state.timer))
  return server.listen(port, host)
}

/** Serves the metrics and the health of a program with one process. */
export function serveMetrics(
  { metrics, log }: { readonly metrics: Metrics; readonly log: Log },
  address: { readonly port: number; readonly host: string },
  health: () => Health,
): Server {
  const server = createMetricsServer({ text: () => metrics.registry.metrics(), health })
  return listenForMetrics(server, { ...address, log })
}
