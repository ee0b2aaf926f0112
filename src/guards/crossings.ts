// Decides which e-mails the state of a book calls for, as a pure function of that state and of what
// was sent before. An e-mail is sent once when a threshold is crossed; the threshold is armed again
// only when the balance is well above it.
import type { BookStatus } from '../ledger/ledger.ts'
import type { BookId } from '../platform/ids.ts'
import { type Credits, micro } from '../units/credits.ts'

/** The total spent at two earlier times; the pace is measured between them and now. */
type PaceMarks = {
  readonly paceAt: Date
  readonly paceSpent: Credits
  readonly markAt: Date
  readonly markSpent: Credits
}

/** Which e-mails were sent for the current state. */
type SentState = {
  readonly isLowSent: boolean
  readonly isEmptySent: boolean
  /** The last day for which the e-mail about the daily limit was sent. */
  readonly dayLimitSentOn: string | null
}

/** The balances below which the owner wants an e-mail; null: no e-mail. */
export type Thresholds = { readonly lowCredits: Credits | null; readonly lowDays: number | null }

export type Guard = Thresholds & PaceMarks & SentState & { readonly book: BookId }

export type Crossing = 'low-balance' | 'balance-empty' | 'day-limit-reached'

export type BalanceCheck = {
  readonly crossings: readonly Crossing[]
  readonly after: PaceMarks & SentState
  /** Whole days that the balance lasts at the recent pace; null when nothing was spent. */
  readonly daysLeft: number | null
}

const DAY_MS = 86_400_000
/** The pace covers the last 3.5 to 7 days: weekends count, last month does not. */
const MARK_MS = 3.5 * DAY_MS

export function checkBalance(guard: Guard, status: BookStatus): BalanceCheck {
  const marks = marksAt(guard, status)
  const perDay = paceOf(marks, status)
  const isLow = thresholdBelow(guard, status, perDay, UNSCALED) !== null
  // Armed again above 1.1 times the credits and 1.5 times the days: more for days, as pace varies.
  const isNear =
    thresholdBelow(guard, status, perDay, { credits: [11n, 10n], days: [3n, 2n] }) !== null
  const isEmpty = status.isOutOfCredits && !guard.isEmptySent
  const isCrossed = isLow && !guard.isLowSent
  const isDayLimitCrossed = status.isDayLimitMet && guard.dayLimitSentOn !== status.day
  return {
    crossings: [
      ...(isEmpty ? (['balance-empty'] as const) : []),
      // An owner with no credits left needs no second e-mail that the balance is low.
      ...(isCrossed && !status.isOutOfCredits ? (['low-balance'] as const) : []),
      ...(isDayLimitCrossed ? (['day-limit-reached'] as const) : []),
    ],
    after: {
      ...marks,
      isLowSent: isLow || status.isOutOfCredits || (guard.isLowSent && isNear),
      isEmptySent: status.isOutOfCredits,
      dayLimitSentOn: isDayLimitCrossed ? status.day : guard.dayLimitSentOn,
    },
    daysLeft: perDay === 0n ? null : Number(status.balance > 0n ? status.balance / perDay : 0n),
  }
}

export function isSameState(before: PaceMarks & SentState, after: PaceMarks & SentState): boolean {
  return (
    before.isLowSent === after.isLowSent &&
    before.isEmptySent === after.isEmptySent &&
    before.dayLimitSentOn === after.dayLimitSentOn &&
    before.markAt.getTime() === after.markAt.getTime()
  )
}

function marksAt(
  { paceAt, paceSpent, markAt, markSpent }: PaceMarks,
  status: BookStatus,
): PaceMarks {
  if (status.now.getTime() - markAt.getTime() < MARK_MS) {
    return { paceAt, paceSpent, markAt, markSpent }
  }
  return { paceAt: markAt, paceSpent: markSpent, markAt: status.now, markSpent: status.spentTotal }
}

/** Credits a day. Within the first day the pace is what was spent so far. */
function paceOf({ paceAt, paceSpent }: PaceMarks, { spentTotal, now }: BookStatus): Credits {
  const ms = Math.max(DAY_MS, now.getTime() - paceAt.getTime())
  return micro(((spentTotal - paceSpent) * BigInt(DAY_MS)) / BigInt(ms))
}

type Ratio = readonly [bigint, bigint]

/** Which of the two thresholds a balance is below. */
export type ThresholdKind = 'credits' | 'days'

const UNSCALED = { credits: [1n, 1n], days: [1n, 1n] } as const

/** The threshold that the balance is below now, computed as for the e-mail; null: none. */
export function thresholdReached(guard: Guard, status: BookStatus): ThresholdKind | null {
  return thresholdBelow(guard, status, paceOf(marksAt(guard, status), status), UNSCALED)
}

/** Compares the balance with each threshold times its ratio. Null before the first request. */
function thresholdBelow(
  { lowCredits, lowDays }: Thresholds,
  { balance, spentTotal }: BookStatus,
  perDay: Credits,
  ratios: { readonly credits: Ratio; readonly days: Ratio },
): ThresholdKind | null {
  const isUnder = (limit: bigint, [numerator, denominator]: Ratio) =>
    balance * denominator < limit * numerator
  if (spentTotal === 0n) return null
  if (lowCredits !== null && isUnder(lowCredits, ratios.credits)) return 'credits'
  if (lowDays === null || perDay === 0n) return null
  return isUnder(perDay * BigInt(lowDays), ratios.days) ? 'days' : null
}
