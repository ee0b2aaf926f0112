// The SQL of upstreams: what the operator changed, and what each process sees. One function per
// statement; requests do not wait for any of them.
import type { Executor } from '../platform/db/db.ts'
import type { BreakerState } from './breaker.ts'

export type UpstreamSetting = {
  name: string
  weight: number | null
  isDrained: boolean
  changedBy: string
  /** As text, in UTC. */
  changedAt: string
}

export type TargetView = {
  target: string
  state: BreakerState
  underWay: number
  succeeded: number
  failed: number
}

/** Reads without a lock. */
export async function settingList(db: Executor): Promise<UpstreamSetting[]> {
  const { rows } = await db.query(
    `select name, weight, is_drained as "isDrained", changed_by as "changedBy",
       to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as "changedAt"
     from upstream_settings order by name`,
  )
  return rows as UpstreamSetting[]
}

/** Locks only its own row. Null leaves a member as it is. */
export async function settingChange(
  db: Executor,
  p: { name: string; weight: number | null; isDrained: boolean | null; by: string },
): Promise<void> {
  await db.query(
    `insert into upstream_settings (name, weight, is_drained, changed_by)
     values ($1, $2, coalesce($3, false), $4)
     on conflict (name) do update
     set weight = coalesce($2, upstream_settings.weight),
       is_drained = coalesce($3, upstream_settings.is_drained),
       changed_by = $4, changed_at = clock_timestamp()`,
    [p.name, p.weight, p.isDrained, p.by],
  )
}

/** Writes one process's view; locks only its own rows. */
export async function viewWrite(
  db: Executor,
  instance: bigint,
  views: TargetView[],
): Promise<void> {
  await db.query(
    `insert into upstream_views
       (instance, target, state, under_way, succeeded, failed, seen_at)
     select $1, v.target, v.state, v."underWay", v.succeeded, v.failed, clock_timestamp()
     from jsonb_to_recordset($2::jsonb) as v
       (target text, state text, "underWay" int4, succeeded int8, failed int8)
     on conflict (instance, target) do update
     set state = excluded.state, under_way = excluded.under_way, succeeded = excluded.succeeded,
       failed = excluded.failed, seen_at = excluded.seen_at`,
    [instance, JSON.stringify(views)],
  )
}

/** What processes saw within the last half minute, by target. Reads without a lock. */
export async function viewList(db: Executor): Promise<(TargetView & { processes: number })[]> {
  const { rows } = await db.query(
    `select target, case when bool_or(state = 'closed') then 'closed'
         when bool_or(state = 'probing') then 'probing' else 'open' end as state,
       sum(under_way)::int4 as "underWay", sum(succeeded)::int4 as succeeded,
       sum(failed)::int4 as failed, count(*)::int4 as processes
     from upstream_views
     where seen_at > clock_timestamp() - interval '30 seconds'
     group by target order by target`,
  )
  return rows as (TargetView & { processes: number })[]
}

/** Deletes the views of processes that have ended. */
export async function viewDeleteOld(db: Executor): Promise<void> {
  await db.query(`delete from upstream_views where seen_at < clock_timestamp() - interval '1 hour'`)
}
