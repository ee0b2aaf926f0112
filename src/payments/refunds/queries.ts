// The SQL of refunds and disputes. Lock order: the order's row, then these rows, last the ledger's
// book.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, DisputeId, OrderId, RefundId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'

export type RefundState = 'created' | 'pending' | 'succeeded' | 'canceled'

export type Refund = {
  readonly id: RefundId
  readonly order: OrderId
  readonly provider: string
  /** Of its order. */
  readonly shop: string | null
  readonly paymentId: string
  readonly refundId: string | null
  readonly attempt: string
  readonly state: RefundState
  readonly amount: Kopecks
  readonly credits: Credits
  readonly isForced: boolean
  readonly review: bigint | null
  readonly askedBy: string
  readonly reason: string
  readonly requestBody: string | null
  readonly cancelReason: string | null
  readonly tries: number
  /** When a worker posts or polls it; null: never, a person must act. */
  readonly nextAt: Date | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}

const COLUMNS = `
  id, order_id as "order", provider,
  (select o.shop from orders o where o.id = refunds.order_id) as shop,
  provider_payment_id as "paymentId",
  provider_refund_id as "refundId", attempt, state, amount_kopecks as amount, credits,
  is_forced as "isForced", review_id as review, asked_by as "askedBy", reason,
  request_body as "requestBody", cancel_reason as "cancelReason", looks as tries,
  next_at as "nextAt",
  created_at as "createdAt", ended_at as "endedAt"`

/**
 * Inserts a refund before it is posted. If this process dies, another one claims the refund after
 * `dueSeconds`. Locks the new row.
 */
export async function refundInsert(
  tx: Tx,
  p: Pick<
    Refund,
    | 'id'
    | 'order'
    | 'provider'
    | 'paymentId'
    | 'attempt'
    | 'amount'
    | 'credits'
    | 'review'
    | 'askedBy'
    | 'reason'
    | 'requestBody'
  > & {
    /** Null: not before a person has decided. */
    readonly dueSeconds: number | null
    /** The digest of the owner's address when the owner requested it; null for operators. */
    readonly ownerDigest: Buffer | null
  },
): Promise<Refund> {
  const { rows } = await tx.query(
    `insert into refunds (id, order_id, provider, provider_payment_id, attempt, state,
       amount_kopecks, credits, review_id, asked_by, reason, request_body, next_at, owner_digest)
     values ($1, $2, $3, $4, $5, 'created', $6, $7, $8, $9, $10, $11,
       ledger_now() + make_interval(secs => $12), $13)
     returning ${COLUMNS}`,
    [
      p.id,
      p.order,
      p.provider,
      p.paymentId,
      p.attempt,
      p.amount,
      p.credits,
      p.review,
      p.askedBy,
      p.reason,
      p.requestBody,
      p.dueSeconds,
      p.ownerDigest,
    ],
  )
  return rows[0] as Refund
}

/** Inserts a refund that was made in the provider's merchant portal. Locks the new row. */
export async function refundInsertExternal(
  tx: Tx,
  p: Pick<Refund, 'id' | 'order' | 'provider' | 'paymentId' | 'refundId' | 'amount' | 'credits'>,
): Promise<void> {
  await tx.query(
    `insert into refunds (id, order_id, provider, provider_payment_id, provider_refund_id, attempt,
       state, amount_kopecks, credits, is_forced, asked_by, reason, ended_at)
     values ($1, $2, $3, $4, $5, 'at the provider ' || $5, 'succeeded', $6, $7, true, 'provider',
       '', ledger_now())`,
    [p.id, p.order, p.provider, p.paymentId, p.refundId, p.amount, p.credits],
  )
}

/** All refunds of an order, oldest first. Locks them. */
export async function refundListLocked(tx: Tx, order: OrderId): Promise<Refund[]> {
  const { rows } = await tx.query(
    `select ${COLUMNS} from refunds where order_id = $1 order by id for update`,
    [order],
  )
  return rows as Refund[]
}

/** Reads without a lock. */
export async function refundListByOrder(db: Executor, order: OrderId): Promise<Refund[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from refunds where order_id = $1 order by id`,
    [order],
  )
  return rows as Refund[]
}

/** Refunds of a book's orders, newest first. Reads without a lock. */
export async function refundListByBook(
  db: Executor,
  book: BookId,
  limit: number,
): Promise<Refund[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from refunds
     where order_id in (select o.id from orders o where o.book_id = $1)
     order by id desc
     limit $2`,
    [book, limit],
  )
  return rows as Refund[]
}

/** Whether we have recorded this refund as succeeded. Reads without a lock. */
export async function refundIsKnown(
  db: Executor,
  provider: string,
  refundId: string,
): Promise<boolean> {
  const { rows } = await db.query(
    `select from refunds
     where provider = $1 and provider_refund_id = $2 and state = 'succeeded'`,
    [provider, refundId],
  )
  return rows.length > 0
}

/** Stores that the provider has created the refund. The caller holds the row's lock. */
export async function refundSetPending(
  tx: Tx,
  p: { readonly id: RefundId; readonly refundId: string; readonly dueSeconds: number },
): Promise<void> {
  await tx.query(
    `update refunds set state = 'pending', provider_refund_id = $2, request_body = null,
       looks = 0, next_at = ledger_now() + make_interval(secs => $3)
     where id = $1`,
    [p.id, p.refundId, p.dueSeconds],
  )
}

/** The caller holds the row's lock. */
export async function refundEnd(
  tx: Tx,
  p: {
    readonly id: RefundId
    readonly state: Extract<RefundState, 'succeeded' | 'canceled'>
    readonly refundId: string | null
    readonly cancelReason: string | null
    /** The refund was canceled, which released its credits, and now they are debited by force. */
    readonly isForced: boolean
  },
): Promise<void> {
  await tx.query(
    `update refunds set state = $2, provider_refund_id = coalesce(provider_refund_id, $3),
       cancel_reason = $4, is_forced = $5, request_body = null, next_at = null,
       ended_at = ledger_now()
     where id = $1`,
    [p.id, p.state, p.refundId, p.cancelReason, p.isForced],
  )
}

/** More credits were taken for a refund. The caller holds the row's lock. */
export async function refundAddCredits(tx: Tx, id: RefundId, more: Credits): Promise<void> {
  await tx.query('update refunds set credits = credits + $2 where id = $1', [id, more])
}

/** When to poll the refund again; null: never, an operator must act. Locks the row. */
export async function refundSetDue(
  db: Executor,
  id: RefundId,
  seconds: number | null,
): Promise<void> {
  await db.query(
    `update refunds set next_at = ledger_now() + make_interval(secs => $2)
     where id = $1 and ended_at is null`,
    [id, seconds],
  )
}

/** Claims the refund that has been due longest. Locks its row; skips rows that others locked. */
export async function refundClaimDue(
  db: Executor,
  leaseSeconds: number,
): Promise<(Refund & { readonly ageSeconds: number }) | undefined> {
  const { rows } = await db.query(
    `update refunds
     set looks = looks + 1, next_at = ledger_now() + make_interval(secs => $1)
     where id = (
       select id from refunds where next_at <= ledger_now()
       order by next_at
       limit 1
       for update skip locked
     )
     returning ${COLUMNS},
       extract(epoch from ledger_now() - created_at)::float8 as "ageSeconds"`,
    [leaseSeconds],
  )
  return rows[0] as (Refund & { ageSeconds: number }) | undefined
}

/** What a new refund returns of completed credits. The caller holds the order's lock. */
export async function completedPartRead(tx: Tx, order: OrderId, amount: Kopecks): Promise<Kopecks> {
  const { rows } = await tx.query(`select receipts_completed_part($1, '', $2) as part`, [
    order,
    amount,
  ])
  return (rows[0] as { part: Kopecks }).part
}

/** How many refunds of a book's orders have not ended. Reads without a lock. */
export async function refundCountOpen(db: Executor, book: BookId): Promise<number> {
  const { rows } = await db.query(
    `select count(*)::int4 as count from refunds
     where ended_at is null and order_id in (select o.id from orders o where o.book_id = $1)`,
    [book],
  )
  return (rows[0] as { count: number }).count
}

/** A refund that waits for its first post is due now; false when it does not wait. Locks it. */
export async function refundSetDueNow(db: Executor, book: BookId, id: RefundId): Promise<boolean> {
  const { rows } = await db.query(
    `update refunds set next_at = ledger_now()
     where id = $2 and state = 'created' and looks = 0 and next_at > ledger_now()
       and order_id in (select o.id from orders o where o.book_id = $1)
     returning id`,
    [book, id],
  )
  return rows.length > 0
}

export type Dispute = {
  readonly id: DisputeId
  readonly order: OrderId
  readonly state: 'opened' | 'won' | 'lost'
  readonly amount: Kopecks
  readonly reserved: Credits
  readonly taken: Credits
  readonly openedAt: Date
  /** Until when the bank accepts evidence. */
  readonly answerBy: Date
  readonly closedAt: Date | null
}

/** Where the provider's letter names no day; a deadline that is too early costs nothing. */
export const ANSWER_DAYS = 5

const DISPUTE = `
  id, order_id as "order", state, amount_kopecks as amount, reserved_credits as reserved,
  taken_credits as taken, opened_at as "openedAt", answer_by as "answerBy",
  closed_at as "closedAt"`

/** The disputes of an order, oldest first. The caller holds the order's lock. */
export async function disputeList(db: Executor, order: OrderId): Promise<Dispute[]> {
  const { rows } = await db.query(
    `select ${DISPUTE} from disputes where order_id = $1 order by id`,
    [order],
  )
  return rows as Dispute[]
}

/** Open disputes first, by their deadlines; then the newest. Reads without a lock. */
export async function disputeListAll(db: Executor, limit: number): Promise<Dispute[]> {
  const { rows } = await db.query(
    `select ${DISPUTE} from disputes
     order by (state = 'opened') desc, case state when 'opened' then answer_by end, id desc
     limit $1`,
    [limit],
  )
  return rows as Dispute[]
}

/** Locks the new row; the table refuses a second open dispute. */
export async function disputeInsert(
  tx: Tx,
  p: Pick<Dispute, 'id' | 'order' | 'amount' | 'reserved'> & {
    readonly by: string
    readonly note: string
    readonly answerBy: Date | null
  },
): Promise<void> {
  await tx.query(
    `insert into disputes
       (id, order_id, state, amount_kopecks, reserved_credits, opened_by, note, answer_by)
     values ($1, $2, 'opened', $3, $4, $5, $6,
       coalesce($7, ledger_now() + make_interval(days => ${ANSWER_DAYS})))`,
    [p.id, p.order, p.amount, p.reserved, p.by, p.note, p.answerBy],
  )
}

/** Locks the row. The caller holds the order's lock. */
export async function disputeClose(
  tx: Tx,
  p: {
    readonly id: DisputeId
    readonly state: 'won' | 'lost'
    readonly taken: Credits
    readonly by: string
  },
): Promise<void> {
  await tx.query(
    `update disputes set state = $2, taken_credits = $3, closed_by = $4, closed_at = ledger_now()
     where id = $1`,
    [p.id, p.state, p.taken, p.by],
  )
}
