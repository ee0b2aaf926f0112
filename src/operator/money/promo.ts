// op promo: promo codes. A new code gives credits away, so the operator types again what it may
// cost in total.
import { dateAt } from '../../platform/clock.ts'
import { creditsText } from '../../units/credits.ts'
import {
  formatCount,
  formatCredits,
  formatMinute,
  formatTime,
  parseCount,
  parseCredits,
  parsePeriodEnd,
  parsePeriodStart,
} from '../desk/amounts.ts'
import { commandError, EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { suggestion } from '../desk/nearest.ts'
import { tableOf } from '../desk/table.ts'

const DAY = 'a day, such as 2026-12-31'

const COLUMNS = [
  { head: 'code' },
  { head: 'credits', side: 'right' },
  { head: 'used', side: 'right' },
  { head: 'needs', side: 'right' },
  { head: 'from, UTC' },
  { head: 'to, UTC' },
  { head: 'note' },
] as const

export async function listPromos(desk: Desk): Promise<number> {
  const promos = await desk.modules.payments.promos()
  const nowMs = desk.modules.clock.nowMs()
  const rows = promos.map((one) => [
    one.code,
    formatCredits(one.credits),
    `${formatCount(one.redeemed)}/${formatCount(one.redemptionsMax)}`,
    formatCount(one.purchasesMin),
    formatMinute(one.startsAt),
    one.endsAt.getTime() <= nowMs ? 'over' : formatMinute(one.endsAt),
    one.note,
  ])
  const result = promos.map((one) => ({ ...one, credits: creditsText(one.credits) }))
  const lines = tableOf(COLUMNS, rows, desk.columns)
  desk.say({ promos: result }, lines.length === 0 ? ['there is no code'] : lines)
  return EXIT_DONE
}

export async function createPromo(desk: Desk, code: string, amount: string): Promise<number> {
  const credits = parseCredits(amount)
  if (credits === undefined) throw usageError(`${amount} is no number of credits`)
  const times = desk.read('times', parseCount, 'a whole number above 0')
  const endsAt = desk.read('until', parsePeriodEnd, DAY)
  if (times === undefined || endsAt === undefined) {
    throw usageError('say how often (--times) and how long (--until) it can be used')
  }
  const from = desk.read('from', parsePeriodStart, DAY)
  const startsAt = from ?? dateAt(desk.modules.clock.nowMs())
  const purchasesMin = desk.read('purchases', parseCount, 'a whole number above 0') ?? 0
  const note = desk.text('note') ?? ''
  const all = credits * BigInt(times)
  const limits = { redemptionsMax: times, purchasesMin, startsAt, endsAt }
  const promo = { code, credits, ...limits, by: desk.by, note }
  return desk.act({
    plan: [
      `code ${code.toUpperCase()}: ${formatCredits(credits)} credits, ` +
        `${formatCount(times)} accounts`,
      // Without the second of now: the console confirms this very text later.
      `  from ${from === undefined ? 'now on' : formatTime(from)} to ${formatTime(endsAt)}`,
      ...(purchasesMin === 0
        ? []
        : [`  for accounts with ${formatCount(purchasesMin)} purchases without a refund`]),
      `  it may cost ${formatCredits(all)} credits in all`,
    ],
    // The day on which a code begins at once is that of its approval.
    compared: [
      ...[code.toUpperCase(), formatCredits(credits), formatCount(times), formatTime(endsAt)],
      ...[desk.text('from') ?? 'at once', formatCount(purchasesMin), note],
    ],
    needs: { kind: 'promo', size: all },
    // Whoever makes a code can hand its credits out: all of them count towards the day.
    moves: () => ({ kind: 'credits', amount: all }),
    typeAgain: formatCredits(all),
    work: (tx) => desk.modules.payments.createPromo(promo, tx),
    report: (made) => ({ result: made, line: `code ${made.code} is made` }),
  })
}

export async function endPromo(desk: Desk, code: string): Promise<number> {
  const promos = await desk.modules.payments.promos()
  const mine = promos.find((one) => one.code === code.trim().toUpperCase())
  if (mine === undefined) {
    const names = promos.map((one) => one.code)
    throw commandError(`there is no code ${code}${suggestion(code, names)}`)
  }
  return desk.act({
    plan: [
      `code ${mine.code}, used ${formatCount(mine.redeemed)} ` +
        `of ${formatCount(mine.redemptionsMax)}`,
      '  nobody can use it any more; what was given stays',
    ],
    work: (tx) => desk.modules.payments.endPromo(mine.code, tx),
    report: () => ({ result: { code: mine.code }, line: `code ${mine.code} is over` }),
  })
}
