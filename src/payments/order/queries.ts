// The SQL of orders. decide.ts decides about state changes; the table's constraints refuse wrong
// ones. Lock order: the order's row, then its refunds and disputes, last the ledger's book.
import { assert } from '../../platform/assert.ts'
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Confirmation } from '../port.ts'
import type { Order, OrderState, Trigger } from './order.ts'

const COLUMNS = `
  id, book_id as book, attempt, provider, shop, method, state, pack_id as "packId",
  pack_title as "packTitle", credits, price_kopecks as price,
  catalogue_version as "catalogueVersion", email, locale, receipt, request_body as "requestBody",
  provider_payment_id as "paymentId", confirmation_kind as "confirmationKind", confirmation,
  payable_until as "payableUntil", cancel_reason as "cancelReason",
  receipt_state as "receiptState", captured_at as "capturedAt", credited_at as "creditedAt",
  credited_by as "creditedBy", lot, refunded_kopecks as refunded, looks as tries,
  polled_from as "polledFrom", created_at as "createdAt", is_top_up as "isTopUp",
  saves_method as "savesMethod", consent_id as mandate`

type Row = Omit<Order, 'confirmation'> & {
  readonly confirmationKind: Confirmation['kind'] | null
  readonly confirmation: string | null
}

function orderOf(row: unknown): Order {
  const { confirmationKind, confirmation, ...rest } = row as Row
  return {
    ...rest,
    confirmation:
      confirmationKind === null || confirmation === null
        ? null
        : { kind: confirmationKind, value: confirmation },
  }
}

/**
 * Serialises the purchases of a book until the transaction ends: two tabs that press Buy at once
 * must see each other's order. An advisory lock, because there may be no row yet. A statement of
 * its own, because the next statement must see what the lock's previous holder committed.
 */
export async function bookOrdersLock(tx: Tx, book: BookId): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('orders of book ' || $1::int8, 0))`,
    [book],
  )
}

/** Reads without a lock. */
export async function orderFindByAttempt(
  db: Executor,
  book: BookId,
  attempt: string,
): Promise<Order | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from orders where book_id = $1 and attempt = $2`,
    [book, attempt],
  )
  return rows.map(orderOf)[0]
}

/** The newest order for the same pack and price that can still be paid. Locks nothing. */
export async function orderFindReopenable(
  db: Executor,
  p: Pick<
    Order,
    'book' | 'provider' | 'shop' | 'method' | 'packId' | 'credits' | 'price' | 'savesMethod'
  >,
): Promise<Order | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from orders
     where book_id = $1 and provider = $2 and method = $3 and pack_id = $4 and credits = $5
       and price_kopecks = $6 and saves_method = $7 and not is_top_up
       and (shop is null or shop = $8)
       and state in ('created', 'pending')
       and created_at > ledger_now() - interval '1 hour'
       and (payable_until is null or payable_until > ledger_now())
     order by id desc
     limit 1`,
    [p.book, p.provider, p.method, p.packId, p.credits, p.price, p.savesMethod, p.shop],
  )
  return rows.map(orderOf)[0]
}

/** Who ordered what, for how much and from whom; never changed. */
export type OrderTerms = Pick<
  Order,
  | 'id'
  | 'book'
  | 'attempt'
  | 'provider'
  | 'shop'
  | 'method'
  | 'packId'
  | 'packTitle'
  | 'credits'
  | 'price'
  | 'catalogueVersion'
  | 'email'
  | 'locale'
>

/**
 * Inserts an order, before the provider is called. Locks its row, and the book's row against
 * deletion only. If this process dies before the provider answers, the order is due after
 * `dueSeconds`.
 */
export async function orderInsert(
  tx: Tx,
  p: OrderTerms &
    Pick<Order, 'receipt' | 'requestBody' | 'isTopUp' | 'savesMethod' | 'mandate'> & {
      readonly dueSeconds: number
    },
): Promise<Order> {
  const { rows } = await tx.query(
    `insert into orders (id, book_id, attempt, provider, method, state, pack_id, pack_title,
       credits, price_kopecks, catalogue_version, email, locale, receipt, request_body, is_top_up,
       saves_method, consent_id, next_at, shop)
     values ($1, $2, $3, $4, $5, 'created', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
       ledger_now() + make_interval(secs => $18), $19)
     returning ${COLUMNS}`,
    [
      p.id,
      p.book,
      p.attempt,
      p.provider,
      p.method,
      p.packId,
      p.packTitle,
      p.credits,
      p.price,
      p.catalogueVersion,
      p.email,
      p.locale,
      p.receipt === null ? null : JSON.stringify(p.receipt),
      p.requestBody,
      p.isTopUp,
      p.savesMethod,
      p.mandate,
      p.dueSeconds,
      p.shop,
    ],
  )
  return orderOf(rows[0])
}

/** Reads without a lock. */
export async function orderFind(db: Executor, id: OrderId): Promise<Order | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from orders where id = $1`, [id])
  return rows.map(orderOf)[0]
}

/** Locks the order's row. Everything that changes an order takes this lock first. */
export async function orderLock(tx: Tx, id: OrderId): Promise<Order | undefined> {
  const { rows } = await tx.query(`select ${COLUMNS} from orders where id = $1 for update`, [id])
  return rows.map(orderOf)[0]
}

/**
 * The order that stores this payment's id, else the order that the payment names. Locks nothing.
 */
export async function orderFindByPayment(
  db: Executor,
  p: { readonly provider: string; readonly paymentId: string; readonly orderRef: string | null },
): Promise<Order | undefined> {
  const { rows } = await db.query(
    `select ${COLUMNS} from orders
     where (provider = $1 and provider_payment_id = $2) or id = $3
     order by (provider = $1 and provider_payment_id = $2) is true desc
     limit 1`,
    [p.provider, p.paymentId, p.orderRef],
  )
  return rows.map(orderOf)[0]
}

/** A page of a book's orders with ids below `before`, newest first. Locks nothing. */
export async function orderList(
  db: Executor,
  p: { readonly book: BookId; readonly before: OrderId | null; readonly limit: number },
): Promise<Order[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from orders
     where book_id = $1 and ($2::text is null or id < $2)
     order by id desc
     limit $3`,
    [p.book, p.before, p.limit],
  )
  return rows.map(orderOf)
}

/** Whether any order of the book was ever credited. Locks nothing. */
export async function orderExistsCredited(db: Executor, book: BookId): Promise<boolean> {
  const { rows } = await db.query(
    'select from orders where book_id = $1 and credited_at is not null limit 1',
    [book],
  )
  return rows.length > 0
}

/**
 * The provider has the payment, so the stored request body is deleted. The caller holds the lock.
 */
export async function orderOpen(
  tx: Tx,
  p: {
    readonly id: OrderId
    readonly paymentId: string
    readonly confirmation: Confirmation | null
    readonly createdAt: Date
    readonly payerTermSeconds: number
    readonly dueSeconds: number | null
  },
): Promise<void> {
  await tx.query(
    `update orders
     set state = 'pending', provider_payment_id = $2, confirmation_kind = $3, confirmation = $4,
       payable_until = $5::timestamptz + make_interval(secs => $6), request_body = null,
       polled_from = ledger_now(), looks = 0,
       next_at = ledger_now() + make_interval(secs => $7)
     where id = $1`,
    [
      p.id,
      p.paymentId,
      p.confirmation?.kind ?? null,
      p.confirmation?.value ?? null,
      p.createdAt,
      p.payerTermSeconds,
      p.dueSeconds,
    ],
  )
}

/**
 * Credits the order's book and marks the order credited, in one call; returns the seconds since
 * capture. Book and amount are the order's own. The caller holds the row's lock; the ledger's lock
 * is the last one taken.
 */
export async function orderCredit(
  tx: Tx,
  p: {
    readonly id: OrderId
    readonly paymentId: string
    readonly capturedAt: Date | null
    readonly receiptState: Order['receiptState']
    readonly by: Trigger
  },
): Promise<number | null> {
  const { rows } = await tx.query('select * from orders_credit($1, $2, $3, $4, $5)', [
    ...[p.id, p.paymentId, p.capturedAt, p.receiptState, p.by],
  ])
  const [row] = rows as { outcome: string; seconds: number | null }[]
  assert(
    row?.outcome === 'posted' || row?.outcome === 'repeated',
    `the credit of order ${p.id} answered ${row?.outcome}`,
  )
  return row.seconds
}

/** Ends the order without a credit, or sends it to review. The caller holds the row's lock. */
export async function orderEnd(
  tx: Tx,
  p: {
    readonly id: OrderId
    readonly state: Extract<OrderState, 'canceled' | 'failed' | 'review'>
    readonly paymentId: string | null
    readonly reason: string | null
  },
): Promise<void> {
  await tx.query(
    `update orders
     set state = $2, provider_payment_id = coalesce(provider_payment_id, $3), cancel_reason = $4,
       request_body = null, next_at = null
     where id = $1`,
    [p.id, p.state, p.paymentId, p.reason?.slice(0, 100) || null],
  )
}

/** Sets the state that follows from a refund or dispute. The caller holds the row's lock. */
export async function orderSetState(
  tx: Tx,
  p: { readonly id: OrderId; readonly state: OrderState; readonly refunded: Kopecks },
): Promise<void> {
  await tx.query('update orders set state = $2, refunded_kopecks = $3 where id = $1', [
    p.id,
    p.state,
    p.refunded,
  ])
}

/** Sets the receipt's state; true if that changed it to `canceled`. Locks the order's row. */
export async function orderSetReceipt(
  db: Executor,
  id: OrderId,
  state: NonNullable<Order['receiptState']>,
): Promise<boolean> {
  const { rows } = await db.query(
    `update orders set receipt_state = $2
     where id = $1 and receipt_state is distinct from $2
       and receipt_state is distinct from 'succeeded'
     returning receipt_state = 'canceled' as failed`,
    [id, state],
  )
  return (rows[0] as { failed: boolean } | undefined)?.failed ?? false
}

/** When to poll an open order again; null: never. Locks its row. */
export async function orderSetDue(
  db: Executor,
  id: OrderId,
  seconds: number | null,
): Promise<void> {
  await db.query(
    `update orders set next_at = ledger_now() + make_interval(secs => $2)
     where id = $1 and state in ('created', 'pending', 'expired')`,
    [id, seconds],
  )
}

/**
 * Claims the order that has been due longest, for `leaseSeconds`: if this process dies, the order
 * is due again after that. Locks the row; skips rows that others have locked.
 */
export async function orderClaimDue(
  db: Executor,
  isCreated: boolean,
  leaseSeconds: number,
): Promise<(Order & { readonly ageSeconds: number; readonly pollSeconds: number }) | undefined> {
  const { rows } = await db.query(
    `update orders
     set looks = looks + 1, looked_at = ledger_now(),
       next_at = ledger_now() + make_interval(secs => $2)
     where id = (
       select id from orders
       where next_at <= ledger_now() and (state = 'created') = $1
       order by next_at
       limit 1
       for update skip locked
     )
     returning ${COLUMNS},
       extract(epoch from ledger_now() - created_at)::float8 as "ageSeconds",
       extract(epoch from ledger_now() - polled_from)::float8 as "pollSeconds"`,
    [isCreated, leaseSeconds],
  )
  return rows.map((row) => {
    const { ageSeconds, pollSeconds } = row as { ageSeconds: number; pollSeconds: number }
    return { ...orderOf(row), ageSeconds, pollSeconds }
  })[0]
}

/**
 * The payer has returned: polling starts anew. Undefined when the provider was asked less than
 * `quietSeconds` ago, because the payer's page polls us every second. Locks the order's row.
 */
export async function orderClaimCheck(
  db: Executor,
  id: OrderId,
  quietSeconds: number,
): Promise<Order | undefined> {
  const { rows } = await db.query(
    `update orders set looked_at = ledger_now(), polled_from = ledger_now(), looks = 0
     where id = $1 and credited_at is null
       and (looked_at is null or looked_at < ledger_now() - make_interval(secs => $2))
     returning ${COLUMNS}`,
    [id, quietSeconds],
  )
  return rows.map(orderOf)[0]
}

/**
 * Expires orders whose payment time is over. This only hides the link to pay; polling continues.
 * Locks the rows and skips locked ones: the next minute's run reads them again.
 */
export async function orderExpire(db: Executor, graceSeconds: number): Promise<OrderId[]> {
  const { rows } = await db.query(
    `update orders set state = 'expired'
     where id in (
       select id from orders
       where state = 'pending' and payable_until < ledger_now() - make_interval(secs => $1)
       for update skip locked
     )
     returning id`,
    [graceSeconds],
  )
  return (rows as { id: OrderId }[]).map(({ id }) => id)
}
