// The SQL of single facts about orders: a payment that could not be credited, what was paid and how
// much of it is ours, the price of the pack that was credited last, an order that a restore lost.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { PackPrice } from '../../units/pack-price.ts'
import type { OrderTerms } from '../order/queries.ts'

/** The provider captured the payment, and it could not be credited. Locks the order's row. */
export async function orderSetPaid(db: Executor, id: OrderId, at: Date | null): Promise<void> {
  await db.query(
    `update orders set paid_at = least($2::timestamptz, ledger_now())
     where id = $1 and paid_at is null and credited_at is null`,
    [id, at],
  )
}

/** The pack of the newest order that was ever credited. Locks nothing. */
export async function orderFindLastPack(
  db: Executor,
  book: BookId,
): Promise<PackPrice | undefined> {
  const { rows } = await db.query(
    `select credits, price_kopecks as "priceKopecks" from orders
     where book_id = $1 and credited_at is not null
     order by id desc
     limit 1`,
    [book],
  )
  return rows[0] as PackPrice | undefined
}

/**
 * Writes an order again that a restore of the database lost. As expired: nothing posts or polls it,
 * and its payment is credited all the same. Does nothing when it is there.
 */
export async function orderInsertLost(
  db: Executor,
  p: OrderTerms & { readonly isTopUp: boolean },
): Promise<void> {
  await db.query(
    `insert into orders (id, book_id, attempt, provider, shop, method, state, pack_id, pack_title,
       credits, price_kopecks, catalogue_version, email, locale, is_top_up, saves_method)
     values ($1, $2, $3, $4, $5, $6, 'expired', $7, $8, $9, $10, $11, $12, $13, $14, false)
     on conflict (id) do nothing`,
    [
      ...[p.id, p.book, p.attempt, p.provider, p.shop, p.method, p.packId, p.packTitle],
      ...[p.credits, p.price, p.catalogueVersion, p.email, p.locale, p.isTopUp],
    ],
  )
}

/**
 * What the payer paid, null if that is the price, and what of it reaches our account. The caller
 * holds the row's lock.
 */
export async function orderSetTaken(
  tx: Tx,
  p: {
    readonly id: OrderId
    readonly captured: Kopecks | null
    readonly income: Kopecks | null
  },
): Promise<void> {
  if (p.captured === null && p.income === null) return
  await tx.query('update orders set captured_kopecks = $2, income_kopecks = $3 where id = $1', [
    ...[p.id, p.captured, p.income],
  ])
}
