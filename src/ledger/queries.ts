// The ledger's SQL except hold, settle and void (calls.ts): rare postings, settings and reads.
// Heartbeats, sweeps, partitions and audits are in upkeep/upkeep.ts. One function per statement.
import type { Executor, Tx } from '../platform/db/db.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import type { ChargeParts } from '../units/charge.ts'
import type { Credits } from '../units/credits.ts'
import type { Ending } from '../units/endings.ts'
import type { Millionths, Price } from '../units/price.ts'
import { detailsOf, type RequestDetails } from './details.ts'
import { partsOf } from './parts.ts'

export type EntryKind =
  | 'purchase'
  | 'promo'
  | 'charge'
  | 'void'
  | 'refund'
  | 'refund_reversal'
  | 'forced_debit'
  | 'adjust'
  | 'transfer'

export type CreditKind = Extract<EntryKind, 'purchase' | 'promo' | 'adjust' | 'transfer'>
export type Contra = 'revenue' | 'clearing' | 'promo' | 'loss'
export type BlockedReason = 'operator_blocked' | 'owner_suspended' | 'velocity_stopped'

export type PostingResult = { outcome: string; seq: bigint | null; available: bigint | null }

export type Book = {
  readonly id: BookId
  readonly available: Credits
  readonly held: Credits
  readonly debt: Credits
  readonly seq: bigint
  readonly fence: bigint
  readonly requests: bigint
  readonly spentTotal: Credits
  /** Spent on the book's day: today in UTC by the database's clock, or the last entry's day. */
  readonly daySpent: Credits
  readonly dayLimit: Credits | null
  /** What a hold may take: `available`, within what the daily limit leaves. */
  readonly headroom: Credits
  readonly velocityLimit: Credits | null
  readonly velocitySeconds: number
  readonly blockedReason: BlockedReason | null
}

export type Entry = {
  readonly seq: bigint
  readonly at: Date
  readonly kind: EntryKind
  readonly amount: Credits
  readonly balance: Credits
  readonly contra: Contra | 'none'
  readonly holdId: HoldId | null
  readonly model: string | null
  readonly catalogueVersion: number | null
  /** The name of the price list; empty for the default one and for entries without a price. */
  readonly list: string
  readonly price: Price | null
  readonly input: bigint | null
  readonly output: bigint | null
  readonly cacheRead: bigint | null
  readonly cacheWrite5m: bigint | null
  readonly cacheWrite1h: bigint | null
  readonly priced: Credits | null
  readonly writtenOff: Credits | null
  readonly ending: Ending | null
  readonly isEstimated: boolean | null
  readonly messageId: string | null
  readonly ref: string | null
  readonly note: string | null
  readonly parts: ChargeParts | null
  readonly details: RequestDetails
}

export type Lot = {
  readonly seq: bigint
  readonly kind: EntryKind
  readonly ref: string
  readonly credited: Credits
  readonly takenBack: Credits
  readonly unspent: Credits
  readonly at: Date
}

/** Runs a query and returns its first row. */
export async function queryRow<Row>(db: Executor, text: string, values: unknown[]): Promise<Row> {
  const { rows } = await db.query(text, values)
  return rows[0] as Row
}

/** A new, empty book. Locks nothing that exists. */
export async function bookInsert(db: Executor): Promise<BookId> {
  return (await queryRow<{ id: BookId }>(db, 'select ledger_open() as id', [])).id
}

/** Locks the book, then posts once per (kind, ref); needs the caller's transaction. */
export function creditPost(
  tx: Tx,
  p: { book: BookId; kind: CreditKind; ref: string; amount: Credits; contra: Contra; note: string },
): Promise<PostingResult> {
  return queryRow(tx, 'select * from ledger_credit($1, $2, $3, $4, $5, $6)', [
    p.book,
    p.kind,
    p.ref,
    p.amount,
    p.contra,
    p.note,
  ])
}

/** Locks the book; an operator's correction upwards. */
export function adjustUpPost(
  tx: Tx,
  p: { book: BookId; ref: string; amount: Credits; contra: Contra; note: string },
): Promise<PostingResult> {
  return queryRow(tx, 'select * from ledger_adjust_up($1, $2, $3, $4, $5)', [
    p.book,
    p.ref,
    p.amount,
    p.contra,
    p.note,
  ])
}

/** Locks the book; an operator's gift. */
export function giftPost(
  tx: Tx,
  p: { book: BookId; ref: string; amount: Credits; note: string },
): Promise<PostingResult> {
  const values = [p.book, p.ref, p.amount, p.note]
  return queryRow(tx, 'select * from ledger_gift($1, $2, $3, $4)', values)
}

/** Locks the book; refuses beyond what is available. */
export function adjustDownPost(
  tx: Tx,
  p: { book: BookId; ref: string; amount: Credits; contra: Contra; note: string },
): Promise<PostingResult> {
  return queryRow(tx, 'select * from ledger_adjust_down($1, $2, $3, $4, $5)', [
    p.book,
    p.ref,
    p.amount,
    p.contra,
    p.note,
  ])
}

/** Locks the book, then the lot; refuses beyond the lot's unspent part. */
export function refundPost(
  tx: Tx,
  p: { book: BookId; lot: bigint; ref: string; amount: Credits; note: string },
): Promise<PostingResult> {
  return queryRow(tx, 'select * from ledger_refund($1, $2, $3, $4, $5)', [
    p.book,
    p.lot,
    p.ref,
    p.amount,
    p.note,
  ])
}

/** Locks the book, then the lot. */
export function refundReversePost(
  tx: Tx,
  p: { book: BookId; lot: bigint; ref: string; note: string },
): Promise<PostingResult> {
  return queryRow(tx, 'select * from ledger_refund_reverse($1, $2, $3, $4)', [
    p.book,
    p.lot,
    p.ref,
    p.note,
  ])
}

/** Locks the book, then the lot if one is named. */
export function forcedDebitPost(
  tx: Tx,
  p: {
    book: BookId
    lot: bigint | null
    ref: string
    amount: Credits
    contra: Contra
    note: string
  },
): Promise<PostingResult & { debt: bigint | null }> {
  return queryRow(tx, 'select * from ledger_forced_debit($1, $2, $3, $4, $5, $6)', [
    p.book,
    p.lot,
    p.ref,
    p.amount,
    p.contra,
    p.note,
  ])
}

/** Locks the book's row until the caller's transaction ends; null when there is no such book. */
export async function fenceRaise(tx: Tx, book: BookId): Promise<bigint | null> {
  return (
    await queryRow<{ fence: bigint | null }>(tx, 'select ledger_fence_raise($1) as fence', [book])
  ).fence
}

/** Locks the book's row. An operator's block replaces the other stops, which are kept for later. */
export async function bookBlock(db: Executor, book: BookId, reason: BlockedReason) {
  await db.query('select ledger_block($1, $2::blocked_reason)', [book, reason])
}

/** Locks the book's row. Lifts one reason and no other; true when it was in force. */
export async function bookResume(
  db: Executor,
  book: BookId,
  reason: BlockedReason,
): Promise<boolean> {
  return (
    await queryRow<{ resumed: boolean }>(
      db,
      'select ledger_resume($1, $2::blocked_reason) as resumed',
      [book, reason],
    )
  ).resumed
}

/** The owner's stop that is in force again when the operator's is lifted, or null. No lock. */
export async function stopFindAfterUnblock(
  db: Executor,
  book: BookId,
): Promise<Exclude<BlockedReason, 'operator_blocked'> | null> {
  const row = await queryRow<{ reason: Exclude<BlockedReason, 'operator_blocked'> } | undefined>(
    db,
    `select s.reason from stops_beneath s join books b on b.id = s.book_id
     where b.id = $1 and b.blocked_reason = 'operator_blocked'`,
    [book],
  )
  return row?.reason ?? null
}

/** Locks the book's row. Null removes a limit. */
export async function bookSetLimits(
  db: Executor,
  book: BookId,
  limits: {
    dayLimit: Credits | null
    velocityLimit: Credits | null
    velocitySeconds: number
  },
) {
  await db.query('select ledger_limits_set($1, $2, $3, $4)', [
    book,
    limits.dayLimit,
    limits.velocityLimit,
    limits.velocitySeconds,
  ])
}

/** Reads without a lock. */
export async function bookFind(db: Executor, book: BookId): Promise<Book | undefined> {
  const row = await queryRow<Record<string, unknown> | undefined>(
    db,
    `select b.id, b.available, b.held, b.debt, b.seq, b.fence, b.requests, b.spent_total,
       b.day_limit, d.spent as day_spent,
       ledger_headroom(b.available, b.day_limit, d.spent, b.held) as headroom,
       b.velocity_limit, b.velocity_seconds, b.blocked_reason
     from books b
     cross join lateral (
       select case when b.day >= (ledger_now() at time zone 'UTC')::date then b.day_spent else 0
         end as spent
     ) d
     where b.id = $1`,
    [book],
  )
  if (row === undefined) return undefined
  return {
    id: row.id,
    available: row.available,
    held: row.held,
    debt: row.debt,
    seq: row.seq,
    fence: row.fence,
    requests: row.requests,
    spentTotal: row.spent_total,
    daySpent: row.day_spent,
    dayLimit: row.day_limit,
    headroom: row.headroom,
    velocityLimit: row.velocity_limit,
    velocitySeconds: row.velocity_seconds,
    blockedReason: row.blocked_reason,
  } as Book
}

/** The same for up to 256 books at once, in no order. Reads without a lock. */
export async function balanceList(
  db: Executor,
  books: readonly BookId[],
): Promise<{ id: BookId; available: Credits; held: Credits; debt: Credits }[]> {
  const { rows } = await db.query(
    'select id, available, held, debt from books where id = any ($1::int8[])',
    [books.slice(0, 256).map(String)],
  )
  return rows as { id: BookId; available: Credits; held: Credits; debt: Credits }[]
}

/** The columns of an entry e and its tariff t that `entryOf` reads. */
export const ENTRY_COLUMNS = `e.*, t.model, t.catalogue_version, t.list, t.coefficient,
  t.input as weight_input, t.cache_read as weight_read, t.cache_write_5m as weight_5m,
  t.cache_write_1h as weight_1h`

/** A page of a book's entries, newest first, below a seq. Reads without a lock. */
export async function entryList(
  db: Executor,
  p: { book: BookId; beforeSeq: bigint | null; limit: number },
): Promise<Entry[]> {
  const { rows } = await db.query(
    `select ${ENTRY_COLUMNS}
     from entries e left join tariffs t on t.id = e.tariff
     where e.book_id = $1 and ($2::int8 is null or e.seq < $2)
     order by e.seq desc
     limit $3`,
    [p.book, p.beforeSeq, p.limit],
  )
  return rows.map((row) => entryOf(row as Record<string, unknown>))
}

export function entryOf(row: Record<string, unknown>): Entry {
  return {
    seq: row.seq,
    at: row.at,
    kind: row.kind,
    amount: row.amount,
    balance: row.balance,
    contra: row.contra,
    holdId: row.hold_id,
    model: row.model,
    catalogueVersion: row.catalogue_version,
    list: row.list ?? '',
    price:
      row.coefficient === null
        ? null
        : {
            input: row.weight_input as Millionths,
            coefficient: row.coefficient as Millionths,
            cacheRead: row.weight_read as Millionths,
            cacheWrite5m: row.weight_5m as Millionths,
            cacheWrite1h: row.weight_1h as Millionths,
          },
    input: row.input,
    output: row.output,
    cacheRead: row.cache_read,
    cacheWrite5m: row.cache_write_5m,
    cacheWrite1h: row.cache_write_1h,
    priced: row.priced,
    writtenOff: row.written_off,
    ending: row.ending,
    isEstimated: row.estimated,
    messageId: row.message_id,
    ref: row.ref,
    note: row.note,
    parts: partsOf(row.parts),
    details: detailsOf(row),
  } as Entry
}

/** A book's lots, oldest first, with the unspent part of each. Reads without a lock. */
export async function lotList(db: Executor, book: BookId): Promise<Lot[]> {
  const { rows } = await db.query(
    `select seq, kind, ref, credited, taken_back as "takenBack", unspent, at
     from ledger_lots($1)`,
    [book],
  )
  return rows as Lot[]
}

/** Whether a hold of the last ten minutes was settled within the last one. Takes no lock. */
export async function holdHasSettledLately(db: Executor): Promise<boolean> {
  const { rows } = await db.query(
    `select from holds
     where created_at > (select ledger_now() - interval '10 minutes') and state = 'settled'
       and closed_at > (select ledger_now() - interval '1 minute')
     limit 1`,
  )
  return rows.length > 0
}

/** The number of this database's cell. */
export async function cellFind(executor: Executor): Promise<number> {
  const { number } = await queryRow<{ number: number }>(executor, 'select number from cell', [])
  return number
}

/** Sets the number of a database without books: ids of books contain it. */
export async function cellSet(tx: Tx, cell: number): Promise<void> {
  // Nobody can create the first book meanwhile.
  await tx.query('lock table books in share mode')
  await tx.query('update cell set number = $1 where not exists (select from books)', [cell])
}
