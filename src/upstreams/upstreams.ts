// The entry file of upstreams. It gives each request a route over the targets that serve its model,
// and keeps the state of each target: how its requests went and what the operator changed. The
// gateway's relay decides whether to try another target and reports each outcome here.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Shares } from '../platform/shares.ts'
import { createWaitingPlaces } from '../platform/slots.ts'
import { type ConversationSource, conversationOf } from './affinity.ts'
import { Capacity } from './capacity.ts'
import { readAllConnectionFiles } from './connection-files.ts'
import type { Credential, CredentialSource } from './credential.ts'
import * as credentials from './credential.ts'
import { type TargetCounts, TargetOutcome } from './outcome.ts'
import { overviewOf, type UpstreamLine } from './overview.ts'
import { LostReply, type ReplySink, type UpstreamPath, type UpstreamRequest } from './port.ts'
import * as queries from './queries.ts'
import { createRetryBudget } from './retry-budget.ts'
import { Route, type RouteTarget } from './route.ts'
import { createStanding, type Standing } from './standing.ts'
import { createTargetList } from './targets.ts'
import type { ConnectionOptions } from './transport/carrier.ts'
import { createTransport, type Transport } from './transport/transport.ts'
import { readUpstreamsFile } from './upstreams-file.ts'
import { type TargetView, viewOf } from './view.ts'
import { createWaitQueue, type WaitQueue } from './wait-queue.ts'

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
  readonly keys: readonly CredentialSource[]
  /** Ids of the models that it serves; empty: all. */
  readonly models: readonly string[]
  /**
   * The lowest number is used first; a higher one while those below are failing, paused, full or
   * near a limit of theirs.
   */
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

/** Whether a text names a credential that can be stored in the database. */
export const isStorableReference = credentials.isStorableReference
/** Why a gateway should not start with a reference to a credential. */
export const referenceProblem = credentials.referenceProblem

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
  const needs = { clock, log, waitQueue }
  const list = createTargetList({
    upstreams: options.upstreams,
    ...{ clock, log },
    create(upstream, credential) {
      const transport = transports.get(upstream.name) as Transport
      return createTargets(upstream, credential, { transport, ...needs })
    },
    onChange: forgetCandidates,
  })
  const targets = () => list.entries().map(({ paid }) => paid)
  const paths: Record<UpstreamPath, ReturnType<typeof createPath>> = {
    '/v1/messages': createPath(targets),
    '/v1/messages/count_tokens': createPath(() => list.entries().map(({ free }) => free)),
  }
  const state = {
    timer: undefined as NodeJS.Timeout | undefined,
    refreshes: 0,
    shared: (): Shared => ({}),
    settings: new Map<string, queries.UpstreamSetting>(),
  }

  function forgetCandidates(): void {
    for (const { candidatesByModel } of Object.values(paths)) candidatesByModel.clear()
  }

  /** Brings the targets up to what the operator set and what can be read here. */
  function applySettings(): void {
    let isChanged = false
    for (const { upstream, credential, stored, paid, free } of list.entries()) {
      const setting = state.settings.get(upstream)
      const isTakenOut = setting?.isDrained === true || stored?.isDrained === true
      const isDrained = isTakenOut || !credential.isUsable()
      for (const target of [paid, free]) {
        const weight = setting?.weight ?? target.options.weight
        isChanged ||= weight !== target.weight || isDrained !== target.isDrained
        Object.assign(target, { weight, isDrained })
      }
    }
    if (isChanged) waitQueue.wake()
  }

  async function readChanges(): Promise<void> {
    state.settings = new Map((await queries.settingList(db)).map((one) => [one.name, one]))
    list.apply(await queries.credentialList(db))
  }

  const views = (): TargetView[] =>
    list.entries().map(({ paid, free }) => viewOf(paid, free, clock.spanMs()))

  /** Reads the operator's changes and writes what this process sees. */
  async function refresh(): Promise<void> {
    state.refreshes += 1
    try {
      await readChanges()
      applySettings()
      // Not awaited: a command may take ten seconds.
      void list.refresh().then(applySettings)
      if (state.refreshes === 1) await queries.viewDeleteOld(db)
      if (state.refreshes % 2 === 0) {
        await queries.viewWrite(db, options.instance, views())
        await queries.problemWrite(db, options.instance, list.problems())
        await queries.busiestWrite(db, options.instance, usesOf(state.shared()))
      }
    } catch (error) {
      log.warn({ err: error }, 'the settings of upstreams could not be read; they stay')
      void list.refresh().then(applySettings)
    }
  }

  async function overview(): Promise<UpstreamLine[]> {
    await readChanges()
    const [views, problems] = [await queries.viewList(db), await queries.problemList(db)]
    return overviewOf(list.entries(), views, [...state.settings.values()], problems)
  }

  return {
    /** The route of one request of an account for a model. */
    route(path: UpstreamPath, book: BookId, model: string, conversation: number): Route {
      const { all, budget, candidatesByModel } = paths[path]
      budget.earn(book)
      const candidates =
        candidatesByModel.get(model) ?? all().filter((one) => servesModel(one.options, model))
      candidatesByModel.set(model, candidates) // bounded: one entry for each model of the catalogue
      const group = groupOf(path, model)
      return new Route({ book, model, candidates, conversation, budget, waitQueue, group, clock })
    },

    /** A hash of the conversation of a request: all its turns prefer the same target. */
    conversationOf: (book: bigint, source: ConversationSource): number =>
      list.entries().length === 1 ? 0 : conversationOf(book, source),

    /**
     * Replaces in a text of an upstream our credentials and the names of our account, as the
     * headers of the same reply give them.
     */
    withoutSecrets(text: string, headers: IncomingHttpHeaders): string {
      return replaceAll(text, [...list.secrets(), ...accountNames(headers)])
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
    /** Every target fails, is out of service, is drained or has no valid credential. */
    areAllAway: () =>
      list.entries().every(({ paid, free }) => {
        return paid.isDrained || viewOf(paid, free, clock.spanMs()).state !== 'closed'
      }),
    /** What all processes see. */
    seen: () => queries.viewList(db),
    settings: () => queries.settingList(db),
    /** Configuration, views and settings together, one line for each target, for the operator. */
    overview,
    /** What this process knows of each credential, without the secret. */
    credentials: list.states,
    /**
     * Stores a change by the operator; may be repeated. Every process reads it at its next refresh.
     */
    change: (p: Parameters<typeof queries.settingChange>[1], executor: Executor = db) =>
      queries.settingChange(executor, p),
    /** The same for one credential. Null leaves a member as it is. */
    changeCredential(p: Parameters<typeof queries.credentialChange>[1], executor = db) {
      return queries.credentialChange(executor, p)
    },
    /** Forgets a credential that the operator added. */
    removeCredential(target: string, executor = db): Promise<void> {
      return queries.credentialDelete(executor, target)
    },

    async start(): Promise<void> {
      await refresh()
      // No request is taken before the credentials are read; a command may take ten seconds.
      await list.refresh()
      applySettings()
      state.timer ??= setInterval(() => void refresh(), REFRESH_MS).unref()
    },
    async close(): Promise<void> {
      clearInterval(state.timer)
      for (const transport of transports.values()) transport.close()
    },
  }
}

export type Upstreams = ReturnType<typeof createUpstreams>

function accountNames(headers: IncomingHttpHeaders): string[] {
  return ACCOUNT_HEADERS.flatMap((name) => headers[name] ?? [])
}

function replaceAll(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .reduce((clean, secret) => clean.replaceAll(secret, REPLACEMENT), text)
}

function servesModel({ models }: UpstreamOptions, model: string): boolean {
  return models.length === 0 || models.includes(model)
}

/**
 * The targets of one path and its own retry budget, so that free requests neither earn retries for
 * paid ones nor use them up.
 */
function createPath(all: () => readonly TargetState[]) {
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
  credential: Credential,
  {
    transport,
    waitQueue,
    ...needs
  }: { transport: Transport; clock: Clock; log: Log; waitQueue: WaitQueue },
): { paid: TargetState; free: TargetState } {
  const { label } = credential
  const counts: TargetCounts = { underWay: 0, succeeded: 0, failed: 0, firstByteMs: 0 }
  const { spanMs } = needs.clock
  const forPath = (path: UpstreamPath, paid?: TargetState): TargetState => {
    const standing = createStanding(spanMs, credential.secretNumber)
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
      isDrained: !credential.isUsable(),
      send(request: UpstreamRequest, sink: ReplySink) {
        const { book, model, isStream, body } = request
        const sent = { book, model, path: request.path, isStream, bodyHash: bodyHashOf(body) }
        const recorded = { label, counts, standing }
        const onRoom = () => waitQueue.wakeOne(groupOf(path, model))
        const outcome = new TargetOutcome(recorded, capacityOf(model), sent, { ...needs, onRoom })
        const header = () => {
          outcome.secret = credential.secretNumber()
          return credential.header()
        }
        return { call: transport.send(header, request, sink), outcome }
      },
    }
  }
  const paid = forPath('/v1/messages')
  return { paid, free: forPath('/v1/messages/count_tokens', paid) }
}

/** Upstreams apply their limits by model and path: room for one request is none for another. */
function groupOf(path: UpstreamPath, model: string): string {
  return `${path} ${model}`
}

/** Two different requests of a customer mostly differ in their length or in their last message. */
const HASHED_BODY_BYTES = 256

function bodyHashOf(body: readonly Buffer[]): number {
  const last = body.at(-1)
  return last === undefined ? 0 : crc32(last.subarray(-HASHED_BODY_BYTES), last.length)
}

function usesOf(shared: Shared): queries.BusyAccount[] {
  return Object.entries(shared).flatMap(([of, shares]) =>
    shares.busiest(REPORTED_MAX).map((one) => ({ of, capacity: shares.capacity, ...one })),
  )
}
