// The SQL of upstreams: what the operator changed, and what each process sees of upstreams and
// accounts. One function per statement; requests do not wait for any of them.
import type { Executor } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { TargetDetails, TargetView } from './view.ts'

export type UpstreamSetting = {
  name: string
  weight: number | null
  isDrained: boolean
  changedBy: string
  /** As text, in UTC. */
  changedAt: string
}

/** A target as all processes see it together. */
export type SeenTarget = Omit<TargetView, 'details'> & {
  processes: number
  details: TargetDetails[]
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

/** A credential that the operator added, rotated or drained. */
export type StoredCredential = {
  target: string
  /** Null: as each node's file says. */
  reference: string | null
  isDrained: boolean
  changedBy: string
  /** As text, in UTC. */
  changedAt: string
}

/** Reads without a lock. */
export async function credentialList(db: Executor): Promise<StoredCredential[]> {
  const { rows } = await db.query(
    `select target, reference, is_drained as "isDrained", changed_by as "changedBy",
       to_char(changed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as "changedAt"
     from upstream_credentials order by target`,
  )
  return rows as StoredCredential[]
}

/** Locks only its own row. Null leaves a member as it is. */
export async function credentialChange(
  db: Executor,
  p: { target: string; reference: string | null; isDrained: boolean | null; by: string },
): Promise<void> {
  await db.query(
    `insert into upstream_credentials (target, reference, is_drained, changed_by)
     values ($1, $2, coalesce($3, false), $4)
     on conflict (target) do update
     set reference = coalesce($2, upstream_credentials.reference),
       is_drained = coalesce($3, upstream_credentials.is_drained),
       changed_by = $4, changed_at = clock_timestamp()`,
    [p.target, p.reference, p.isDrained, p.by],
  )
}

export async function credentialDelete(db: Executor, target: string): Promise<void> {
  await db.query('delete from upstream_credentials where target = $1', [target])
}

export type CredentialProblem = { target: string; problem: string }

/** Replaces what one process cannot read; locks only its own rows. */
export async function problemWrite(
  db: Executor,
  instance: bigint,
  problems: readonly CredentialProblem[],
): Promise<void> {
  await db.query(
    `with listed as (
       select target, problem
       from jsonb_to_recordset($2::jsonb) as p (target text, problem text)
     ), gone as (
       delete from upstream_credential_problems
       where instance = $1 and target not in (select target from listed)
     )
     insert into upstream_credential_problems (instance, target, problem, seen_at)
     select $1, target, problem, clock_timestamp() from listed
     on conflict (instance, target) do update
     set problem = excluded.problem, seen_at = excluded.seen_at`,
    [instance, JSON.stringify(problems)],
  )
}

/** What processes could not read within the last half minute. Reads without a lock. */
export async function problemList(
  db: Executor,
): Promise<(CredentialProblem & { processes: number })[]> {
  const { rows } = await db.query(
    `select target, problem, count(*)::int4 as processes
     from upstream_credential_problems
     where seen_at > clock_timestamp() - interval '30 seconds'
     group by target, problem order by target, problem`,
  )
  return rows as (CredentialProblem & { processes: number })[]
}

/** Writes one process's view; locks only its own rows. */
export async function viewWrite(
  db: Executor,
  instance: bigint,
  views: TargetView[],
): Promise<void> {
  await db.query(
    `insert into upstream_views
       (instance, target, state, under_way, succeeded, failed, details, seen_at)
     select $1, v.target, v.state, v."underWay", v.succeeded, v.failed, v.details,
       clock_timestamp()
     from jsonb_to_recordset($2::jsonb) as v
       (target text, state text, "underWay" int4, succeeded int8, failed int8, details jsonb)
     on conflict (instance, target) do update
     set state = excluded.state, under_way = excluded.under_way, succeeded = excluded.succeeded,
       failed = excluded.failed, details = excluded.details, seen_at = excluded.seen_at`,
    [instance, JSON.stringify(views)],
  )
}

/** What processes saw within the last half minute, by target. Reads without a lock. */
export async function viewList(db: Executor): Promise<SeenTarget[]> {
  const { rows } = await db.query(
    `select target, case when bool_or(state = 'closed') then 'closed'
         when bool_or(state = 'probing') then 'probing' else 'open' end as state,
       sum(under_way)::int4 as "underWay", sum(succeeded)::int4 as succeeded,
       sum(failed)::int4 as failed, count(*)::int4 as processes,
       coalesce(jsonb_agg(details) filter (where details is not null), '[]') as details
     from upstream_views
     where seen_at > clock_timestamp() - interval '30 seconds'
     group by target order by target`,
  )
  return rows as SeenTarget[]
}

/** Deletes the views of processes that have ended. */
export async function viewDeleteOld(db: Executor): Promise<void> {
  const isOld = `seen_at < clock_timestamp() - interval '1 hour'`
  await db.query(`delete from upstream_views where ${isOld}`)
  await db.query(`delete from busiest_accounts where ${isOld}`)
  await db.query(`delete from upstream_credential_problems where ${isOld}`)
}

/** What one account uses of one thing that accounts share. */
export type BusyAccount = {
  of: string
  book: BookId
  used: number
  capacity: number
  refused: number
  shed: number
}

/** Writes what the busiest accounts of one process use; locks only its own row. */
export async function busiestWrite(
  db: Executor,
  instance: bigint,
  uses: readonly BusyAccount[],
): Promise<void> {
  await db.query(
    `insert into busiest_accounts (instance, uses, seen_at) values ($1, $2, clock_timestamp())
     on conflict (instance) do update set uses = excluded.uses, seen_at = excluded.seen_at`,
    [instance, JSON.stringify(uses.map((one) => ({ ...one, book: String(one.book) })))],
  )
}

/** The accounts that use the largest parts, in all processes seen within the last half minute. */
export async function busiestList(
  db: Executor,
  limit: number,
): Promise<(BusyAccount & { processes: number })[]> {
  const { rows } = await db.query(
    `select u.of, u.book, sum(u.used)::float8 as used, sum(u.capacity)::float8 as capacity,
       sum(u.refused)::float8 as refused, sum(u.shed)::float8 as shed, count(*)::int4 as processes
     from busiest_accounts, jsonb_to_recordset(uses) as u
       (of text, book int8, used int8, capacity int8, refused int8, shed int8)
     where seen_at > clock_timestamp() - interval '30 seconds'
     group by u.of, u.book
     order by sum(u.used) / sum(u.capacity) desc, sum(u.refused) desc, u.book, u.of limit $1`,
    [limit],
  )
  return rows as (BusyAccount & { processes: number })[]
}
