// The door of upstreams: where requests go. Gives each request its route over the targets that
// serve its model, and keeps what is known of them: how requests went, what the operator said.
// Whether to try another after a failure is the relay's; how it went is told back here.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import { conversationOf } from './affinity.ts'
import { type Breaker, createBreaker, type Ticket } from './breaker.ts'
import { createRetryBudget } from './budget.ts'
import { createCooling } from './cooling.ts'
import { readList } from './list.ts'
import { createMessagesWire, type Wire } from './messages.ts'
import { overviewOf, type UpstreamLine } from './overview.ts'
import type { Outcome, Path, Sending, Sink } from './port.ts'
import * as queries from './queries.ts'
import { Route, type Known as Routed } from './route.ts'
import { createWaiting } from './waiting.ts'

export type { UpstreamLine } from './overview.ts'
export type { Call, Outcome, Path, Sending, Sink, Target } from './port.ts'
export type { Route } from './route.ts'

/** The operator's changes are looked for this often; views are written at every other look. */
const LOOK_MS = 2_000

/** Headers in which the vendor names the account behind our credential; its errors name it too. */
const ACCOUNT_HEADERS = ['anthropic-organization-id', 'anthropic-workspace-id']
/** ASCII, so that bytes which are read as latin1 stay bytes. */
const STAND = '***'

export type UpstreamOptions = {
  readonly name: string
  readonly url: string
  /** Credentials; each is a target of its own, because prompt caches are kept per credential. */
  readonly keys: readonly Masked<string>[]
  /** Model ids served here; empty: all. */
  readonly models: readonly string[]
  /** Lower goes first; others are asked only when none of a lower number is well. */
  readonly priority: number
  readonly weight: number
  readonly connections: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly temperatureMax: number
}

/** Reads a file of several upstreams; every complaint at once, with its line. */
export function parseUpstreams(text: string): ReturnType<typeof readList> {
  return readList(text)
}

type Known = Routed & {
  readonly options: UpstreamOptions
  readonly label: string
  readonly counts: { underWay: number; succeeded: number; failed: number }
  weight: number
  isDrained: boolean
}

export function createUpstreams(options: {
  readonly upstreams: readonly UpstreamOptions[]
  readonly db: Executor
  readonly instance: bigint
  readonly clock: Clock
  readonly log: Log
}) {
  const { clock, log, db } = options
  const wires = new Map(
    options.upstreams.map((one) => [
      one.name,
      createMessagesWire({ ...one, spanMs: clock.spanMs }),
    ]),
  )
  const waiting = createWaiting(clock)
  const pairs = options.upstreams.flatMap((upstream) =>
    upstream.keys.map((key, i) =>
      createTargets(upstream, key, i, {
        wire: wires.get(upstream.name) as Wire,
        clock,
        onNews: waiting.wake,
      }),
    ),
  )
  const targets = pairs.map(({ paid }) => paid)
  const freeTargets = pairs.map(({ free }) => free)
  const paths: Record<Path, ReturnType<typeof createPath>> = {
    '/v1/messages': createPath(targets),
    '/v1/messages/count_tokens': createPath(freeTargets),
  }
  const secrets = options.upstreams.flatMap((one) => one.keys.map((key) => key.reveal()))
  const state: { timer?: NodeJS.Timeout; looks: number } = { looks: 0 }

  /** Takes up the operator's changes and says what this process sees. */
  async function look(): Promise<void> {
    state.looks += 1
    try {
      const settings = new Map((await queries.settingList(db)).map((one) => [one.name, one]))
      for (const target of [...targets, ...freeTargets]) {
        const setting = settings.get(target.upstream)
        target.weight = setting?.weight ?? target.options.weight
        target.isDrained = setting?.isDrained ?? false
      }
      waiting.wake()
      if (state.looks % 2 === 0) {
        await queries.viewWrite(db, options.instance, targets.map(viewOf))
      }
    } catch (error) {
      log.warn({ err: error }, 'the settings of upstreams could not be read; they stay')
    }
  }

  return {
    /** The way of one request for a model. */
    route(path: Path, model: string, conversation: number): Route {
      const { all, budget, fits } = paths[path]
      budget.earn()
      const fit = fits.get(model) ?? all.filter((one) => serves(one.options, model))
      fits.set(model, fit) // as many as the catalogue has models
      return new Route({ model, fit, conversation, budget, waiting, clock })
    },

    /** A number for the conversation a body belongs to: its turns go the same way. */
    conversationOf: (book: bigint, body: Buffer): number =>
      targets.length === 1 ? 0 : conversationOf(book, body),

    /**
     * A text of an upstream without our credentials and without the names of our account there,
     * as far as the headers that came with it tell them.
     */
    withoutSecrets(text: string, headers: IncomingHttpHeaders): string {
      const names = ACCOUNT_HEADERS.flatMap((name) => headers[name] ?? [])
      return [...secrets, ...names]
        .filter((secret) => secret !== '')
        .reduce((clean, secret) => clean.replaceAll(secret, STAND), text)
    },

    /** What this process sees; the state is that of the paid path. */
    views: () => targets.map(viewOf),
    /** What all processes see, and the operator's word. */
    seen: () => queries.viewList(db),
    settings: () => queries.settingList(db),
    /** Both beside what is configured, one line for each target, for the operator. */
    overview: async (): Promise<UpstreamLine[]> =>
      overviewOf(targets, await queries.viewList(db), await queries.settingList(db)),
    /** The operator's word; may be repeated. Every process takes it up with its next look. */
    change: (p: Parameters<typeof queries.settingChange>[1], executor: Executor = db) =>
      queries.settingChange(executor, p),
    forgetOld: () => queries.viewDeleteOld(db),

    async start(): Promise<void> {
      await look()
      state.timer ??= setInterval(() => void look(), LOOK_MS).unref()
    },
    async close(): Promise<void> {
      clearInterval(state.timer)
      for (const wire of wires.values()) wire.close()
    },
  }
}

export type Upstreams = ReturnType<typeof createUpstreams>

function serves({ models }: UpstreamOptions, model: string): boolean {
  return models.length === 0 || models.includes(model)
}

/**
 * The targets of one path, and its own retry budget: free requests neither earn repeats for paid
 * ones nor use them up.
 */
function createPath(all: readonly Known[]) {
  return { all, budget: createRetryBudget(), fits: new Map<string, readonly Known[]>() }
}

/**
 * One credential, once for the paid path and once for the free one, each with its own breaker and
 * its own limits: a customer without credits may send any number of free requests, so their answers
 * must not decide where paid requests go. Only the counts, which the operator reads, are shared.
 */
function createTargets(
  options: UpstreamOptions,
  key: Masked<string>,
  index: number,
  { wire, clock, onNews }: { wire: Wire; clock: Clock; onNews: () => void },
): { paid: Known; free: Known } {
  const label = `${options.name}#${index + 1}`
  const counts = { underWay: 0, succeeded: 0, failed: 0 }
  const credential = key.reveal()
  const forPath = (breaker: Breaker): Known => {
    const cooling = createCooling(clock.spanMs)
    return {
      options,
      label,
      upstream: options.name,
      temperatureMax: options.temperatureMax,
      priority: options.priority,
      salt: crc32(label),
      breaker,
      cooling,
      counts,
      weight: options.weight,
      isDrained: false,
      send(sending: Sending, sink: Sink) {
        const outcome = new Told({ breaker, cooling, counts }, sending.model, onNews)
        counts.underWay += 1
        return { call: wire.send(credential, sending, sink), outcome }
      },
    }
  }
  const [paid, free] = [createBreaker(clock.spanMs), createBreaker(clock.spanMs)]
  // The free path reads the paid one's breaker and changes nothing there: without that, a token
  // count could hang for ten minutes at an upstream that messages have found to be down. Where all
  // are down, it asks all the same.
  const isReady = () => paid.state() === 'closed' && free.isReady()
  return { paid: forPath(paid), free: forPath({ ...free, isReady }) }
}

/** What a target is told of one request. */
class Told implements Outcome {
  private readonly breaker: Known['breaker']
  private readonly cooling: Known['cooling']
  private readonly counts: Known['counts']
  private readonly model: string
  private readonly onNews: () => void
  private readonly ticket: Ticket
  private isAnswered = false
  private isWhole = false
  private isOver = false

  constructor(
    target: Pick<Known, 'breaker' | 'cooling' | 'counts'>,
    model: string,
    onNews: () => void,
  ) {
    this.breaker = target.breaker
    this.cooling = target.cooling
    this.counts = target.counts
    this.model = model
    this.onNews = onNews
    this.ticket = this.breaker.begin()
  }

  answer(): void {
    this.counts.succeeded += 1
    const hasClosed = this.breaker.answer(this.ticket)
    this.isAnswered = true
    this.succeed()
    if (hasClosed) this.onNews()
  }

  finish(): void {
    this.isWhole = true
    this.succeed()
  }

  fail(retryAfterMs?: number): void {
    this.counts.failed += 1
    if (retryAfterMs !== undefined) this.cooling.coolDown(this.model, retryAfterMs)
    if (this.breaker.fail(this.ticket)) this.onNews()
  }

  coolDown(retryAfterMs = 0): void {
    this.counts.failed += 1
    this.cooling.coolDown(this.model, retryAfterMs)
  }

  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.counts.underWay -= 1
    // A probe whose client left has told nothing; the next request may be the probe.
    if (this.breaker.forget(this.ticket)) this.onNews()
  }

  /** A short reply is whole before its status has been looked at. */
  private succeed(): void {
    if (this.isAnswered && this.isWhole) this.breaker.succeed(this.ticket)
  }
}

function viewOf({ label, breaker, counts }: Known): queries.View {
  return { target: label, state: breaker.state(), ...counts }
}
