// The entry file of upstreams. It gives each request a route over the targets that serve its model,
// and keeps the state of each target: how its requests went and what the operator changed. The
// gateway's relay decides whether to try another target and reports each outcome here.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { Shares } from '../platform/shares.ts'
import { createWaitingPlaces } from '../platform/slots.ts'
import { type ConversationSource, conversationOf } from './affinity.ts'
import { Capacity } from './capacity.ts'
import { readAllConnectionFiles } from './connection-files.ts'
import { type TargetCounts, TargetOutcome } from './outcome.ts'
import { overviewOf, type UpstreamLine } from './overview.ts'
import { LostReply, type ReplySink, type UpstreamPath, type UpstreamRequest } from './port.ts'
import * as queries from './queries.ts'
import { createRetryBudget } from './retry-budget.ts'
import { Route, type RouteTarget } from './route.ts'
import { createStanding, type Standing } from './standing.ts'
import type { ConnectionOptions } from './transport/carrier.ts'
import { createTransport, type Transport } from './transport/transport.ts'
import { readUpstreamsFile } from './upstreams-file.ts'
import { type TargetView, viewOf } from './view.ts'
import { createWaitQueue } from './wait-queue.ts'

export type { UpstreamLine } from './overview.ts'
export type { Call, Outcome, ReplySink, Target, UpstreamPath, UpstreamRequest } from './port.ts'
export type { UpstreamRefusalCode } from './refusals.ts'
export type { Route } from './route.ts'

/** Accounts for each shared thing in a process's report, and lines that the operator sees. */
const REPORTED_MAX = 10
const BUSIEST_MAX = 50

/** How often the operator's changes are read; every second time this process writes its view. */
const REFRESH_MS = 2_000

/** Headers in which the vendor names the account of our credential; its error texts name it too. */
const ACCOUNT_HEADERS = ['anthropic-organization-id', 'anthropic-workspace-id']
/** ASCII, so that text decoded as latin1 encodes back to the same bytes. */
const REPLACEMENT = '***'

export type UpstreamOptions = ConnectionOptions & {
  readonly name: string
  readonly url: string
  /**
   * Credentials. Each is a separate target, because upstreams keep prompt caches per credential.
   */
  readonly keys: readonly Masked<string>[]
  /** Ids of the models that it serves; empty: all. */
  readonly models: readonly string[]
  /** Lower goes first; a target is used only when no healthy one has a lower number. */
  readonly priority: number
  readonly weight: number
  readonly connections: number
  readonly queueTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly temperatureMax: number
}

/** Reads a file of several upstreams; reports all its problems at once, each with its line. */
export function parseUpstreams(text: string): ReturnType<typeof readUpstreamsFile> {
  return readUpstreamsFile(text)
}

/** As configured: files are given by their paths, and `none` means that there is none. */
type ConfiguredUpstream = Omit<UpstreamOptions, 'clientKey'> & {
  readonly clientKey?: string | undefined
}

/** Reads the certificates and keys that connections need, and reports what cannot work. */
export function readConnections(
  source: string,
  upstreams: readonly ConfiguredUpstream[],
): { readonly upstreams: UpstreamOptions[] } | { readonly problems: readonly string[] } {
  return readAllConnectionFiles(source, upstreams)
}

/**
 * Why a request that was sent completely got no status: it may have been accepted, so that it must
 * not be sent again. Undefined for every other error.
 */
export function lostReplyOf(error: Error): 'overdue' | 'closed' | undefined {
  if (!(error instanceof LostReply)) return undefined
  return error.isOverdue ? 'overdue' : 'closed'
}

/** What accounts share in a process, by name. */
type Shared = Readonly<Record<string, Shares>>

type TargetState = RouteTarget & {
  readonly options: UpstreamOptions
  readonly counts: TargetCounts
  readonly standing: Standing
  /** By model. */
  readonly capacities: ReadonlyMap<string, Capacity>
  weight: number
  isDrained: boolean
}

export function createUpstreams(options: {
  readonly upstreams: readonly UpstreamOptions[]
  readonly db: Executor
  readonly instance: bigint
  readonly clock: Clock
  readonly log: Log
  /** How many requests may wait at a time; by default as slots.ts says. */
  readonly waitingMax?: number | undefined
}) {
  const { clock, log, db } = options
  const waiting = createWaitingPlaces(clock.spanMs, options.waitingMax)
  const transports = new Map(
    options.upstreams.map((one) => [
      one.name,
      createTransport({ ...one, spanMs: clock.spanMs, waiting }),
    ]),
  )
  const waitQueue = createWaitQueue(clock)
  const pairs = options.upstreams.flatMap((upstream) =>
    upstream.keys.map((key, i) =>
      createTargets(upstream, key, i, {
        transport: transports.get(upstream.name) as Transport,
        clock,
        log,
        onRoom: waitQueue.wakeOne,
      }),
    ),
  )
  const targets = pairs.map(({ paid }) => paid)
  const freeTargets = pairs.map(({ free }) => free)
  const paths: Record<UpstreamPath, ReturnType<typeof createPath>> = {
    '/v1/messages': createPath(targets),
    '/v1/messages/count_tokens': createPath(freeTargets),
  }
  const secrets = options.upstreams.flatMap((one) => one.keys.map((key) => key.reveal()))
  const state: { timer?: NodeJS.Timeout; refreshes: number; shared: () => Shared } = {
    refreshes: 0,
    shared: () => ({}),
  }

  const views = (): TargetView[] =>
    pairs.map(({ paid, free }) => viewOf(paid, free, clock.spanMs()))

  /** Reads the operator's changes and writes what this process sees. */
  async function refresh(): Promise<void> {
    state.refreshes += 1
    try {
      const settings = new Map((await queries.settingList(db)).map((one) => [one.name, one]))
      for (const target of [...targets, ...freeTargets]) {
        const setting = settings.get(target.upstream)
        target.weight = setting?.weight ?? target.options.weight
        target.isDrained = setting?.isDrained ?? false
      }
      waitQueue.wake()
      if (state.refreshes === 1) await queries.viewDeleteOld(db)
      if (state.refreshes % 2 === 0) {
        await queries.viewWrite(db, options.instance, views())
        await queries.busiestWrite(db, options.instance, usesOf(state.shared()))
      }
    } catch (error) {
      log.warn({ err: error }, 'the settings of upstreams could not be read; they stay')
    }
  }

  return {
    /** The route of one request of an account for a model. */
    route(path: UpstreamPath, book: BookId, model: string, conversation: number): Route {
      const { all, budget, candidatesByModel } = paths[path]
      budget.earn()
      const candidates =
        candidatesByModel.get(model) ?? all.filter((one) => servesModel(one.options, model))
      candidatesByModel.set(model, candidates) // bounded: one entry for each model of the catalogue
      return new Route({ book, model, candidates, conversation, budget, waitQueue, clock })
    },

    /** A hash of the conversation of a request: all its turns prefer the same target. */
    conversationOf: (book: bigint, source: ConversationSource): number =>
      targets.length === 1 ? 0 : conversationOf(book, source),

    /**
     * Replaces in a text of an upstream our credentials and the names of our account, as the
     * headers of the same reply give them.
     */
    withoutSecrets(text: string, headers: IncomingHttpHeaders): string {
      const names = ACCOUNT_HEADERS.flatMap((name) => headers[name] ?? [])
      return [...secrets, ...names]
        .filter((secret) => secret !== '')
        .reduce((clean, secret) => clean.replaceAll(secret, REPLACEMENT), text)
    },

    /** The places of requests that wait; the gateway uses them for other waits too. */
    waiting,
    /** The connections of each upstream, as accounts share them. */
    connections: (): ReadonlyMap<string, Shares> =>
      new Map([...transports].map(([name, { shares }]) => [name, shares])),

    /** The gateway says what accounts share in this process; it is written with the views. */
    report(shared: () => Shared): void {
      state.shared = shared
    },
    /** What the busiest accounts use in all processes, for the operator. */
    busiest: () => queries.busiestList(db, BUSIEST_MAX),

    /** What this process sees; the state of a target is that of the paid path. */
    views,
    /** Requests that wait for a target that is full or cools down. */
    waitingForTarget: waitQueue.size,
    /** Every target is out of service or fails; requests are sent all the same. */
    areAllAway: () => views().every(({ state }) => state !== 'closed'),
    /** What all processes see. */
    seen: () => queries.viewList(db),
    settings: () => queries.settingList(db),
    /** Configuration, views and settings together, one line for each target, for the operator. */
    overview: async (): Promise<UpstreamLine[]> =>
      overviewOf(targets, await queries.viewList(db), await queries.settingList(db)),
    /**
     * Stores a change by the operator; may be repeated. Every process reads it at its next refresh.
     */
    change: (p: Parameters<typeof queries.settingChange>[1], executor: Executor = db) =>
      queries.settingChange(executor, p),

    async start(): Promise<void> {
      await refresh()
      state.timer ??= setInterval(() => void refresh(), REFRESH_MS).unref()
    },
    async close(): Promise<void> {
      clearInterval(state.timer)
      for (const transport of transports.values()) transport.close()
    },
  }
}

export type Upstreams = ReturnType<typeof createUpstreams>

function servesModel({ models }: UpstreamOptions, model: string): boolean {
  return models.length === 0 || models.includes(model)
}

/**
 * The targets of one path and its own retry budget, so that free requests neither earn retries for
 * paid ones nor use them up.
 */
function createPath(all: readonly TargetState[]) {
  return {
    all,
    budget: createRetryBudget(),
    candidatesByModel: new Map<string, readonly TargetState[]>(),
  }
}

/**
 * Two targets for one credential, one for the paid path and one for the free path, each with its
 * own state. A customer without credits may send any number of free requests, so their outcomes
 * must not decide where paid requests go. Only the counts, which the operator reads, are shared.
 */
function createTargets(
  options: UpstreamOptions,
  key: Masked<string>,
  index: number,
  { transport, ...needs }: { transport: Transport; clock: Clock; log: Log; onRoom: () => void },
): { paid: TargetState; free: TargetState } {
  const label = `${options.name}#${index + 1}`
  const counts: TargetCounts = { underWay: 0, succeeded: 0, failed: 0, firstByteMs: 0 }
  const credential = key.reveal()
  const { spanMs } = needs.clock
  const forPath = (paid?: TargetState): TargetState => {
    const standing = createStanding(spanMs)
    // Bounded: the gateway refuses models that are not in the catalogue before it routes a request.
    const capacities = new Map<string, Capacity>()
    const { connections } = options
    const capacityOf = (model: string): Capacity => {
      const known = { standing, connections, paid: () => paid?.capacities.get(model) }
      const found = capacities.get(model) ?? new Capacity(spanMs, known)
      capacities.set(model, found)
      return found
    }
    return {
      options,
      label,
      upstream: options.name,
      temperatureMax: options.temperatureMax,
      priority: options.priority,
      salt: crc32(label),
      counts,
      standing,
      capacities,
      capacityOf,
      weight: options.weight,
      isDrained: false,
      send(request: UpstreamRequest, sink: ReplySink) {
        const { book, model, path, isStream, body } = request
        const sent = { book, model, path, isStream, print: printOf(body) }
        const recorded = { label, counts, standing }
        const outcome = new TargetOutcome(recorded, capacityOf(model), sent, needs)
        return { call: transport.send(credential, request, sink), outcome }
      },
    }
  }
  const paid = forPath()
  return { paid, free: forPath(paid) }
}

/** Two different requests of a customer mostly differ in their length or in their last message. */
const PRINT_BYTES = 256

function printOf(body: readonly Buffer[]): number {
  const last = body.at(-1)
  return last === undefined ? 0 : crc32(last.subarray(-PRINT_BYTES), last.length)
}

function usesOf(shared: Shared): queries.BusyAccount[] {
  return Object.entries(shared).flatMap(([of, shares]) =>
    shares.busiest(REPORTED_MAX).map((one) => ({ of, capacity: shares.capacity, ...one })),
  )
}
