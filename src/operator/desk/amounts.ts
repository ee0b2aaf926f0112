// Formats and parses amounts, counts and times for operators: exact, grouped by thousands, in UTC.
import { dateAt, dateOf } from '../../platform/clock.ts'
import type { Credits } from '../../units/credits.ts'
import { CREDITS_MAX, creditsText, MICRO } from '../../units/credits.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { kopecksFromRubles, rublesText } from '../../units/kopecks.ts'

const DAY_MS = 86_400_000

/** `34 998 712.5`, exact. */
export function formatCredits(amount: bigint): string {
  return groupThousands(creditsText(amount as Credits))
}

/** `1 300.00 RUB`. */
export function formatRubles(amount: Kopecks): string {
  return `${formatRubleCell(amount)} RUB`
}

/** `1 300.00`, for a column whose heading says RUB. */
export function formatRubleCell(amount: Kopecks): string {
  return groupThousands(rublesText(amount))
}

/** `1 234 567`. */
export function formatCount(count: bigint | number): string {
  return groupThousands(String(count))
}

function groupThousands(digits: string): string {
  const [whole = '', fraction] = digits.split('.')
  const groups = whole.replace(/\B(?=(?:\d{3})+$)/g, ' ')
  return fraction === undefined ? groups : `${groups}.${fraction}`
}

/** `2026-11-14 12:01:07 UTC`. */
export function formatTime(at: Date | null): string {
  return at === null ? 'never' : `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** `2026-11-14 12:01`, for a column whose heading says UTC. */
export function formatMinute(at: Date): string {
  return at.toISOString().slice(0, 16).replace('T', ' ')
}

/** `2026-11-14`, for a column whose heading says UTC. */
export function formatDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Parses credits as people type them: `35000000`, `35 000 000`, `1_000.5`, `-20`. */
export function parseCredits(text: string): Credits | undefined {
  const match = /^([+-]?)(\d{1,13})(?:\.(\d{1,6}))?$/.exec(withoutSeparators(text))
  if (match === null) return undefined
  const [, sign, whole = '0', fraction = ''] = match
  const size = BigInt(whole) * MICRO + BigInt(fraction.padEnd(6, '0'))
  return size > CREDITS_MAX ? undefined : ((sign === '-' ? -size : size) as Credits)
}

/** Parses roubles: `1300`, `1 300.00`. */
export function parseRubles(text: string): Kopecks | undefined {
  return kopecksFromRubles(withoutSeparators(text))
}

/** Whether two typed texts are the same amount or address, ignoring case and separators. */
export function isSameTyped(a: string, b: string): boolean {
  const bare = (text: string) =>
    withoutSeparators(text)
      .replace(/RUB$/i, '')
      .replace(/^([+-]?\d+)(?:\.0*|(\.\d*[1-9])0*)$/, '$1$2')
      .toLowerCase()
  return bare(a) === bare(b)
}

function withoutSeparators(text: string): string {
  return text.replace(/[\s_]/g, '')
}

/** False for 30 February, which Date reads as 2 March, and for the year 0, which SQL lacks. */
export function isDay(text: string): boolean {
  const start = dateOf(`${text}T00:00:00Z`)
  return start !== undefined && formatDay(start) === text && text >= '0001'
}

/** Parses a day (`2026-11-01`, meaning its start in UTC) or an RFC 3339 time. */
export function parsePeriodStart(text: string): Date | undefined {
  return isDay(text) ? dateOf(`${text}T00:00:00Z`) : dateOf(text)
}

/** The same, but a day means its end: `--to 2026-11-30` includes all of November. */
export function parsePeriodEnd(text: string): Date | undefined {
  const moment = parsePeriodStart(text)
  return moment && isDay(text) ? dateAt(moment.getTime() + DAY_MS) : moment
}

/** A whole number above zero. */
export function parseCount(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined
}
