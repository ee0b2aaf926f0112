// The SQL of the status page. The history is written by the function status_record alone.
import { dateAt } from '../platform/clock.ts'
import type { Executor, Tx } from '../platform/db/db.ts'
import type { Component, ProbeState, Turn } from './components.ts'

/**
 * Takes the turn to probe a component; undefined when it is not due, or another process has it. A
 * turn further ahead than any lease was taken before the clock was set back. Locks the row.
 */
export async function probeClaim(
  db: Executor,
  component: Component,
  leaseMs: number,
): Promise<Turn | undefined> {
  const { rows } = await db.query(
    `update status_components
     set next_at = ledger_now() + make_interval(secs => $2::float8 / 1000), turn = turn + 1
     where component = $1 and (next_at <= ledger_now()
       or next_at > ledger_now() + make_interval(secs => greatest($2::float8 / 1000, 60)))
     returning turn, state`,
    [component, leaseMs],
  )
  return rows[0] as Turn | undefined
}

/** Records what a probe saw. Locks the row of the component. */
export async function probeRecord(
  db: Executor,
  p: {
    readonly component: Component
    readonly state: ProbeState
    readonly reason: string
    readonly gapMs: number
    readonly nextMs: number
  },
): Promise<{ readonly event: 'opened' | 'closed'; readonly outage: bigint }[]> {
  const { rows } = await db.query(
    `select event, outage from status_record($1, $2, $3, make_interval(secs => $4::float8 / 1000),
       make_interval(secs => $5::float8 / 1000))`,
    [p.component, p.state, p.reason, p.gapMs, p.nextMs],
  )
  return rows as { event: 'opened' | 'closed'; outage: bigint }[]
}

/** Removes what is older than the page shows. */
export async function historyForget(db: Executor): Promise<void> {
  await db.query('select status_forget()')
}

export type ComponentRow = {
  readonly component: Component
  readonly state: ProbeState
  readonly reason: string
  readonly firstAt: Date | null
  /** Since the last probe; null: there was none. Negative after the clock was set back. */
  readonly agoMs: number | null
  readonly now: Date
}

export async function componentList(db: Executor): Promise<ComponentRow[]> {
  const { rows } = await db.query(
    `select component, state, reason, first_at as "firstAt",
       (extract(epoch from ledger_now() - probed_at) * 1000)::float8 as "agoMs",
       ledger_now() as now
     from status_components`,
  )
  return rows as ComponentRow[]
}

export type DayRow = {
  readonly component: Component
  readonly day: string
  readonly workingMs: number
  readonly failedMs: number
  readonly plannedMs: number
}

/** The last `days` days, UTC, today included. */
export async function dayList(db: Executor, days: number): Promise<DayRow[]> {
  const { rows } = await db.query(
    `select component, day::text, working_ms::float8 as "workingMs",
       failed_ms::float8 as "failedMs", planned_ms::float8 as "plannedMs"
     from status_days
     where day > (ledger_now() at time zone 'UTC')::date - $1::int4`,
    [days],
  )
  return rows as DayRow[]
}

export type OutageRow = {
  readonly id: bigint
  readonly component: Component
  readonly beganAt: Date
  readonly endedAt: Date | null
}

/** Newest first. */
export async function outageList(db: Executor, days: number, limit: number): Promise<OutageRow[]> {
  const { rows } = await db.query(
    `select id, component, began_at as "beganAt", ended_at as "endedAt"
     from status_outages
     where ended_at is null or ended_at > ledger_now() - make_interval(days => $1)
     order by began_at desc, id desc limit $2`,
    [days, limit],
  )
  return rows as OutageRow[]
}

export type IncidentState = 'investigating' | 'identified' | 'watching' | 'planned' | 'closed'
export type Texts = { readonly ru: string; readonly en: string }

export type IncidentUpdate = {
  readonly at: Date
  readonly state: IncidentState
  readonly text: Texts
}

export type IncidentRow = {
  readonly id: bigint
  readonly kind: 'incident' | 'maintenance'
  readonly components: readonly Component[]
  readonly title: Texts
  readonly beginsAt: Date
  /** Of maintenance: until when it is planned. */
  readonly endsAt: Date | null
  readonly closedAt: Date | null
  /** Newest first. */
  readonly updates: readonly IncidentUpdate[]
}

const INCIDENT = `
  select i.id, i.kind, i.components, i.begins_at as "beginsAt", i.ends_at as "endsAt",
    least(i.closed_at, case when i.ends_at <= ledger_now() then i.ends_at end) as "closedAt",
    jsonb_build_object('ru', i.title_ru, 'en', i.title_en) as title,
    coalesce((select jsonb_agg(jsonb_build_object(
        'atMs', floor(extract(epoch from u.at) * 1000)::int8, 'state', u.state,
        'text', jsonb_build_object('ru', u.text_ru, 'en', u.text_en)) order by u.id desc)
      from status_incident_updates u where u.incident_id = i.id), '[]') as updates
  from status_incidents i`

type StoredUpdate = Omit<IncidentUpdate, 'at'> & { readonly atMs: number }

/**
 * Those that are open, and those that ended within the last `days` days; newest first. Maintenance
 * ends by itself when its time is over.
 */
export async function incidentList(
  db: Executor,
  days: number,
  limit: number,
): Promise<IncidentRow[]> {
  const { rows } = await db.query(
    `${INCIDENT}
     where coalesce(i.closed_at, i.ends_at, ledger_now()) > ledger_now() - make_interval(days => $1)
     order by i.begins_at desc, i.id desc limit $2`,
    [days, limit],
  )
  type Stored = Omit<IncidentRow, 'updates'> & { readonly updates: readonly StoredUpdate[] }
  return (rows as Stored[]).map((row) => ({
    ...row,
    updates: row.updates.map(({ atMs, ...update }) => ({ ...update, at: dateAt(atMs) })),
  }))
}

/** Locks the incident, so that two operators write one after the other. */
export async function incidentLock(
  tx: Tx,
  id: bigint,
): Promise<{ readonly closedAt: Date | null } | undefined> {
  const { rows } = await tx.query(
    'select closed_at as "closedAt" from status_incidents where id = $1 for no key update',
    [id],
  )
  return rows[0] as { closedAt: Date | null } | undefined
}

/** A null begin is now. */
export async function incidentInsert(
  tx: Tx,
  p: {
    readonly kind: 'incident' | 'maintenance'
    readonly components: readonly Component[]
    readonly title: Texts
    readonly beginsAt: Date | null
    readonly endsAt: Date | null
    readonly by: string
  },
): Promise<bigint> {
  const { rows } = await tx.query(
    `insert into status_incidents (kind, components, title_ru, title_en, begins_at, ends_at,
       opened_by)
     values ($1, $2, $3, $4, coalesce($5, ledger_now()), $6, $7)
     returning id`,
    [p.kind, p.components, p.title.ru, p.title.en, p.beginsAt, p.endsAt, p.by],
  )
  return (rows[0] as { id: bigint }).id
}

export async function incidentUpdateInsert(
  tx: Tx,
  p: {
    readonly incident: bigint
    readonly state: IncidentState
    readonly text: Texts
    readonly by: string
  },
): Promise<void> {
  await tx.query(
    `insert into status_incident_updates (incident_id, state, text_ru, text_en, written_by)
     values ($1, $2, $3, $4, $5)`,
    [p.incident, p.state, p.text.ru, p.text.en, p.by],
  )
}

/** Locks the incident. */
export async function incidentClose(tx: Tx, id: bigint): Promise<void> {
  await tx.query('update status_incidents set closed_at = ledger_now() where id = $1', [id])
}
