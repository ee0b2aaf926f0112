// The accountant's month: what we owed in credits at its beginning and its end and why it changed,
// revenue by use, money, VAT, receipts, commission, promo cost and margin. Read in one snapshot.
import type { Contra, EntryKind, Ledger, PostingSum } from '../ledger/ledger.ts'
import type { Payments } from '../payments/payments.ts'
import type { Tx } from '../platform/db/db.ts'
import type { VendorBill } from '../vendor-bill/vendor-bill.ts'
import { type Cost, costOf, daysOf } from './cost.ts'
import { type Liability, liabilityOf } from './liability.ts'
import { type Money, moneyOf } from './money.ts'
import type { Period } from './queries.ts'

/** Why postings were made, more exactly than their kind. */
export type PostingReason = 'code' | 'gift' | 'refund' | 'dispute' | 'all'

export type PostingLine = {
  readonly kind: EntryKind
  readonly reason: PostingReason
  readonly postings: bigint
  /** Microcredits. */
  readonly added: bigint
  readonly taken: bigint
}

export type AdjustmentLine = {
  /** `unknown`: the entry has left the ledger. */
  readonly contra: Contra | 'none' | 'unknown'
  /** Microcredits, upwards less downwards. */
  readonly amount: bigint
}

/** Requests; microcredits. Null when days of the month have left the ledger. */
export type Charges = {
  readonly charges: bigint | null
  readonly free: bigint | null
  readonly charged: bigint
  readonly writtenOff: bigint | null
}

export type MonthFigures = {
  /** `2026-11`. */
  readonly month: string
  readonly timeZone: string
  readonly from: string
  readonly to: string
  readonly isOver: boolean
  readonly liability: Liability
  readonly postings: readonly PostingLine[]
  readonly adjustments: readonly AdjustmentLine[]
  readonly charges: Charges
  readonly money: Money
  /** Kopecks earned by use; what adjustments of paid credits left us or cost us is apart. */
  readonly revenue: bigint
  readonly promo: Promo
  readonly cost: Cost
  readonly margin: Margin
}

export type Promo = {
  /** Microcredits. */
  readonly granted: bigint
  readonly used: bigint
  /** Their part of the vendor's cost, by credits; null when that is unknown. */
  readonly costKopecks: bigint | null
}

export type Margin = {
  readonly kopecks: bigint | null
  /** In tenths of a percent of the revenue, rounded down. */
  readonly tenths: bigint | null
}

export type MonthModules = {
  readonly ledger: Pick<Ledger, 'totals' | 'days'>
  readonly payments: Pick<Payments, 'takings'>
  readonly vendorBill: VendorBill
}

export async function monthOf(
  tx: Tx,
  modules: MonthModules,
  p: Period & {
    readonly month: string
    readonly timeZone: string
    readonly vatCode: number
  },
): Promise<MonthFigures> {
  const { ledger, payments } = modules
  const isOver = p.to <= p.now
  const moments = { from: p.from, to: isOver ? p.to : null }
  const liability = await liabilityOf(tx, modules, moments, { isActiveOnly: false })
  const postings = await ledger.totals.postings(tx, p)
  const entries = await ledger.totals.entries(tx, p)
  const money = await moneyOf(tx, payments, p)
  const cost = await costOf(tx, modules, p)
  const isWhole = await hasAllDays(ledger, p)
  const countOf = (kind: EntryKind) =>
    sum(entries.filter((one) => one.kind === kind).map((one) => one.entries))
  const { revenue } = liability.kopecks
  return {
    ...{ month: p.month, timeZone: p.timeZone, isOver },
    ...{ from: p.from.toISOString(), to: p.to.toISOString() },
    liability,
    postings: postings.map(lineOf),
    adjustments: adjustmentsOf(postings, entries),
    charges: {
      charges: isWhole ? countOf('charge') : null,
      free: isWhole ? countOf('void') : null,
      charged: liability.total.used,
      writtenOff: isWhole ? sum(entries.map((one) => one.writtenOff)) : null,
    },
    ...{ money, revenue, cost },
    promo: promoOf(liability, cost),
    margin: marginOf(revenue, cost.kopecks),
  }
}

/** Whether no day of the month has left the ledger. */
async function hasAllDays(ledger: Pick<Ledger, 'days'>, p: Period & { readonly month: string }) {
  const days = new Set(daysOf(p.month, p.now))
  const gone = (await ledger.days.list()).filter(({ state }) => state !== 'checkpointed')
  return !gone.some(({ day }) => days.has(day))
}

/** A new kind does not compile until it is decided. */
const reasonsOf = {
  purchase: () => 'all',
  transfer: () => 'all',
  adjust: () => 'all',
  promo: ({ isGift }) => (isGift ? 'gift' : 'code'),
  refund: ({ isDispute }) => (isDispute ? 'dispute' : 'refund'),
  refund_reversal: ({ isDispute }) => (isDispute ? 'dispute' : 'refund'),
  forced_debit: ({ isDispute }) => (isDispute ? 'dispute' : 'refund'),
  charge: () => 'all',
  void: () => 'all',
} as const satisfies Record<EntryKind, (sum: PostingSum) => PostingReason>

function lineOf(one: PostingSum): PostingLine {
  const { kind, postings, added, taken } = one
  return { kind, reason: reasonsOf[kind](one), postings, added, taken }
}

/** Postings have every adjustment, entries the account on the other side. */
function adjustmentsOf(
  postings: readonly PostingSum[],
  entries: readonly { kind: EntryKind; contra: Contra | 'none'; amount: bigint }[],
): AdjustmentLine[] {
  const known = entries.filter(({ kind }) => kind === 'adjust')
  const all = sum(postings.flatMap((one) => (one.kind === 'adjust' ? [one.added, -one.taken] : [])))
  const missing = all - sum(known.map(({ amount }) => amount))
  const lines = known.map(({ contra, amount }) => ({ contra, amount }))
  return missing === 0n ? lines : [...lines, { contra: 'unknown', amount: missing }]
}

/** The dearer the month at the vendor, the dearer its gifts: by credits, rounded up. */
export function promoOf({ rows, total }: Liability, { kopecks }: Pick<Cost, 'kopecks'>): Promo {
  const own = rows.filter(({ kind }) => kind === 'promo')
  const used = sum(own.map((one) => one.used))
  const share = () => {
    if (used <= 0n || total.used <= 0n) return 0n
    return ((kopecks ?? 0n) * used + total.used - 1n) / total.used
  }
  return {
    granted: sum(own.map((one) => one.credited)),
    used,
    costKopecks: kopecks === null ? null : share(),
  }
}

export function marginOf(revenue: bigint, cost: bigint | null): Margin {
  if (cost === null) return { kopecks: null, tenths: null }
  const kopecks = revenue - cost
  if (revenue <= 0n) return { kopecks, tenths: null }
  const tenths = (kopecks * 1_000n) / revenue
  const isRoundedUp = kopecks < 0n && tenths * revenue !== kopecks * 1_000n
  return { kopecks, tenths: isRoundedUp ? tenths - 1n : tenths }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, one) => total + one, 0n)
}
