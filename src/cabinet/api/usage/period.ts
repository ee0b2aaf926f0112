// A period of days in the owner's time zone. The database decides where the days begin and end,
// because it dates the entries.
import { z } from 'zod'
import type { Ledger } from '../../../ledger/ledger.ts'
import { dayText, isDay } from '../../../platform/clock.ts'
import { isUnknownZone } from '../../../platform/db/database-errors.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { CabinetRefusal } from '../../refusals.ts'

const DAY_MS = 86_400_000

type UsageClock = Pick<Ledger['usage'], 'today'>

/** The fields of a query that name a period. */
export const periodFields = {
  from: day().optional(),
  to: day().optional(),
  zone: z.string().optional(),
}

function day() {
  return z.string().refine(isDay)
}

export type PeriodQuery = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly zone?: string | undefined
}

export type Period = { readonly zone: string; readonly from: string; readonly to: string }

/** The requested period, or `defaultDays` up to today; at most `maxDays`. */
export async function periodOf(
  usage: UsageClock,
  query: PeriodQuery,
  { defaultDays, maxDays }: { readonly defaultDays: number; readonly maxDays: number },
): Promise<Period> {
  const { zone, today } = await zoneToday(usage, zoneOf(query.zone))
  const to = query.to ?? laterOf(today, query.from)
  const from = query.from ?? daysAfter(to, 1 - defaultDays)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days >= 1 && days <= maxDays) return { zone, from, to }
  throw new CabinetRefusal('field_invalid', `A period is from 1 to ${maxDays} days.`, {
    field: 'from',
  })
}

/** The zone, or UTC when the database does not know it, and today's date there. */
export async function zoneToday(
  usage: UsageClock,
  zone: string,
): Promise<{ zone: string; today: string }> {
  try {
    return { zone, today: await usage.today(zone) }
  } catch (error) {
    if (!isUnknownZone(error) || zone === 'UTC') throw error
    return zoneToday(usage, 'UTC')
  }
}

export function daysAfter(day: string, days: number): string {
  return dayText(Date.parse(day) + days * DAY_MS)
}

function laterOf(a: string, b = a): string {
  return a > b ? a : b
}
