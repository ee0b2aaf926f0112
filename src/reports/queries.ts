// The SQL of sealed months, and of where months and days begin: one function per statement.
import type { Executor } from '../platform/db/db.ts'

export type Seal = {
  /** `2026-11`. */
  readonly month: string
  readonly timeZone: string
  readonly sealedAt: Date
  readonly sealedBy: string
  /** JSON, as it was sealed. */
  readonly figures: string
  /** SHA-256 of the figures, in hexadecimal. */
  readonly digest: string
}

const COLUMNS = `month, time_zone as "timeZone", sealed_at as "sealedAt", sealed_by as "sealedBy",
  figures, digest`

/** Oldest first. */
export async function sealList(db: Executor): Promise<Seal[]> {
  const { rows } = await db.query(`select ${COLUMNS} from month_seals order by month`)
  return rows as Seal[]
}

/**
 * Seals a month; false if it is sealed already. Locks nothing else: if two operators seal at once,
 * the primary key lets one.
 */
export async function sealInsert(
  db: Executor,
  p: Pick<Seal, 'month' | 'timeZone' | 'sealedBy' | 'figures' | 'digest'>,
): Promise<boolean> {
  const { rows } = await db.query(
    `insert into month_seals (month, time_zone, sealed_by, figures, digest)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning month`,
    [p.month, p.timeZone, p.sealedBy, p.figures, p.digest],
  )
  return rows.length === 1
}

export type Period = {
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** By the database's clock. */
  readonly now: Date
}

/** When a month begins and ends in a time zone; `month` is `2026-11`. */
export async function monthFind(
  db: Executor,
  p: { readonly month: string; readonly timeZone: string },
): Promise<Period> {
  const { rows } = await db.query(
    `select first::timestamp at time zone $2 as from,
       (first + interval '1 month') at time zone $2 as to, ledger_now() as now
     from (select ($1::text || '-01')::date as first) m`,
    [p.month, p.timeZone],
  )
  return rows[0] as Period
}

/** The month of a moment in a time zone, `2026-11`. */
export async function monthAt(
  db: Executor,
  p: { readonly at: Date; readonly timeZone: string },
): Promise<string> {
  const { rows } = await db.query(
    `select to_char($1::timestamptz at time zone $2, 'YYYY-MM') as month`,
    [p.at, p.timeZone],
  )
  return (rows[0] as { month: string }).month
}

/** When today begins in a time zone, by the database's clock. */
export async function todayFind(
  db: Executor,
  timeZone: string,
): Promise<{ readonly from: Date; readonly now: Date; readonly day: string }> {
  const { rows } = await db.query(
    `select (now at time zone $1)::date::timestamp at time zone $1 as from, now,
       (now at time zone $1)::date::text as day
     from (select ledger_now() as now) t`,
    [timeZone],
  )
  return rows[0] as { from: Date; now: Date; day: string }
}

/** When a day begins and ends in a time zone; without one, today. */
export async function dayFind(
  db: Executor,
  p: { readonly timeZone: string; readonly day: string | null },
): Promise<{ readonly day: string; readonly from: Date; readonly to: Date }> {
  const { rows } = await db.query(
    `select day::text as day, day::timestamp at time zone $1 as from,
       (day + 1)::timestamp at time zone $1 as to
     from (select coalesce($2::date, (ledger_now() at time zone $1)::date) as day) d`,
    [p.timeZone, p.day],
  )
  return rows[0] as { day: string; from: Date; to: Date }
}
