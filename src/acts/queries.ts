// The SQL of operators' acts. Rows are only inserted; the table refuses changes and deletions, and
// its trigger replaces e-mail addresses and computes the chain.
import type { Executor, Tx } from '../platform/db/db.ts'
import type { ChainedAct, Mark, Outcome } from './chain.ts'

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

/**
 * Inserts one row. Locks the end of the chain until the transaction ends, so it is the last
 * statement of a transaction; and locks the row that it ends, against deletion only.
 */
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

/** Reads without a lock. */
export async function actCommand(db: Executor, id: bigint): Promise<string> {
  const { rows } = await db.query('select command from operator_acts where id = $1', [id])
  return (rows[0] as { command: string }).command
}

/** Acts about an account: they name its id, or its book as the object of the command. */
export type About = { readonly account: string | null; readonly book: bigint }

/** Acts, newest first, each with its outcome. Reads without a lock; `about` reads every act. */
export async function actList(
  db: Executor,
  p: { readonly by: string | null; readonly about: About | null; readonly limit: number },
): Promise<ActRow[]> {
  const { rows } = await db.query(
    `select a.id, a.at, a.acted_by as by, a.os_user as "osUser", a.command,
       coalesce(e.outcome, a.outcome) as outcome, coalesce(e.detail, a.detail) as detail
     from operator_acts a left join operator_acts e on e.of_act = a.id
     where a.of_act is null
       and ($1::text is null or a.acted_by = $1
         -- An operator, 'Olga (opr_…)', by name or id.
         or right(a.acted_by, length($1) + 2) = '(' || $1 || ')'
         or left(a.acted_by, length($1) + 6) = $1 || ' (opr_')
       and ($3::text is null
         or strpos(concat_ws(' ', a.command, a.detail, e.detail), $2) > 0
         or a.command ~ concat('^\\S+( \\S+)? ', $3::text, '( |$)')
         or concat_ws(' ', a.detail, e.detail) ~ concat('\\mbook ', $3::text, '\\M'))
     order by a.id desc
     limit $4`,
    [p.by, p.about?.account ?? null, p.about === null ? null : String(p.about.book), p.limit],
  )
  return rows as ActRow[]
}

/** Commands that ran without signing in within a day, for an alarm. Reads without a lock. */
export async function actCountBreakGlass(db: Executor): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as n from operator_acts
     where acted_by like 'break-glass %' and at > clock_timestamp() - interval '1 day'`,
  )
  return (rows[0] as { n: number }).n
}

/** A page of the chain after a number. Reads without a lock. */
export async function actListChained(
  db: Executor,
  p: { readonly after: bigint; readonly limit: number },
): Promise<ChainedAct[]> {
  const { rows } = await db.query(
    `select number, id, of_act as of,
       to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
       acted_by as by, os_user as "osUser", command, outcome, detail, digest
     from operator_acts where number > $1 order by number, id limit $2`,
    [p.after, p.limit],
  )
  return rows as ChainedAct[]
}

/** Acts without a place in the chain: none, unless somebody wrote past the trigger. */
export async function actCountUnchained(db: Executor): Promise<number> {
  const { rows } = await db.query(
    'select count(*)::int4 as n from operator_acts where number < 1 or number is null',
  )
  return (rows[0] as { n: number }).n
}

/** The end of the chain; undefined if somebody removed its row. */
export async function chainEnd(db: Executor): Promise<Mark | undefined> {
  const { rows } = await db.query('select number, digest from act_chain')
  return rows[0] as Mark | undefined
}

/** The digest of an act; undefined if there is no act of this number. */
export async function digestFind(db: Executor, number: bigint): Promise<Buffer | undefined> {
  const { rows } = await db.query('select digest from operator_acts where number = $1', [number])
  return (rows[0] as { digest: Buffer } | undefined)?.digest
}

/** PostgreSQL's own counts of a table's rows: they rise also while its triggers are off. */
export type TableCounts = {
  readonly table: string
  /** Another number under the same name is another table. */
  readonly oid: string
  /** Another file has the rows after ALTER TABLE … TYPE, TRUNCATE or VACUUM FULL. */
  readonly file: string
  readonly inserted: bigint
  /** Updated or deleted, also by transactions that were rolled back. */
  readonly changed: bigint
}

/** The counts of these tables and of their partitions. */
export async function tableCounts(db: Executor, tables: readonly string[]): Promise<TableCounts[]> {
  const { rows } = await db.query(
    `select c.relname::text as table, c.oid::text as oid,
       pg_relation_filenode(c.oid)::text as file,
       pg_stat_get_tuples_inserted(c.oid) as inserted,
       pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid) as changed
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
       and coalesce(i.inhparent, c.oid) = any ($1::regclass[])`,
    [tables],
  )
  return rows as TableCounts[]
}

/** A trigger of a table or of one of its partitions; the trigger is null for a table without. */
export type TriggerRow = {
  readonly root: string
  readonly table: string
  readonly trigger: string | null
  readonly isOn: boolean
}

/** The triggers of all tables and of their partitions. */
export async function triggerList(db: Executor): Promise<TriggerRow[]> {
  const { rows } = await db.query(
    `with recursive kept as (
       select c.oid, c.relname::text as root, c.relname::text as table
       from pg_class c
       where c.relkind in ('r', 'p') and not c.relispartition
         and c.relnamespace = 'public'::regnamespace
       union all
       select c.oid, k.root, c.relname::text
       from kept k
       join pg_inherits i on i.inhparent = k.oid
       join pg_class c on c.oid = i.inhrelid
     )
     select k.root, k.table, t.tgname::text as trigger,
       coalesce(t.tgenabled in ('O', 'A'), false) as "isOn"
     from kept k left join pg_trigger t on t.tgrelid = k.oid
     order by 1, 2, 3`,
  )
  return rows as TriggerRow[]
}

/** The mark of a copy, and its row's lock; undefined while another process ships to it. */
export async function copyLock(tx: Tx, name: string): Promise<Mark | undefined> {
  await tx.query('insert into act_copies (name) values ($1) on conflict (name) do nothing', [name])
  const { rows } = await tx.query(
    'select number, digest from act_copies where name = $1 for update skip locked',
    [name],
  )
  return rows[0] as Mark | undefined
}

/** Records how far a copy has come. Locks its row. */
export async function copyStore(tx: Tx, name: string, mark: Mark): Promise<void> {
  await tx.query(
    `update act_copies set number = $2, digest = $3, shipped_at = clock_timestamp()
     where name = $1`,
    [name, mark.number, mark.digest],
  )
}

/** The mark of a copy; undefined before the first act was sent. Reads without a lock. */
export async function copyFind(db: Executor, name: string): Promise<Mark | undefined> {
  const { rows } = await db.query(
    'select number, digest from act_copies where name = $1 and number > 0',
    [name],
  )
  return rows[0] as Mark | undefined
}

/** The age of the oldest act that was not sent to a copy; 0 if all were. */
export async function unshippedSeconds(db: Executor, name: string): Promise<number> {
  const { rows } = await db.query(
    `select coalesce(extract(epoch from clock_timestamp() - a.at), 0)::float8 as seconds
     from (select coalesce(max(number), 0) as number from act_copies where name = $1) c
     left join operator_acts a on a.number = c.number + 1`,
    [name],
  )
  return (rows[0] as { seconds: number }).seconds
}

/** Functions that belong to a program's role: migrate alone makes functions. */
export async function functionListOf(db: Executor, roles: readonly string[]): Promise<string[]> {
  const { rows } = await db.query(
    `select p.oid::regprocedure || ' of ' || r.rolname as name
     from pg_proc p join pg_roles r on r.oid = p.proowner
     where r.rolname = any ($1) order by 1`,
    [roles],
  )
  return (rows as { name: string }[]).map(({ name }) => name)
}
