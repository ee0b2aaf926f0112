// The SQL of the comparisons with the vendor's bill.
import type { Executor } from '../platform/db/db.ts'

export type StoredTie = {
  readonly day: string
  readonly comparedAt: Date
  readonly source: string
  readonly differenceMillionths: bigint
  readonly tie: unknown
}

/** A later comparison of the same day replaces the earlier one: reports are completed by and by. */
export async function tieStore(db: Executor, p: Omit<StoredTie, 'comparedAt'>): Promise<void> {
  await db.query(
    `insert into vendor_bills (day, compared_at, source, tie, difference_millionths)
     values ($1, now(), $2, $3, $4)
     on conflict (day) do update set compared_at = excluded.compared_at, source = excluded.source,
       tie = excluded.tie, difference_millionths = excluded.difference_millionths`,
    [p.day, p.source, p.tie, p.differenceMillionths],
  )
}

/** Newest first. */
export async function tieList(db: Executor, limit: number): Promise<StoredTie[]> {
  const { rows } = await db.query(
    `select day::text, compared_at as "comparedAt", source, tie,
       difference_millionths as "differenceMillionths"
     from vendor_bills order by day desc limit $1`,
    [limit],
  )
  return rows as StoredTie[]
}

/** The comparisons of a range of days, oldest first. */
export async function tieListDays(
  db: Executor,
  p: { readonly from: string; readonly to: string },
): Promise<StoredTie[]> {
  const { rows } = await db.query(
    `select day::text, compared_at as "comparedAt", source, tie,
       difference_millionths as "differenceMillionths"
     from vendor_bills where day between $1::date and $2::date order by day`,
    [p.from, p.to],
  )
  return rows as StoredTie[]
}
