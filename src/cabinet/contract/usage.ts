// The types of usage: the chart, the request log, the price of one request and the statement.
import type { Credits, IntegerText, Time } from './contract.ts'
import type { PriceDimension, PriceListName, TokenKind } from './prices.ts'

export type UsageStep = 'hour' | 'day'

/** What one model used in one step of time. */
export type ModelUsage = {
  readonly model: string
  /** All requests that reached an upstream, charged or free. */
  readonly requests: IntegerText
  /** Those of them that cost nothing. */
  readonly free: IntegerText
  readonly input: IntegerText
  readonly output: IntegerText
  readonly cacheRead: IntegerText
  readonly cacheWrite5m: IntegerText
  readonly cacheWrite1h: IntegerText
  readonly credits: Credits
}

export type UsageBucket = {
  /** The start of the step. */
  readonly at: Time
  /** The same in the owner's time zone: `2026-11-15` for a day, `2026-11-15T13:00` for an hour. */
  readonly local: string
  /** Most credits first; empty when nothing was used. */
  readonly models: readonly ModelUsage[]
}

export type Usage = {
  readonly zone: string
  readonly step: UsageStep
  /** First and last day, both included, in the zone. */
  readonly from: string
  readonly to: string
  /** Oldest first, also empty ones. */
  readonly buckets: readonly UsageBucket[]
  /** The whole period by model, most credits first. */
  readonly totals: readonly ModelUsage[]
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
  model?: string | undefined
  /** `charged`, `free`, or one ending. */
  ending?: Ending | 'charged' | 'free' | undefined
}

export type UsageRoutes = {
  'GET /api/usage': { query: Period & { step?: UsageStep | undefined }; answer: Usage }
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
