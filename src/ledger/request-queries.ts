// The SQL that finds one request for the operator's command: its hold and what it was charged.
import type { Executor } from '../platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { Ending } from '../units/endings.ts'

export type RequestFacts = {
  readonly id: HoldId
  readonly book: BookId
  readonly state: 'open' | 'settled' | 'voided'
  readonly model: string
  readonly granted: Credits
  /** Null while the hold is open, and when the request was free. */
  readonly charged: Credits | null
  readonly ending: Ending | null
  readonly entry: bigint | null
  readonly createdAt: Date
  readonly closedAt: Date | null
  /** The id that the upstream gave the request; null when it sent none. */
  readonly vendorRequestId: string | null
}

/** For operators: one request by an id. */
export function createRequests({ db }: { readonly db: Executor }) {
  return {
    /** Undefined when it is unknown, or so old that its partition was dropped. */
    request: (id: HoldId) => holdFind(db, id),
    /** By the upstream's id of the request, in the last `days` days, newest first. */
    requestByVendorId: (id: string, days: number) => requestFindByVendorId(db, id, days),
  }
}

/** Reads without a lock, from the partition that the id names. Old partitions are dropped. */
async function holdFind(db: Executor, id: HoldId): Promise<RequestFacts | undefined> {
  const { rows } = await db.query(
    `select h.id, h.book_id as book, h.state, t.model, h.granted, h.charged, h.ending,
       h.entry_seq as entry, h.created_at as "createdAt", h.closed_at as "closedAt",
       e.vendor_request_id as "vendorRequestId"
     from holds h join tariffs t on t.id = h.tariff
     left join entries e on e.book_id = h.book_id and e.seq = h.entry_seq
     where h.day = $1 and h.id = $2`,
    [dayOfHold(id), id],
  )
  return rows[0] as RequestFacts | undefined
}

/**
 * The request to which the upstream gave this id, in the last `days` days, newest first. Reads
 * whole days, about a second per million entries, without a lock: an index would slow every settle
 * down for a command that operators run a few times a year.
 */
async function requestFindByVendorId(
  db: Executor,
  vendorRequestId: string,
  days: number,
): Promise<RequestFacts | undefined> {
  for (let daysAgo = 0; daysAgo < days; daysAgo += 1) {
    const { rows } = await db.query(
      `select hold_id as id from entries
       where day = (now() at time zone 'UTC')::date - $1::int4 and vendor_request_id = $2
       limit 1`,
      [daysAgo, vendorRequestId],
    )
    const [found] = rows as { id: HoldId }[]
    if (found !== undefined) return holdFind(db, found.id)
  }
  return undefined
}
