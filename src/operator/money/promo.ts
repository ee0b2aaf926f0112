// op promo: codes that give credits. Making one is giving credits away, so the sum that it may cost
// is typed again.
import { dateAt } from '../../platform/clock.ts'
import { creditsText } from '../../units/credits.ts'
import type { Desk } from '../desk/desk.ts'
import {
  countFrom,
  countShown,
  creditsFrom,
  creditsShown,
  minuteShown,
  momentFrom,
  momentTo,
  timeShown,
} from '../desk/figures.ts'
import { absent, EXIT_DONE, mistake } from '../desk/halt.ts'
import { guess } from '../desk/nearest.ts'
import { tableOf } from '../desk/table.ts'

const DAY = 'a day, such as 2026-12-31'

const COLUMNS = [
  { head: 'code' },
  { head: 'credits', side: 'right' },
  { head: 'used', side: 'right' },
  { head: 'from, UTC' },
  { head: 'to, UTC' },
  { head: 'note' },
] as const

export async function listPromos(desk: Desk): Promise<number> {
  const promos = await desk.rooms.payments.promos()
  const nowMs = desk.rooms.clock.nowMs()
  const rows = promos.map((one) => [
    one.code,
    creditsShown(one.credits),
    `${countShown(one.redeemed)}/${countShown(one.redemptionsMax)}`,
    minuteShown(one.startsAt),
    one.endsAt.getTime() <= nowMs ? 'over' : minuteShown(one.endsAt),
    one.note,
  ])
  const result = promos.map((one) => ({ ...one, credits: creditsText(one.credits) }))
  const lines = tableOf(COLUMNS, rows, desk.columns)
  desk.say({ promos: result }, lines.length === 0 ? ['there is no code'] : lines)
  return EXIT_DONE
}

export async function createPromo(desk: Desk, code: string, amount: string): Promise<number> {
  const credits = creditsFrom(amount)
  if (credits === undefined) throw mistake(`${amount} is no number of credits`)
  const times = desk.read('times', countFrom, 'a whole number')
  const endsAt = desk.read('until', momentTo, DAY)
  if (times === undefined || endsAt === undefined) {
    throw mistake('say how often (--times) and how long (--until) it can be used')
  }
  const startsAt = desk.read('from', momentFrom, DAY) ?? dateAt(desk.rooms.clock.nowMs())
  const note = desk.text('note') ?? ''
  const all = credits * BigInt(times)
  const promo = { code, credits, redemptionsMax: times, startsAt, endsAt, by: desk.by, note }
  return desk.act({
    plan: [
      `code ${code.toUpperCase()}: ${creditsShown(credits)} credits, ${countShown(times)} accounts`,
      `  from ${timeShown(startsAt)} to ${timeShown(endsAt)}`,
      `  it may cost ${creditsShown(all)} credits in all`,
    ],
    again: creditsShown(all),
    work: (tx) => desk.rooms.payments.createPromo(promo, tx),
    tell: (made) => ({ result: made, line: `code ${made.code} is made` }),
  })
}

export async function endPromo(desk: Desk, code: string): Promise<number> {
  const promos = await desk.rooms.payments.promos()
  const mine = promos.find((one) => one.code === code.trim().toUpperCase())
  if (mine === undefined) {
    const names = promos.map((one) => one.code)
    throw absent(`there is no code ${code}${guess(code, names)}`)
  }
  return desk.act({
    plan: [
      `code ${mine.code}, used ${countShown(mine.redeemed)} of ${countShown(mine.redemptionsMax)}`,
      '  nobody can use it any more; what was given stays',
    ],
    work: (tx) => desk.rooms.payments.endPromo(mine.code, tx),
    tell: () => ({ result: { code: mine.code }, line: `code ${mine.code} is over` }),
  })
}
