// The SQL that counts attempts. Each module has a table of its own for them, with the columns key,
// hits and ends_at, because the database roles may not see each other's.
import type { Executor } from './db.ts'

/**
 * Counts an attempt. One statement, so each of many concurrent attempts gets its own number. The
 * count stops at max + 2: a flood cannot overflow it, and max + 1 still marks the first refusal.
 */
export async function attemptIncrement(
  db: Executor,
  table: string,
  p: { readonly key: string; readonly seconds: number; readonly max: number },
): Promise<{ readonly hits: number; readonly leftSeconds: number }> {
  const { rows } = await db.query(
    `insert into ${table} as t (key, hits, ends_at)
     values ($1, 1, clock_timestamp() + make_interval(secs => $2))
     on conflict (key) do update set
       hits = case when t.ends_at <= clock_timestamp() then 1 else least(t.hits + 1, $3 + 2) end,
       ends_at = case when t.ends_at <= clock_timestamp() then excluded.ends_at else t.ends_at end
     returning hits, extract(epoch from ends_at - clock_timestamp())::float8 as "leftSeconds"`,
    [p.key, p.seconds, p.max],
  )
  return rows[0] as { hits: number; leftSeconds: number }
}
