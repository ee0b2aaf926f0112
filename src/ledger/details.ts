// What a request was like, beside its charge: numbers, ids and words of the protocol, never text of
// a conversation. The two lists below are the order in which settles and voids send these values to
// PostgreSQL; src/ledger/sql/settle.sql and void.sql read them by position, and a test writes and
// reads each of them.
import { nullableAsciiArray, nullableInt4Array } from './arrays.ts'

export type RequestDetails = {
  /** From the request's first byte to the reply's first and last one. */
  readonly firstByteMs?: number
  readonly totalMs?: number
  /** How much of it the request waited inside the gateway before it went upstream. */
  readonly waitedMs?: number
  readonly isStream?: boolean
  readonly stopReason?: string
  readonly errorType?: string
  readonly status?: number
  /** Attempts at other targets before the one that answered. */
  readonly retries?: number
  readonly target?: string
  readonly vendorRequestId?: string
  readonly bytesIn?: number
  readonly bytesOut?: number
  readonly serviceTier?: string
  readonly sessionId?: string
  readonly agentId?: string
  readonly parentAgentId?: string
  readonly label?: string
}

const INT4_MAX = 2 ** 31 - 1
const INT2_MAX = 2 ** 15 - 1
/** Ids of the vendor have about 30 characters; more could carry text. */
const TEXT_LENGTH_MAX = 64
/** Printable ASCII without quotes and backslashes, so that a value is written as it is. */
const PLAIN = /^[ !#-&(-[\]-~]+$/

/** Numbers after the tariff: the detail, its column, and the largest value of the column. */
const numbers = [
  ['firstByteMs', 'first_byte_ms', INT4_MAX],
  ['totalMs', 'total_ms', INT4_MAX],
  ['waitedMs', 'waited_ms', INT4_MAX],
  ['bytesIn', 'bytes_in', INT4_MAX],
  ['bytesOut', 'bytes_out', INT4_MAX],
  ['status', 'status', INT2_MAX],
  ['retries', 'retries', INT2_MAX],
  // The column is boolean; it is sent as 0 or 1.
  ['isStream', 'streamed', 1],
] as const

/** Texts before the parts. */
const texts = [
  ['stopReason', 'stop_reason'],
  ['errorType', 'error_type'],
  ['target', 'target'],
  ['vendorRequestId', 'vendor_request_id'],
  ['serviceTier', 'service_tier'],
  ['sessionId', 'session_id'],
  ['agentId', 'agent_id'],
  ['parentAgentId', 'parent_agent_id'],
  ['label', 'label'],
] as const

const columns: readonly (readonly [keyof RequestDetails, string])[] = [
  ...numbers.map(([name, column]) => [name, column] as const),
  ...texts,
]

/** What of an operation goes into the two arrays. */
export type Described = {
  readonly tariff?: number | undefined
  readonly details?: RequestDetails | undefined
}

/** The parameter p_numbers: the tariff and the numbers of each operation; null without any. */
export function numbersOf(operations: readonly Described[]): Buffer | null {
  const values: (number | undefined)[] = []
  for (const { tariff, details = {} } of operations) {
    values.push(tariff)
    for (const [name, , max] of numbers) values.push(bounded(details[name], max))
  }
  return values.every(isUndefined) ? null : nullableInt4Array(values)
}

/** The parameter p_texts: the texts and the parts of each operation; null without any. */
export function textsOf<Operation extends Described>(
  operations: readonly Operation[],
  partsText: (operation: Operation) => string | undefined,
): Buffer | null {
  const values: (string | undefined)[] = []
  for (const operation of operations) {
    const { details = {} } = operation
    for (const [name] of texts) values.push(plain(details[name]))
    values.push(partsText(operation))
  }
  return values.every(isUndefined) ? null : nullableAsciiArray(values)
}

/** The details without what no column takes: long or unusual text, numbers that are none. */
export function cleanDetails(details: RequestDetails): RequestDetails {
  const kept: Record<string, unknown> = {}
  for (const [name] of columns) {
    const given = details[name]
    const value = typeof given === 'string' ? plain(given) : given
    if (value !== undefined) kept[name] = value
  }
  return kept as RequestDetails
}

/** The details of a row of entries. */
export function detailsOf(row: Readonly<Record<string, unknown>>): RequestDetails {
  const found: Record<string, unknown> = {}
  for (const [name, column] of columns) {
    const value = row[column]
    if (value !== null && value !== undefined) found[name] = value
  }
  return found as RequestDetails
}

/** A reply of more than 2 GiB and a wait of more than 24 days count as the largest number. */
function bounded(value: number | boolean | undefined, max: number): number | undefined {
  const number = Math.trunc(Number(value))
  return number >= 0 ? Math.min(number, max) : undefined
}

function plain(text: string | undefined): string | undefined {
  if (text === undefined || text.length > TEXT_LENGTH_MAX) return undefined
  return PLAIN.test(text) ? withoutAddresses(text) : undefined
}

/**
 * Clients may label a request with an e-mail address. Entries and charge logs never change, so an
 * erasure could not take it out later: every address is stored as this word.
 */
function withoutAddresses(text: string): string {
  if (!text.includes('@') && !/%40/.test(text)) return text
  return text.replace(/[^\s=/|:,;]*(?:@|%40)[^\s=/|:,;]*/g, 'address')
}

function isUndefined(value: unknown): boolean {
  return value === undefined
}
