// The types of the sessions of coding agents: requests grouped by the session and agent ids that
// clients send, or by our label header. Ids only; what a request contained is stored nowhere.
import type { Time } from './contract.ts'
import type { UsageFigures } from './usage.ts'

export type SessionKind = 'session' | 'label'

export type SessionFigures = Omit<UsageFigures, 'known' | 'firstByte' | 'total'> & {
  readonly firstAt: Time
  readonly lastAt: Time
  /** How long its requests took together. */
  readonly busyMs: string
  /** By name. */
  readonly models: readonly string[]
}

export type UsageSessionLine = SessionFigures & {
  /** As the client sent it. */
  readonly id: string
  readonly kind: SessionKind
  /** How many agents sent requests, the main one included; 0 for a label. */
  readonly agents: number
}

export type SessionAgent = SessionFigures & {
  /** Null: the main agent. */
  readonly id: string | null
  /** The agent that started it; null: the main one, or not known. */
  readonly parentId: string | null
}

export type UsageSessions = {
  /** The latest request first. */
  readonly lines: readonly UsageSessionLine[]
  /** `before` of the next page; null: this is the last page. */
  readonly next: string | null
  /** For how many days after its last request a session is kept. */
  readonly keptDays: number
}

export type UsageSessionDetails = {
  readonly line: UsageSessionLine
  /** The main agent and those with most credits, 50 at most; empty for a label. */
  readonly agents: readonly SessionAgent[]
  /** All other agents together: with it the agents add up to the session. Null: none. */
  readonly others: (SessionFigures & { readonly agents: number }) | null
}

/** `/api/sessions` are the owner's own sign-ins. */
export type SessionRoutes = {
  'GET /api/usage/sessions': {
    query: {
      kind?: SessionKind | undefined
      before?: string | undefined
      limit?: number | undefined
    }
    answer: UsageSessions
  }
  /** A client may send any id, also one that is no part of a path: it is in the query. */
  'GET /api/usage/session': {
    query: { id: string; kind?: SessionKind | undefined }
    answer: UsageSessionDetails
  }
}
