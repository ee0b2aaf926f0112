// The SQL of the ledger's maintenance: heartbeats, the sweeper's searches and its mark. One
// function per statement. The audit's statements are in audit-queries.ts.
import { hostname } from 'node:os'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import { queryRow } from '../queries.ts'

/** Writes the heartbeat of a process. Locks only its own row. */
export async function instanceBeat(
  db: Executor,
  p: { id: InstanceId; role: string; spoolDirectory: string },
): Promise<void> {
  await db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at)
     values ($1, $2, $3, $4, ledger_now(), ledger_now())
     on conflict (id) do update set beat = instances.beat + 1, beat_at = ledger_now(),
       spool_directory = excluded.spool_directory, lost_at = null`,
    [p.id, p.role, hostname(), p.spoolDirectory],
  )
}

/** Reads without a lock. */
export async function instanceList(
  db: Executor,
): Promise<{ id: InstanceId; beat: bigint; beatAt: Date }[]> {
  const { rows } = await db.query(
    'select id, beat, beat_at as "beatAt" from instances where lost_at is null',
    [],
  )
  return rows as { id: InstanceId; beat: bigint; beatAt: Date }[]
}

/**
 * False if another session has locked the row of an instance, or it is gone. A heartbeat may then
 * be waiting for that lock.
 */
export async function instanceIsFree(db: Executor, id: InstanceId): Promise<boolean> {
  const { rows } = await db.query('select from instances where id = $1 for update skip locked', [
    id,
  ])
  return rows.length > 0
}

/** For a dead process without open holds. Its row stays while its spool has not been claimed. */
export async function instanceLost(db: Executor, id: InstanceId): Promise<void> {
  await db.query('update instances set lost_at = ledger_now() where id = $1', [id])
  await db.query('delete from instances where id = $1 and spool_directory is null', [id])
}

/** Nothing is left in the spool of this process, or another process sends what was. */
export async function spoolClaimed(db: Executor, id: string): Promise<void> {
  // As text: the name of a file that somebody put into the directory may be no number.
  await db.query('update instances set spool_directory = null where id::text = $1', [id])
  await db.query('delete from instances where id::text = $1 and lost_at is not null', [id])
}

export type LostSpool = {
  readonly instance: InstanceId
  readonly role: string
  readonly host: string
  readonly directory: string
  readonly lostAt: Date
}

/**
 * Spools of lost processes that nobody has claimed for two minutes: a process that can reach the
 * directory claims them within thirty seconds. A time in the future is from a clock that ran ahead.
 */
export async function lostSpoolList(db: Executor): Promise<LostSpool[]> {
  const { rows } = await db.query(
    `select id as instance, role, host, spool_directory as directory, lost_at as "lostAt"
     from instances
     where lost_at not between ledger_now() - interval '2 minutes' and ledger_now()
       and spool_directory is not null
     order by lost_at`,
  )
  return rows as LostSpool[]
}

export type OpenHold = { id: HoldId; book: BookId; tariff: number }

/**
 * Open holds of a dead process: created at most `holdSeconds` before its last heartbeat. No lock;
 * the void that follows decides. The BRIN index limits the scan to the pages of that time.
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

/** When this process last created a hold, `seconds` or more after a time. No lock. */
export async function holdFindNewest(
  db: Executor,
  p: { instance: InstanceId; after: Date; seconds: number },
): Promise<Date | undefined> {
  const row = await queryRow<{ newest: Date | null }>(
    db,
    `select max(created_at) as newest from holds
     where instance = $1 and created_at > $2::timestamptz + make_interval(secs => $3)`,
    [p.instance, p.after, p.seconds],
  )
  return row.newest ?? undefined
}

export type AgedHold = OpenHold & { createdAt: Date; deadlineAt: Date }

/**
 * Holds created in this time that are still open, oldest first; without `from`, since ever. No
 * lock, as above.
 */
export async function holdListOpen(
  db: Executor,
  p: { from: Date | undefined; until: Date; limit: number },
): Promise<AgedHold[]> {
  const { rows } = await db.query(
    `select id, book_id as book, tariff, created_at as "createdAt", deadline_at as "deadlineAt"
     from holds
     where state = 'open' and created_at >= coalesce($1::timestamptz, '-infinity')
       and created_at < $2
     order by created_at limit $3`,
    [p.from ?? null, p.until, p.limit],
  )
  return rows as AgedHold[]
}

/**
 * The time of the ledger or of this process (`now`), whichever is earlier, and before when a hold
 * was created that is old by then.
 */
export function lookTimes(
  db: Executor,
  p: { readonly holdSeconds: number; readonly now: Date },
): Promise<{ now: Date; until: Date }> {
  return queryRow(
    db,
    `select now, now - make_interval(secs => $1) as until
     from (select least(ledger_now(), $2) as now offset 0) clock`,
    [p.holdSeconds, p.now],
  )
}

/** Every hold created before the mark is closed; undefined before the first complete look. */
export async function sweepMarkFind(db: Executor): Promise<Date | undefined> {
  const { rows } = await db.query('select closed_before as mark from sweep_marks')
  return (rows[0] as { mark: Date } | undefined)?.mark
}

export async function sweepMarkStore(db: Executor, mark: Date): Promise<void> {
  await db.query(
    `insert into sweep_marks (closed_before) values ($1)
     on conflict (is_only) do update set closed_before = excluded.closed_before`,
    [mark],
  )
}

/**
 * Summarizes the newest pages of holds in the BRIN index; else every search reads them all, until
 * an autovacuum that at 100 million holds comes after 20 million more. A running autovacuum has the
 * lock; a wait above deadlock_timeout (1 s) would cancel it, so this gives up sooner.
 */
export async function holdSummarize(tx: Tx): Promise<void> {
  await tx.query(`set local lock_timeout = '50ms'`)
  await tx.query(
    `select brin_summarize_new_values(c.oid)
     from pg_class c join pg_index x on x.indexrelid = c.oid
     join pg_inherits i on i.inhrelid = x.indrelid
     where i.inhparent = 'holds'::regclass
       and c.relam = (select oid from pg_am where amname = 'brin')`,
  )
}
