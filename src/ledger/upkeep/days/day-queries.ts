// The SQL of days that leave the ledger. One function per statement. Table names are made from a
// day that `tableOf` has checked.
import type { Executor } from '../../../platform/db/db.ts'
import { queryRow } from '../../queries.ts'

export type DayState = 'checkpointed' | 'detached' | 'exported' | 'dropped'

export type Day = {
  readonly day: string
  readonly state: DayState
  /** Null for a day that a version before migration 0024 detached and that is not exported. */
  readonly rows: bigint | null
  /** Rows of books that did not verify. */
  readonly unverified: bigint
  readonly folder: string | null
  readonly digest: string | null
}

/** An attached day that is due. */
export type DueDay = {
  readonly day: string
  readonly isCheckpointed: boolean
  /** A process died, or gave up, in the middle of DETACH … CONCURRENTLY. */
  readonly isPending: boolean
}

/** `entries_20261115` for 2026-11-15; throws for anything that is not a day. */
export function tableOf(day: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) throw new TypeError(`${day} is not a day`)
  return `entries_${day.replaceAll('-', '')}`
}

/**
 * Settings of the connection that takes days away. A day may have millions of rows, so there is no
 * limit for a statement; but locks are waited for only briefly.
 */
export async function sessionSet(db: Executor): Promise<void> {
  await db.query(
    `select set_config('lock_timeout', '100ms', false),
       set_config('statement_timeout', '0', false), set_config('enable_seqscan', 'on', false),
       set_config('plan_cache_mode', 'auto', false)`,
    [],
  )
}

/** True when no other process takes days away; the lock ends with the connection. */
export async function sessionLock(db: Executor): Promise<boolean> {
  const text = `select pg_try_advisory_lock(hashtext('ledger_days')) as "isMine"`
  return (await queryRow<{ isMine: boolean }>(db, text, [])).isMine
}

/**
 * Attached days before the kept ones, oldest first; those with checkpoints too. A day is due only
 * by both clocks, the database's and the process's (`now`): if one ran ahead, today would leave.
 */
export async function dayListDue(
  db: Executor,
  p: { readonly keptDays: number; readonly now: Date },
): Promise<DueDay[]> {
  const { rows } = await db.query(
    `select a.day::text as day, d.day is not null as "isCheckpointed", a.is_pending as "isPending"
     from (
       select to_date(right(c.relname, 8), 'YYYYMMDD') as day, i.inhdetachpending as is_pending
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'entries'::regclass and c.relname ~ '^entries_[0-9]{8}$'
     ) a
     left join days d on d.day = a.day
     where d.state = 'checkpointed' or (d.day is null
       and a.day < (least(ledger_now(), $2) at time zone 'UTC')::date - $1::int4)
     order by a.day`,
    [p.keptDays, p.now],
  )
  return rows as DueDay[]
}

/**
 * For how many days the oldest day has been due that is attached or, with `isExported`, has a
 * table; 0 if none is due. Both clocks must agree, as above. Reads without a lock.
 */
export async function dayOverdue(
  db: Executor,
  p: { readonly keptDays: number; readonly now: Date; readonly isExported: boolean },
): Promise<number> {
  const row = await queryRow<{ days: number }>(
    db,
    `with kept as (
       select (least(ledger_now(), $2) at time zone 'UTC')::date - $1::int4 as first_day
     ), present as (
       select to_date(right(c.relname, 8), 'YYYYMMDD') as day
       from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'entries'::regclass and c.relname ~ '^entries_[0-9]{8}$'
       union all
       select day from days where $3 and state in ('detached', 'exported')
     )
     select greatest(first_day - (select min(day) from present), 0) as days from kept`,
    [p.keptDays, p.now, p.isExported],
  )
  return row.days
}

/** Writes the checkpoints of a day, in one transaction. */
export async function dayCheckpoint(db: Executor, day: string): Promise<void> {
  await db.query('select ledger_day_checkpoint($1::date)', [day])
}

/**
 * Detaches a day without stopping anybody. Cannot run in a transaction. If a transaction that uses
 * entries does not end within the lock timeout, the day stays pending.
 */
export async function dayDetach(db: Executor, day: string): Promise<void> {
  await db.query(`alter table entries detach partition ${tableOf(day)} concurrently`)
}

/** Ends a detachment that is pending. */
export async function dayDetachFinish(db: Executor, day: string): Promise<void> {
  await db.query(`alter table entries detach partition ${tableOf(day)} finalize`)
}

/** Records which days are no longer attached, also after a crash; returns them, oldest first. */
export async function dayRecordDetached(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `with detached as (
       update days d set state = 'detached', detached_at = ledger_now()
       where d.state = 'checkpointed' and not exists (
         select from pg_inherits i where i.inhparent = 'entries'::regclass
           and i.inhrelid = to_regclass('entries_' || to_char(d.day, 'YYYYMMDD')))
       returning d.day
     )
     select day::text as day from detached order by detached.day`,
    [],
  )
  return (rows as { day: string }[]).map(({ day }) => day)
}

/** All days that leave or left, oldest first. Reads without a lock. */
export async function dayList(db: Executor): Promise<Day[]> {
  const { rows } = await db.query(
    `select day::text as day, state, rows, unverified, folder, digest from days d order by d.day`,
    [],
  )
  return rows as Day[]
}

export async function dayFind(db: Executor, day: string): Promise<Day | undefined> {
  return queryRow(
    db,
    `select day::text as day, state, rows, unverified, folder, digest from days
     where days.day = $1::date`,
    [day],
  )
}

/** Some rows of a day as lines of JSON, each line ended by a line break. */
export type Page = {
  readonly rows: number
  readonly text: string
  /** SHA-256 of the text, computed by PostgreSQL. */
  readonly digest: string
  readonly lastBook: bigint
  readonly lastSeq: bigint
}

/** The rows of a detached day after one of them, by book and number; undefined at the end. */
export async function pageFind(
  db: Executor,
  p: {
    readonly day: string
    readonly afterBook: bigint
    readonly afterSeq: bigint
    readonly limit: number
  },
): Promise<Page | undefined> {
  const row = await queryRow<Page>(
    db,
    `select rows, text, encode(sha256(convert_to(text, 'UTF8')), 'hex') as digest,
       last[1] as "lastBook", last[2] as "lastSeq"
     from (
       select count(*)::int4 as rows,
         string_agg(to_jsonb(e)::text || E'\\n', '' order by e.book_id, e.seq) as text,
         max(array[e.book_id, e.seq]) as last
       from (select * from ${tableOf(p.day)} where (book_id, seq) > ($1::int8, $2::int8)
         order by book_id, seq limit $3) e
     ) page`,
    [p.afterBook, p.afterSeq, p.limit],
  )
  return row.rows === 0 ? undefined : row
}

export async function rowCount(db: Executor, day: string): Promise<bigint> {
  const text = `select count(*) as rows from ${tableOf(day)}`
  return (await queryRow<{ rows: bigint }>(db, text, [])).rows
}

/** The number that PostgreSQL gave the table of a day. */
export async function tableNumber(db: Executor, day: string): Promise<number> {
  const text = 'select $1::text::regclass::oid::int8 as number'
  return Number((await queryRow<{ number: bigint }>(db, text, [tableOf(day)])).number)
}

/** Records that every row of a detached day is in files. */
export async function dayRecordExported(
  db: Executor,
  p: {
    readonly day: string
    readonly rows: bigint
    readonly folder: string
    readonly digest: string
  },
): Promise<void> {
  await db.query(
    `update days set state = 'exported', exported_at = ledger_now(), rows = $2, folder = $3,
       digest = $4
     where day = $1::date and state in ('detached', 'exported')`,
    [p.day, p.rows, p.folder, p.digest],
  )
}

/** Drops the table of an exported day and records it, in one statement. */
export async function dayDrop(db: Executor, day: string): Promise<void> {
  await db.query(
    `do $$
     begin
       update days set state = 'dropped', dropped_at = ledger_now()
       where day = '${tableOf(day).slice(8)}'::date and state = 'exported';
       if found then
         drop table ${tableOf(day)};
       end if;
     end $$`,
  )
}

const DUPLICATE_TABLE = '42P07'

/** The name of the table into which `restore` loads a day. */
export function restoredTableOf(day: string): string {
  return tableOf(day).replace('entries_', 'entries_restored_')
}

/** Makes the table, beside the ledger; false when it exists. */
export async function restoredCreate(db: Executor, day: string): Promise<boolean> {
  const text = `create table ${restoredTableOf(day)} (like entries including indexes)`
  return db.query(text).then(
    () => true,
    (error: { code?: unknown }) => {
      if (error.code === DUPLICATE_TABLE) return false
      throw error
    },
  )
}

/** Inserts lines of an exported page; returns how many. */
export async function restoredInsert(
  db: Executor,
  p: { readonly day: string; readonly lines: readonly string[] },
): Promise<number> {
  const { rows } = await db.query(
    `insert into ${restoredTableOf(p.day)}
     select r.* from unnest($1::text[]) as t (line),
       jsonb_populate_record(null::entries, t.line::jsonb) as r
     returning 1`,
    [p.lines],
  )
  return rows.length
}
