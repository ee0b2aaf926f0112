// The SQL of a repair after a restore, and of the age of backups: one function per statement.
import type { Db, Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import { dayOfHold, timeOfHold } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'

/** Why the quarantine has a settle whose hold the restore lost. */
const HOLD_LOST = 'answered hold_unknown'

/** By how much the clocks of gateways and of the database may differ. */
export const CLOCKS_APART_MS = 60_000

/**
 * Which of these charges are not in the ledger. A book that was opened after the request belongs to
 * another customer, who got the number of a lost one: `hasBook` is false. One that waits in
 * quarantine for another reason, or left it, is an operator's matter and not missing. `isOld`: the
 * job `partitions` may have dropped its hold, as it does after a week, so it may have been charged.
 */
export async function chargeListMissing(
  db: Executor,
  charges: readonly Pick<SettleInput, 'id' | 'book'>[],
): Promise<{ n: number; hasBook: boolean; isOld: boolean }[]> {
  const { rows } = await db.query(
    `select o.n::int4 - 1 as n, b.id is not null as "hasBook",
       o.day < floor(extract(epoch from ledger_now()) / 86400) - 6 as "isOld"
     from unnest($1::int4[], $2::uuid[], $3::int8[], $4::int8[]) with ordinality
       as o (day, id, book, ms, n)
     left join books b on b.id = o.book and b.created_at <= to_timestamp(o.ms / 1000.0)
     left join holds h on h.day = o.day and h.id = o.id
     where h.state is distinct from 'settled' and not exists (
       select from quarantine q
       where q.hold_id = o.id and (q.closed_at is not null or q.reason <> '${HOLD_LOST}'))
     order by o.n`,
    [
      ...[charges.map(({ id }) => dayOfHold(id)), charges.map(({ id }) => id), charges.map(bookOf)],
      charges.map(({ id }) => timeOfHold(id) + CLOCKS_APART_MS),
    ],
  )
  return rows as { n: number; hasBook: boolean; isOld: boolean }[]
}

/** Settles in quarantine because the database does not have their hold. */
export async function quarantineListLost(
  db: Executor,
  limit: number,
): Promise<{ hold: HoldId; settle: string }[]> {
  const { rows } = await db.query(
    `select hold_id as hold, settle from quarantine
     where closed_at is null and reason = '${HOLD_LOST}' order by refused_at limit $1`,
    [limit],
  )
  return rows as { hold: HoldId; settle: string }[]
}

/** A gateway that ran at the moment has a heartbeat of the last minutes before it. */
const BEAT_MINUTES = 5

/**
 * The spool directories of gateways that ran at the moment, of which none of these processes is
 * one: nobody compares the charges in their logs.
 */
export async function directoryListUnread(
  db: Executor,
  p: { readonly since: Date; readonly owners: readonly string[] },
): Promise<{ host: string; directory: string }[]> {
  const { rows } = await db.query(
    `select host, spool_directory as directory from instances
     where role = 'gateway' and spool_directory is not null
       and beat_at >= $1::timestamptz - make_interval(mins => ${BEAT_MINUTES})
     group by 1, 2 having not bool_or(id::text = any ($2::text[])) order by 1, 2`,
    [p.since, p.owners],
  )
  return rows as { host: string; directory: string }[]
}

/** Inserts the holds that do not exist, without locks on their books. */
export async function holdsRestore(
  db: Executor,
  instance: InstanceId,
  charges: readonly { readonly input: SettleInput; readonly charged: Credits }[],
): Promise<void> {
  const inputs = charges.map(({ input }) => input)
  await db.query('select ledger_holds_restore($1, $2, $3, $4, $5, $6)', [
    instance,
    inputs.map(({ id }) => dayOfHold(id)),
    inputs.map(({ id }) => id),
    inputs.map(bookOf),
    inputs.map(({ tariff }) => tariff),
    charges.map(({ charged }) => charged),
  ])
}

/** The books among these whose fence is lower, if they were opened before it was raised. */
export async function fenceListBehind(
  db: Executor,
  fences: readonly { readonly book: BookId; readonly fence: bigint; readonly atMs: number }[],
): Promise<{ book: BookId; fence: bigint }[]> {
  const { rows } = await db.query(
    `select o.book, o.fence from unnest($1::int8[], $2::int8[], $3::int8[]) as o (book, fence, ms)
     join books b on b.id = o.book and b.created_at <= to_timestamp(o.ms / 1000.0)
     where b.fence < o.fence order by o.book`,
    [
      ...[fences.map(({ book }) => book), fences.map(({ fence }) => fence)],
      fences.map(({ atMs }) => atMs + CLOCKS_APART_MS),
    ],
  )
  return rows as { book: BookId; fence: bigint }[]
}

/** Locks the book. */
export async function fenceRestore(tx: Tx, book: BookId, fence: bigint): Promise<void> {
  await tx.query('select ledger_fence_restore($1, $2)', [book, fence])
}

export async function booksSkip(db: Executor, book: BookId): Promise<void> {
  await db.query('select ledger_books_skip($1)', [book])
}

/**
 * Seconds since the last backup and since PostgreSQL last archived a WAL file; -1: never. A file is
 * archived every minute (`archive_timeout`), because heartbeats always write.
 */
export async function backupAge(db: Db): Promise<{ backup: number; archive: number }> {
  const { rows } = await db.query(
    `select coalesce(extract(epoch from clock_timestamp() - (select max(finished_at)
         from backups)), -1)::float8 as backup,
       coalesce(extract(epoch from clock_timestamp() - last_archived_time), -1)::float8 as archive
     from pg_stat_archiver`,
  )
  return rows[0] as { backup: number; archive: number }
}

function bookOf({ book }: Pick<SettleInput, 'book'>): BookId {
  return book
}
