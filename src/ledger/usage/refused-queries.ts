// The SQL of the counts of refused requests: one function per statement.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'

/** Requests of one book that were refused for one reason. */
export type RefusedCount = {
  readonly book: BookId
  readonly reason: string
  readonly requests: number
  /** How long ago the last of them was refused. */
  readonly ageMs: number
}

/**
 * Adds counts, on the day of their last refusal. The rows are inserted in one order, so that two
 * processes that add to the same rows wait for each other instead of deadlocking.
 */
export async function refusedAdd(db: Executor, counts: readonly RefusedCount[]): Promise<void> {
  await db.query(
    `insert into refused_requests (book_id, day, reason, requests, last_at)
     select book_id, (last_at at time zone 'UTC')::date, reason, requests, last_at
     from (
       select book_id, reason, requests, ledger_now() - make_interval(secs => age_ms / 1000)
         as last_at
       from unnest($1::int8[], $2::text[], $3::int8[], $4::float8[])
         as c (book_id, reason, requests, age_ms)
     ) counted
     order by book_id, 2, reason
     on conflict (book_id, day, reason) do update set
       requests = refused_requests.requests + excluded.requests,
       last_at = greatest(refused_requests.last_at, excluded.last_at)`,
    [
      counts.map(({ book }) => String(book)),
      counts.map(({ reason }) => reason),
      counts.map(({ requests }) => requests),
      counts.map(({ ageMs }) => ageMs),
    ],
  )
}

export type RefusedRequests = {
  readonly reason: string
  readonly requests: bigint
  readonly lastAt: Date
}

/**
 * The refused requests of a book by reason, the latest first: of the UTC days that the period
 * touches, if the last refusal of the day was within it. Null: no limit. Reads without a lock.
 */
export async function refusedList(
  db: Executor,
  p: { readonly book: BookId; readonly from: Date | null; readonly to: Date | null },
): Promise<RefusedRequests[]> {
  const { rows } = await db.query(
    `select reason, sum(requests)::int8 as requests, max(last_at) as "lastAt"
     from refused_requests
     where book_id = $1
       and ($2::timestamptz is null or last_at >= $2)
       and ($3::timestamptz is null or day::timestamp at time zone 'UTC' < $3)
     group by reason
     order by max(last_at) desc, reason`,
    [p.book, p.from, p.to],
  )
  return rows as RefusedRequests[]
}

export type RefusedOfBook = RefusedRequests & { readonly book: BookId }

/**
 * The reasons with the most refused requests of the last days, of one book or by books. Reads
 * without a lock.
 */
export async function refusedListMost(
  db: Executor,
  p: { readonly book: BookId | null; readonly days: number; readonly limit: number },
): Promise<RefusedOfBook[]> {
  const { rows } = await db.query(
    `select book_id as book, reason, sum(requests)::int8 as requests, max(last_at) as "lastAt"
     from refused_requests
     where day > (ledger_now() at time zone 'UTC')::date - $1::int4
       and ($3::int8 is null or book_id = $3)
     group by book_id, reason
     order by sum(requests) desc, book_id, reason
     limit $2`,
    [p.days, p.limit, p.book],
  )
  return rows as RefusedOfBook[]
}

/** Removes up to `limit` rows of days that are no longer kept; returns how many. */
export async function refusedDeleteOld(
  db: Executor,
  p: { readonly keptDays: number; readonly limit: number },
): Promise<number> {
  const { rows } = await db.query(
    `with old as (
       select ctid from refused_requests
       where day <= (ledger_now() at time zone 'UTC')::date - $1::int4
       limit $2
     ), gone as (
       delete from refused_requests r using old where r.ctid = old.ctid returning 1
     )
     select count(*)::int4 as rows from gone`,
    [p.keptDays, p.limit],
  )
  return (rows[0] as { rows: number }).rows
}
