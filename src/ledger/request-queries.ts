// The SQL that finds one request for the operator's command: its hold and what it was charged.
import type { Executor } from '../platform/db/db.ts'
import { type BookId, dayOfHold, type HoldId } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { Ending } from './calls.ts'

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
}

/** Reads without a lock, from the partition that the id names. Old partitions are dropped. */
export async function holdFind(db: Executor, id: HoldId): Promise<RequestFacts | undefined> {
  const { rows } = await db.query(
    `select h.id, h.book_id as book, h.state, t.model, h.granted, h.charged, h.ending,
       h.entry_seq as entry, h.created_at as "createdAt", h.closed_at as "closedAt"
     from holds h join tariffs t on t.id = h.tariff
     where h.day = $1 and h.id = $2`,
    [dayOfHold(id), id],
  )
  return rows[0] as RequestFacts | undefined
}
