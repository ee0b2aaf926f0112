// Reads the query parameters of the free endpoints. Every parameter that is misspelt, repeated or
// out of range is refused: an answer without the meant filter would look like a wrong bill.
import { dateOf, isDay } from '../../platform/clock.ts'
import { isZone, zoneOf } from '../../platform/zone.ts'
import type { Exchange } from '../exchange.ts'
import { gatewayRefusal } from '../refusals.ts'

/** As long as the longest name of a model; ids of sessions and labels have at most 64. */
const VALUE_LENGTH_MAX = 256
/** Client libraries add it to paths of their beta resources. */
const IGNORED = 'beta'

export type Parameters<Name extends string> = Readonly<Partial<Record<Name, string>>>

/** The given parameters. Refuses: field_invalid for any other one, and for one given twice. */
export function parametersOf<Name extends string>(
  { query }: Pick<Exchange, 'query'>,
  names: readonly Name[],
): Parameters<Name> {
  const given: Partial<Record<Name, string>> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === IGNORED) continue
    const known = names.find((one) => one === name)
    if (known === undefined) throw invalid(shown(name), `expected one of ${names.join(', ')}`)
    if (given[known] !== undefined) throw invalid(known, 'given twice')
    if (value === '') throw invalid(known, 'Input should not be empty')
    if (value.length > VALUE_LENGTH_MAX) throw invalid(known, 'Input is too long')
    // PostgreSQL has no text with this character and would raise an error.
    if (value.includes('\0')) throw invalid(known, 'Input has a NUL character')
    given[known] = value
  }
  return given
}

export function limitOf(text: string | undefined, standard: number, most: number): number {
  if (text === undefined) return standard
  const limit = Number(text)
  if (/^\d{1,9}$/.test(text) && limit >= 1 && limit <= most) return limit
  throw invalid('limit', `Input should be between 1 and ${most}`)
}

export function oneOf<Value extends string>(
  name: string,
  text: string | undefined,
  values: readonly Value[],
): Value | undefined {
  if (text === undefined) return undefined
  const found = values.find((one) => one === text)
  if (found !== undefined) return found
  throw invalid(name, `Input should be one of ${values.join(', ')}`)
}

/**
 * UTC without one. As `Area/City`: PostgreSQL reads a name without a slash as an abbreviation
 * first, so that IST would be Israel's time for it and India's for Node, and CET would have no
 * summer. The
 * database may still not know the zone: it then raises 22023.
 */
export function zoneIn(text: string | undefined): string {
  if (text === undefined) return 'UTC'
  if (isZone(text)) return zoneOf(text)
  throw invalid('zone', 'Input should be the name of a time zone, such as Europe/Moscow')
}

export function dayIn(name: string, text: string | undefined): string | undefined {
  if (text === undefined || isDay(text)) return text
  throw invalid(name, 'Input should be a day, such as 2026-11-15')
}

/** A day, or a moment such as 2026-11-15T10:00:00Z. */
export function dayOrTime(name: string, text: string | undefined): Date | string | undefined {
  if (text === undefined || isDay(text)) return text
  // A plus sign that was not encoded arrives as a space.
  const time = dateOf(text.replace(' ', '+'))
  if (time !== undefined) return time
  throw invalid(name, 'Input should be a day or a time, such as 2026-11-15T10:00:00Z')
}

/** An opaque text for a position, so that clients do not compute positions themselves. */
export function cursorOf(kind: string, position: string): string {
  return Buffer.from(`${kind} ${position}`).toString('base64url')
}

/** The position in a cursor of this kind; it matches `pattern` as a whole. */
export function positionIn(
  kind: string,
  cursor: string | undefined,
  pattern: RegExp,
): string | undefined {
  if (cursor === undefined) return undefined
  const [found, position = ''] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ')
  if (found === kind && pattern.test(position)) return position
  throw invalid('cursor', 'Input should be the next_cursor of an answer with the same filters')
}

export function invalid(name: string, what: string) {
  return gatewayRefusal('field_invalid', `${name}: ${what}`)
}

/** The client's own text: short, and without what a terminal might interpret. */
function shown(name: string): string {
  return name.replace(/[^\w.-]/g, '?').slice(0, 64)
}
