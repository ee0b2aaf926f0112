// The SQL of requests that wait for a second person.
import type { Executor } from '../../platform/db/db.ts'
import type { Permission, Role } from '../permissions.ts'

export type ApprovalState =
  | 'waiting'
  | 'running'
  /** Was approved, but never ended: the process that ran it has died. Not stored. */
  | 'interrupted'
  | 'done'
  | 'failed'
  | 'declined'
  | 'withdrawn'
  | 'expired'

export type ApprovalRow = {
  readonly id: string
  readonly kind: string
  readonly permission: Permission
  readonly command: string
  readonly usage: string
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly plan: readonly string[]
  readonly planDigest: Buffer
  readonly askedBy: string
  readonly askerName: string
  readonly askerRole: Role
  readonly isAskerActive: boolean
  readonly askedAt: Date
  readonly endsAt: Date
  readonly state: ApprovalState
  readonly decidedBy: string | null
  readonly deciderName: string | null
  readonly decidedAt: Date | null
  readonly detail: string
}

/** Far longer than any command runs; the slowest wait for the payment provider. */
const IS_INTERRUPTED = `a.state = 'running' and
  a.decided_at < clock_timestamp() - interval '15 minutes'`

const APPROVAL = `
  a.id, a.kind, a.permission, a.command, a.usage, a.args, a.options, a.plan,
  a.plan_digest as "planDigest", a.asked_by as "askedBy", o.name as "askerName",
  o.role as "askerRole", o.state = 'active' as "isAskerActive", a.asked_at as "askedAt",
  a.ends_at as "endsAt",
  case when ${IS_INTERRUPTED} then 'interrupted' else a.state end as state,
  a.decided_by as "decidedBy", d.name as "deciderName",
  a.decided_at as "decidedAt", a.detail`
const FROM = `
  operator_approvals a join operators o on o.id = a.asked_by
  left join operators d on d.id = a.decided_by`

/** Requests whose time is over become history. Locks what it changes. */
export async function approvalsExpire(db: Executor): Promise<void> {
  await db.query(
    `update operator_approvals set state = 'expired'
     where state = 'waiting' and ends_at <= clock_timestamp()`,
  )
}

export async function approvalInsert(
  db: Executor,
  p: Pick<
    ApprovalRow,
    'id' | 'kind' | 'permission' | 'command' | 'usage' | 'args' | 'options' | 'plan' | 'planDigest'
  > & { readonly by: string; readonly hours: number },
): Promise<Date> {
  const { rows } = await db.query(
    `insert into operator_approvals (id, kind, permission, command, usage, args, options, plan,
       plan_digest, asked_by, ends_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
       clock_timestamp() + make_interval(hours => $11))
     returning ends_at as "endsAt"`,
    [
      ...[p.id, p.kind, p.permission, p.command, p.usage, p.args, JSON.stringify(p.options)],
      ...[p.plan, p.planDigest, p.by, p.hours],
    ],
  )
  return (rows[0] as { endsAt: Date }).endsAt
}

/** Reads without a lock. */
export async function approvalFind(db: Executor, id: string): Promise<ApprovalRow | undefined> {
  const { rows } = await db.query(`select ${APPROVAL} from ${FROM} where a.id = $1`, [id])
  return rows[0] as ApprovalRow | undefined
}

/** Those that wait or run first, then the newest. Reads without a lock. */
export async function approvalList(db: Executor, limit: number): Promise<ApprovalRow[]> {
  const { rows } = await db.query(
    `select ${APPROVAL} from ${FROM}
     order by a.state in ('waiting', 'running') desc, a.asked_at desc limit $1`,
    [limit],
  )
  return rows as ApprovalRow[]
}

/**
 * One person decides once, in time, and not about an own request: the row's lock and its state let
 * one of several pass. True when this call decided.
 */
export async function approvalDecide(
  db: Executor,
  p: {
    readonly id: string
    readonly by: string
    readonly state: 'running' | 'declined'
    readonly detail: string
  },
): Promise<boolean> {
  const { rows } = await db.query(
    `update operator_approvals set state = $3, decided_by = $2, decided_at = clock_timestamp(),
       detail = $4
     where id = $1 and state = 'waiting' and ends_at > clock_timestamp() and asked_by <> $2
     returning id`,
    [p.id, p.by, p.state, p.detail],
  )
  return rows.length > 0
}

/** The person who asked takes the request back. True when it waited. */
export async function approvalWithdraw(
  db: Executor,
  p: { readonly id: string; readonly by: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `update operator_approvals set state = 'withdrawn', decided_by = $2,
       decided_at = clock_timestamp()
     where id = $1 and state = 'waiting' and asked_by = $2 returning id`,
    [p.id, p.by],
  )
  return rows.length > 0
}

/** How an approved command ended. Locks and updates the row. */
export async function approvalEnd(
  db: Executor,
  p: { readonly id: string; readonly state: 'done' | 'failed'; readonly detail: string },
): Promise<void> {
  await db.query(
    `update operator_approvals set state = $2, detail = $3 where id = $1 and state = 'running'`,
    [p.id, p.state, p.detail],
  )
}

/** A person has looked what an interrupted run did. True when it was interrupted. */
export async function approvalClose(
  db: Executor,
  p: { readonly id: string; readonly detail: string },
): Promise<boolean> {
  const { rows } = await db.query(
    `update operator_approvals a set state = 'failed', detail = $2
     where a.id = $1 and ${IS_INTERRUPTED} returning a.id`,
    [p.id, p.detail],
  )
  return rows.length > 0
}

/** The roles of other active operators, who may be able to approve. Reads without a lock. */
export async function otherRoles(db: Executor, id: string): Promise<Role[]> {
  const { rows } = await db.query(
    `select distinct role from operators where state = 'active' and id <> $1`,
    [id],
  )
  return (rows as { role: Role }[]).map(({ role }) => role)
}
