// The requests and books that figures are made of, a page at a time. All only read, in the caller's
// snapshot.
import type { Tx } from '../../platform/db/db.ts'
import { type FigureRows, type RowPage, readRowPage } from '../../platform/db/row-page.ts'
import { type HoldId, requestIdOf } from '../../platform/ids.ts'

/** What is counted of a request, and of which requests. */
const MEASURES = {
  requests: ['1', 'true'],
  errors: ['1', `e.kind = 'void' and e.ending <> 'given_up'`],
  spent: ['-e.amount', `e.kind = 'charge'`],
  input: ['e.input', 'e.input > 0'],
  output: ['e.output', 'e.output > 0'],
  cacheRead: ['e.cache_read', 'e.cache_read > 0'],
  cacheWrite: [
    'coalesce(e.cache_write_5m, 0) + coalesce(e.cache_write_1h, 0)',
    'coalesce(e.cache_write_5m, 0) + coalesce(e.cache_write_1h, 0) > 0',
  ],
  firstByteMs: ['e.first_byte_ms', 'e.first_byte_ms is not null'],
  totalMs: ['e.total_ms', 'e.total_ms is not null'],
} as const

export type RequestMeasure = keyof typeof MEASURES

/** Reads every entry of the period, about a second per million. */
export async function requestRows(tx: Tx, of: RequestMeasure, p: RowPage): Promise<FigureRows> {
  const [measure, isCounted] = MEASURES[of]
  // A book's day is at most a day apart from the entry's time, unless the clock was set back.
  const page = await readRowPage(
    tx,
    `select e.hold_id::text as id, e.book_id as book, t.model as text, e.ending::text as state,
       e.at, (${measure})::int8 as amount
     from entries e join tariffs t on t.id = e.tariff
     where e.day between ($1::timestamptz at time zone 'UTC')::date - 1
         and ($2::timestamptz at time zone 'UTC')::date + 1
       and e.at >= $1 and e.at < $2 and e.kind in ('charge', 'void') and ${isCounted}`,
    p,
  )
  const rows = page.rows.map((row) => ({ ...row, id: requestIdOf(row.id as HoldId) }))
  return { ...page, rows }
}

const BALANCES = {
  liability: 'available + held - debt',
  available: 'available',
  held: 'held',
  debt: 'debt',
} as const

export type BalanceMeasure = keyof typeof BALANCES

export type BookAmount = { readonly book: bigint; readonly amount: bigint }

/** Books that have some of it now, most first. Reads every book: about 0.2 s per million. */
export async function bookRows(
  tx: Tx,
  of: BalanceMeasure,
  p: { readonly before: BookAmount | null; readonly limit: number },
): Promise<{ readonly count: bigint; readonly total: bigint; readonly rows: BookAmount[] }> {
  const amount = BALANCES[of]
  const { rows: sums } = await tx.query(
    `select count(*) as count, coalesce(sum(${amount}), 0)::text as total
     from books where ${amount} <> 0`,
  )
  const { rows } = await tx.query(
    `select id as book, ${amount} as amount from books
     where ${amount} <> 0 and ($1::int8 is null or (${amount}, id) < ($1, $2))
     order by ${amount} desc, id desc limit $3`,
    [p.before?.amount ?? null, p.before?.book ?? null, p.limit],
  )
  const [sum] = sums as { count: bigint; total: string }[]
  return {
    count: sum?.count ?? 0n,
    total: BigInt(sum?.total ?? '0'),
    rows: rows as BookAmount[],
  }
}
