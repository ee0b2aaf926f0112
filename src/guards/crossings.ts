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

/** How fast a book spends. The only formula: e-mails, the notice and the overview show it. */
export type Pace = {
  readonly perDay: Credits
  /** The days that it is an average of, rounded; 1 at least. */
  readonly overDays: number
  /** Whole days that the balance lasts at this pace; null when nothing was spent. */
  readonly daysLeft: number | null
}

export type BalanceCheck = {
  readonly crossings: readonly Crossing[]
  readonly after: PaceMarks & SentState
  readonly pace: Pace
}

const DAY_MS = 86_400_000
/** The pace covers the last 3.5 to 7 days: weekends count, last month does not. */
const MARK_MS = 3.5 * DAY_MS
/**
 * While nothing is spent, the marks move every day, so that the pace of an owner who begins or
 * returns is an average of the days since then. One write per idle book and day.
 */
const IDLE_MARK_MS = DAY_MS

export function checkBalance(guard: Guard, status: BookStatus): BalanceCheck {
  const marks = marksAt(guard, status)
  const pace = paceSince(marks, status)
  const { perDay } = pace
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
    pace,
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
  { now, spentTotal }: BookStatus,
): PaceMarks {
  const ms = now.getTime() - markAt.getTime()
  const fresh = { markAt: now, markSpent: spentTotal }
  if (spentTotal === paceSpent && ms >= IDLE_MARK_MS) {
    return { paceAt: now, paceSpent: spentTotal, ...fresh }
  }
  if (ms < MARK_MS) return { paceAt, paceSpent, markAt, markSpent }
  return { paceAt: markAt, paceSpent: markSpent, ...fresh }
}

/** The pace now, computed as for the e-mail. */
export function paceOf(guard: Guard, status: BookStatus): Pace {
  return paceSince(marksAt(guard, status), status)
}

/** Within the first day the pace is what was spent so far. */
function paceSince(
  { paceAt, paceSpent }: PaceMarks,
  { spentTotal, balance, now }: BookStatus,
): Pace {
  const ms = Math.max(DAY_MS, now.getTime() - paceAt.getTime())
  const perDay = micro(((spentTotal - paceSpent) * BigInt(DAY_MS)) / BigInt(ms))
  return {
    perDay,
    overDays: Math.round(ms / DAY_MS),
    daysLeft: perDay === 0n ? null : Number(balance > 0n ? balance / perDay : 0n),
  }
}

type Ratio = readonly [bigint, bigint]

/** Which of the two thresholds a balance is below. */
export type ThresholdKind = 'credits' | 'days'

const UNSCALED = { credits: [1n, 1n], days: [1n, 1n] } as const

/** The threshold that the balance is below now, computed as for the e-mail; null: none. */
export function thresholdReached(guard: Guard, status: BookStatus): ThresholdKind | null {
  return thresholdBelow(guard, status, paceOf(guard, status).perDay, UNSCALED)
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
