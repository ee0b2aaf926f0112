// The SQL that reads sessions and labels: those up to the mark, and the entries after it. One
// function per statement; all only read, in the snapshot of the mark.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { AmountsRow } from './figures.ts'
import { type EntryRange, entryValues, requestsSql } from './request-rows.ts'

export type SessionKind = 'session' | 'label'

/** The column of a request with the id of its session or its label. */
const ID_COLUMNS: Readonly<Record<SessionKind, string>> = { session: 'session_id', label: 'label' }

/** The ids of a page, the latest request first, with the number of that request's entry. */
export async function sessionListIds(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly kind: SessionKind
    /** Only sessions whose last entry has a lower number. */
    readonly before: bigint
    readonly since: Date
    readonly limit: number
    readonly unsummed: EntryRange | undefined
  },
): Promise<{ id: string; lastSeq: bigint }[]> {
  const values: unknown[] = [p.book, p.kind, p.before, p.since, p.limit]
  if (p.unsummed !== undefined) values.push(...entryValues(p.unsummed))
  const id = ID_COLUMNS[p.kind]
  const fresh =
    p.unsummed === undefined
      ? `select ''::text as id, 0::int8 as last_seq where false`
      : `select ${id} as id, max(seq) as last_seq from (${requestsSql(6)}) r
         where ${id} is not null group by 1`
  const { rows } = await tx.query(
    `with fresh as materialized (${fresh})
     select id, last_seq as "lastSeq" from (
       select id, last_seq from fresh where last_seq < $3
       union all
       (select s.id, s.last_seq from usage_sessions s
        where s.book_id = $1 and s.split = $2 and s.is_whole and s.last_seq < $3
          and s.last_at >= $4
          and not exists (select from fresh f where f.id = s.id)
        order by s.last_seq desc limit $5)
     ) s
     order by last_seq desc limit $5`,
    values,
  )
  return rows as { id: string; lastSeq: bigint }[]
}

/**
 * The books that have a session of this id, the latest first. Reads every stored session without a
 * lock, about 0.2 s per million: an index would slow the sums down for a search that operators run
 * a few times a week. A session of the last minute is not stored yet.
 */
export async function sessionSearch(
  db: Executor,
  id: string,
  limit: number,
): Promise<{ book: BookId; requests: bigint; lastAt: Date }[]> {
  const { rows } = await db.query(
    `select book_id as book, requests, last_at as "lastAt" from usage_sessions
     where split = 'session' and is_whole and id = $1 order by last_at desc limit $2`,
    [id, limit],
  )
  return rows as { book: BookId; requests: bigint; lastAt: Date }[]
}

/** Requests of a session, or of some of its agents. */
type FiguresRow = Omit<AmountsRow, 'known'> & {
  readonly models: readonly string[]
  readonly firstAt: Date
  readonly lastAt: Date
  readonly busyMs: bigint
}

export type SessionRow = FiguresRow & { readonly id: string }

type SessionIds = {
  readonly book: BookId
  readonly kind: SessionKind
  readonly ids: readonly string[]
}

/** What is stored of these sessions as wholes. */
export async function sessionListStored(tx: Tx, p: SessionIds): Promise<SessionRow[]> {
  const { rows } = await tx.query(
    `select id, models, first_at as "firstAt", last_at as "lastAt", requests, free, errors, input,
       output, cache_read as "cacheRead", cache_write_5m as "cacheWrite5m",
       cache_write_1h as "cacheWrite1h", spent, cache_saved as "cacheSaved", busy_ms as "busyMs"
     from usage_sessions where book_id = $1 and split = $2 and id = any ($3) and is_whole`,
    [p.book, p.kind, p.ids],
  )
  return rows as SessionRow[]
}

/** Their requests after the mark. */
export async function sessionListFresh(
  tx: Tx,
  p: SessionIds & { readonly unsummed: EntryRange },
): Promise<SessionRow[]> {
  const id = ID_COLUMNS[p.kind]
  const { rows } = await tx.query(
    `select ${id} as id, array_agg(distinct model) as models, min(at) as "firstAt",
       max(at) as "lastAt", count(*) as requests, count(*) filter (where is_free) as free,
       count(*) filter (where is_error) as errors, sum(input)::int8 as input,
       sum(output)::int8 as output, sum(cache_read)::int8 as "cacheRead",
       sum(cache_write_5m)::int8 as "cacheWrite5m", sum(cache_write_1h)::int8 as "cacheWrite1h",
       sum(spent)::int8 as spent, sum(cache_saved)::int8 as "cacheSaved",
       sum(busy_ms)::int8 as "busyMs"
     from (${requestsSql(2)}) r
     where ${id} = any ($1)
     group by 1`,
    [p.ids, ...entryValues(p.unsummed)],
  )
  return rows as SessionRow[]
}

/** How many agents sent the requests of each of these sessions, before and after the mark. */
export async function agentCountBySession(
  tx: Tx,
  p: Pick<SessionIds, 'book' | 'ids'> & { readonly unsummed: EntryRange | undefined },
): Promise<Map<string, number>> {
  const values: unknown[] = [p.book, p.ids]
  if (p.unsummed !== undefined) values.push(...entryValues(p.unsummed))
  // Only `union` compares the agents: without entries after the mark none is there twice.
  const fresh =
    p.unsummed === undefined
      ? ''
      : `union select session_id, coalesce(agent_id, '') from (${requestsSql(3)}) r
         where session_id = any ($2)`
  const { rows } = await tx.query(
    `select id, count(*)::int4 as agents from (
       select id, agent from usage_sessions
       where book_id = $1 and split = 'session' and id = any ($2) and not is_whole
       ${fresh}
     ) a
     group by id`,
    values,
  )
  return new Map((rows as { id: string; agents: number }[]).map(({ id, agents }) => [id, agents]))
}

/** The requests of one agent, or of all agents beyond the limit together. */
export type AgentRow = FiguresRow & {
  /** Null: all others. Empty: the main agent. */
  readonly agent: string | null
  readonly parent: string | null
  /** How many agents the row adds up. */
  readonly agents: number
}

/**
 * The main agent and those with most credits, `limit` in all, most credits first, and one row for
 * all others. PostgreSQL adds these up: a client may send every request with an agent of its own.
 * It joins only the rows of the result: a join of 20,000 agents with their parts took over 30 s.
 */
export async function agentListDearest(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly session: string
    readonly limit: number
    readonly unsummed: EntryRange | undefined
  },
): Promise<AgentRow[]> {
  const values: unknown[] = [p.book, p.session, p.limit]
  if (p.unsummed !== undefined) values.push(...entryValues(p.unsummed))
  const fresh =
    p.unsummed === undefined
      ? ''
      : `union all
         select false, coalesce(agent_id, ''), max(parent_agent_id), array_agg(distinct model),
           min(at), max(at), count(*), count(*) filter (where is_free),
           count(*) filter (where is_error), sum(input), sum(output), sum(cache_read),
           sum(cache_write_5m), sum(cache_write_1h), sum(spent), sum(cache_saved), sum(busy_ms)
         from (${requestsSql(4)}) r where session_id = $2 group by 2`
  const { rows } = await tx.query(
    `with parts as materialized (
       select true as is_stored, agent, parent_agent as parent, models, first_at, last_at,
         requests, free, errors, input, output, cache_read, cache_write_5m, cache_write_1h, spent,
         cache_saved, busy_ms
       from usage_sessions
       where book_id = $1 and split = 'session' and id = $2 and not is_whole
       ${fresh}
     ), agents as materialized (
       select agent, coalesce(max(parent) filter (where is_stored), max(parent)) as parent,
         coalesce(max(models) filter (where is_stored), '{}')
           || coalesce(max(models) filter (where not is_stored), '{}') as models,
         min(first_at) as first_at, max(last_at) as last_at, sum(requests) as requests,
         sum(free) as free, sum(errors) as errors, sum(input) as input, sum(output) as output,
         sum(cache_read) as cache_read, sum(cache_write_5m) as cache_write_5m,
         sum(cache_write_1h) as cache_write_1h, sum(spent) as spent,
         sum(cache_saved) as cache_saved, sum(busy_ms) as busy_ms,
         least(row_number() over (order by agent <> '', sum(spent) desc, agent), $3 + 1) as place
       from parts group by agent
     ), used as materialized (
       select place, array_agg(distinct model) as models
       from agents, unnest(models) as model group by place
     ), places as materialized (
       select place, count(*)::int4 as agents,
         case when place <= $3 then min(agent) end as agent,
         case when place <= $3 then min(parent) end as parent,
         min(first_at) as "firstAt", max(last_at) as "lastAt", sum(requests)::int8 as requests,
         sum(free)::int8 as free, sum(errors)::int8 as errors, sum(input)::int8 as input,
         sum(output)::int8 as output, sum(cache_read)::int8 as "cacheRead",
         sum(cache_write_5m)::int8 as "cacheWrite5m", sum(cache_write_1h)::int8 as "cacheWrite1h",
         sum(spent)::int8 as spent, sum(cache_saved)::int8 as "cacheSaved",
         sum(busy_ms)::int8 as "busyMs"
       from agents group by place
     )
     select p.*, u.models from places p join used u using (place)
     order by place > $3, spent desc, agent`,
    values,
  )
  return rows as AgentRow[]
}
