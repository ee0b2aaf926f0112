// The SQL of the settlement watch: findings, how far each check has come, and the rows that are
// compared. Only findings and checks are written here.
import type { Executor } from '../../platform/db/db.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { OrderState } from '../order/order.ts'

export type Finding = {
  readonly rule: string
  readonly subject: string
  readonly provider: string | null
  readonly shop: string | null
  readonly detail: string
  readonly foundAt: Date
}

type NewFinding = Omit<Finding, 'foundAt'>

const COLUMNS = `rule, subject, provider, shop, detail, found_at as "foundAt"`

/** Stores an event: it is cleared from the start, because a check cannot find it gone. */
export async function findingInsert(db: Executor, p: NewFinding): Promise<void> {
  await db.query(
    `insert into payment_findings (rule, subject, provider, shop, detail, cleared_at)
     values ($1, $2, $3, $4, $5, ledger_now())`,
    [p.rule, p.subject, p.provider, p.shop, p.detail.slice(0, 1_000)],
  )
}

/** Opens a finding; false if it is open already. Locks its row. */
export async function findingOpen(db: Executor, p: NewFinding): Promise<boolean> {
  const { rows } = await db.query(
    `insert into payment_findings (rule, subject, provider, shop, detail)
     values ($1, $2, $3, $4, $5)
     on conflict (rule, subject) where cleared_at is null
       do update set seen_at = ledger_now(), detail = excluded.detail
     returning xmax = 0 as "isNew"`,
    [p.rule, p.subject, p.provider, p.shop, p.detail.slice(0, 1_000)],
  )
  return (rows[0] as { isNew: boolean }).isNew
}

/** Closes open findings about these subjects and returns them. `still`: 'rule subject'. */
export async function findingClear(
  db: Executor,
  p: {
    readonly rules: readonly string[]
    readonly subjects: readonly string[]
    readonly still: readonly string[]
  },
): Promise<Pick<Finding, 'rule' | 'subject'>[]> {
  const { rows } = await db.query(
    `update payment_findings set cleared_at = ledger_now()
     where cleared_at is null and rule = any ($1) and subject = any ($2)
       and rule || ' ' || subject <> all ($3)
     returning rule, subject`,
    [p.rules, p.subjects, p.still],
  )
  return rows as Pick<Finding, 'rule' | 'subject'>[]
}

/** Open findings of these rules; those that no check has seen for longest come first. */
export async function findingListOpen(
  db: Executor,
  rules: readonly string[],
  limit: number,
): Promise<Finding[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from payment_findings where cleared_at is null and rule = any ($1)
     order by seen_at limit $2`,
    [rules, limit],
  )
  return rows as Finding[]
}

/** Deletes findings that were cleared more than `days` ago. */
export async function findingDeleteOld(db: Executor, days: number): Promise<void> {
  await db.query(
    'delete from payment_findings where cleared_at < ledger_now() - make_interval(days => $1)',
    [days],
  )
}

/** The finding is checked now, so that the next run takes others first. Locks its row. */
export async function findingTouch(
  db: Executor,
  p: Pick<Finding, 'rule' | 'subject'>,
): Promise<void> {
  await db.query(
    `update payment_findings set seen_at = ledger_now()
     where rule = $1 and subject = $2 and cleared_at is null`,
    [p.rule, p.subject],
  )
}

/** How far a check has come; undefined before its first run. */
export async function checkFind(db: Executor, name: string): Promise<Date | undefined> {
  const { rows } = await db.query('select mark from payment_checks where name = $1', [name])
  return (rows[0] as { mark: Date } | undefined)?.mark
}

/** Records how far a check has come. Locks its row. */
export async function checkStore(db: Executor, name: string, mark: Date): Promise<void> {
  await db.query(
    `insert into payment_checks (name, mark) values ($1, $2)
     on conflict (name) do update set mark = excluded.mark, done_at = ledger_now()`,
    [name, mark],
  )
}

export async function timeNow(db: Executor): Promise<Date> {
  const { rows } = await db.query('select ledger_now() as now')
  return (rows[0] as { now: Date }).now
}

/** What of an order its posting must repeat, the shop that was paid, and the pack that was sold. */
export type SoldOrder = {
  readonly id: OrderId
  readonly provider: string
  readonly shop: string | null
  readonly packId: string
  readonly catalogueVersion: number
  readonly price: Kopecks
  readonly book: BookId
  readonly credits: Credits
  readonly lot: bigint | null
  readonly creditedAt: Date | null
}

const SOLD = `
  id, provider, shop, pack_id as "packId", catalogue_version as "catalogueVersion",
  price_kopecks as price, book_id as book, credits, lot, credited_at as "creditedAt"`

/** Reads without a lock. */
export async function orderListByIds(db: Executor, ids: readonly string[]): Promise<SoldOrder[]> {
  const { rows } = await db.query(`select ${SOLD} from orders where id = any ($1)`, [ids])
  return rows as SoldOrder[]
}

/** A page of the orders credited since a time, oldest credit first. Reads without a lock. */
export async function orderListCredited(
  db: Executor,
  p: { readonly since: string; readonly after: string; readonly limit: number },
): Promise<{ readonly ref: string; readonly time: string }[]> {
  const { rows } = await db.query(
    `select id as ref, credited_at::text as time
     from orders where credited_at >= $1 and (credited_at, id) > ($1, $2)
     order by credited_at, id limit $3`,
    [p.since, p.after, p.limit],
  )
  return rows as { ref: string; time: string }[]
}

/** An order as the provider's payment is compared with it. */
export type ComparedOrder = {
  readonly payment: string
  readonly id: OrderId
  readonly state: OrderState
  readonly price: Kopecks
  readonly refunded: Kopecks
  readonly paymentId: string | null
  readonly isCredited: boolean
  readonly receiptState: string | null
}

/**
 * For each payment the order that stores its id, else the order that it names; and the payments
 * that an operator has to decide about, or has decided about. Reads without a lock.
 */
export async function orderListOfPayments(
  db: Executor,
  provider: string,
  payments: readonly { readonly paymentId: string; readonly orderRef: string | null }[],
): Promise<{ orders: Map<string, ComparedOrder>; reviewed: Set<string> }> {
  const ids = payments.map(({ paymentId }) => paymentId)
  const { rows } = await db.query(
    `select s.payment, o.id, o.state, o.price_kopecks as price, o.refunded_kopecks as refunded,
       o.provider_payment_id as "paymentId", o.credited_at is not null as "isCredited",
       o.receipt_state as "receiptState"
     from unnest($2::text[], $3::text[]) as s (payment, order_ref)
     cross join lateral (
       select * from orders o
       where (o.provider = $1 and o.provider_payment_id = s.payment) or o.id = s.order_ref
       order by (o.provider = $1 and o.provider_payment_id = s.payment) is true desc
       limit 1
     ) o`,
    [provider, ids, payments.map(({ orderRef }) => orderRef)],
  )
  const { rows: reviews } = await db.query(
    `select distinct provider_payment_id as id from payment_reviews
     where provider = $1 and provider_payment_id = any ($2)`,
    [provider, ids],
  )
  return {
    orders: new Map((rows as ComparedOrder[]).map((row) => [row.payment, row])),
    reviewed: new Set((reviews as { id: string }[]).map(({ id }) => id)),
  }
}

/** `isEarliest`: this shop also has the orders from before shops were stored. */
type ShopPeriod = {
  readonly provider: string
  readonly shop: string
  readonly isEarliest: boolean
  readonly from: Date
  readonly to: Date
}

export type CreditedOrder = {
  readonly id: OrderId
  readonly paymentId: string
  readonly state: OrderState
  readonly price: Kopecks
}

/**
 * Orders of a shop that were credited within a period, newest first. By the time of the credit,
 * which the database writes itself, not by the capture, which a thief of a program's password may
 * invent.
 */
export async function orderListCreditedOfShop(
  db: Executor,
  p: ShopPeriod,
): Promise<CreditedOrder[]> {
  const { rows } = await db.query(
    `select id, provider_payment_id as "paymentId", state, price_kopecks as price
     from orders
     where provider = $1 and credited_at >= $2 and credited_at < $3
       and (shop = $4 or (shop is null and $5))
     order by credited_at desc, id`,
    [p.provider, p.from, p.to, p.shop, p.isEarliest],
  )
  return rows as CreditedOrder[]
}

export type EndedRefund = {
  readonly id: string
  readonly refundId: string
  readonly amount: Kopecks
}

/** Refunds of a shop that succeeded within a period, by our clock. Reads without a lock. */
export async function refundListSucceeded(
  db: Executor,
  p: ShopPeriod & { readonly limit: number },
): Promise<EndedRefund[]> {
  const { rows } = await db.query(
    `select r.id, r.provider_refund_id as "refundId", r.amount_kopecks as amount
     from refunds r join orders o on o.id = r.order_id
     where r.provider = $1 and r.state = 'succeeded' and r.ended_at >= $2 and r.ended_at < $3
       and r.provider_refund_id is not null and (o.shop = $4 or (o.shop is null and $5))
     order by r.ended_at limit $6`,
    [p.provider, p.from, p.to, p.shop, p.isEarliest, p.limit],
  )
  return rows as EndedRefund[]
}

/** Of these refunds at the provider, those that we recorded as succeeded. */
export async function refundListKnown(
  db: Executor,
  provider: string,
  refundIds: readonly string[],
): Promise<Map<string, Kopecks>> {
  const { rows } = await db.query(
    `select provider_refund_id as id, amount_kopecks as amount from refunds
     where provider = $1 and provider_refund_id = any ($2) and state = 'succeeded'`,
    [provider, refundIds],
  )
  return new Map((rows as { id: string; amount: Kopecks }[]).map((row) => [row.id, row.amount]))
}

/** A refund with what of its order and of the order's other refunds it is compared with. */
export type TiedRefund = {
  readonly id: string
  readonly state: 'created' | 'pending' | 'succeeded' | 'canceled'
  readonly amount: Kopecks
  readonly credits: Credits
  readonly isReviewed: boolean
  /** The order that its row names; `order` is the one that its payment paid for. */
  readonly refundOrder: string
  readonly order: OrderId
  readonly book: BookId
  readonly price: Kopecks
  readonly orderCredits: Credits
  /** Of the order: money that went or goes back, and credits taken or reserved for it. */
  readonly allPromised: Kopecks
  readonly allTaken: Credits
}

/** Refunds of the credited payments of the next `limit` orders. Reads without a lock. */
export async function refundListOfCredited(
  db: Executor,
  after: string,
  limit: number,
): Promise<TiedRefund[]> {
  const { rows } = await db.query(
    `with tied as (
       select o.id, o.book_id, o.price_kopecks, o.credits from orders o
       where o.id > $1 and o.credited_at is not null and exists (
         select from refunds r
         where r.provider = o.provider and r.provider_payment_id = o.provider_payment_id)
       order by o.id limit $2
     )
     select r.id, r.state, r.amount_kopecks as amount, r.credits,
       r.review_id is not null as "isReviewed", r.order_id as "refundOrder", t.id as "order",
       t.book_id as book, t.price_kopecks as price, t.credits as "orderCredits",
       (s.promised + d.promised)::int8 as "allPromised", (s.taken + d.taken)::int8 as "allTaken"
     from tied t
     join orders o on o.id = t.id
     join refunds r on r.provider = o.provider and r.provider_payment_id = o.provider_payment_id
     cross join lateral (
       select coalesce(sum(a.amount_kopecks), 0) as promised, coalesce(sum(a.credits), 0) as taken
       from refunds a where a.order_id = t.id and a.state <> 'canceled' and a.review_id is null
     ) s
     cross join lateral (
       select coalesce(sum(a.amount_kopecks) filter (where a.state = 'lost'), 0) as promised,
         coalesce(sum(case a.state when 'opened' then a.reserved_credits
           else a.taken_credits end), 0) as taken
       from disputes a where a.order_id = t.id
     ) d
     order by t.id, r.id`,
    [after, limit],
  )
  return rows as TiedRefund[]
}

/** Of these refunds, those that wait and are never due. Reads without a lock. */
export async function refundListWithheld(
  db: Executor,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query(
    `select id from refunds where id = any ($1) and state = 'created' and next_at is null`,
    [ids],
  )
  return new Set((rows as { id: string }[]).map(({ id }) => id))
}
