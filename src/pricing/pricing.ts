// The entry file of pricing: what requests and packs cost. The arithmetic is exact and has no side
// effects. The catalogue in force is a frozen snapshot in memory: a running request keeps its
// prices when a new version is applied. The ledger stores holds and charges.
import { assert } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Executor } from '../platform/db/db.ts'
import type { Log } from '../platform/log.ts'
import { costOfTokens } from '../units/charge.ts'
import { CREDITS_MAX, type Credits, micro } from '../units/credits.ts'
import type { Millionths, Price } from '../units/price.ts'
import { type TokenCounts, type Tokens, tokens } from '../units/tokens.ts'
import { type Catalogue, formatCatalogue, type Model, parseCatalogue } from './catalogue.ts'
import { changeCatalogue } from './changes.ts'
import { differences, hasOnlyPricesOf } from './differences.ts'
import { differencesInMoney, kopecksRange, typicalCost } from './differences-in-money.ts'
import {
  type Dimension,
  type DimensionValues,
  listOfName,
  listOfReply,
  type PriceList,
  rateOf,
  unpricedField,
} from './lists.ts'
import { marginLines, marginTenths, worstLines } from './margin.ts'
import { featureOf } from './model-schema.ts'
import { type Fraction, kopecksOf, packsByPrice, roublesDown, roublesUp, sumOf } from './money.ts'
import type { Localized, Pack } from './packs.ts'
import { versionFind, versionList } from './queries.ts'
import { floorCost, lowerTo, toolLimits } from './tool-limits.ts'
import { turnsAffordable } from './turns.ts'
import { vendorCost } from './vendor-cost.ts'
import { parseVendorPrices } from './vendor-prices.ts'
import { createVersions, readApplied, type Snapshot } from './versions.ts'
import { affordableMaxTokens, least, worstCase } from './worst-case.ts'

export type { MarginLine } from './margin.ts'
export type { AppliedVersion } from './queries.ts'
export type { AskedTool, LoweredRequest } from './tool-limits.ts'
export type { BilledThing } from './vendor-cost.ts'
export type { VendorPrices } from './vendor-prices.ts'
export type { CacheControl, PricedRequest, ToolLimits } from './worst-case.ts'
export type {
  Catalogue,
  Dimension,
  DimensionValues,
  Fraction,
  Localized,
  Model,
  Pack,
  PriceList,
  Snapshot,
}
export { affordableMaxTokens, floorCost, lowerTo, toolLimits, worstCase }

/** The uses of server tools that a reply reports, by feature. */
export type ToolUses = Readonly<Partial<Record<string, number>>>

/** A pass that the counts of the reply do not include. */
export type HiddenPass = {
  /** Undefined when the reply names no model, or one that the catalogue does not have. */
  readonly model: Model | undefined
  readonly counts: TokenCounts
}

export type ReplyUsage = {
  readonly counts: TokenCounts
  readonly values: DimensionValues
  readonly uses: ToolUses
  readonly hidden: readonly HiddenPass[]
}

export type PricedPart = {
  readonly model: string
  readonly list: PriceList
  readonly counts: TokenCounts
}

export type PricedUse = { readonly feature: string; readonly count: number; readonly each: Credits }

/** What a reply costs, with everything that explains the sum. */
export type PricedReply = {
  readonly priced: Credits
  readonly main: PricedPart
  readonly hidden: readonly PricedPart[]
  readonly uses: readonly PricedUse[]
  /** Values and models in the reply that the catalogue does not list. */
  readonly unlisted: readonly string[]
}

/**
 * What a reply costs: its own tokens, each hidden pass at the price of its model, and the uses of
 * tools. The prompt's length, which chooses the tier, includes cached tokens.
 */
export function priceReply(model: Model, usage: ReplyUsage): PricedReply {
  const { values } = usage
  const features = Object.entries(usage.uses).filter(([, count]) => (count ?? 0) > 0)
  // An upstream that reports more is wrong, and the hold limits what the customer pays; the cap
  // keeps every number within what the ledger and its audit can compute with.
  const addends = 5n * BigInt(1 + usage.hidden.length) + BigInt(features.length)
  const most = CREDITS_MAX / addends
  const unlisted: string[] = []
  const part = (sold: Model, counts: TokenCounts): PricedPart => {
    const found = listOfReply(sold.lists, promptOf(counts), values)
    unlisted.push(...found.unlisted)
    return { model: sold.id, list: found.list, counts: capped(counts, found.list.price, most) }
  }
  const main = part(model, usage.counts)
  const hidden = usage.hidden.map((pass) => {
    if (pass.model === undefined) unlisted.push('iterations.model')
    return part(pass.model ?? model, pass.counts)
  })
  const uses = features.map(([feature, count = 0]): PricedUse => {
    const each = featureOf(model, feature)?.perUse ?? micro(0n)
    if (featureOf(model, feature) === undefined) unlisted.push(`server_tool_use.${feature}`)
    return { feature, count: each > 0n ? Number(least(BigInt(count), most / each)) : count, each }
  })
  const sum = [main, ...hidden].reduce(
    (all, one) => all + costOfTokens(one.counts, one.list.price),
    0n,
  )
  const priced = uses.reduce((all, { count, each }) => all + BigInt(count) * each, sum)
  return { priced: micro(priced), main, hidden, uses, unlisted }
}

export function promptOf(counts: TokenCounts): Tokens {
  return tokens(counts.input + counts.cacheRead + counts.cacheWrite5m + counts.cacheWrite1h)
}

function capped(counts: TokenCounts, price: Price, most: bigint): TokenCounts {
  const cap = (count: Tokens, each: Millionths) =>
    each > 0n && count > most / each ? tokens(most / each) : count
  return {
    input: cap(counts.input, price.input),
    output: cap(counts.output, price.coefficient),
    cacheRead: cap(counts.cacheRead, price.cacheRead),
    cacheWrite5m: cap(counts.cacheWrite5m, price.cacheWrite5m),
    cacheWrite1h: cap(counts.cacheWrite1h, price.cacheWrite1h),
  }
}

/** The first thing asked for that changes the vendor's bill and has no price; undefined if none. */
export function unpricedOf(
  model: Model,
  asked: DimensionValues,
  features: readonly string[],
): string | undefined {
  return (
    unpricedField(model.multipliers, asked) ??
    features.find((feature) => featureOf(model, feature) === undefined)
  )
}

/** The name under which an upstream knows the model. */
export function upstreamName({ id, upstreamNames: names }: Model, upstream: string): string {
  if (typeof names === 'string') return names
  // hasOwn, because an upstream may be named `constructor`, which every object inherits.
  return Object.hasOwn(names, upstream) ? (names[upstream] ?? id) : id
}

// The longest time until every process uses new prices, at the cost of one small query per process
// and poll. The table also sends NOTIFY, for which no process listens today.
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
    /** Read and write the YAML file, without the database. */
    parse: parseCatalogue,
    format: formatCatalogue,
    /** Changes single fields, such as `packs.pack-35m.priceKopecks=149900`. */
    change: changeCatalogue,
    /** The changes from one catalogue to another, in words. */
    diff: differences,
    /** The same in credits and roubles. */
    diffInMoney: differencesInMoney,
    /** What a turn of a coding agent costs, and credits in kopecks at the ends of the packs. */
    typical: { cost: typicalCost, kopecksRange },
    hasOnlyPricesOf,

    /** Reads the vendor's price list, without the database. */
    parseVendorPrices,
    /** How many turns of a coding agent credits cover. */
    turnsAffordable,
    /** What each price leaves after the vendor's bill. */
    margin: { lines: marginLines, worst: worstLines, tenths: marginTenths },
    /** Credits in roubles at the price of a pack. */
    money: { kopecksOf, packsByPrice, roublesDown, roublesUp, sumOf },
    /** What counts cost at the vendor, by the names of price lists. */
    bills: { cost: vendorCost, listOf: listOfName, rateOf },

    /**
     * Stores a catalogue as the next version: in force here at once, in other processes within a
     * poll. Repeatable: a catalogue equal to the current version returns that one, writes nothing.
     */
    apply: versions.apply,

    /**
     * The same for a catalogue that a person compared with the version `base`. Undefined, and
     * nothing is stored, when that is not the newest any more: it would undo another's change.
     */
    applyTo: versions.applyTo,

    /**
     * Loads the newest version and starts polling. Returns undefined when none was ever applied.
     * Throws when the database is unavailable or its newest version cannot be read.
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

    /** Loads the newest version now. Repeatable. */
    refresh: versions.refresh,

    /** The catalogue in force. A request reads it once and keeps it. */
    current(): Snapshot {
      const snapshot = versions.current()
      assert(snapshot, 'no catalogue has been applied')
      return snapshot
    },

    /** Milliseconds since the last successful read, for the alarm on stale prices. */
    staleMs: versions.staleMs,

    /** Every version ever applied, newest first. */
    history: () => versionList(db),

    /** One applied version; undefined when there is no such number. */
    async version(number: number): Promise<Catalogue | undefined> {
      const row = await versionFind(db, number)
      return row === undefined ? undefined : readApplied(row)
    },
  }
}

export type Pricing = ReturnType<typeof createPricing>

/** Otherwise a slow database would get one more waiting query at each tick. */
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
