// Days as an owner counts them: a time zone that exists, and a period of its days. Which moments
// those are is the database's to say: it dates the entries.
import { z } from 'zod'
import type { Ledger } from '../../../ledger/ledger.ts'
import { dayText } from '../../../platform/clock.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { OwnNo } from '../../answers.ts'

const DAY_MS = 86_400_000
/** PostgreSQL's code for a time zone that it has never heard of. */
const ZONE_UNKNOWN = '22023'

type Clocked = Pick<Ledger['usage'], 'today'>

/** What a query says of a period. */
export const periodFields = {
  from: day().optional(),
  to: day().optional(),
  zone: z.string().optional(),
}

function day() {
  return z.string().refine((text) => /^20\d\d-\d\d-\d\d$/.test(text) && isDay(text))
}

/** February has no 30th: it would be read as the 2nd of March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && dayText(ms) === text
}

export type Asked = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly zone?: string | undefined
}

export type Period = { readonly zone: string; readonly from: string; readonly to: string }

/** The asked period, or so many days up to today; at most so many days. */
export async function periodOf(
  usage: Clocked,
  asked: Asked,
  { usual, max }: { readonly usual: number; readonly max: number },
): Promise<Period> {
  const { zone, today } = await zoneToday(usage, zoneOf(asked.zone))
  const to = asked.to ?? laterOf(today, asked.from)
  const from = asked.from ?? daysAfter(to, 1 - usual)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days >= 1 && days <= max) return { zone, from, to }
  throw new OwnNo('field_invalid', `A period is from 1 to ${max} days.`, { field: 'from' })
}

/** The zone, or UTC when the database does not know it, and the day it is there. */
export async function zoneToday(
  usage: Clocked,
  zone: string,
): Promise<{ zone: string; today: string }> {
  try {
    return { zone, today: await usage.today(zone) }
  } catch (error) {
    const isUnknown = (error as { code?: unknown }).code === ZONE_UNKNOWN
    if (!isUnknown || zone === 'UTC') throw error
    // A browser may know a zone that was made after our PostgreSQL was.
    return zoneToday(usage, 'UTC')
  }
}

export function daysAfter(day: string, days: number): string {
  return dayText(Date.parse(day) + days * DAY_MS)
}

function laterOf(a: string, b = a): string {
  return a > b ? a : b
}
