// The SQL of top-ups: saved methods, consents, and the agreement in force. Lock order: the order's
// row if there is one, then the top-up's, last the ledger's book.
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

export type StopReason =
  | 'owner'
  | 'declined'
  | 'pack_changed'
  | 'refunded'
  | 'disputed'
  | 'forgotten'
  | 'consent_incomplete'

/** What an owner agreed to, and whether that is in force. */
export type TopUpAgreement = {
  readonly book: BookId
  readonly consent: bigint
  readonly isOn: boolean
  readonly packId: string
  /** The agreed price; a pack with another price or other credits is not bought. */
  readonly price: Kopecks
  /** Null: an agreement from before migration 0019, without credits; nothing is bought under it. */
  readonly credits: Credits | null
  readonly threshold: Credits
  readonly ceiling: Kopecks
  readonly crossing: number
  readonly givenAt: Date
  readonly stoppedWhy: StopReason | null
  readonly stoppedAt: Date | null
}

const AGREEMENT_COLUMNS = `
  t.book_id as book, t.consent_id as consent, t.is_on as "isOn", c.pack_id as "packId",
  c.price_kopecks as price, c.credits, c.threshold, c.ceiling_kopecks as ceiling, t.crossing,
  c.given_at as "givenAt", t.stopped_why as "stoppedWhy", t.stopped_at as "stoppedAt"`

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

/** Stores a consent and puts it in force, in one statement: neither exists without the other. */
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
export async function topUpFind(db: Executor, book: BookId): Promise<TopUpAgreement | undefined> {
  const { rows } = await db.query(
    `select ${AGREEMENT_COLUMNS} from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.book_id = $1`,
    [book],
  )
  return rows[0] as TopUpAgreement | undefined
}

/** Locks the top-up's row, so that workers buy for a book in turn. Undefined when it is off. */
export async function topUpLockActive(tx: Tx, book: BookId): Promise<TopUpAgreement | undefined> {
  const { rows } = await tx.query(
    `select ${AGREEMENT_COLUMNS} from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.book_id = $1 and t.is_on for update of t`,
    [book],
  )
  return rows[0] as TopUpAgreement | undefined
}

/** A page of the agreements in force, by book id above `after`. Locks nothing. */
export async function topUpListActive(
  db: Executor,
  after: BookId,
  limit: number,
): Promise<Pick<TopUpAgreement, 'book' | 'threshold' | 'credits'>[]> {
  const { rows } = await db.query(
    `select t.book_id as book, c.threshold, c.credits
     from top_ups t join top_up_consents c on c.id = t.consent_id
     where t.is_on and t.book_id > $1
     order by t.book_id
     limit $2`,
    [after, limit],
  )
  return rows as Pick<TopUpAgreement, 'book' | 'threshold' | 'credits'>[]
}

/**
 * The price of this month's (UTC) top-ups, and whether a top-up of any month is open. Open and
 * refunded top-ups count, canceled and failed ones do not. Locks nothing: a caller that decides by
 * `hasOpen` must hold the lock of the top-up's row.
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
 * Makes open top-ups due that have no `next_at`, because an earlier version left them unscheduled:
 * the next top-up waits for them. Locks only those rows, which the index of open top-ups finds.
 */
export async function topUpScheduleUnpolled(db: Executor): Promise<void> {
  await db.query(
    `update orders set next_at = ledger_now()
     where is_top_up and state in ('pending', 'expired') and next_at is null`,
  )
}

/** Counts a crossing and returns its number. Locks the top-up's row. */
export async function topUpCountCrossing(tx: Tx, book: BookId): Promise<number> {
  const { rows } = await tx.query(
    'update top_ups set crossing = crossing + 1 where book_id = $1 returning crossing',
    [book],
  )
  return (rows[0] as { crossing: number }).crossing
}

/** True for a month's first call: send the e-mail about the ceiling. Locks the top-up's row. */
export async function topUpMarkCeilingEmailed(
  tx: Tx,
  book: BookId,
  month: string,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update top_ups set ceiling_told = $2::date
     where book_id = $1 and ceiling_told is distinct from $2::date
     returning book_id`,
    [book, month],
  )
  return rows.length > 0
}

/**
 * Ends the agreement, if one is in force, and returns when it was given. Locks the top-up's row.
 */
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
 * The agreement that an order was created under, if it is still in force and the saved method has
 * not changed since. Locks the top-up's row, after the order's, so that the agreement cannot end
 * meanwhile.
 */
export async function topUpLockForOrder(
  db: Executor,
  order: OrderId,
): Promise<Pick<TopUpAgreement, 'threshold'> | undefined> {
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

/** Stores the time of sending, just before the order is sent. The caller holds the row's lock. */
export async function topUpMarkSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1', [order])
}

/**
 * Sets a missing `posted_at` to now: an earlier version created the order and may have sent it just
 * now. The caller holds the row's lock.
 */
export async function topUpAssumeSent(tx: Tx, order: OrderId): Promise<void> {
  await tx.query('update orders set posted_at = ledger_now() where id = $1 and posted_at is null', [
    order,
  ])
}

/**
 * Cancels the book's top-ups, or only `order`, if certainly never sent. Locks the rows and skips
 * those that another transaction locked: that one calls `topUpLockForOrder` before sending.
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
 * Cancels a top-up that the provider does not have, if it was last sent more than `seconds` ago.
 * False if it was sent later: the payment may still appear. Locks its row.
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

/** Deletes a book's agreement. Locks its row. */
export async function topUpDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from top_ups where book_id = $1', [book])
}

/** Deletes a book's consents, after its agreement: they contain IP addresses. Locks the rows. */
export async function consentDelete(tx: Tx, book: BookId): Promise<void> {
  await tx.query('delete from top_up_consents where book_id = $1', [book])
}

/** Every consent of a book, newest first, as JSON values. Locks nothing. */
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
