// The roubles of a period: taken, refunded, taken back by banks; VAT, receipts and the provider's
// commission. From orders, refunds and disputes; the provider's reports are compared with these by
// the settlement watch.
import type { CapturedSum, Payments, RefundedSum } from '../payments/payments.ts'
import type { Tx } from '../platform/db/db.ts'
import { vatOf, vatPercent } from './vat.ts'

export type VatLine = {
  readonly code: number
  readonly percent: bigint | null
  readonly taken: bigint
  readonly takenVat: bigint
  readonly refunded: bigint
  readonly refundedVat: bigint
}

/** Kopecks, and counts where the name says so. */
export type Money = {
  /** Captured in the period, and credited since. */
  readonly taken: bigint
  readonly payments: bigint
  /** Credited in the period: prices, and what was paid for them. */
  readonly sold: bigint
  readonly soldOrders: bigint
  readonly soldPaid: bigint
  /** Credited in the period and captured before it; captured in it and credited later. */
  readonly takenBefore: bigint
  readonly creditedLater: bigint
  readonly refunded: bigint
  readonly refunds: bigint
  /** Returned payments that were never credited; not part of `refunded`. */
  readonly returnedUncredited: bigint
  readonly disputesOpened: bigint
  readonly disputesOpenedKopecks: bigint
  readonly disputesWon: bigint
  readonly disputesWonKopecks: bigint
  readonly disputesLost: bigint
  readonly disputesLostKopecks: bigint
  /** What the provider kept of payments whose commission it reported; null: it reported none. */
  readonly commission: bigint | null
  readonly commissionUnknownPayments: bigint
  readonly vat: readonly VatLine[]
  readonly receipts: Receipts
}

/** Payments by the state of their receipt; `off`: sold without receipts. */
export type Receipts = {
  readonly registered: bigint
  readonly pending: bigint
  readonly failed: bigint
  /** A receipt was asked for, and the provider has not said a word about it. */
  readonly missing: bigint
  readonly off: bigint
}

export async function moneyOf(
  tx: Tx,
  payments: Pick<Payments, 'takings'>,
  p: {
    readonly from: Date
    readonly to: Date
    /** Of orders without a receipt: the setting that receipts would use. */
    readonly vatCode: number
  },
): Promise<Money> {
  const { takings } = payments
  const captured = await takings.captured(tx, p)
  const refunded = await takings.refunded(tx, p)
  const credited = await takings.credited(tx, p)
  const disputes = await takings.disputes(tx, p)
  const taken = total(captured.map((one) => one.amount * one.payments))
  const returned = (isOfReview: boolean) => {
    const own = refunded.filter((one) => one.isOfReview === isOfReview)
    return total(own.map((one) => one.amount * one.refunds))
  }
  return {
    taken,
    payments: total(captured.map((one) => one.payments)),
    sold: credited.price,
    soldOrders: credited.orders,
    soldPaid: credited.paid,
    takenBefore: credited.capturedBefore,
    creditedLater: taken + credited.capturedBefore - credited.paid,
    refunded: returned(false),
    refunds: total(refunded.filter((one) => !one.isOfReview).map((one) => one.refunds)),
    returnedUncredited: returned(true),
    disputesOpened: disputes.opened,
    disputesOpenedKopecks: disputes.openedKopecks,
    disputesWon: disputes.won,
    disputesWonKopecks: disputes.wonKopecks,
    disputesLost: disputes.lost,
    disputesLostKopecks: disputes.lostKopecks,
    ...commissionOf(captured),
    vat: vatLines(captured, refunded, p.vatCode),
    receipts: receiptsOf(captured),
  }
}

function commissionOf(captured: readonly CapturedSum[]) {
  const known = total(captured.map((one) => one.incomeKnown))
  const unknown = total(captured.map((one) => one.payments)) - known
  return {
    // Without any payment the provider kept nothing.
    commission:
      known === 0n && unknown > 0n ? null : total(captured.map((one) => one.incomeOf - one.income)),
    commissionUnknownPayments: unknown,
  }
}

/** The VAT of each line is rounded, as its receipt does; equal amounts were added up before. */
function vatLines(
  captured: readonly CapturedSum[],
  refunded: readonly RefundedSum[],
  fallback: number,
): VatLine[] {
  const sold = captured.map(({ vatCode, amount, payments }) => ({
    ...{ code: vatCode ?? fallback, taken: amount * payments, refunded: 0n, refundedVat: 0n },
    takenVat: vatOf(amount, vatCode ?? fallback) * payments,
  }))
  // A payment that was never credited sold nothing.
  const back = refunded
    .filter((one) => !one.isOfReview)
    .map(({ vatCode, amount, refunds }) => ({
      ...{ code: vatCode ?? fallback, taken: 0n, takenVat: 0n, refunded: amount * refunds },
      refundedVat: vatOf(amount, vatCode ?? fallback) * refunds,
    }))
  const byCode = Map.groupBy([...sold, ...back], ({ code }) => code)
  return [...byCode]
    .toSorted(([a], [b]) => a - b)
    .map(([code, lines]) => ({
      ...{ code, percent: vatPercent(code) },
      taken: total(lines.map((one) => one.taken)),
      takenVat: total(lines.map((one) => one.takenVat)),
      refunded: total(lines.map((one) => one.refunded)),
      refundedVat: total(lines.map((one) => one.refundedVat)),
    }))
}

function receiptsOf(captured: readonly CapturedSum[]): Receipts {
  const count = (state: CapturedSum['receipt']) =>
    total(captured.filter(({ receipt }) => receipt === state).map((one) => one.payments))
  return {
    registered: count('succeeded'),
    pending: count('pending'),
    failed: count('canceled'),
    missing: count('missing'),
    off: count('none'),
  }
}

function total(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n)
}
