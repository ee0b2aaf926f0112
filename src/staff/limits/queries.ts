// The SQL of what each operator moved on a day, and of reads of personal data.
import type { Executor, Tx } from '../../platform/db/db.ts'

export type DayKind = 'credits' | 'kopecks'

/**
 * Adds an amount to the day, UTC, unless the sum would exceed `max`: then undefined. Returns the
 * day. Locks the row until the transaction ends, so that two commands of one person pass one after
 * the other.
 */
export async function dayAdd(
  tx: Tx,
  p: {
    readonly operator: string
    readonly kind: DayKind
    readonly amount: bigint
    readonly max: bigint
  },
): Promise<string | undefined> {
  const { rows } = await tx.query(
    `insert into operator_day_sums as s (operator_id, day, kind, total)
     select $1, (clock_timestamp() at time zone 'UTC')::date, $2, $3::int8
     where $3::int8 <= $4::int8
     on conflict (operator_id, day, kind) do update set total = s.total + excluded.total
       where s.total + excluded.total <= $4::int8
     returning s.day::text as day`,
    [p.operator, p.kind, p.amount, p.max],
  )
  return (rows[0] as { day: string } | undefined)?.day
}

/** Takes an amount back that did not move after all. Locks and updates the row. */
export async function daySubtract(
  db: Executor,
  p: {
    readonly operator: string
    readonly kind: DayKind
    readonly amount: bigint
    readonly day: string
  },
): Promise<void> {
  await db.query(
    `update operator_day_sums set total = greatest(total - $3, 0)
     where operator_id = $1 and day = $4::date and kind = $2`,
    [p.operator, p.kind, p.amount, p.day],
  )
}

/** What an operator moved today, UTC. Reads without a lock. */
export async function dayTotal(
  db: Executor,
  p: { readonly operator: string; readonly kind: DayKind },
): Promise<bigint> {
  const { rows } = await db.query(
    `select total from operator_day_sums
     where operator_id = $1 and day = (clock_timestamp() at time zone 'UTC')::date and kind = $2`,
    [p.operator, p.kind],
  )
  return (rows[0] as { total: bigint } | undefined)?.total ?? 0n
}

export type Read = { readonly by: string; readonly osUser: string; readonly command: string }

/** One read of personal data; the table's trigger replaces addresses by ids. */
export async function readInsert(db: Executor, p: Read): Promise<void> {
  await db.query('insert into operator_reads (read_by, os_user, command) values ($1, $2, $3)', [
    p.by,
    p.osUser,
    p.command,
  ])
}
