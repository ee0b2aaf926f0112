// When an owner is told: once per line that is crossed, and again only after it was well over.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookStatus } from '../ledger/ledger.ts'
import type { BookId } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import { checkBalance, type Guard } from './crossings.ts'
import { isLooser, type Limits } from './limits.ts'

const book = 1n as BookId
const DAY_MS = 86_400_000
const start = Date.UTC(2026, 10, 15)

const guard: Guard = {
  book,
  lowCredits: null,
  lowDays: null,
  isLowSent: false,
  isEmptySent: false,
  dayLimitSentOn: null,
  paceAt: new Date(start),
  paceSpent: credits(0),
  markAt: new Date(start),
  markSpent: credits(0),
}

function statusOf(balance: number, changes: Partial<BookStatus> = {}): BookStatus {
  return {
    book,
    balance: credits(balance),
    spentTotal: credits(1),
    dayLimit: null,
    day: '2026-11-15',
    isDayLimitMet: false,
    dayLimitNeeded: null,
    dayLimitLeft: null,
    dayLeft: null,
    isOutOfCredits: false,
    now: new Date(start + DAY_MS),
    ...changes,
  }
}

/** What each look tells, one after the other. */
function story(first: Partial<Guard>, statuses: readonly BookStatus[]): string[] {
  let now: Guard = { ...guard, ...first }
  return statuses.map((status) => {
    const { crossings, after } = checkBalance(now, status)
    now = { ...now, ...after }
    return crossings.join(' ')
  })
}

test('a low balance is told once, and again only after a tenth more than the threshold', () => {
  const told = story({ lowCredits: credits(1_000) }, [
    ...[statusOf(1_000), statusOf(999), statusOf(500), statusOf(1_050), statusOf(990)],
    ...[statusOf(1_100), statusOf(999)],
  ])
  assert.deepEqual(told, ['', 'low-balance', '', '', '', '', 'low-balance'])
})

test('days that are left are told once, and a pace that wavers is no news', () => {
  const spent = (perDay: number) => ({ spentTotal: credits(perDay) })
  const told = story({ lowDays: 3 }, [
    ...[statusOf(3_100, spent(1_000)), statusOf(2_900, spent(1_000))],
    // A slower day: 4 days are left, which is not yet well over.
    ...[statusOf(2_900, spent(700)), statusOf(2_900, spent(1_000))],
    ...[statusOf(9_000, spent(1_000)), statusOf(2_900, spent(1_000))],
  ])
  assert.deepEqual(told, ['', 'low-balance', '', '', '', 'low-balance'])
})

test('the pace is that of the last days, and of no less than one', () => {
  const daysLeft = (status: BookStatus) => checkBalance(guard, status).pace.daysLeft
  const hour = { now: new Date(start + DAY_MS / 24) }
  assert.equal(daysLeft(statusOf(3_000, { spentTotal: credits(1_000), ...hour })), 3)
  assert.equal(daysLeft(statusOf(3_000, { spentTotal: credits(0) })), null)
  // Three quiet days after a week of work: the work before the marks counts no more.
  let now: Guard = guard
  for (const [day, spent] of [
    [4, 40_000],
    [8, 40_000],
    [12, 40_400],
  ] as const) {
    const status = { spentTotal: credits(spent), now: new Date(start + day * DAY_MS) }
    now = { ...now, ...checkBalance(now, statusOf(1_000, status)).after }
  }
  const last = { spentTotal: credits(40_400), now: new Date(start + 12 * DAY_MS) }
  assert.equal(
    checkBalance(now, statusOf(1_000, last)).pace.daysLeft,
    10,
    '400 in four days, 1000 are left',
  )
})

test('an owner who begins after idle days has the pace of the days since then', () => {
  // The guard is checked every day; the first request comes on day 6.
  let now: Guard = guard
  for (const day of [1, 2, 3, 4, 5, 6]) {
    const status = { spentTotal: credits(0), now: new Date(start + day * DAY_MS) }
    now = { ...now, ...checkBalance(now, statusOf(6_000, status)).after }
  }
  const begun = { spentTotal: credits(1_000), now: new Date(start + 6.5 * DAY_MS) }
  assert.deepEqual(checkBalance(now, statusOf(5_000, begun)).pace, {
    perDay: credits(1_000),
    overDays: 1,
    daysLeft: 5,
  })
})

test('nothing left is told apart, once until credits come', () => {
  const short = { isOutOfCredits: true }
  const told = story({ lowCredits: credits(1_000) }, [
    ...[
      statusOf(900),
      statusOf(3, short),
      statusOf(3, short),
      statusOf(35_000),
      statusOf(3, short),
    ],
  ])
  assert.deepEqual(told, ['low-balance', 'balance-empty', '', '', 'balance-empty'])
})

test('the limit of the day is told once a day', () => {
  const met = { isDayLimitMet: true }
  const told = story({}, [
    ...[statusOf(9, met), statusOf(9, met), statusOf(9, { day: '2026-11-16' })],
    statusOf(9, { ...met, day: '2026-11-16' }),
  ])
  assert.deepEqual(told, ['day-limit-reached', '', '', 'day-limit-reached'])
})

test('looser is whatever lets more through', () => {
  const limits = (dayLimit: number | null, velocity: [number, number] | null): Limits => ({
    dayLimit: dayLimit === null ? null : credits(dayLimit),
    velocity: velocity && { limit: credits(velocity[0]), minutes: velocity[1] },
  })
  const base = limits(100, [50, 10])
  const looser = [
    ...[limits(101, [50, 10]), limits(null, [50, 10]), limits(100, null)],
    ...[limits(100, [51, 10]), limits(100, [50, 9]), limits(1, [51, 10])],
  ]
  for (const one of looser) assert.ok(isLooser(base, one), JSON.stringify(one.velocity?.minutes))
  const stricter = [base, limits(99, [50, 10]), limits(100, [49, 10]), limits(100, [50, 11])]
  for (const one of stricter) assert.ok(!isLooser(base, one))
  assert.ok(!isLooser(limits(null, null), base))
})
