// The SQL of partitions: which are missing, and how they are made and dropped. One function per
// statement. Statements that lock a table wait 100 ms for it at most: while one waits for a lock,
// every request behind it waits, too.
import type { Executor, Tx } from '../../platform/db/db.ts'
import { queryRow } from '../queries.ts'

export type MissingPartition = {
  readonly table: 'entries' | 'holds'
  readonly name: string
  /** A day such as 2026-11-15, or the number of a week since 1970. */
  readonly period: string
}

/** Partitions that are not attached, the next ones first. Reads without a lock. */
export async function partitionListMissing(
  db: Executor,
  p: { readonly daysAhead: number; readonly weeksAhead: number },
): Promise<MissingPartition[]> {
  const { rows } = await db.query(
    `with today as materialized (
       select (now at time zone 'UTC')::date as day,
         floor(extract(epoch from now) / 604800)::int4 as week
       from (select ledger_now() as now) n
     ), wanted as (
       select 'holds' as table, 'holds_' || week + i as name, (week + i)::text as period
       from today, generate_series(0, $2::int4) as i
       union all
       select 'entries', 'entries_' || to_char(day + i, 'YYYYMMDD'), (day + i)::text
       from today, generate_series(-1, $1::int4) as i
     )
     select * from wanted
     where not exists (select from pg_inherits where inhrelid = to_regclass(name))
     order by "table", name`,
    [p.daysAhead, p.weeksAhead],
  )
  return rows as MissingPartition[]
}

/** Makes one partition; false when it exists. The advisory lock serializes several processes. */
export async function partitionMake(tx: Tx, p: MissingPartition): Promise<boolean> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('ledger_partitions'))`)
  const call =
    p.table === 'entries'
      ? 'ledger_entries_day_make($1::text::date)'
      : 'ledger_holds_week_make($1::text::int4)'
  return (await queryRow<{ made: boolean }>(tx, `select ${call} as made`, [p.period])).made
}

/**
 * Excludes a week of holds from the default partition; true if the week is excluded and the CHECK
 * is still to be validated. Only beside a default partition that is too large for ATTACH to scan (4
 * MB, as in ledger_holds_week_make), and only if the week begins after tomorrow and has no holds
 * yet: until its table is attached, a hold of that week is refused.
 */
export async function holdsWeekExclude(tx: Tx, p: MissingPartition): Promise<boolean> {
  const { week, first, check } = exclusionOf(p)
  await tx.query(`set local lock_timeout = '100ms'`)
  const { isExcluded, isNeeded } = await queryRow<{ isExcluded: boolean; isNeeded: boolean }>(
    tx,
    `select exists (select from pg_constraint c
         where c.conrelid = 'holds_default'::regclass and c.conname = $1) as "isExcluded",
       pg_relation_size('holds_default') > 4194304 and not ledger_table_exists('holds_' || $2::int4)
         and $3::int4 > floor(extract(epoch from ledger_now()) / 86400) + 1 as "isNeeded"`,
    [check, week, first],
  )
  // It is there after a crash, or another worker has added it.
  if (isExcluded || !isNeeded) return isExcluded
  await tx.query('lock table only holds_default in access exclusive mode')
  const within = `day >= ${first} and day < ${first + 7}`
  const { rows } = await tx.query(`select from holds_default where ${within} limit 1`)
  if (rows.length > 0) return false
  await tx.query(
    `alter table holds_default add constraint ${check} check (not (${within})) not valid`,
  )
  return true
}

/** Reads all of the default partition; requests continue meanwhile. */
export async function holdsWeekValidate(tx: Tx, p: MissingPartition): Promise<void> {
  await tx.query(`set local lock_timeout = '100ms'`)
  // 30 million holds take longer than a statement of the pool may.
  await tx.query('set local statement_timeout = 0')
  await tx.query(`alter table holds_default validate constraint ${exclusionOf(p).check}`)
}

/** The default partition takes holds of that week again. */
export async function holdsWeekInclude(tx: Tx, p: MissingPartition): Promise<void> {
  await tx.query(`set local lock_timeout = '100ms'`)
  await tx.query(`alter table holds_default drop constraint if exists ${exclusionOf(p).check}`)
}

function exclusionOf({ period }: MissingPartition) {
  const week = Number.parseInt(period, 10)
  return { week, first: week * 7, check: `holds_default_without_${week}` }
}

/** For how many days from today on, without a gap, entries have partitions; at most 100. */
export async function partitionDaysAhead(db: Executor): Promise<number> {
  const row = await queryRow<{ days: number }>(
    db,
    `select coalesce(min(i) filter (where p.inhrelid is null), 100)::int4 as days
     from (select (ledger_now() at time zone 'UTC')::date as day) today
     cross join generate_series(0, 99) as i
     left join pg_inherits p on p.inhparent = 'entries'::regclass
       and p.inhrelid = to_regclass('entries_' || to_char(today.day + i, 'YYYYMMDD'))`,
    [],
  )
  return row.days
}

/** Weekly partitions of holds that ended at least a week ago by both clocks. */
export async function holdsPartitionList(db: Executor, now: Date): Promise<string[]> {
  const { rows } = await db.query(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'holds'::regclass and c.relname ~ '^holds_[0-9]+$'
       and (substr(c.relname, 7)::int4 + 2) * 7 * 86400 
         <= extract(epoch from least(ledger_now(), $1))
     order by c.relname`,
    [now],
  )
  return (rows as { name: string }[]).map((row) => row.name)
}

/** Drops a week of holds unless one of them is open; true when dropped. Checks the name. */
export async function holdsPartitionDrop(tx: Tx, name: string): Promise<boolean> {
  if (!/^holds_[0-9]+$/.test(name)) return false
  const { rows } = await tx.query(`select from ${name} where state = 'open' limit 1`)
  if (rows.length > 0) return false
  await tx.query(`set local lock_timeout = '100ms'`)
  await tx.query(`drop table ${name}`)
  return true
}

/** Deletes closed holds of the same age that no weekly partition has; returns how many. */
export async function holdsDefaultDelete(
  db: Executor,
  p: { readonly now: Date; readonly max: number },
): Promise<number> {
  const { rows } = await db.query(
    `delete from holds_default where (day, id) in (
       select day, id from holds_default
       where state <> 'open'
         and day <
           (select floor(extract(epoch from least(ledger_now(), $2)) / 604800)::int4 - 1) * 7
       limit $1)
     returning 1`,
    [p.max, p.now],
  )
  return rows.length
}
