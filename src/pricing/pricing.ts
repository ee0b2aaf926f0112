// The door of pricing: what things cost. The arithmetic is pure and exact; the catalogue in force
// is a frozen snapshot in memory, so a running request keeps the prices it began with while a new
// version is taken up beside it. Holds and charges themselves are the ledger's.
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import { type Credits, micro } from '../units/credits.ts'
import { costOf, type Millionths, ONE, type Price } from '../units/price.ts'
import { type TokenCounts, type Tokens, tokens } from '../units/tokens.ts'
import { type Catalogue, formatCatalogue, type Model, parseCatalogue } from './catalogue.ts'
import { differences, hasOnlyPricesOf } from './differences.ts'
import type { Pack } from './packs.ts'
import { versionFind, versionList } from './queries.ts'
import { createVersions, readApplied, type Snapshot } from './versions.ts'

export type { Catalogue, Model, Pack, Snapshot }

/** The longest-lived cache the request asks to write; a request with 1h may write 5m as well. */
export type CacheControl = 'none' | '5m' | '1h'

type Ask = {
  readonly model: Model
  /** At least as many tokens as the upstream can report as input, cached ones included. */
  readonly inputBound: Tokens
  readonly cacheControl: CacheControl
}

/** What a reply costs: input + output × coefficient + cached tokens × their weights. Exact. */
export function charge(price: Price, counts: TokenCounts): Credits {
  return micro(
    costOf(counts.input, ONE) +
      costOf(counts.output, price.coefficient) +
      costOf(counts.cacheRead, price.cacheRead) +
      costOf(counts.cacheWrite5m, price.cacheWrite5m) +
      costOf(counts.cacheWrite1h, price.cacheWrite1h),
  )
}

/** The most a request can cost; held before it is relayed, so that a balance is never negative. */
export function worstCase(ask: Ask & { readonly maxTokens: Tokens }): Credits {
  return caseOf(ask, ask.maxTokens)
}

function caseOf(ask: Ask, maxTokens: Tokens): Credits {
  const output = least(maxTokens, ask.model.outputCeiling)
  return micro(inputWorstCase(ask) + costOf(output, ask.model.price.coefficient))
}

// A small reply: enough for an answer or a tool call of a few pages.
const FLOOR_TOKENS = tokens(4096)
// Thinking counts as output; without room beyond its budget there would be no answer after it.
const FLOOR_TOKENS_AFTER_THINKING = 1024n

/** The least worth holding: the worst case of a small reply. Below it a request is refused. */
export function floorCase(
  ask: Ask & { readonly maxTokens: Tokens; readonly thinkingBudget?: Tokens | undefined },
): Credits {
  const withThinking = tokens((ask.thinkingBudget ?? 0n) + FLOOR_TOKENS_AFTER_THINKING)
  const enough = withThinking > FLOOR_TOKENS ? withThinking : FLOOR_TOKENS
  return caseOf(ask, least(ask.maxTokens, enough))
}

/**
 * The largest max_tokens, up to the model's ceiling, whose worst case fits into the granted
 * credits. Undefined when not even the input fits: 0 would say that an empty reply can be afforded.
 */
export function affordableMaxTokens(ask: Ask & { readonly granted: Credits }): Tokens | undefined {
  const left = ask.granted - inputWorstCase(ask)
  if (left < 0n) return undefined
  return least(tokens(left / ask.model.price.coefficient), ask.model.outputCeiling)
}

function inputWorstCase({ model: { price }, inputBound, cacheControl }: Ask): Credits {
  const weights: Millionths[] = [ONE]
  if (cacheControl !== 'none') weights.push(price.cacheRead, price.cacheWrite5m)
  if (cacheControl === '1h') weights.push(price.cacheWrite1h)
  return costOf(
    inputBound,
    weights.reduce((highest, weight) => (weight > highest ? weight : highest)),
  )
}

function least(a: Tokens, b: Tokens): Tokens {
  return a < b ? a : b
}

/** The name under which an upstream knows the model. */
export function upstreamName({ id, upstreamNames: names }: Model, upstream: string): string {
  if (typeof names === 'string') return names
  // hasOwn, since `constructor` is an ordinary name for an upstream and not for an object.
  return Object.hasOwn(names, upstream) ? (names[upstream] ?? id) : id
}

/** How many passes of a looping feature are priced; undefined when the feature is not. */
export function iterationsMax({ features }: Model, feature: string): number | undefined {
  return Object.hasOwn(features, feature) ? features[feature]?.iterationsMax : undefined
}

// Between a price change and every process using it: short enough to announce, and one small query
// per process each time. NOTIFY makes it immediate where it arrives.
const POLL_MS = 5_000

export function createPricing({
  db,
  log,
  clock,
  pollMs = POLL_MS,
}: {
  readonly db: Executor
  readonly log: Log
  readonly clock: Clock
  readonly pollMs?: number
}) {
  const versions = createVersions({ db, log, clock })
  const polling: { timer?: NodeJS.Timeout } = {}

  async function poll(): Promise<void> {
    await versions.refresh().catch((error: unknown) => {
      log.warn({ err: error }, 'the catalogue could not be read; the prices at hand stay in force')
    })
  }

  return {
    /** Reads and writes the file form; no database is asked. */
    parse: parseCatalogue,
    format: formatCatalogue,
    /** What changes from one catalogue to another, in words. */
    diff: differences,
    hasOnlyPricesOf,

    /**
     * Puts a catalogue in force as the next version, here at once and elsewhere within a poll. May
     * be repeated: what equals the current version answers that one and writes nothing.
     */
    apply: versions.apply,

    /**
     * Takes up the newest version and keeps looking. Answers it, or undefined when none was ever
     * applied. Throws when the database is away or its newest version cannot be read.
     */
    async start(): Promise<Snapshot | undefined> {
      const snapshot = await versions.refresh()
      polling.timer ??= setInterval(skipWhileRunning(poll), pollMs).unref()
      return snapshot
    },

    stop(): void {
      clearInterval(polling.timer)
      delete polling.timer
    },

    /** Takes up the newest version now; called when NOTIFY says so. May be repeated at will. */
    refresh: versions.refresh,

    /** The catalogue in force. A request asks once and keeps the answer. */
    current(): Snapshot {
      const snapshot = versions.current()
      assert(snapshot, 'no catalogue has been applied')
      return snapshot
    },

    /** Milliseconds since the database last answered: for the alarm on stale prices. */
    staleMs: versions.staleMs,

    /** Every version ever applied, newest first. */
    history: () => versionList(db),

    /** One applied version; undefined when there is none of that number. */
    async version(number: number): Promise<Catalogue | undefined> {
      const row = await versionFind(db, number)
      return row === undefined ? undefined : readApplied(row)
    },
  }
}

export type Pricing = ReturnType<typeof createPricing>

/** A slow database must not collect one waiting query per tick. */
function skipWhileRunning(action: () => Promise<void>): () => void {
  const state = { isRunning: false }
  return () => {
    if (state.isRunning) return
    state.isRunning = true
    void action().finally(() => {
      state.isRunning = false
    })
  }
}
