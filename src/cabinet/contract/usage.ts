// Where the credits went: the chart, the request log, one request's arithmetic and the statement,
// as types alone. Part of the contract.
import type { Credits, Time, Whole } from './contract.ts'

export type UsageStep = 'hour' | 'day'

/** What one model used in one step of time. */
export type ModelUse = {
  readonly model: string
  /** All that reached an upstream, charged or free. */
  readonly requests: Whole
  /** Those of them that cost nothing. */
  readonly free: Whole
  readonly input: Whole
  readonly output: Whole
  readonly cacheRead: Whole
  readonly cacheWrite5m: Whole
  readonly cacheWrite1h: Whole
  readonly credits: Credits
}

export type UsageBucket = {
  /** When it begins. */
  readonly at: Time
  /** The same on the owner's clock: `2026-11-15` of a day, `2026-11-15T13:00` of an hour. */
  readonly local: string
  /** Most credits first; empty when nothing was used. */
  readonly models: readonly ModelUse[]
}

export type Usage = {
  readonly zone: string
  readonly step: UsageStep
  /** First and last day, both included, of the zone. */
  readonly from: string
  readonly to: string
  /** Oldest first, none left out. */
  readonly buckets: readonly UsageBucket[]
  /** The whole period by model, most credits first. */
  readonly totals: readonly ModelUse[]
}

/** How a request ended, in the ledger's words. The first two are charged, the others are free. */
export type Ending =
  | 'complete'
  | 'client_left'
  | 'refused'
  | 'upstream_failed'
  | 'process_lost'
  | 'given_up'
  | 'overdue'

export type LogLine = {
  /** `req_…`, as in the reply's header. */
  readonly id: string
  readonly at: Time
  readonly model: string
  readonly ending: Ending
  /** Why a free one is free, in a word of the ledger; null of a charged one. */
  readonly reason: string | null
  readonly input: Whole
  readonly output: Whole
  readonly cacheRead: Whole
  readonly cacheWrite5m: Whole
  readonly cacheWrite1h: Whole
  readonly credits: Credits
  readonly isEstimated: boolean
}

export type LogPage = {
  /** Newest first. */
  readonly lines: readonly LogLine[]
  /** `before` of the next page; null: there is none. */
  readonly next: string | null
  /** What the filter may name. */
  readonly models: readonly string[]
}

export type PartKind = 'input' | 'output' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h'

/** tokens × weight = credits, exactly. */
export type PricedPart = {
  readonly kind: PartKind
  readonly tokens: Whole
  /** Credits per token, exact decimal text. */
  readonly weight: string
  readonly credits: Credits
}

export type LoggedRequest = LogLine & {
  /** Of the catalogue that priced it; null of a free one. */
  readonly catalogueVersion: number | null
  /** Input and output always, cached tokens where there were some; empty of a free one. */
  readonly parts: readonly PricedPart[]
  readonly priced: Credits
  /** What of the price was not taken, because the hold was smaller. */
  readonly writtenOff: Credits
  readonly balanceAfter: Credits
  /** The upstream's own number of the reply, for questions to support. */
  readonly messageId: string | null
}

/** Days are of `zone`, such as `Europe/Moscow`; UTC when absent or unknown. */
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
  'GET /api/log/:id': { answer: LoggedRequest }
  /** A CSV file to be saved, one line an entry of the ledger; at most a year. */
  'GET /api/statement': { query: Period; answer: string }
}
