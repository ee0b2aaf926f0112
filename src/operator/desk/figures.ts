// Amounts and times as operators read and type them: grouped by thousands, exact, in UTC.
import { dateAt, dateOf } from '../../platform/clock.ts'
import type { Credits } from '../../units/credits.ts'
import { CREDITS_MAX, creditsText, MICRO } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { kopecksFromRubles, rublesText } from '../../units/kopecks.ts'

const DAY_MS = 86_400_000

/** `34 998 712.5`, exact. */
export function creditsShown(amount: bigint): string {
  return grouped(creditsText(amount as Credits))
}

/** `1 300.00 RUB`. */
export function rublesShown(amount: Kopecks): string {
  return `${grouped(rublesText(amount))} RUB`
}

/** `1 234 567`. */
export function countShown(count: bigint | number): string {
  return grouped(String(count))
}

function grouped(digits: string): string {
  const [whole = '', fraction] = digits.split('.')
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ' ')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** `2026-11-14 12:01:07 UTC`. */
export function timeShown(at: Date | null): string {
  return at === null ? 'never' : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `2026-11-14 12:01`, for a column whose head says UTC. */
export function minuteShown(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ')
}

/** `2026-11-14`, for a column whose head says UTC. */
export function dayShown(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Reads credits as people type them: `35000000`, `35 000 000`, `1_000.5`, `-20`. */
export function creditsFrom(text: string): Credits | undefined {
  const match = /^([+-]?)(\d{1,13})(?:\.(\d{1,6}))?$/.exec(plain(text))
  if (match === null) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const size = BigInt(whole) * MICRO + BigInt(fraction.padEnd(6, '0'))
  return size > CREDITS_MAX ? undefined : ((sign === '-' ? -size : size) as Credits)
}

/** Reads roubles: `1300`, `1 300.00`. */
export function kopecksFrom(text: string): Kopecks | undefined {
  return kopecksFromRubles(plain(text))
}

/** Whether two texts are the same amount, or the same address, as people type them. */
export function isSameTyped(a: string, b: string): boolean {
  const bare = (text: string) =>
    plain(text)
      .replace(/RUB$/i, '')
      .replace(/^([+-]?\d+)(?:\.0*|(\.\d*[1-9])0*)$/, '$1$2')
      .toLowerCase()
  return bare(a) === bare(b)
}

function plain(text: string): string {
  return text.replace(/[\s_]/g, '')
}

/** A day (`2026-11-01`, from its first moment in UTC) or an RFC 3339 moment. */
export function momentFrom(text: string): Date | undefined {
  return dateOf(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
}

/** The same, but a day stands for its end: `--to 2026-11-30` has all of November in it. */
export function momentTo(text: string): Date | undefined {
  const moment = momentFrom(text)
  const isDay = text.length === 10
  return moment && isDay ? dateAt(moment.getTime() + DAY_MS) : moment
}

/** A whole number above zero. */
export function countFrom(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
