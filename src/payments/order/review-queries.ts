// The SQL of reviews: payments that wait for an operator's decision.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'

export type Review = {
  readonly id: bigint
  readonly order: OrderId | null
  readonly provider: string
  readonly paymentId: string
  readonly reason: string
  readonly detail: string
  readonly amount: Kopecks | null
  readonly hasMoney: boolean
  readonly openedAt: Date
  readonly closedAt: Date | null
  readonly decision: 'credit' | 'refund' | 'dismiss' | null
}

const COLUMNS = `
  id, order_id as "order", provider, provider_payment_id as "paymentId", reason, detail,
  amount_kopecks as amount, has_money as "hasMoney", opened_at as "openedAt",
  closed_at as "closedAt", decision`

/**
 * Opens a review once per payment and reason, or sets `has_money` on it if the payment was paid
 * meanwhile. A review that an operator closed stays closed: then `isOpen` is false. Locks the row.
 */
export async function reviewOpen(
  db: Executor,
  p: Pick<Review, 'order' | 'provider' | 'paymentId' | 'reason' | 'detail' | 'amount' | 'hasMoney'>,
): Promise<{ readonly isNew: boolean; readonly isOpen: boolean }> {
  const { rows } = await db.query(
    `insert into payment_reviews
       (order_id, provider, provider_payment_id, reason, detail, amount_kopecks, has_money)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (provider, provider_payment_id, reason)
       do update set has_money = payment_reviews.has_money or excluded.has_money
     returning (xmax = 0) as "isNew", closed_at is null as "isOpen"`,
    [p.order, p.provider, p.paymentId, p.reason, p.detail.slice(0, 1_000), p.amount, p.hasMoney],
  )
  return rows[0] as { isNew: boolean; isOpen: boolean }
}

/** Open reviews, oldest first. Reads without a lock. */
export async function reviewListOpen(db: Executor, limit: number): Promise<Review[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from payment_reviews where closed_at is null order by id limit $1`,
    [limit],
  )
  return rows as Review[]
}

/** Reviews of an order or of a payment, oldest first. Reads without a lock. */
export async function reviewListAbout(
  db: Executor,
  p: { readonly order: OrderId | null; readonly paymentId: string },
): Promise<Review[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from payment_reviews
     where order_id = $1 or provider_payment_id = $2 order by id limit 100`,
    [p.order, p.paymentId],
  )
  return rows as Review[]
}

/** Reads without a lock. */
export async function reviewFind(db: Executor, id: bigint): Promise<Review | undefined> {
  const { rows } = await db.query(`select ${COLUMNS} from payment_reviews where id = $1`, [id])
  return rows[0] as Review | undefined
}

/** The decision that closes a review, and who made it. */
type Closing = {
  readonly decision: NonNullable<Review['decision']>
  readonly by: string
  readonly note: string
}

/** Closes a review; false when it was closed already. Locks the row, after the order's. */
export async function reviewClose(tx: Tx, p: Closing & { readonly id: bigint }): Promise<boolean> {
  const { rows } = await tx.query(
    `update payment_reviews
     set closed_at = ledger_now(), decision = $2, decided_by = $3, note = $4
     where id = $1 and closed_at is null
     returning id`,
    [p.id, p.decision, p.by, p.note],
  )
  return rows.length > 0
}

/** Closes the payment's open review with this `reason`; false if there is none. Locks the row. */
export async function reviewCloseOf(
  tx: Tx,
  p: Closing & Pick<Review, 'provider' | 'paymentId' | 'reason'>,
): Promise<boolean> {
  const { rows } = await tx.query(
    `update payment_reviews
     set closed_at = ledger_now(), decision = $4, decided_by = $5, note = $6
     where provider = $1 and provider_payment_id = $2 and reason = $3 and closed_at is null
     returning id`,
    [p.provider, p.paymentId, p.reason, p.decision, p.by, p.note],
  )
  return rows.length > 0
}

/** Closes the payment's open reviews of all reasons, because it is credited. Locks the rows. */
export async function reviewCloseOthers(
  tx: Tx,
  p: {
    readonly provider: string
    readonly paymentId: string
    readonly by: string
    readonly note: string
  },
): Promise<void> {
  await tx.query(
    `update payment_reviews
     set closed_at = ledger_now(), decision = 'credit', decided_by = $3, note = $4
     where provider = $1 and provider_payment_id = $2 and closed_at is null`,
    [p.provider, p.paymentId, p.by, p.note],
  )
}
