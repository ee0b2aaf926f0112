// The SQL of saved methods, of mandates, and of what owners chose about e-mails. Lock order: an
// order's row if there is one, the saved method's, the mandate's, last the ledger's book.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Method } from '../port.ts'

export type SavedMethodRow = {
  readonly provider: string
  readonly method: Method
  readonly methodId: string
  readonly title: string
  readonly savedAt: Date
}

export type EndReason =
  | 'owner'
  | 'declined'
  | 'pack_changed'
  | 'refunded'
  | 'disputed'
  | 'forgotten'
  | 'card_replaced'
  | 'closed'
  | 'replaced'
  | 'consent_incomplete'

/** What an owner agreed to, and whether it still lives. */
export type Mandate = {
  readonly id: bigint
  readonly book: BookId
  /** The card's last digits. */
  readonly title: string
  /** True if the book's saved card is the one that the owner agreed to. */
  readonly hasCard: boolean
  readonly packId: string
  /** The agreed price; a pack with another price or other credits is not bought. */
  readonly price: Kopecks
  /** Null: given before migration 0019, without credits; nothing is bought under it. */
  readonly credits: Credits | null
  readonly threshold: Credits
  readonly dayCeiling: Kopecks
  readonly monthCeiling: Kopecks
  readonly version: string
  readonly address: string
  readonly givenAt: Date
  /** Both null while it lives. */
  readonly endedAt: Date | null
  readonly endedWhy: EndReason | null
}

const MANDATE = `
  m.id, m.book_id as book, m.method_title as title, s.book_id is not null as "hasCard",
  m.pack_id as "packId", m.price_kopecks as price, m.credits, m.threshold,
  m.day_ceiling_kopecks as "dayCeiling", m.month_ceiling_kopecks as "monthCeiling", m.version,
  m.address, m.given_at as "givenAt", m.ended_at as "endedAt", m.ended_why as "endedWhy"`
/** The card of the mandate `m`, if it is still the book's saved one. */
const JOIN_CARD = `
  left join saved_methods s on s.book_id = m.book_id and s.saved_at = m.method_saved_at`

/** Saves a book's method, in place of the previous one. Locks its row. */
export async function savedMethodUpsert(
  tx: Tx,
  p: Omit<SavedMethodRow, 'savedAt'> & { readonly book: BookId },
): Promise<void> {
  await tx.query(
    `insert into saved_methods (book_id, provider, method, provider_method_id, title)
     values ($1, $2, $3, $4, $5)
     on conflict (book_id) do update
     set provider = $2, method = $3, provider_method_id = $4, title = $5, saved_at = ledger_now()`,
    [p.book, p.provider, p.method, p.methodId, p.title],
  )
}

/** Reads without a lock. */
export async function savedMethodFind(
  db: Executor,
  book: BookId,
): Promise<SavedMethodRow | undefined> {
  const { rows } = await db.query(
    `select provider, method, provider_method_id as "methodId", title, saved_at as "savedAt"
     from saved_methods where book_id = $1`,
    [book],
  )
  return rows[0] as SavedMethodRow | undefined
}

/** Deletes the saved method. Locks its row. */
export async function savedMethodDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from saved_methods where book_id = $1', [book])
}

/** Locks the saved method's row, so that a book's mandates are given in turn; false: no card. */
export async function savedMethodLock(tx: Tx, book: BookId): Promise<boolean> {
  const { rows } = await tx.query('select from saved_methods where book_id = $1 for update', [book])
  return rows.length > 0
}

/** Inserts a mandate for the book's saved card. The caller has ended the previous one. */
export async function mandateInsert(
  tx: Tx,
  p: Pick<Mandate, 'book' | 'packId' | 'price' | 'threshold' | 'dayCeiling' | 'monthCeiling'> &
    Pick<Mandate, 'version' | 'address'> & { readonly credits: Credits },
): Promise<Mandate> {
  const { rows } = await tx.query(
    `with m as (
       insert into mandates (book_id, method_title, method_saved_at, pack_id, price_kopecks,
         credits, threshold, day_ceiling_kopecks, month_ceiling_kopecks, version, address)
       select book_id, title, saved_at, $2, $3, $4, $5, $6, $7, $8, $9
       from saved_methods where book_id = $1
       returning *
     )
     select ${MANDATE} from m ${JOIN_CARD}`,
    [
      ...[p.book, p.packId, p.price, p.credits, p.threshold, p.dayCeiling, p.monthCeiling],
      ...[p.version, p.address],
    ],
  )
  return rows[0] as Mandate
}

/** A book's mandates, newest first. Locks nothing. */
export async function mandateList(db: Executor, book: BookId, limit: number): Promise<Mandate[]> {
  const { rows } = await db.query(
    `select ${MANDATE} from mandates m ${JOIN_CARD}
     where m.book_id = $1 order by m.id desc limit $2`,
    [book, limit],
  )
  return rows as Mandate[]
}

/** One mandate, living or not; undefined if it was erased. Locks nothing. */
export async function mandateFind(db: Executor, id: bigint): Promise<Mandate | undefined> {
  const { rows } = await db.query(
    `select ${MANDATE} from mandates m ${JOIN_CARD} where m.id = $1`,
    [id],
  )
  return rows[0] as Mandate | undefined
}

/** The living mandate of a book. Locks its row, so that workers buy for a book in turn. */
export async function mandateLockLiving(tx: Tx, book: BookId): Promise<Mandate | undefined> {
  const { rows } = await tx.query(
    `select ${MANDATE} from mandates m ${JOIN_CARD}
     where m.book_id = $1 and m.ended_at is null
     for update of m`,
    [book],
  )
  return rows[0] as Mandate | undefined
}

/**
 * The mandate that an order names, if it lives. Locks its row, after the order's, so that it cannot
 * end before the caller's transaction does.
 */
export async function mandateLockForOrder(tx: Tx, order: OrderId): Promise<Mandate | undefined> {
  const { rows } = await tx.query(
    `select ${MANDATE} from orders o
     join mandates m on m.id = o.consent_id and m.book_id = o.book_id ${JOIN_CARD}
     where o.id = $1 and m.ended_at is null
     for update of m`,
    [order],
  )
  return rows[0] as Mandate | undefined
}

/** A page of the living mandates, by book id above `after`. Locks nothing. */
export async function mandateListLiving(
  db: Executor,
  after: BookId,
  limit: number,
): Promise<Pick<Mandate, 'book' | 'threshold' | 'credits' | 'hasCard'>[]> {
  const { rows } = await db.query(
    `select ${MANDATE} from mandates m ${JOIN_CARD}
     where m.ended_at is null and m.book_id > $1
     order by m.book_id
     limit $2`,
    [after, limit],
  )
  return rows as Mandate[]
}

/** Ends the book's living mandate, or only `id`, and returns its id. Locks its row. */
export async function mandateEnd(
  tx: Tx,
  book: BookId,
  why: EndReason,
  id: bigint | null = null,
): Promise<bigint | undefined> {
  const { rows } = await tx.query(
    `update mandates set ended_at = ledger_now(), ended_why = $2
     where book_id = $1 and ended_at is null and ($3::int8 is null or id = $3)
     returning id`,
    [book, why, id],
  )
  return (rows[0] as { id: bigint } | undefined)?.id
}

/** Whether the owner gets an e-mail before each charge. Locks nothing. */
export async function advanceNoticeFind(db: Executor, book: BookId): Promise<boolean> {
  const { rows } = await db.query(
    'select from top_up_settings where book_id = $1 and has_advance_notice',
    [book],
  )
  return rows.length > 0
}

/** Locks the row of the book's settings. */
export async function advanceNoticeSet(db: Executor, book: BookId, isOn: boolean): Promise<void> {
  await db.query(
    `insert into top_up_settings (book_id, has_advance_notice) values ($1, $2)
     on conflict (book_id) do update set has_advance_notice = $2`,
    [book, isOn],
  )
}
