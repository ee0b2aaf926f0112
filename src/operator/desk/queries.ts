// The SQL of operators' acts. Rows are only inserted; the table refuses changes and deletions.
import type { Executor } from '../../platform/db/db.ts'

export type Outcome = 'begun' | 'done' | 'refused' | 'failed'

export type ActRow = {
  readonly id: bigint
  readonly at: Date
  readonly by: string
  readonly osUser: string
  readonly command: string
  /** `begun` when no end was recorded. */
  readonly outcome: Outcome
  readonly detail: string
}

/** Inserts one row. Locks it, and the row that it ends against deletion only. */
export async function actInsert(
  db: Executor,
  p: Omit<ActRow, 'id' | 'at'> & { readonly of: bigint | null },
): Promise<bigint> {
  const { rows } = await db.query(
    `insert into operator_acts (of_act, acted_by, os_user, command, outcome, detail)
     values ($1, $2, $3, $4, $5, $6)
     returning id`,
    [p.of, p.by, p.osUser, p.command, p.outcome, p.detail],
  )
  return (rows[0] as { id: bigint }).id
}

/** Acts, newest first, each with its outcome. Reads without a lock. */
export async function actList(
  db: Executor,
  p: { readonly by: string | null; readonly limit: number },
): Promise<ActRow[]> {
  const { rows } = await db.query(
    `select a.id, a.at, a.acted_by as by, a.os_user as "osUser", a.command,
       coalesce(e.outcome, a.outcome) as outcome, coalesce(e.detail, a.detail) as detail
     from operator_acts a left join operator_acts e on e.of_act = a.id
     where a.of_act is null and ($1::text is null or a.acted_by = $1)
     order by a.id desc
     limit $2`,
    [p.by, p.limit],
  )
  return rows as ActRow[]
}
