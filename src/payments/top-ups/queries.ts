// The SQL of top-ups: kept methods, what their owners agreed to, and the standing word in force.
// Locks go: the order's row where there is one, then the top-up's, then, last, the ledger's book.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Method } from '../port.ts'

export type KeptMethod = {
  readonly provider: string
  readonly method: Method
  readonly methodId: string
  readonly title: string
  readonly savedAt: Date
}

export type StopReason =
  | 'owner'
  | 'declined'
  | 'pack_changed'
  | 'refunded'
  | 'disputed'
  | 'forgotten'
  | 'consent_incomplete'

/** What an owner agreed to, and whether it is in force. */
export type StandingWord = {
  readonly book: BookId
  readonly consent: bigint
  readonly isOn: boolean
  readonly packId: string
  /** What was agreed to; a pack with another price or other credits is another purchase. */
  readonly price: Kopecks
  /** Null: agreed to before migration 0019, when nobody was asked; nothing is bought by it. */
  readonly credits: Credits | null
  readonly threshold: Credits
  readonly ceiling: Kopecks
  readonly crossing: number
  readonly givenAt: Date
  readonly stoppedWhy: StopReason | null
  readonly stoppedAt: Date | null
}

const WORD = `
  t.book_id as book, t.consent_id as consent, t.is_on as "isOn", c.pack_id as "packId",
  c.price_kopecks as price, c.credits, c.threshold, c.ceiling_kopecks as ceiling, t.crossing,
  c.given_at as "givenAt", t.stopped_why as "stoppedWhy", t.stopped_at as "stoppedAt"`

/** The newest method takes the place of the one before. Locks its row. */
export async function methodKeep(
  tx: Tx,
  p: Omit<KeptMethod, 'savedAt'> & { readonly book: BookId },
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
export async function methodFind(db: Executor, book: BookId): Promise<KeptMethod | undefined> {
  const { rows } = await db.query(
    `select provider, method, provider_method_id as "methodId", title, saved_at as "savedAt"
     from saved_methods where book_id = $1`,
    [book],
  )
  return rows[0] as KeptMethod | undefined
}

/** Forgets the method. Locks its row. */
export async function methodDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from saved_methods where book_id = $1', [book])
}

/** A new agreement, in force from now on; one statement, so neither is without the other. */
export async function topUpSet(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly version: string
    readonly address: string
    readonly methodTitle: string
    readonly packId: string
    readonly price: Kopecks
    readonly credits: Credits
    readonly threshold: Credits
    readonly ceiling: Kopecks
  },
): Promise<void> {
  await tx.query(
    `with consent as (
       insert into top_up_consents (book_id, version, address, method_title, pack_id,
         price_kopecks, credits, threshold, ceiling_kopecks)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       returning id
     )
     insert into top_ups (book_id, consent_id, is_on) select $1, id, true from consent
     on conflict (book_id) do update
     set consent_id = excluded.consent_id, is_on = true, stopped_why = null, stopped_at = null,
       ceiling_told = null`,
    [
      ...[p.book, p.version, p.address, p.methodTitle, p.packId],
      ...[p.price, p.credits, p.threshold, p.ceiling],
    ],
  )
}

/** Reads without a lock. */
export async function topUpFind(db: Executor, book: BookId): Promise<StandingWord | undefined> {
  const { rows } = await db.query(
    `select ${WORD} from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.book_id = $1`,
    [book],
  )
  return rows[0] as StandingWord | undefined
}

/** Locks the top-up's row: who buys for a book takes turns. Undefined when it is off. */
export async function topUpLockOn(tx: Tx, book: BookId): Promise<StandingWord | undefined> {
  const { rows } = await tx.query(
    `select ${WORD} from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.book_id = $1 and t.is_on for update of t`,
    [book],
  )
  return rows[0] as StandingWord | undefined
}

/** A page of those in force above a book, with what decides about them. Locks nothing. */
export async function topUpListOn(
  db: Executor,
  after: BookId,
  limit: number,
): Promise<Pick<StandingWord, 'book' | 'threshold' | 'credits'>[]> {
  const { rows } = await db.query(
    `select t.book_id as book, c.threshold, c.credits
     from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.is_on and t.book_id > $1
     order by t.book_id
     limit $2`,
    [after, limit],
  )
  return rows as Pick<StandingWord, 'book' | 'threshold' | 'credits'>[]
}

/**
 * What top-ups of this month (UTC) came to, those under way among them, and whether one is. A
 * declined one cost nothing; one that was given back was bought all the same. Locks nothing: the
 * caller has the top-up's row.
 */
export async function topUpSumMonth(
  db: Executor,
  book: BookId,
): Promise<{ spent: Kopecks; month: string; hasOpen: boolean }> {
  const { rows } = await db.query(
    `select to_char(m.month, 'YYYY-MM-DD') as month,
       coalesce(sum(o.price_kopecks) filter (where o.created_at >= m.month
         and o.state not in ('canceled', 'failed')), 0)::int8 as spent,
       coalesce(bool_or(o.state in ('created', 'pending', 'expired', 'review')), false)
         as "hasOpen"
     from (select date_trunc('month', ledger_now() at time zone 'UTC') at time zone 'UTC'
       as month) m
     left join orders o on o.book_id = $1 and o.is_top_up
     group by m.month`,
    [book],
  )
  return rows[0] as { spent: Kopecks; month: string; hasOpen: boolean }
}

/**
 * Open top-ups that nobody looks at any more, as earlier versions left them, are due at once: the
 * next one waits for them. Locks those rows and no other, by the index of open top-ups alone.
 */
export async function topUpWake(db: Executor): Promise<void> {
  await db.query(
    `update orders set next_at = ledger_now()
     where is_top_up and state in ('pending', 'expired') and next_at is null`,
  )
}

/** The number of the next crossing. Locks the top-up's row. */
export async function topUpCount(tx: Tx, book: BookId): Promise<number> {
  const { rows } = await tx.query(
    'update top_ups set crossing = crossing + 1 where book_id = $1 returning crossing',
    [book],
  )
  return (rows[0] as { crossing: number }).crossing
}

/** True for the first word about the ceiling in a month. Locks the top-up's row. */
export async function topUpTellCeiling(tx: Tx, book: BookId, month: string): Promise<boolean> {
  const { rows } = await tx.query(
    `update top_ups set ceiling_told = $2::date
     where book_id = $1 and ceiling_told is distinct from $2::date
     returning book_id`,
    [book, month],
  )
  return rows.length > 0
}

/** Ends the standing word; when it was given, if it was in force. Locks the top-up's row. */
export async function topUpStop(
  tx: Tx,
  book: BookId,
  why: StopReason,
): Promise<{ readonly givenAt: Date } | undefined> {
  const { rows } = await tx.query(
    `update top_ups t set is_on = false, stopped_why = $2, stopped_at = ledger_now()
     from top_up_consents c
     where t.book_id = $1 and t.is_on and c.id = t.consent_id
     returning c.given_at as "givenAt"`,
    [book, why],
  )
  return rows[0] as { givenAt: Date } | undefined
}

/**
 * What an order was agreed to with, if that is in force and the method that was kept when it was
 * made still is. Locks the top-up's row against an end until the caller's, after the order's.
 */
export async function topUpLockOf(
  db: Executor,
  order: OrderId,
): Promise<Pick<StandingWord, 'threshold'> | undefined> {
  const { rows } = await db.query(
    `select c.threshold from orders o
     join top_ups t on t.book_id = o.book_id and t.consent_id = o.consent_id
     join top_up_consents c on c.id = o.consent_id
     join saved_methods m on m.book_id = o.book_id and m.saved_at <= o.created_at
     where o.id = $1 and t.is_on
     for share of t`,
    [order],
  )
  return rows[0] as { threshold: Credits } | undefined
}

/** Its bytes are about to leave. The row is locked by the caller. */
export async function topUpMarkSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1', [order])
}

/**
 * An order without a mark is of an earlier version, which may have sent it until a moment ago. The
 * row is locked by the caller.
 */
export async function topUpTakeAsSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1 and posted_at is null', [
    order,
  ])
}

/**
 * Cancels the book's top-up, or the one that is named, if it was certainly never sent. Locks the
 * row and passes over one that somebody else has: that one asks `topUpLockOf` before it is sent.
 */
export async function topUpCancelUnsent(
  tx: Tx,
  book: BookId,
  order: OrderId | null = null,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update orders
     set state = 'canceled', cancel_reason = 'top_up_ended', request_body = null, next_at = null
     where id in (
       select id from orders
       where book_id = $1 and ($2::text is null or id = $2) and is_top_up and state = 'created'
         and consent_id is not null and posted_at is null
       for update skip locked
     )
     returning id`,
    [book, order],
  )
  return rows.length > 0
}

/**
 * Cancels a top-up that the provider does not have, if it was sent last so many seconds ago; false
 * when that is too recent to be certain. Locks its row.
 */
export async function topUpCancelAbsent(
  db: Executor,
  order: OrderId,
  seconds: number,
): Promise<boolean> {
  const { rows } = await db.query(
    `update orders
     set state = 'canceled', cancel_reason = 'top_up_ended', request_body = null, next_at = null
     where id = $1 and state = 'created' and posted_at < ledger_now() - make_interval(secs => $2)
     returning id`,
    [order, seconds],
  )
  return rows.length > 0
}

/** Ends and forgets the standing word of a book. Locks its row. */
export async function topUpDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from top_ups where book_id = $1', [book])
}

/** Forgets who agreed from where; the standing word is gone by then. Locks the rows. */
export async function consentDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from top_up_consents where book_id = $1', [book])
}

/** Every agreement of a book, newest first, fit for JSON. Locks nothing. */
export async function consentList(db: Executor, book: BookId): Promise<unknown[]> {
  const { rows } = await db.query(
    `select version, address, method_title as method, pack_id as pack,
       price_kopecks::text as "priceKopecks", credits::text as "microcredits",
       threshold::text as "thresholdMicrocredits",
       ceiling_kopecks::text as "ceilingKopecks", given_at as "givenAt"
     from top_up_consents where book_id = $1 order by id desc`,
    [book],
  )
  return rows
}
