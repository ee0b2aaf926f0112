// The SQL that keeps the ledger in order: heartbeats, what the sweeper looks for, partitions, and
// the audit's checks. One function per statement.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import { one } from '../queries.ts'

/** Says that a process is alive. Locks only its own row. */
export async function instanceBeat(db: Executor, id: InstanceId, role: string): Promise<void> {
  await db.query(
    `insert into instances (id, role, started_at, beat_at)
     values ($1, $2, ledger_now(), ledger_now())
     on conflict (id) do update set beat = instances.beat + 1, beat_at = ledger_now()`,
    [id, role],
  )
}

/** Reads without a lock. */
export async function instanceList(
  db: Executor,
): Promise<{ id: InstanceId; beat: bigint; beatAt: Date }[]> {
  const { rows } = await db.query('select id, beat, beat_at as "beatAt" from instances', [])
  return rows as { id: InstanceId; beat: bigint; beatAt: Date }[]
}

/** Forgets an instance that has no open hold. */
export async function instanceDelete(db: Executor, id: InstanceId): Promise<void> {
  await db.query('delete from instances where id = $1', [id])
}

export type OpenHold = { id: HoldId; book: BookId; tariff: number }

/**
 * Open holds of a dead process: made within a hold's life before its last beat. No lock; the
 * ordinary void decides. The block-range index keeps it to the pages of that span.
 */
export async function holdFindOfInstance(
  db: Executor,
  p: { instance: InstanceId; lastBeat: Date; holdSeconds: number; limit: number },
): Promise<OpenHold[]> {
  const { rows } = await db.query(
    `select id, book_id as book, tariff from holds
     where state = 'open' and instance = $1
       and created_at >= $2::timestamptz - make_interval(secs => $3)
     limit $4`,
    [p.instance, p.lastBeat, p.holdSeconds, p.limit],
  )
  return rows as OpenHold[]
}

/**
 * Open holds past their deadline, made within the window before it. No lock, as above. The clock
 * is asked in a subquery: a volatile function beside the column would forbid the index.
 */
export async function holdFindOverdue(
  db: Executor,
  p: { holdSeconds: number; windowSeconds: number; limit: number },
): Promise<OpenHold[]> {
  const { rows } = await db.query(
    `select id, book_id as book, tariff from holds
     where state = 'open' and deadline_at < (select ledger_now())
       and created_at >= (select ledger_now() - make_interval(secs => $1::int4 + $2::int4))
     limit $3`,
    [p.holdSeconds, p.windowSeconds, p.limit],
  )
  return rows as OpenHold[]
}

/** Lets the block-range index of holds learn the newest pages; without it they are all read. */
export async function holdSummarize(db: Executor): Promise<void> {
  await db.query(
    `select brin_summarize_new_values(c.oid)
     from pg_class c join pg_index x on x.indexrelid = c.oid
     join pg_inherits i on i.inhrelid = x.indrelid
     where i.inhparent = 'holds'::regclass
       and c.relam = (select oid from pg_am where amname = 'brin')`,
    [],
  )
}

/** Makes missing partitions. The advisory lock lets several processes ask at once. */
export async function partitionsMake(tx: Tx): Promise<string[]> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('ledger_partitions'))`)
  const row = await one<{ made: string[] }>(
    tx,
    `select ledger_partitions_make((ledger_now() at time zone 'UTC')::date) as made`,
    [],
  )
  return row.made
}

/** Daily partitions of entries, oldest first, with the day each ends before. */
export async function entriesPartitionList(
  db: Executor,
): Promise<{ name: string; until: string }[]> {
  const { rows } = await db.query(
    `select c.relname as name, to_char(to_date(right(c.relname, 8), 'YYYYMMDD') + 1, 'YYYY-MM-DD')
       as until
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'entries'::regclass and c.relname ~ '^entries_[0-9]{8}$'
     order by c.relname`,
  )
  return rows as { name: string; until: string }[]
}

/** Folds a day into checkpoints and detaches it, in the caller's transaction. */
export async function entriesPartitionDetach(tx: Tx, name: string): Promise<void> {
  await tx.query('select ledger_entries_detach($1::text::regclass)', [name])
}

/** Weekly partitions of holds that ended at least a week ago. */
export async function holdsPartitionList(db: Executor): Promise<string[]> {
  const { rows } = await db.query(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'holds'::regclass and c.relname ~ '^holds_[0-9]+$'
       and (substr(c.relname, 7)::int4 + 2) * 7 * 86400 <= extract(epoch from ledger_now())
     order by c.relname`,
  )
  return (rows as { name: string }[]).map((row) => row.name)
}

/** Drops a week of holds unless one of them is open; true when dropped. The name is ours. */
export async function holdsPartitionDrop(tx: Tx, name: string): Promise<boolean> {
  if (!/^holds_[0-9]+$/.test(name)) return false
  const { rows } = await tx.query(`select from ${name} where state = 'open' limit 1`)
  if (rows.length > 0) return false
  await tx.query(`drop table ${name}`)
  return true
}

export type Finding = { rule: string; book: BookId; detail: string }

/** The checks of one audit, in one snapshot; each only reads. */
export async function findingList(tx: Tx, scope: 'new' | 'all'): Promise<Finding[]> {
  const checks =
    scope === 'new'
      ? ['ledger_audit_chain(false)']
      : [
          'ledger_audit_chain(true)',
          'ledger_audit_holds()',
          'ledger_audit_charges()',
          'ledger_audit_entries()',
          'ledger_audit_postings()',
          'ledger_audit_sums()',
        ]
  const findings: Finding[] = []
  for (const check of checks) {
    const { rows } = await tx.query(
      `select rule, book_id as book, detail from ${check} order by 1, 2, 3 limit 1000`,
    )
    findings.push(...(rows as Finding[]))
  }
  return findings
}

/** Notes how far the chain was read. */
export async function auditMark(tx: Tx): Promise<void> {
  await tx.query('select ledger_audit_mark()')
}
