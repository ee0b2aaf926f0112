// The SQL of operators themselves: people, their states and roles, attempts to sign in.
import { attemptIncrement } from '../platform/db/attempt-queries.ts'
import type { Executor, Tx } from '../platform/db/db.ts'
import type { Role } from './permissions.ts'

export type OperatorState = 'invited' | 'active' | 'disabled'

export type OperatorRow = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly state: OperatorState
  readonly hasApp: boolean
  readonly passkeys: number
  readonly createdAt: Date
  readonly createdBy: string
}

const OPERATOR = `
  o.id, o.email, o.name, o.role, o.state, o.created_at as "createdAt", o.created_by as "createdBy",
  exists (select from operator_factors f
    where f.operator_id = o.id and f.confirmed_at is not null) as "hasApp",
  (select count(*)::int4 from operator_passkeys p where p.operator_id = o.id) as passkeys`

/** By id or whole address. Reads without a lock. */
export async function operatorFind(db: Executor, text: string): Promise<OperatorRow | undefined> {
  const { rows } = await db.query(
    `select ${OPERATOR} from operators o where o.id = $1 or o.email = lower($1)`,
    [text],
  )
  return rows[0] as OperatorRow | undefined
}

/** The password's hash of an active operator. Reads without a lock. */
export async function passwordFind(
  db: Executor,
  email: string,
): Promise<{ readonly id: string; readonly hash: string } | undefined> {
  const { rows } = await db.query(
    `select id, password_hash as hash from operators
     where email = lower($1) and state = 'active' and password_hash is not null`,
    [email],
  )
  return rows[0] as { id: string; hash: string } | undefined
}

/** Whether a password that was compared is still the operator's. Locks the row for reading. */
export async function passwordIsStill(
  tx: Tx,
  p: { readonly id: string; readonly hash: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    `select from operators where id = $1 and password_hash = $2 and state = 'active' for share`,
    [p.id, p.hash],
  )
  return rows.length > 0
}

/** Whether an operator is active and has this role. Locks the row for reading. */
export async function roleIsStill(
  tx: Tx,
  p: { readonly operator: string; readonly role: Role },
): Promise<boolean> {
  const { rows } = await tx.query(
    `select from operators where id = $1 and role = $2 and state = 'active' for share`,
    [p.operator, p.role],
  )
  return rows.length > 0
}

/** Lets one transaction at a time change how an operator signs in. Locks the row. */
export async function operatorLock(tx: Tx, id: string): Promise<void> {
  await tx.query('select from operators where id = $1 for update', [id])
}

/** Oldest first. Reads without a lock. */
export async function operatorList(db: Executor): Promise<OperatorRow[]> {
  const { rows } = await db.query(`select ${OPERATOR} from operators o order by o.created_at, o.id`)
  return rows as OperatorRow[]
}

/** Reads without a lock. */
export async function operatorCount(
  db: Executor,
): Promise<{ readonly all: number; readonly active: number }> {
  const { rows } = await db.query(
    `select count(*)::int4 as all, count(*) filter (where state = 'active')::int4 as active
     from operators`,
  )
  return rows[0] as { all: number; active: number }
}

/** Lets one transaction at a time change who the operators are, until it ends. */
export async function operatorsLock(tx: Tx): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('operators', 0))`)
}

/** Whether an active admin other than this one exists. Reads without a lock of its own. */
export async function otherAdminExists(tx: Tx, id: string): Promise<boolean> {
  const { rows } = await tx.query(
    `select from operators where role = 'admin' and state = 'active' and id <> $1 limit 1`,
    [id],
  )
  return rows.length > 0
}

/** Inserts the row. Returns false if another operator has the address. */
export async function operatorInsert(
  tx: Tx,
  p: {
    readonly id: string
    readonly email: string
    readonly name: string
    readonly role: Role
    readonly by: string
  },
): Promise<boolean> {
  const { rows } = await tx.query(
    `insert into operators (id, email, name, role, created_by) values ($1, lower($2), $3, $4, $5)
     on conflict (email) do nothing returning id`,
    [p.id, p.email, p.name, p.role, p.by],
  )
  return rows.length > 0
}

/** Locks and updates the row. */
export async function operatorSetState(tx: Tx, id: string, state: OperatorState): Promise<void> {
  await tx.query(
    `update operators set state = $2, invitation_digest = null, invitation_ends_at = null
     where id = $1`,
    [id, state],
  )
}

/** Locks and updates the row. */
export async function operatorSetRole(tx: Tx, id: string, role: Role): Promise<void> {
  await tx.query('update operators set role = $2 where id = $1', [id, role])
}

/** Takes password and factors away and stores a new one-time code. Locks the rows it changes. */
export async function operatorInvite(
  tx: Tx,
  p: { readonly id: string; readonly digest: Buffer; readonly hours: number },
): Promise<void> {
  await tx.query(
    `update operators set state = 'invited', password_hash = null, invitation_digest = $2,
       invitation_ends_at = clock_timestamp() + make_interval(hours => $3)
     where id = $1`,
    [p.id, p.digest, p.hours],
  )
  await proofsDelete(tx, p.id)
}

/** Takes factors, passkeys and sessions away. May be repeated. */
export async function proofsDelete(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from operator_factors where operator_id = $1', [id])
  await tx.query('delete from operator_passkeys where operator_id = $1', [id])
  await sessionsDelete(tx, id)
}

/** Ends every session of an operator. May be repeated. */
export async function sessionsDelete(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from operator_sessions where operator_id = $1', [id])
}

/** The operator of a one-time code. Locks the row: one code makes one password at a time. */
export async function invitationFind(
  tx: Tx,
  digest: Buffer,
): Promise<{ readonly id: string; readonly email: string } | undefined> {
  const { rows } = await tx.query(
    `select id, email from operators
     where invitation_digest = $1 and invitation_ends_at > clock_timestamp() and state = 'invited'
     for update`,
    [digest],
  )
  return rows[0] as { id: string; email: string } | undefined
}

/** Locks and updates the row. */
export async function passwordSet(tx: Tx, id: string, hash: string): Promise<void> {
  await tx.query('update operators set password_hash = $2 where id = $1', [id, hash])
}

/** An invited operator has a password and a second factor now. Locks and updates the row. */
export async function operatorActivate(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `update operators set state = 'active', invitation_digest = null, invitation_ends_at = null
     where id = $1 and state = 'invited' and password_hash is not null`,
    [id],
  )
}

/** Counts an attempt. Locks the row. */
export function throttleIncrement(db: Executor, p: Parameters<typeof attemptIncrement>[2]) {
  return attemptIncrement(db, 'operator_throttles', p)
}

/** Deletes the count, and counts that ended an hour ago. Locks what it deletes. */
export async function throttleDelete(db: Executor, key: string): Promise<void> {
  await db.query(
    `delete from operator_throttles
     where key = $1 or ends_at < clock_timestamp() - interval '1 hour'`,
    [key],
  )
}
