// Reads what the database and the bank show about the books of one sequence, for the model. The
// database answers in one statement, so that all its facts are of one moment.
import type { Db } from '../../../src/platform/db/db.ts'
import type {
  BankPayment,
  BankRefund,
  BookFact,
  Charge,
  DisputeFact,
  Facts,
  LotFact,
  OrderFact,
  PostingFact,
  RefundFact,
} from '../../support/payment-facts.ts'
import { MANDATES_ON } from './mandates.ts'

/** Amounts are text: a JSON number would be rounded. */
const QUERY = `
  with mine as (select id from books where id = any ($1::int8[])),
    own as (select o.* from orders o where o.book_id in (select id from mine))
  select json_build_object(
    'orders', (select json_agg(json_build_object('id', id, 'book', book_id::text, 'state', state,
        'price', price_kopecks::text, 'credits', credits::text, 'isTopUp', is_top_up,
        'isCredited', credited_at is not null, 'refunded', refunded_kopecks::text,
        'cancelReason', cancel_reason,
        'month', to_char(created_at at time zone 'UTC', 'YYYY-MM')) order by id) from own),
    'refunds', (select json_agg(json_build_object('order', order_id, 'state', state,
        'amount', amount_kopecks::text, 'credits', credits::text, 'isForced', is_forced,
        'refundId', provider_refund_id) order by id)
      from refunds where order_id in (select id from own)),
    'disputes', (select json_agg(json_build_object('order', order_id, 'state', state,
        'amount', amount_kopecks::text) order by id)
      from disputes where order_id in (select id from own)),
    'books', (select json_agg(json_build_object('book', id::text, 'available', available::text,
        'held', held::text, 'debt', debt::text,
        'card', (select provider_method_id from saved_methods where book_id = b.id),
        'isMandateOn', ${MANDATES_ON},
        'step', (select case when a.closed_at is not null then 'closed' else c.step end
          from accounts a left join account_closings c on c.account_id = a.id and c.ended_at is null
          where a.book_id = b.id))) from books b where id in (select id from mine)),
    'postings', (select json_agg(json_build_object('book', p.book_id::text, 'kind', p.kind,
        'ref', p.ref, 'amount', p.amount::text, 'order', l.ref) order by p.book_id, p.seq)
      from postings p left join lots l on l.book_id = p.book_id and l.seq = p.lot
      where p.book_id in (select id from mine)),
    'lots', (select json_agg(json_build_object('book', book_id::text, 'kind', kind, 'ref', ref,
        'credited', credited::text, 'takenBack', taken_back::text) order by book_id, seq)
      from lots where book_id in (select id from mine))
  ) as facts`

/** Reads every partition, so it is asked only at rest. */
const ENTRIES = `
  select book_id as book, sum(amount)::int8 as sum from entries
  where book_id = any ($1::int8[]) group by book_id`

/** The sum of all entries by book, charges included. */
export async function readEntries(db: Db, books: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await db.query(ENTRIES, [books])
  return new Map((rows as { book: bigint; sum: bigint }[]).map((one) => [`${one.book}`, one.sum]))
}

type Raw = Record<string, readonly Record<string, unknown>[] | null>

/** The names of the fields that are amounts. */
const AMOUNTS = new Set([
  ...['price', 'credits', 'refunded', 'amount', 'available', 'held', 'debt'],
  ...['credited', 'takenBack'],
])

function rowsOf<T>(raw: Raw, name: string): T[] {
  return (raw[name] ?? []).map((row) => {
    const fields = Object.entries(row).map(([key, value]) => [
      key,
      AMOUNTS.has(key) ? BigInt(value as string) : value,
    ])
    return Object.fromEntries(fields) as T
  })
}

type Sim = (act: string, body?: object, method?: string) => Promise<Record<string, unknown>>
type Amount = { readonly value: string }

const kopecksOf = (amount: Amount | undefined) => BigInt(amount?.value.replace('.', '') ?? 0)

/** Reads the facts; `since` is the number of the last call that was read before. */
export async function readFacts(
  db: Db,
  sim: Sim,
  books: readonly string[],
  since: number,
): Promise<{ readonly facts: Facts; readonly last: number }> {
  const [{ rows }, shown, refunds, called] = await Promise.all([
    db.query(QUERY, [books]),
    sim('payments?last=1000', {}, 'GET'),
    sim('refunds?last=1000', {}, 'GET'),
    sim('calls?last=60&method=POST', {}, 'GET'),
  ])
  const raw = (rows[0] as { facts: Raw }).facts
  const orders = rowsOf<OrderFact>(raw, 'orders')
  const calls = called.calls as { sequence: number; body: string; path: string }[]
  const facts: Facts = {
    orders,
    refunds: rowsOf<RefundFact>(raw, 'refunds'),
    disputes: rowsOf<DisputeFact>(raw, 'disputes'),
    books: rowsOf<BookFact>(raw, 'books'),
    postings: rowsOf<PostingFact>(raw, 'postings'),
    lots: rowsOf<LotFact>(raw, 'lots'),
    payments: (shown.payments as Record<string, unknown>[]).map(
      (one): BankPayment => ({
        id: String(one.id),
        order: String((one.metadata as { order_id?: string }).order_id),
        status: String(one.status),
        amount: kopecksOf(one.amount as Amount),
        refunded: kopecksOf(one.refunded_amount as Amount | undefined),
      }),
    ),
    bankRefunds: (refunds.refunds as Record<string, unknown>[]).map(
      (one): BankRefund => ({
        id: String(one.id),
        payment: String(one.payment_id),
        status: String(one.status),
        amount: kopecksOf(one.amount as Amount),
      }),
    ),
    charges: calls.filter(({ sequence }) => sequence > since).flatMap(chargeOf),
  }
  return { facts, last: Math.max(since, ...calls.map(({ sequence }) => sequence)) }
}

/** The charge of a saved card in a call, if it is one. */
function chargeOf({ path, body }: { path: string; body: string }): Charge[] {
  if (path !== '/v3/payments') return []
  const asked = JSON.parse(body) as {
    payment_method_id?: string
    amount: Amount
    metadata: { order_id: string }
  }
  if (asked.payment_method_id === undefined) return []
  const { payment_method_id: card, metadata } = asked
  return [{ order: metadata.order_id, card, amount: kopecksOf(asked.amount) }]
}
