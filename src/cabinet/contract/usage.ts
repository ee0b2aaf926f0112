// The types of usage: the explorer, the request log, the price of one request, the statement.
// Those of sessions are in sessions.ts.
import type { Credits, IntegerText, Kopecks, Time } from './contract.ts'
import type { PriceDimension, PriceListName, TokenKind } from './prices.ts'

/** Weeks begin on Monday in the owner's zone; the first and the last one end with the period. */
export type UsageStep = 'hour' | 'day' | 'week'
/** `session` and `label` are the ids that clients send with their requests. */
export type UsageSplit = 'model' | 'ending' | 'session' | 'label'

/**
 * Milliseconds, from counts in steps of a factor of the square root of 2: each is at most 1.19
 * times too high or too low. Of the requests whose times are recorded.
 */
export type Latency = { readonly p50: number; readonly p95: number }

export type UsageFigures = {
  /** All requests that have an entry in the ledger, charged or free. */
  readonly requests: IntegerText
  /** Those of them that cost nothing. */
  readonly free: IntegerText
  /**
   * Those of the free ones that failed: all but `given_up`, where the client left before the
   * response began.
   */
  readonly errors: IntegerText
  /**
   * Of how many requests `errors`, `cacheSaved` and the times are known: fewer than `requests` for
   * time before the service recorded them.
   */
  readonly known: IntegerText
  readonly input: IntegerText
  readonly output: IntegerText
  readonly cacheRead: IntegerText
  readonly cacheWrite5m: IntegerText
  readonly cacheWrite1h: IntegerText
  readonly credits: Credits
  /**
   * What the cached tokens would have cost as plain input, less what they cost. Negative when more
   * was written to caches than read from them.
   */
  readonly cacheSaved: Credits
  /** From the request's first byte to the reply's first and last one; null without a known time. */
  readonly firstByte: Latency | null
  readonly total: Latency | null
}

export type UsageSeries = UsageFigures & {
  /** A model, an ending, a session's id or a label; null: requests without one. */
  readonly key: string | null
  /**
   * `key` is null, too: the keys beyond the first 12 by credits, and requests whose key is no
   * longer known, such as those of old sessions.
   */
  readonly isOther?: true
}

/** The figures of one step of time. */
export type UsageTimeStep = {
  /** The start of the step. */
  readonly at: Time
  /** The same in the owner's time zone: `2026-11-15T13:00` for an hour, else `2026-11-15`. */
  readonly local: string
  readonly whole: UsageFigures
}

export type UsageBucket = UsageTimeStep & {
  /** Most credits first, `isOther` last; without keys that have no requests in this step. */
  readonly series: readonly UsageSeries[]
}

export type Usage = {
  readonly zone: string
  readonly step: UsageStep
  readonly split: UsageSplit
  /** First and last day, both included, in the zone. */
  readonly from: string
  readonly to: string
  /** Oldest first, also empty ones. */
  readonly buckets: readonly UsageBucket[]
  /** The whole period by key, most credits first, `isOther` last. */
  readonly totals: readonly UsageSeries[]
  readonly whole: UsageFigures
  /** As many days directly before, in as many steps (hours of clock changes apart). */
  readonly previous: {
    readonly from: string
    readonly to: string
    readonly whole: UsageFigures
    readonly buckets: readonly UsageTimeStep[]
  } | null
  /** What a million credits cost in the last pack that was bought; null before the first. */
  readonly kopecksPerMillion: Kopecks | null
}

/** How a request ended, as the ledger records it. The first three are charged, the others free. */
export type Ending =
  | 'complete'
  | 'client_left'
  | 'client_slow'
  | 'refused'
  | 'upstream_failed'
  | 'process_lost'
  | 'given_up'
  | 'overdue'
  | 'drained'
  | 'shed'

export type LogLine = {
  /** `req_…`, as in the reply's header. */
  readonly id: string
  readonly at: Time
  readonly model: string
  readonly ending: Ending
  /** Why a free request is free, as the ledger records it; null for a charged one. */
  readonly reason: string | null
  readonly input: IntegerText
  readonly output: IntegerText
  readonly cacheRead: IntegerText
  readonly cacheWrite5m: IntegerText
  readonly cacheWrite1h: IntegerText
  readonly credits: Credits
  readonly isEstimated: boolean
  /** From the request's first byte to the reply's first and last one; null: not recorded. */
  readonly firstByteMs: number | null
  readonly totalMs: number | null
  readonly isStream: boolean | null
  /** As the upstream named it: `end_turn`; null without a whole reply, or not recorded. */
  readonly stopReason: string | null
  /** As in the error's body: `overloaded_error`; null without an error, or not recorded. */
  readonly errorType: string | null
}

export type LogPage = {
  /** Newest first. */
  readonly lines: readonly LogLine[]
  /** `before` of the next page; null: this is the last page. */
  readonly next: string | null
  /** The models that the filter may name. */
  readonly models: readonly string[]
}

/** tokens × weight = credits, exactly. */
export type PriceLine = {
  readonly kind: TokenKind
  readonly tokens: IntegerText
  /** Credits per token, exact decimal text. */
  readonly weight: string
  readonly credits: Credits
}

/** Tokens of a pass that the counts of the response do not include. */
export type PricedPass = {
  readonly model: string
  readonly list: PriceListName
  readonly parts: readonly PriceLine[]
}

/** count × each = credits, exactly. */
export type PricedUse = {
  /** As in the catalogue: `web_search`. */
  readonly feature: string
  readonly count: IntegerText
  /** Credits for one use, exact decimal text. */
  readonly each: string
  readonly credits: Credits
}

export type LogDetails = LogLine & {
  /** The version of the catalogue that priced it; null for a free request. */
  readonly catalogueVersion: number | null
  /** The price list of `parts`; null for a free request. */
  readonly list: PriceListName | null
  /** The model that answered, if it is not the one that was asked for: `parts` has its prices. */
  readonly answeredBy: string | null
  /** Input and output always, cached tokens if there were some; empty for a free request. */
  readonly parts: readonly PriceLine[]
  readonly passes: readonly PricedPass[]
  readonly uses: readonly PricedUse[]
  /** The response named a value that the price list lacks: the dearest listed one was charged. */
  readonly unlisted: readonly PriceDimension[]
  /** The sum of parts, passes and uses. */
  readonly priced: Credits
  /** The part of the price that was not charged, because the hold was smaller. */
  readonly writtenOff: Credits
  readonly balanceAfter: Credits
  /** The upstream's id of the reply, for questions to support. */
  readonly messageId: string | null
}

/** Why requests were refused, in the owner's words; docs/errors.md has the codes behind them. */
export type RefusedReason =
  | 'credits'
  | 'debt'
  | 'dayLimit'
  | 'spendingRate'
  | 'paused'
  | 'blocked'
  | 'revokedKey'
  | 'invalid'
  | 'tooLarge'
  | 'model'
  | 'feature'
  | 'byModel'
  | 'overloaded'
  | 'failed'
  | 'other'

export type RefusedLine = {
  readonly reason: RefusedReason
  readonly requests: IntegerText
  readonly lastAt: Time
}

export type Refused = {
  /** The latest reason first. Counts are by days in UTC, and up to five seconds old. */
  readonly lines: readonly RefusedLine[]
  /** For how many days counts are kept. */
  readonly keptDays: number
}

/** Days are in `zone`, such as `Europe/Moscow`; UTC when absent or unknown. */
type Period = {
  from?: string | undefined
  to?: string | undefined
  zone?: string | undefined
}

export type LogFilter = Period & {
  /** Only the hour that begins at this moment; the period is ignored. */
  hour?: Time | undefined
  model?: string | undefined
  /** `charged`, `free`, or one ending. */
  ending?: Ending | 'charged' | 'free' | undefined
  /** The ids that the client sent with the request. */
  session?: string | undefined
  agent?: string | undefined
  label?: string | undefined
}

/** `compare`: with the previous period. */
export type UsageQuery = Period & {
  step?: UsageStep | undefined
  split?: UsageSplit | undefined
  compare?: '1' | undefined
}

export type UsageRoutes = {
  'GET /api/usage': { query: UsageQuery; answer: Usage }
  /** The same numbers as a file to download. */
  'GET /api/usage/file': { query: UsageQuery & { format: 'csv' | 'json' }; answer: string }
  'GET /api/log': {
    query: LogFilter & { before?: string | undefined; limit?: number | undefined }
    answer: LogPage
  }
  'GET /api/log/:id': { answer: LogDetails }
  /** The refused requests of the period, most of which have no line in the log. */
  'GET /api/refused': { query: Period; answer: Refused }
  /** A CSV file to download, one line for each entry of the ledger; at most a year. */
  'GET /api/statement': { query: Period; answer: string }
}
