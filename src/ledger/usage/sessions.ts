// The sessions of a book's coding agents, and its labels: what is stored up to the mark plus the
// entries after it, in one snapshot, so that a running session is shown as it is now.
import { dateAt } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
import { markFind, sessionsSince } from './queries.ts'
import type { EntryRange } from './request-rows.ts'
import {
  type AgentRow,
  agentCountBySession,
  agentListDearest,
  type SessionKind,
  type SessionRow,
  sessionListFresh,
  sessionListIds,
  sessionListStored,
  sessionSearch,
} from './session-queries.ts'
import type { UsageOptions } from './usage.ts'

export type SessionFigures = Omit<SessionRow, 'id' | 'spent' | 'cacheSaved'> & {
  readonly spent: Credits
  readonly cacheSaved: Credits
}

export type UsageSession = SessionFigures & {
  readonly id: string
  readonly kind: SessionKind
  /** How many agents sent requests, the main one included; 0 for a label. */
  readonly agentCount: number
}

export type UsageSessionDetails = UsageSession & {
  /** The main agent and those with most credits, most credits first; empty for a label. */
  readonly agents: readonly UsageAgent[]
  /** All other agents together, so that the agents add up to the session; null: none. */
  readonly others: (SessionFigures & { readonly agentCount: number }) | null
}

export type UsageAgent = SessionFigures & {
  /** Null: the main agent. */
  readonly id: string | null
  readonly parentId: string | null
}

/**
 * A coding agent starts a few subagents in a session, rarely dozens, and a table of 50 rows can be
 * read. A client may send 60,000: the answer was 22 MB and the event loop stood for 5.5 s.
 */
const AGENTS_MAX = 50
/** No entry has a later time; PostgreSQL's `infinity` is no Date. */
const [TIME_MIN, TIME_MAX] = [dateAt(0), dateAt(253_402_300_799_000)]
const SEQ_MAX = 2n ** 63n - 1n

export function createSessions({ db, sessionsKeptDays }: UsageOptions) {
  return {
    keptDays: sessionsKeptDays,

    /** A page of sessions or labels, the latest request first. */
    page: (p: { book: BookId; kind: SessionKind; before: bigint | null; limit: number }) =>
      db.snapshot(async (tx) => {
        const unsummed = await unsummedOf(tx, p.book)
        const since = await sessionsSince(tx, sessionsKeptDays)
        const found = await sessionListIds(tx, {
          ...{ ...p, before: p.before ?? SEQ_MAX, since, unsummed, limit: p.limit + 1 },
        })
        const shown = found.slice(0, p.limit)
        const ids = shown.map(({ id }) => id)
        const wholes = await readWholes(tx, { ...p, ids }, unsummed)
        const counted = { book: p.book, ids: p.kind === 'label' ? [] : ids, unsummed }
        const agents = await agentCountBySession(tx, counted)
        return {
          sessions: [...wholes.values()].map(
            (whole): UsageSession => ({
              ...{ ...whole, kind: p.kind, agentCount: agents.get(whole.id) ?? 0 },
            }),
          ),
          next: found.length > p.limit ? (shown.at(-1)?.lastSeq ?? null) : null,
        }
      }),

    /** For operators: the books that have a session of this id, the latest first. */
    search: (id: string, limit: number) => sessionSearch(db, id, limit),

    /** One session or label with its agents; undefined if there is none, or it is too old. */
    find: (p: {
      book: BookId
      kind: SessionKind
      id: string
    }): Promise<UsageSessionDetails | undefined> =>
      db.snapshot(async (tx) => {
        const unsummed = await unsummedOf(tx, p.book)
        const since = await sessionsSince(tx, sessionsKeptDays)
        const found = (await readWholes(tx, { ...p, ids: [p.id] }, unsummed)).get(p.id)
        // The list no longer has one that is about to be removed.
        if (found === undefined || found.lastAt < since) return undefined
        const one = { book: p.book, session: p.id, limit: AGENTS_MAX, unsummed }
        const rows = p.kind === 'label' ? [] : await agentListDearest(tx, one)
        return { ...found, kind: p.kind, ...agentsOf(rows) }
      }),
  }
}

export type Sessions = ReturnType<typeof createSessions>

async function unsummedOf(tx: Tx, book: BookId): Promise<EntryRange | undefined> {
  const mark = await markFind(tx, book, 'usage_split_marks')
  if (mark === undefined || mark.seq === mark.bookSeq) return undefined
  const { seq, dayMin, dayMax } = mark
  return { book, afterSeq: seq, dayMin, dayMax, from: TIME_MIN, to: TIME_MAX }
}

/** In the order of the ids. */
async function readWholes(
  tx: Tx,
  p: { readonly book: BookId; readonly kind: SessionKind; readonly ids: readonly string[] },
  unsummed: EntryRange | undefined,
): Promise<Map<string, SessionFigures & { readonly id: string }>> {
  const stored = await sessionListStored(tx, p)
  const fresh = unsummed === undefined ? [] : await sessionListFresh(tx, { ...p, unsummed })
  const byId = Map.groupBy([...stored, ...fresh], ({ id }) => id)
  return new Map(
    p.ids.flatMap((id) => {
      const rows = byId.get(id)
      return rows === undefined ? [] : [[id, { id, ...figuresOf(rows) }]]
    }),
  )
}

function agentsOf(
  rows: readonly AgentRow[],
): Pick<UsageSessionDetails, 'agentCount' | 'agents' | 'others'> {
  const others = rows.find(({ agent }) => agent === null)
  return {
    agentCount: rows.reduce((sum, { agents }) => sum + agents, 0),
    agents: rows
      .filter((row) => row !== others)
      .map((row) => ({
        ...{ id: row.agent === '' ? null : row.agent, parentId: row.parent, ...figuresOf([row]) },
      })),
    others: others === undefined ? null : { agentCount: others.agents, ...figuresOf([others]) },
  }
}

function figuresOf(rows: readonly Omit<SessionRow, 'id'>[]): SessionFigures {
  const sum = (of: (row: Omit<SessionRow, 'id'>) => bigint) =>
    rows.reduce((all, row) => all + of(row), 0n)
  const times = rows.map(({ firstAt, lastAt }) => [firstAt.getTime(), lastAt.getTime()] as const)
  return {
    models: [...new Set(rows.flatMap(({ models }) => models))].sort(),
    firstAt: dateAt(Math.min(...times.map(([first]) => first))),
    lastAt: dateAt(Math.max(...times.map(([, last]) => last))),
    requests: sum(({ requests }) => requests),
    free: sum(({ free }) => free),
    errors: sum(({ errors }) => errors),
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWrite5m: sum(({ cacheWrite5m }) => cacheWrite5m),
    cacheWrite1h: sum(({ cacheWrite1h }) => cacheWrite1h),
    spent: micro(sum(({ spent }) => spent)),
    cacheSaved: micro(sum(({ cacheSaved }) => cacheSaved)),
    busyMs: sum(({ busyMs }) => busyMs),
  }
}
