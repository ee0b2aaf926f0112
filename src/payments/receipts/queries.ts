// The SQL of receipts. Lock order: the order's row, then its receipts. The table's triggers refuse
// amounts that exceed the price, and changes of what a receipt says.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId, ReceiptId, RefundId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Fiscal, ReceiptKind } from '../port.ts'

type ReceiptState = 'created' | 'pending' | 'registered' | 'failed' | 'dismissed'

export type Receipt = {
  readonly id: ReceiptId
  readonly kind: ReceiptKind
  readonly order: OrderId
  readonly refund: RefundId | null
  readonly state: ReceiptState
  readonly amount: Kopecks
  /** The part of a return that had been completed. */
  readonly completed: Kopecks
  readonly credits: Credits
  readonly periodFrom: Date | null
  readonly periodUntil: Date | null
  readonly attempt: number
  readonly requestBody: string | null
  readonly receiptId: string | null
  readonly document: string | null
  readonly storage: string | null
  readonly sign: string | null
  readonly registeredAt: Date | null
  readonly tries: number
  readonly error: string | null
  readonly createdAt: Date
}

const COLUMNS = `
  id, kind, order_id as "order", refund_id as refund, state, amount_kopecks as amount,
  completed_kopecks as completed, credits, period_from as "periodFrom",
  period_until as "periodUntil", attempt, request_body as "requestBody",
  provider_receipt_id as "receiptId", fiscal_document as document, fiscal_storage as storage,
  fiscal_sign as sign, registered_at as "registeredAt", tries, error, created_at as "createdAt"`

export type DueReceipt = Receipt & {
  readonly ageSeconds: number
  /** Since this attempt's bytes were stored. */
  readonly attemptSeconds: number
}

/** Claims the receipt that has been due longest. Locks its row; skips rows that others locked. */
export async function receiptClaimDue(
  db: Executor,
  leaseSeconds: number,
): Promise<DueReceipt | undefined> {
  const { rows } = await db.query(
    `update receipts
     set tries = tries + 1, next_at = ledger_now() + make_interval(secs => $1)
     where id = (
       select id from receipts where next_at <= ledger_now()
       order by next_at limit 1 for update skip locked
     )
     returning ${COLUMNS},
       extract(epoch from ledger_now() - created_at)::float8 as "ageSeconds",
       extract(epoch from ledger_now() - attempted_at)::float8 as "attemptSeconds"`,
    [leaseSeconds],
  )
  return rows[0] as DueReceipt | undefined
}

/** A later attempt may be under way in another process, so every change names its attempt. */
type Attempt = Pick<Receipt, 'id' | 'attempt'>

export async function receiptSetDue(
  db: Executor,
  { id, attempt }: Attempt,
  seconds: number,
): Promise<void> {
  await db.query(
    `update receipts set next_at = ledger_now() + make_interval(secs => $3)
     where id = $1 and attempt = $2 and next_at is not null`,
    [id, attempt, seconds],
  )
}

/** The provider has it, and has not registered it yet. */
export async function receiptSetPending(
  db: Executor,
  { id, attempt }: Attempt,
  p: { readonly receiptId: string; readonly seconds: number },
): Promise<void> {
  await db.query(
    `update receipts set state = 'pending', provider_receipt_id = $3, request_body = null,
       error = null, tries = case when state = 'pending' then tries else 0 end,
       next_at = ledger_now() + make_interval(secs => $4)
     where id = $1 and attempt = $2 and state in ('created', 'pending', 'failed')`,
    [id, attempt, p.receiptId, p.seconds],
  )
}

export async function receiptSetRegistered(
  db: Executor,
  { id, attempt }: Attempt,
  p: { readonly receiptId: string; readonly fiscal: Fiscal },
): Promise<boolean> {
  const { document, storage, sign, registeredAt } = p.fiscal
  const { rows } = await db.query(
    `update receipts set state = 'registered', provider_receipt_id = $3, fiscal_document = $4,
       fiscal_storage = $5, fiscal_sign = $6, registered_at = $7, request_body = null,
       error = null, next_at = null
     where id = $1 and attempt = $2 and state in ('created', 'pending', 'failed')
     returning id`,
    [id, attempt, p.receiptId, document, storage, sign, registeredAt],
  )
  return rows.length === 1
}

/** Not registered. `seconds` null: no other attempt, a person must act. */
export async function receiptSetFailed(
  db: Executor,
  { id, attempt }: Attempt,
  p: { readonly why: string; readonly seconds: number | null },
): Promise<boolean> {
  const { rows } = await db.query(
    `update receipts set state = 'failed', error = $3, request_body = null,
       provider_receipt_id = null, next_at = ledger_now() + make_interval(secs => $4)
     where id = $1 and attempt = $2 and state in ('created', 'pending', 'failed')
     returning id`,
    [id, attempt, p.why.slice(0, 300), p.seconds],
  )
  return rows.length === 1
}

/** Stores the bytes of another attempt before they are sent. Undefined: somebody else did. */
export async function receiptAttemptAgain(
  db: Executor,
  { id, attempt }: Attempt,
  requestBody: string,
): Promise<Receipt | undefined> {
  const { rows } = await db.query(
    `update receipts set state = 'created', attempt = attempt + 1, attempted_at = ledger_now(),
       request_body = $3
     where id = $1 and attempt = $2 and state in ('created', 'failed')
     returning ${COLUMNS}`,
    [id, attempt, requestBody],
  )
  return rows[0] as Receipt | undefined
}

/** Which of these receipts of the provider's belong to rows. Reads without a lock. */
export async function receiptsKnown(db: Executor, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query(
    'select provider_receipt_id as id from receipts where provider_receipt_id = any ($1)',
    [ids],
  )
  return new Set((rows as { id: string }[]).map(({ id }) => id))
}

/** Receipts of these orders, oldest first. Reads without a lock. */
export async function receiptList(db: Executor, orders: readonly OrderId[]): Promise<Receipt[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from receipts where order_id = any ($1) order by created_at, id`,
    [orders],
  )
  return rows as Receipt[]
}

export async function receiptListByBook(db: Executor, book: BookId): Promise<Receipt[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from receipts
     where order_id in (select o.id from orders o where o.book_id = $1) order by created_at, id`,
    [book],
  )
  return rows as Receipt[]
}

/** How much of an order is neither completed nor returned. The caller holds the order's lock. */
export async function uncompletedRead(tx: Tx, order: OrderId): Promise<Kopecks> {
  const { rows } = await tx.query(`select receipts_uncompleted($1, '') as rest`, [order])
  return (rows[0] as { rest: Kopecks }).rest
}

export type Check = {
  readonly order: OrderId
  /** Until when its credits are completed. */
  readonly until: Date
}

/** Claims an order whose completions are owed and that was not looked at for a while. */
export async function checkClaimDue(
  db: Executor,
  leaseSeconds: number,
): Promise<Check | undefined> {
  const { rows } = await db.query(
    `update receipts set check_at = ledger_now() + make_interval(secs => $1)
     where id = (
       select id from receipts where check_at <= ledger_now()
       order by check_at limit 1 for update skip locked
     )
     returning order_id as "order", completed_until as until`,
    [leaseSeconds],
  )
  return rows[0] as Check | undefined
}

type PackInUse = {
  readonly order: OrderId
  readonly book: BookId
  readonly lot: bigint
}

/** A page of the orders whose completions are owed and that wait for their next check. */
export async function packsInUse(
  db: Executor,
  p: { readonly after: string; readonly limit: number },
): Promise<PackInUse[]> {
  const { rows } = await db.query(
    `select o.id as "order", o.book_id as book, o.lot
     from receipts r join orders o on o.id = r.order_id
     where r.kind = 'prepayment' and r.check_at > ledger_now() and r.order_id > $1
     order by r.order_id limit $2`,
    [p.after, p.limit],
  )
  return rows as PackInUse[]
}

/** These orders are looked at within seconds. Locks the rows of their prepayments. */
export async function checkNow(db: Executor, orders: readonly OrderId[]): Promise<void> {
  await db.query(
    `update receipts set check_at = ledger_now()
     where kind = 'prepayment' and order_id = any ($1) and check_at > ledger_now()`,
    [orders],
  )
}

/** All orders of a book are looked at within seconds. Locks the rows of their prepayments. */
export async function checkNowOfBook(tx: Tx, book: BookId): Promise<void> {
  await tx.query(
    `update receipts set check_at = ledger_now()
     where kind = 'prepayment' and check_at > ledger_now()
       and order_id in (select o.id from orders o where o.book_id = $1)`,
    [book],
  )
}

/** Null: the order is completed, and no receipt will be due. The caller holds the order's lock. */
export async function checkSet(
  tx: Tx,
  order: OrderId,
  p: { readonly seconds: number | null; readonly until: Date },
): Promise<void> {
  await tx.query(
    `update receipts set check_at = ledger_now() + make_interval(secs => $2), completed_until = $3
     where order_id = $1 and kind = 'prepayment'`,
    [order, p.seconds, p.until],
  )
}

/** The beginning of the newest month whose charges are all stored, in the seller's time zone. */
export async function monthsRead(
  tx: Tx,
  timeZone: string,
  graceSeconds: number,
): Promise<{ readonly now: Date; readonly monthStart: Date }> {
  const { rows } = await tx.query(
    `select ledger_now() as now,
       date_trunc('month', (ledger_now() - make_interval(secs => $2)) at time zone $1)
         at time zone $1 as "monthStart"`,
    [timeZone, graceSeconds],
  )
  return rows[0] as { now: Date; monthStart: Date }
}

/** The caller holds the order's lock; the table refuses more than the price. */
export async function completionInsert(
  tx: Tx,
  p: Pick<Receipt, 'id' | 'order' | 'amount' | 'credits'> & {
    readonly from: Date
    readonly until: Date
    /** Null: it cannot be written, for the reason given. */
    readonly requestBody: string | null
    readonly error: string | null
  },
): Promise<void> {
  await tx.query(
    `insert into receipts (id, kind, order_id, state, amount_kopecks, credits, period_from,
       period_until, request_body, error, next_at)
     values ($1, 'completion', $2, $3, $4, $5, $6, $7, $8, $9,
       case when $8::text is not null then ledger_now() end)`,
    [
      ...[p.id, p.order, p.requestBody === null ? 'failed' : 'created', p.amount, p.credits],
      ...[p.from, p.until, p.requestBody, p.error],
    ],
  )
}

/** A person has dealt with all failed receipts of an order; how many. Locks their rows. */
export async function receiptDismiss(
  db: Executor,
  p: { readonly order: OrderId; readonly by: string; readonly note: string },
): Promise<number> {
  const { rows } = await db.query(
    `update receipts set state = 'dismissed', decided_by = $2, note = $3, next_at = null
     where order_id = $1 and state = 'failed' returning id`,
    [p.order, p.by, p.note],
  )
  return rows.length
}

/** Failed receipts of an order are posted again at once; how many. Locks their rows. */
export async function receiptRetry(db: Executor, order: OrderId): Promise<number> {
  const { rows } = await db.query(
    `update receipts set next_at = ledger_now(), tries = 0
     where order_id = $1 and state = 'failed' returning id`,
    [order],
  )
  return rows.length
}
