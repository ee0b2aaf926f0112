// The figures of a period by plain SQL over entries, postings, orders, refunds and disputes, as an
// accountant with psql would count them, and what the bank says. Nothing here uses the product.
import type { Db } from '../../../src/platform/db/db.ts'
import { VENDOR } from './world.ts'

export type Moments = { readonly fromMs: number; readonly toMs: number }
export type Plain = Readonly<Record<string, bigint>>

const at = (ms: number) => new Date(ms).toISOString()

async function one(db: Db, text: string, values: unknown[] = []): Promise<Plain> {
  const { rows } = await db.query(text, values)
  return bigints(rows[0] as object)
}

function bigints(row: object): Plain {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, BigInt(String(value ?? 0))]),
  )
}

/** Each lot before a moment: taken back, used and adjusted, oldest first; and its value. */
const LOTS = `
  with spent as (
    select book_id, -sum(amount) as spent from entries where kind = 'charge' and at < $1 group by 1
  ), balances as (
    select distinct on (book_id) book_id, balance from entries where at < $1
    order by book_id, seq desc
  ), taken as (
    select book_id, lot, coalesce(-sum(amount) filter (where ref not like 'dsp%'), 0) as refunded,
      coalesce(-sum(amount) filter (where ref like 'dsp%'), 0) as disputed
    from postings where lot is not null and at < $1 group by 1, 2
  ), lots_then as (
    select p.book_id, p.seq, p.kind, p.ref, p.amount as credited,
      coalesce(t.refunded, 0) as refunded, coalesce(t.disputed, 0) as disputed,
      p.amount - coalesce(t.refunded, 0) - coalesce(t.disputed, 0) as own
    from postings p left join taken t on t.book_id = p.book_id and t.lot = p.seq
    where p.at < $1 and p.amount > 0 and p.kind in ('purchase', 'promo', 'adjust', 'transfer')
  ), used as (
    select l.*, greatest(0, least(own, coalesce(s.spent, 0)
      - (sum(own) over (partition by l.book_id order by seq) - own))) as used
    from lots_then l left join spent s on s.book_id = l.book_id
  ), others as (
    select b.book_id, coalesce(u.own, 0) - coalesce(s.spent, 0) - b.balance as other,
      greatest(0, coalesce(s.spent, 0) - coalesce(u.own, 0)) as used_beyond
    from balances b left join spent s on s.book_id = b.book_id
    left join (select book_id, sum(own) as own from used group by 1) u on u.book_id = b.book_id
  ), stated as (
    select u.*, greatest(0, least(own - used, coalesce(o.other, 0)
      - (sum(own - used) over (partition by u.book_id order by seq) - (own - used)))) as adjusted
    from used u left join others o on o.book_id = u.book_id
  ), valued as (
    select s.*, o.pack_id, o.price_kopecks - div(o.price_kopecks * (o.credits - used), o.credits)
        as revenue,
      div(o.price_kopecks * (o.credits - used), o.credits)
        - div(o.price_kopecks * (o.credits - used - adjusted), o.credits) as adjusted_kopecks,
      div(o.price_kopecks * (refunded + disputed), o.credits) as returned,
      o.price_kopecks as price
    from stated s left join orders o on o.id = s.ref and s.kind = 'purchase'
  )`

/** One row for each kind of credits and pack; and of the debt. */
export async function lotsAt(db: Db, ms: number): Promise<Map<string, Plain>> {
  const { rows } = await db.query(
    `${LOTS}
     select case kind when 'purchase' then 'paid' when 'adjust' then 'correction'
         else kind::text end || coalesce(' ' || pack_id, '') as item,
       sum(credited) as credited, sum(refunded) as refunded, sum(disputed) as disputed,
       sum(used) as used, sum(adjusted) as adjusted, sum(own - used - adjusted) as left,
       coalesce(sum(price), 0) as price, coalesce(sum(revenue), 0) as revenue,
       coalesce(sum(adjusted_kopecks), 0) as "adjustedKopecks",
       coalesce(sum(returned), 0) as returned
     from valued group by 1
     union all
     select 'debt', 0, 0, 0, sum(used_beyond), sum(debt - used_beyond), -sum(debt), 0, 0, 0, 0
     from (select o.*, greatest(0, -b.balance) as debt from others o
       join balances b on b.book_id = o.book_id) d`,
    [at(ms)],
  )
  return new Map(
    (rows as { item: string }[]).map(({ item, ...row }) => [item, bigints(row)] as const),
  )
}

/** A debit that exceeds its lot would be counted apart; no deed of the month makes one. */
export async function overdrawnLots(db: Db): Promise<bigint> {
  const { overdrawn } = await one(
    db,
    `select count(*) as overdrawn from (
       select book_id, lot, -sum(amount) as taken from postings where lot is not null group by 1, 2
     ) t join lots l on l.book_id = t.book_id and l.seq = t.lot
     where t.taken > l.credited or t.taken <> l.taken_back`,
  )
  return overdrawn ?? 0n
}

export const entriesOf = (db: Db, p: Moments) =>
  one(
    db,
    `select
       (select sum(balance) from (select distinct on (book_id) balance from entries
         where at < $1 order by book_id, seq desc) b) as opening,
       (select sum(balance) from (select distinct on (book_id) balance from entries
         where at < $2 order by book_id, seq desc) b) as closing,
       -sum(amount) filter (where kind = 'charge') as used,
       sum(amount) filter (where amount > 0 and kind in ('purchase', 'promo', 'adjust', 'transfer'))
         as credited,
       -sum(amount) filter (where kind in ('refund', 'refund_reversal', 'forced_debit')
         and ref not like 'dsp%') as refunded,
       -sum(amount) filter (where kind in ('refund', 'refund_reversal', 'forced_debit')
         and ref like 'dsp%') as disputed,
       -sum(amount) filter (where kind = 'adjust' and amount < 0) as adjusted,
       count(*) filter (where kind = 'charge') as charges,
       count(*) filter (where kind = 'void') as free,
       count(*) filter (where kind = 'void' and ending <> 'given_up') as errors,
       sum(written_off) as "writtenOff", sum(input) as input, sum(output) as output
     from entries where at >= $1 and at < $2`,
    [at(p.fromMs), at(p.toMs)],
  )

export const requestsOf = (db: Db, p: Moments) =>
  one(
    db,
    `select count(*) as requests, coalesce(-sum(amount), 0) as spent,
       count(*) filter (where kind = 'void' and ending <> 'given_up') as errors
     from entries where at >= $1 and at < $2 and kind in ('charge', 'void')`,
    [at(p.fromMs), at(p.toMs)],
  )

export async function postingsOf(db: Db, p: Moments): Promise<Map<string, Plain>> {
  const { rows } = await db.query(
    `select kind || ' ' || case
         when kind = 'promo' then case when ref like 'op %' then 'gift' else 'code' end
         when kind in ('refund', 'refund_reversal', 'forced_debit')
           then case when ref like 'dsp%' then 'dispute' else 'refund' end
         else 'all' end as item,
       count(*) as postings, coalesce(sum(amount) filter (where amount > 0), 0) as added,
       coalesce(-sum(amount) filter (where amount < 0), 0) as taken
     from entries where at >= $1 and at < $2 and kind not in ('charge', 'void') group by 1`,
    [at(p.fromMs), at(p.toMs)],
  )
  return new Map(
    (rows as { item: string }[]).map(({ item, ...row }) => [item, bigints(row)] as const),
  )
}

export async function adjustmentsOf(db: Db, p: Moments): Promise<Map<string, bigint>> {
  const { rows } = await db.query(
    `select contra, sum(amount) as amount from entries
     where kind = 'adjust' and at >= $1 and at < $2 group by 1`,
    [at(p.fromMs), at(p.toMs)],
  )
  const sums = rows as { contra: string; amount: string }[]
  return new Map(sums.map(({ contra, amount }) => [contra, BigInt(amount)] as const))
}

/** Money by our own rows. 22 % of VAT, rounded on each receipt. */
export const moneyOf = (db: Db, p: Moments) =>
  one(
    db,
    `with paid as (
       select *, coalesce(captured_kopecks, price_kopecks) as paid from orders
       where credited_at is not null
     ), taken as (select * from paid where captured_at >= $1 and captured_at < $2),
     sold as (select * from paid where credited_at >= $1 and credited_at < $2),
     back as (
       select * from refunds where state = 'succeeded' and ended_at >= $1 and ended_at < $2
     )
     select (select sum(paid) from taken) as taken, (select count(*) from taken) as payments,
       (select sum(price_kopecks) from sold) as sold, (select count(*) from sold) as "soldOrders",
       (select sum(paid) from sold) as "soldPaid",
       (select sum(paid) from sold where captured_at < $1) as "takenBefore",
       (select sum(paid) from taken where credited_at >= $2) as "creditedLater",
       (select sum(amount_kopecks) from back where review_id is null) as refunded,
       (select count(*) from back where review_id is null) as refunds,
       (select sum(amount_kopecks) from back where review_id is not null) as "returnedUncredited",
       (select sum(round(paid * 22 / 122.0)) from taken) as "takenVat",
       (select sum(round(amount_kopecks * 22 / 122.0)) from back where review_id is null)
         as "refundedVat",
       (select sum(paid - income_kopecks) from taken) as commission,
       (select count(*) from taken where income_kopecks is null) as "commissionUnknown",
       (select count(*) from taken where receipt_state = 'succeeded') as registered,
       (select count(*) from taken where receipt_state = 'pending') as pending,
       (select count(*) from taken where receipt_state = 'canceled') as failed,
       (select count(*) from taken where receipt_state is null) as missing,
       (select count(*) from disputes where opened_at >= $1 and opened_at < $2) as opened,
       (select sum(amount_kopecks) from disputes where opened_at >= $1 and opened_at < $2)
         as "openedKopecks",
       (select count(*) from disputes where state = 'won' and closed_at >= $1 and closed_at < $2)
         as won,
       (select sum(amount_kopecks) from disputes
         where state = 'won' and closed_at >= $1 and closed_at < $2) as "wonKopecks",
       (select count(*) from disputes where state = 'lost' and closed_at >= $1 and closed_at < $2)
         as lost,
       (select sum(amount_kopecks) from disputes
         where state = 'lost' and closed_at >= $1 and closed_at < $2) as "lostKopecks"`,
    [at(p.fromMs), at(p.toMs)],
  )

/** The vendor's prices times our counts, rounded up for each day (UTC) or for the whole period. */
export async function costOf(db: Db, p: Moments, per: 'day' | 'period'): Promise<bigint> {
  const { cost } = await one(
    db,
    `select coalesce(sum(cost), 0) as cost from (
       select ceil(sum(input * ${VENDOR.input} + output * ${VENDOR.output})
         * ${VENDOR.kopecksPerUnit} * 0.000001) as cost
       from entries where kind = 'charge' and ${per === 'day' ? 'day' : 'at'} >= $1
         and ${per === 'day' ? 'day' : 'at'} < $2
       group by ${per === 'day' ? 'day' : 'kind'}, target
     ) c`,
    [at(p.fromMs), at(p.toMs)],
  )
  return cost ?? 0n
}

export const booksNow = (db: Db) =>
  one(
    db,
    `select sum(available + held - debt) as liability, sum(available) as available,
       sum(held) as held, sum(debt) as debt,
       (select sum(amount_kopecks) from payment_reviews where closed_at is null and has_money)
         as "inReview"
     from books`,
  )

type Amount = { readonly value: string }
const kopecksOf = (amount: Amount | undefined) => BigInt(amount?.value.replace('.', '') ?? 0)
type Sim = (act: string, body?: object, method?: string) => Promise<Record<string, unknown>>

/** What the bank captured in the period, of the orders that we have credited and of others. */
export async function bankOf(db: Db, sim: Sim, p: Moments) {
  const { payments } = await sim('payments?last=100000', {}, 'GET')
  const { refunds } = await sim('refunds?last=100000', {}, 'GET')
  const { rows } = await db.query('select id from orders where credited_at is not null')
  const credited = new Set((rows as { id: string }[]).map(({ id }) => id))
  const captured = (payments as Record<string, unknown>[]).filter((one) => {
    const ms = Date.parse(String(one.captured_at))
    return one.status === 'succeeded' && ms >= p.fromMs && ms < p.toMs
  })
  const ours = captured.filter((one) =>
    credited.has(String((one.metadata as { order_id: string }).order_id)),
  )
  const sum = (rows: readonly Record<string, unknown>[], name: string) =>
    rows.reduce((all, one) => all + kopecksOf(one[name] as Amount | undefined), 0n)
  return {
    taken: sum(ours, 'amount'),
    commission: sum(ours, 'amount') - sum(ours, 'income_amount'),
    refundedEver: sum(
      (refunds as Record<string, unknown>[]).filter(({ status }) => status === 'succeeded'),
      'amount',
    ),
  }
}
