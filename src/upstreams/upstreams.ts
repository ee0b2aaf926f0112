// The door of upstreams: where requests go. Gives, for a model and a conversation, the targets to
// try and in which order: by priority, then the conversation's own among equals, leaving out the
// sick and the drained. Whether to try another after a failure is the relay's; how it went is told
// back here.
import type { IncomingHttpHeaders } from 'node:http'
import { crc32 } from 'node:zlib'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import { conversationOf, rank } from './affinity.ts'
import { createBreaker, type Ticket } from './breaker.ts'
import { createRetryBudget } from './budget.ts'
import { readList } from './list.ts'
import { createMessagesWire, type Wire } from './messages.ts'
import type { Outcome, Sending, Sink, Target } from './port.ts'
import * as queries from './queries.ts'

export type { Call, Outcome, Sending, Sink, Target } from './port.ts'

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

type Known = Target & {
  readonly options: UpstreamOptions
  readonly label: string
  readonly salt: number
  readonly breaker: ReturnType<typeof createBreaker>
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
  const targets = options.upstreams.flatMap((upstream) =>
    upstream.keys.map((key, i) =>
      createTarget(upstream, key, i, wires.get(upstream.name) as Wire, clock),
    ),
  )
  const secrets = options.upstreams.flatMap((one) => one.keys.map((key) => key.reveal()))
  const budget = createRetryBudget()
  const state: { timer?: NodeJS.Timeout; looks: number } = { looks: 0 }

  /** Takes up the operator's changes and says what this process sees. */
  async function look(): Promise<void> {
    state.looks += 1
    try {
      const settings = new Map((await queries.settingList(db)).map((one) => [one.name, one]))
      for (const target of targets) {
        const setting = settings.get(target.upstream)
        target.weight = setting?.weight ?? target.options.weight
        target.isDrained = setting?.isDrained ?? false
      }
      if (state.looks % 2 === 0) {
        await queries.viewWrite(db, options.instance, targets.map(viewOf))
      }
    } catch (error) {
      log.warn({ err: error }, 'the settings of upstreams could not be read; they stay')
    }
  }

  return {
    /** Targets for a model, best first. What is sick now may be well when its turn comes. */
    *route(model: string, conversation: number): Generator<Target, undefined> {
      budget.earn()
      const fit = targets.filter(
        ({ options: { models } }) => models.length === 0 || models.includes(model),
      )
      const priorities = [...new Set(fit.map((one) => one.options.priority))].sort((a, b) => a - b)
      for (const priority of priorities) {
        const equals = fit.filter((one) => one.options.priority === priority && !one.isDrained)
        for (const target of rank(equals, conversation)) {
          // Where there is no other, its own answer is better than none of ours.
          if (fit.length === 1 || target.breaker.isReady()) yield target
        }
      }
    },

    /** A number for the conversation a body belongs to: its turns go the same way. */
    conversationOf,

    /** Whether one more repeat is within what we allow ourselves. */
    mayRepeat: (): boolean => budget.take(),

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

    /** What this process sees. */
    views: () => targets.map(viewOf),
    /** What all processes see, and the operator's word. */
    seen: () => queries.viewList(db),
    settings: () => queries.settingList(db),
    change: (p: Parameters<typeof queries.settingChange>[1]) => queries.settingChange(db, p),
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

function createTarget(
  options: UpstreamOptions,
  key: Masked<string>,
  index: number,
  wire: Wire,
  clock: Clock,
): Known {
  const label = `${options.name}#${index + 1}`
  const breaker = createBreaker(clock.spanMs)
  const counts = { underWay: 0, succeeded: 0, failed: 0 }
  const credential = key.reveal()
  return {
    options,
    label,
    upstream: options.name,
    temperatureMax: options.temperatureMax,
    salt: crc32(label),
    breaker,
    counts,
    weight: options.weight,
    isDrained: false,
    send(sending: Sending, sink: Sink) {
      const outcome = outcomeOf(breaker, counts, breaker.begin())
      counts.underWay += 1
      return { call: wire.send(credential, sending, sink), outcome }
    },
  }
}

function outcomeOf(breaker: Known['breaker'], counts: Known['counts'], ticket: Ticket): Outcome {
  const state = { isAnswered: false, isWhole: false, isOver: false }
  // A short reply is whole before its status has been looked at.
  const succeed = () => {
    if (state.isAnswered && state.isWhole) breaker.succeed(ticket)
  }
  return {
    answer() {
      counts.succeeded += 1
      breaker.answer(ticket)
      state.isAnswered = true
      succeed()
    },
    finish() {
      state.isWhole = true
      succeed()
    },
    fail(retryAfterMs) {
      counts.failed += 1
      breaker.fail(ticket, retryAfterMs)
    },
    end() {
      if (state.isOver) return
      state.isOver = true
      counts.underWay -= 1
      // A probe whose client left has told nothing; the next request may be the probe.
      breaker.forget(ticket)
    },
  }
}

function viewOf({ label, breaker, counts }: Known): queries.View {
  return { target: label, state: breaker.state(), ...counts }
}
