// The SQL of usage that replies reported and the catalogue does not list.
import type { Executor } from '../../platform/db/db.ts'

export type UnlistedUsage = {
  /** The model that was asked for. */
  readonly model: string
  /** A member of the reply's usage, or a dimension whose value has no price. */
  readonly member: string
  readonly replies: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** A reply has at most 16 of them, and a catalogue some dozens of models. */
const LIST_MAX = 1_000

/**
 * By model and member, the latest first. Reads without a lock, by an index of the charges that have
 * something unlisted. Days before that index are not read, but for the last of them: migration 0026
 * made it for the days that were still empty, and no entry of an earlier day has parts.
 */
export async function unlistedList(db: Executor, days: number): Promise<UnlistedUsage[]> {
  const { rows } = await db.query(
    `select t.model, m.member, count(*)::int4 as replies, min(e.at) as "firstAt",
       max(e.at) as "lastAt"
     from entries e
     join tariffs t on t.id = e.tariff
     cross join lateral jsonb_array_elements_text(e.parts -> 'unlisted') as m (member)
     where e.parts ? 'unlisted' and e.at >= ledger_now() - make_interval(days => $1::int4)
       and e.day >= greatest((ledger_now() at time zone 'UTC')::date - $1::int4, (
         select min(to_date(right(c.relname, 8), 'YYYYMMDD')) - 1
         from pg_inherits i
         join pg_index x on x.indexrelid = i.inhrelid
         join pg_class c on c.oid = x.indrelid
         where i.inhparent = 'entries_with_unlisted'::regclass))
     group by t.model, m.member
     order by max(e.at) desc, t.model, m.member
     limit ${LIST_MAX}`,
    [days],
  )
  return rows as UnlistedUsage[]
}
