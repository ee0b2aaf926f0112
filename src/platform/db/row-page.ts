// A page of the rows that a figure is made of, newest first, with the count and the sum of all of
// them. The caller's text selects id, book, text, state, at and amount.
import { dateOf } from '../clock.ts'
import type { Executor } from './db.ts'

export type FigureRow = {
  readonly id: string
  readonly book: bigint | null
  /** What a person recognises it by, such as a pack or a model. */
  readonly text: string
  readonly state: string | null
  readonly at: Date
  /** In the unit of the figure. */
  readonly amount: bigint
}

export type FigureRows = {
  readonly count: bigint
  readonly total: bigint
  readonly rows: readonly FigureRow[]
  /** `before` of the next page; null: this is the last one. */
  readonly next: string | null
}

export type RowPage = {
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** `next` of the page before; null: the first page. */
  readonly before: string | null
  readonly limit: number
}

/** `sql` uses $1 and $2, the ends of the period. Both statements need one snapshot. */
export async function readRowPage(db: Executor, sql: string, p: RowPage): Promise<FigureRows> {
  const { rows: sums } = await db.query(
    `select count(*) as count, coalesce(sum(amount), 0)::text as total from (${sql}) r`,
    [p.from, p.to],
  )
  const [id, time] = cursorOf(p.before)
  const { rows } = await db.query(
    `select id, book, text, state, at, amount, at::text as time from (${sql}) r
     where $3::text is null or (at, id) < ($3::timestamptz, $4)
     order by at desc, id desc limit $5`,
    [p.from, p.to, time, id, p.limit + 1],
  )
  const found = rows as (FigureRow & { readonly time: string })[]
  const shown = found.slice(0, p.limit)
  const last = shown.at(-1)
  const [sum] = sums as { count: bigint; total: string }[]
  return {
    count: sum?.count ?? 0n,
    total: BigInt(sum?.total ?? '0'),
    rows: shown.map(({ time: _, ...row }) => row),
    next: found.length > p.limit && last !== undefined ? `${last.id} ${last.time}` : null,
  }
}

/** `id time`, the time as PostgreSQL writes it; what is no cursor begins at the first page. */
function cursorOf(before: string | null): readonly [id: string, time: string | null] {
  const [, id = '', day, time] = /^(\S+) (\S+) (\S+\+00)$/.exec(before ?? '') ?? []
  return dateOf(`${day}T${time}:00`) === undefined ? ['', null] : [id, `${day} ${time}`]
}
