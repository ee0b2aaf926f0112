// What a look at a book means for its owner, as a pure function: which letters to write now, and
// what to remember of it. Once per crossing: a letter goes when a line is crossed, and its line is
// armed again only when the balance is well above it.
import type { WatchedBook } from '../ledger/ledger.ts'
import type { BookId } from '../platform/ids.ts'
import { type Credits, micro } from '../units/credits.ts'

/** Two moments at which it was noted what had been spent so far. */
type Marks = {
  readonly paceAt: Date
  readonly paceSpent: Credits
  readonly markAt: Date
  readonly markSpent: Credits
}

/** What was told already. */
type Told = {
  readonly isLowTold: boolean
  readonly isEmptyTold: boolean
  /** The last day whose limit was told of. */
  readonly dayTold: string | null
}

/** When an owner wants to be told; null: not for this. */
export type Thresholds = { readonly lowCredits: Credits | null; readonly lowDays: number | null }

export type Guard = Thresholds & Marks & Told & { readonly book: BookId }

export type Crossing = 'low-balance' | 'balance-empty' | 'day-limit-reached'

export type Look = {
  readonly tell: readonly Crossing[]
  readonly after: Marks & Told
  /** Whole days at the pace of the last days; null when nothing was spent. */
  readonly daysLeft: number | null
}

const DAY_MS = 86_400_000
/** The pace is that of the last 3.5 to 7 days: weekends belong to it, last month does not. */
const MARK_MS = 3.5 * DAY_MS

export function lookAt(guard: Guard, seen: WatchedBook): Look {
  const marks = marksAt(guard, seen)
  const perDay = paceOf(marks, seen)
  const isLow = belowBy(guard, seen, perDay, AS_SET) !== null
  // A tenth more credits, or half as many days again: a pace moves by itself, credits do not.
  const isNear = belowBy(guard, seen, perDay, { credits: [11n, 10n], days: [3n, 2n] }) !== null
  const isEmpty = seen.isShort && !guard.isEmptyTold
  const isCrossed = isLow && !guard.isLowTold
  const isDayOver = seen.isDayLimitMet && guard.dayTold !== seen.day
  return {
    tell: [
      ...(isEmpty ? (['balance-empty'] as const) : []),
      // Who has nothing left need not hear that there is little.
      ...(isCrossed && !seen.isShort ? (['low-balance'] as const) : []),
      ...(isDayOver ? (['day-limit-reached'] as const) : []),
    ],
    after: {
      ...marks,
      isLowTold: isLow || seen.isShort || (guard.isLowTold && isNear),
      isEmptyTold: seen.isShort,
      dayTold: isDayOver ? seen.day : guard.dayTold,
    },
    daysLeft: perDay === 0n ? null : Number(seen.balance > 0n ? seen.balance / perDay : 0n),
  }
}

export function isSame(before: Marks & Told, after: Marks & Told): boolean {
  return (
    before.isLowTold === after.isLowTold &&
    before.isEmptyTold === after.isEmptyTold &&
    before.dayTold === after.dayTold &&
    before.markAt.getTime() === after.markAt.getTime()
  )
}

function marksAt({ paceAt, paceSpent, markAt, markSpent }: Marks, seen: WatchedBook): Marks {
  if (seen.now.getTime() - markAt.getTime() < MARK_MS) {
    return { paceAt, paceSpent, markAt, markSpent }
  }
  return { paceAt: markAt, paceSpent: markSpent, markAt: seen.now, markSpent: seen.spentTotal }
}

/** Credits a day. A book younger than a day spends no more a day than it has spent. */
function paceOf({ paceAt, paceSpent }: Marks, { spentTotal, now }: WatchedBook): Credits {
  const ms = Math.max(DAY_MS, now.getTime() - paceAt.getTime())
  return micro(((spentTotal - paceSpent) * BigInt(DAY_MS)) / BigInt(ms))
}

type Part = readonly [bigint, bigint]

/** Whose line a balance is below. */
export type LowBy = 'credits' | 'days'

const AS_SET = { credits: [1n, 1n], days: [1n, 1n] } as const

/** The line that the balance is below now, by the same arithmetic as the letter; null: none. */
export function lowAt(guard: Guard, seen: WatchedBook): LowBy | null {
  return belowBy(guard, seen, paceOf(marksAt(guard, seen), seen), AS_SET)
}

/** Below one of the thresholds, each times a part. Nothing is low before anything was spent. */
function belowBy(
  { lowCredits, lowDays }: Thresholds,
  { balance, spentTotal }: WatchedBook,
  perDay: Credits,
  times: { readonly credits: Part; readonly days: Part },
): LowBy | null {
  const isUnder = (limit: bigint, [over, under]: Part) => balance * under < limit * over
  if (spentTotal === 0n) return null
  if (lowCredits !== null && isUnder(lowCredits, times.credits)) return 'credits'
  if (lowDays === null || perDay === 0n) return null
  return isUnder(perDay * BigInt(lowDays), times.days) ? 'days' : null
}
