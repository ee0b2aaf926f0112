// The rows that a figure of a day is made of, a page at a time: orders, refunds, disputes, reviews,
// lots of credits, requests or books. Their amounts add up to the figure, because they are
// selected, or moved, by what the figure itself is counted by.
import type { BalanceMeasure, Ledger, RequestMeasure } from '../ledger/ledger.ts'
import type { Payments, TakingsRows } from '../payments/payments.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { FigureRow, FigureRows, RowPage } from '../platform/db/row-page.ts'
import { type LotMovement, lotMovements } from './liability.ts'
import { dayFind } from './queries.ts'
import type { TodayFigure, TodayFigureName } from './today.ts'

/** What the rows of a figure are; `total` is null where amounts are not added up, as of times. */
export type DayRows = Omit<FigureRows, 'total'> & {
  readonly name: TodayFigureName
  readonly kind: RowKind
  readonly unit: TodayFigure['unit']
  readonly day: string
  readonly timeZone: string
  readonly total: bigint | null
}

export type RowKind = 'order' | 'refund' | 'dispute' | 'review' | 'lot' | 'request' | 'book'

type Source =
  | { readonly kind: Exclude<RowKind, 'lot' | 'request' | 'book'>; readonly of: TakingsRows }
  | {
      readonly kind: 'lot'
      readonly unit: 'kopecks' | 'microcredits'
      of(one: LotMovement): bigint
    }
  | {
      readonly kind: 'request'
      readonly unit: TodayFigure['unit']
      readonly of: RequestMeasure
    }
  | { readonly kind: 'book'; readonly of: BalanceMeasure }

const lots = (of: (one: LotMovement) => bigint) => ({
  ...({ kind: 'lot', unit: 'microcredits' } as const),
  of,
})
const counted = (of: RequestMeasure) => ({ kind: 'request', unit: 'count', of }) as const
const timed = (of: RequestMeasure) => ({ kind: 'request', unit: 'milliseconds', of }) as const

const revenue = {
  ...({ kind: 'lot', unit: 'kopecks' } as const),
  of: ({ money }: LotMovement) => money.revenue,
}

/** A figure that is missing here is made of other figures, or has its rows on the page itself. */
const sources: Partial<Record<TodayFigureName, Source>> = {
  taken: { kind: 'order', of: 'captured' },
  sold: { kind: 'order', of: 'credited' },
  refunded: { kind: 'refund', of: 'refunded' },
  disputesLost: { kind: 'dispute', of: 'disputesLost' },
  inReview: { kind: 'review', of: 'reviews' },
  revenue,
  credited: lots(({ movement }) => movement.credited),
  creditsRefunded: lots(({ movement }) => movement.refunded),
  creditsDisputed: lots(({ movement }) => movement.disputed),
  creditsAdjusted: lots(({ movement }) => movement.adjusted),
  spent: { kind: 'request', unit: 'microcredits', of: 'spent' },
  liability: { kind: 'book', of: 'liability' },
  available: { kind: 'book', of: 'available' },
  held: { kind: 'book', of: 'held' },
  debt: { kind: 'book', of: 'debt' },
  requests: counted('requests'),
  errors: counted('errors'),
  inputTokens: counted('input'),
  outputTokens: counted('output'),
  cacheReadTokens: counted('cacheRead'),
  cacheWriteTokens: counted('cacheWrite'),
  firstByteMedian: timed('firstByteMs'),
  firstByteSlow: timed('firstByteMs'),
  totalMedian: timed('totalMs'),
  totalSlow: timed('totalMs'),
}

/** Whether a figure has rows of its own. */
export function hasRows(name: string): name is TodayFigureName {
  return Object.hasOwn(sources, name)
}

type Options = {
  readonly db: Db
  readonly ledger: Pick<Ledger, 'totals'>
  readonly payments: Pick<Payments, 'takings'>
  readonly timeZone: string
}

export type DayRowsQuery = {
  readonly name: string
  /** `2026-11-18`, in the time zone; null: today. Balances are always those of now. */
  readonly day: string | null
  readonly before: string | null
  readonly limit: number
}

export function createFigureRows(options: Options) {
  const { db, timeZone } = options

  /** A page of the rows of a figure, in one snapshot; undefined: it has no rows. */
  return async function dayRows(query: DayRowsQuery): Promise<DayRows | undefined> {
    const { name } = query
    const source = hasRows(name) ? sources[name] : undefined
    if (source === undefined) return undefined
    return db.snapshot(async (tx) => {
      const { day, from, to } = await dayFind(tx, { timeZone, day: query.day })
      const page = { from, to, before: query.before, limit: query.limit }
      const found = await rowsOf(tx, options, source, page)
      const unit = unitOf(source)
      return {
        ...{ name: name as TodayFigureName, kind: source.kind, unit, day, timeZone, ...found },
        total: unit === 'milliseconds' ? null : found.total,
      }
    })
  }
}

function unitOf(source: Source): TodayFigure['unit'] {
  if ('unit' in source) return source.unit
  return source.kind === 'book' ? 'microcredits' : 'kopecks'
}

function rowsOf(tx: Tx, options: Options, source: Source, p: RowPage): Promise<FigureRows> {
  const { ledger, payments } = options
  if (source.kind === 'lot') return lotRows(tx, options, source, p)
  if (source.kind === 'request') return ledger.totals.requestRows(tx, source.of, p)
  if (source.kind === 'book') return bookRows(tx, options, source.of, p)
  return payments.takings.rows(tx, source.of, p)
}

/** Largest amounts first. `before` is how many rows earlier pages have. */
async function lotRows(
  tx: Tx,
  options: Options,
  source: Extract<Source, { kind: 'lot' }>,
  { from, to, before, limit }: RowPage,
): Promise<FigureRows> {
  const all: FigureRow[] = []
  for await (const one of lotMovements(tx, options, { from, to }, { isActiveOnly: true })) {
    const amount = source.of(one)
    if (amount !== 0n) all.push(lotRow(one, amount, from))
  }
  const size = ({ amount }: FigureRow) => (amount < 0n ? -amount : amount)
  const sorted = all.toSorted((a, b) => {
    const more = size(b) - size(a)
    return more === 0n ? Number((a.book ?? 0n) - (b.book ?? 0n)) : more > 0n ? 1 : -1
  })
  const start = /^\d+$/.test(before ?? '') ? Number(before) : 0
  return {
    count: BigInt(all.length),
    total: all.reduce((sum, { amount }) => sum + amount, 0n),
    rows: sorted.slice(start, start + limit),
    next: start + limit < all.length ? String(start + limit) : null,
  }
}

/** A lot is named by what made it: an order, a promo code, an act. A debt belongs to no lot. */
function lotRow({ book, lot, kind }: LotMovement, amount: bigint, from: Date): FigureRow {
  return { id: lot?.ref ?? '', book, text: kind, state: null, at: lot?.at ?? from, amount }
}

/** Most first; `before` is `amount book` of the last row, or else begins at the first page. */
async function bookRows(
  tx: Tx,
  { ledger }: Options,
  of: BalanceMeasure,
  { from, before, limit }: RowPage,
): Promise<FigureRows> {
  const [, amount = '', book = ''] = /^(-?\d+) (\d+)$/.exec(before ?? '') ?? []
  const numbers = { amount: BigInt(amount), book: BigInt(book) }
  const isCursor = amount !== '' && Object.values(numbers).every(isInt8)
  const last = isCursor ? numbers : null
  const found = await ledger.totals.bookRows(tx, of, { before: last, limit: limit + 1 })
  const rows = found.rows.slice(0, limit).map((one) => ({
    ...{ id: String(one.book), book: one.book, text: '', state: null, at: from },
    amount: one.amount,
  }))
  const end = rows.at(-1)
  const hasMore = found.rows.length > limit && end !== undefined
  return {
    ...{ count: found.count, total: found.total, rows },
    next: hasMore ? `${end.amount} ${end.book}` : null,
  }
}

/** PostgreSQL refuses a number that its bigint cannot hold. */
function isInt8(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number
}
