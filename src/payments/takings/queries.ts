// The SQL of money in a period, for reports: one function per statement. All only read, in the
// caller's snapshot.
import type { Executor } from '../../platform/db/db.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'

/** `to` is exclusive. */
export type Period = { readonly from: Date; readonly to: Date }

/** What an order sold. */
export type SoldTerms = {
  readonly order: string
  readonly packId: string
  readonly price: Kopecks
  readonly credits: Credits
}

export async function soldTerms(db: Executor, orders: readonly string[]): Promise<SoldTerms[]> {
  const { rows } = await db.query(
    `select id as "order", pack_id as "packId", price_kopecks as price, credits
     from orders where id = any ($1)`,
    [orders],
  )
  return rows as SoldTerms[]
}

/** The newest title of each pack that was ever ordered. */
export async function packTitles(
  db: Executor,
  packs: readonly string[],
): Promise<{ readonly packId: string; readonly title: string }[]> {
  const { rows } = await db.query(
    `select distinct on (pack_id) pack_id as "packId", pack_title as title
     from orders where pack_id = any ($1) order by pack_id, catalogue_version desc, id desc`,
    [packs],
  )
  return rows as { packId: string; title: string }[]
}

/** Payments of one amount, so that the VAT of each can be rounded as its receipt does. */
export type CapturedSum = {
  /** Of the receipt; null: the order has none. */
  readonly vatCode: number | null
  readonly receipt: 'succeeded' | 'canceled' | 'pending' | 'missing' | 'none'
  readonly amount: Kopecks
  readonly payments: bigint
  /** What reached our account of those whose commission is known, and what they were. */
  readonly income: Kopecks
  readonly incomeOf: Kopecks
  readonly incomeKnown: bigint
}

/** The provider's time of capture decides; an order of which it is unknown counts when credited. */
const CAPTURED = 'coalesce(captured_at, credited_at)'
const AMOUNT = 'coalesce(captured_kopecks, price_kopecks)'

/** Credited payments by the time of their capture. */
export async function capturedSums(db: Executor, p: Period): Promise<CapturedSum[]> {
  const { rows } = await db.query(
    `select (receipt ->> 'vatCode')::int4 as "vatCode",
       case when receipt is null then 'none' else coalesce(receipt_state, 'missing') end as receipt,
       ${AMOUNT} as amount, count(*) as payments,
       coalesce(sum(income_kopecks), 0)::int8 as income, count(income_kopecks) as "incomeKnown",
       coalesce(sum(${AMOUNT}) filter (where income_kopecks is not null), 0)::int8 as "incomeOf"
     from orders
     where credited_at is not null and (captured_at >= $1 and captured_at < $2
       or captured_at is null and credited_at >= $1 and credited_at < $2)
     group by 1, 2, 3 order by 1, 2, 3`,
    [p.from, p.to],
  )
  return rows as CapturedSum[]
}

export type CreditedSums = {
  readonly orders: bigint
  /** The prices of what was credited. */
  readonly price: Kopecks
  /** What their payers paid; and of it, what was captured before the period. */
  readonly paid: Kopecks
  readonly capturedBefore: Kopecks
}

export async function creditedSums(db: Executor, p: Period): Promise<CreditedSums> {
  const { rows } = await db.query(
    `select count(*) as orders, coalesce(sum(price_kopecks), 0)::int8 as price,
       coalesce(sum(${AMOUNT}), 0)::int8 as paid,
       coalesce(sum(${AMOUNT}) filter (where ${CAPTURED} < $1), 0)::int8 as "capturedBefore"
     from orders where credited_at >= $1 and credited_at < $2`,
    [p.from, p.to],
  )
  return rows[0] as CreditedSums
}

export type RefundedSum = {
  readonly vatCode: number | null
  /** A refund of a payment that was never credited. */
  readonly isOfReview: boolean
  readonly amount: Kopecks
  readonly refunds: bigint
}

/** Refunds that succeeded in the period, as we learned it. */
export async function refundedSums(db: Executor, p: Period): Promise<RefundedSum[]> {
  const { rows } = await db.query(
    `select (o.receipt ->> 'vatCode')::int4 as "vatCode", r.review_id is not null as "isOfReview",
       r.amount_kopecks as amount, count(*) as refunds
     from refunds r join orders o on o.id = r.order_id
     where r.ended_at >= $1 and r.ended_at < $2 and r.state = 'succeeded'
     group by 1, 2, 3 order by 1, 2, 3`,
    [p.from, p.to],
  )
  return rows as RefundedSum[]
}

export type DisputeSums = {
  readonly opened: bigint
  readonly openedKopecks: Kopecks
  readonly won: bigint
  readonly wonKopecks: Kopecks
  readonly lost: bigint
  /** What the payers' banks took. */
  readonly lostKopecks: Kopecks
}

export async function disputeSums(db: Executor, p: Period): Promise<DisputeSums> {
  const sum = (state: string, name: string) => `count(*) filter (where ${state}) as ${name},
    coalesce(sum(amount_kopecks) filter (where ${state}), 0)::int8 as "${name}Kopecks"`
  const closed = (state: string) => `state = '${state}' and closed_at >= $1 and closed_at < $2`
  const { rows } = await db.query(
    `select ${sum('opened_at >= $1 and opened_at < $2', 'opened')}, ${sum(closed('won'), 'won')},
       ${sum(closed('lost'), 'lost')}
     from disputes`,
    [p.from, p.to],
  )
  return rows[0] as DisputeSums
}

export type ReviewSums = { readonly reviews: bigint; readonly kopecks: Kopecks }

/** Money at the provider that waits for a person; undecided now. */
export async function reviewSums(db: Executor): Promise<ReviewSums> {
  const { rows } = await db.query(
    `select count(*) as reviews, coalesce(sum(amount_kopecks), 0)::int8 as kopecks
     from payment_reviews where closed_at is null and has_money`,
  )
  return rows[0] as ReviewSums
}
