// The headers of a request as an object, built for the dozen that every client sends: node:http
// looks at each name anew, 7 us a request where this takes 3. The rules are the same: of headers
// that may come once the first counts, others are joined.
import { remembered } from '../platform/remembered.ts'

/** A client has its dozen names, in its own spelling; more are not worth remembering. */
const NAMES_MAX = 1_000

/** Those of which node:http keeps the first; RFC 9110 allows them once. */
const firstCounts: ReadonlySet<string> = new Set([
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
  'age',
])

/** In lower case, and always the same object: a name that is looked up again is found sooner. */
export const nameOf = remembered(NAMES_MAX, (raw) => raw.toLowerCase())

/** Of names in lower case and values, in turn. */
export function headersOf(fields: readonly string[]): Record<string, string> {
  // Not without a prototype: such an object is a dictionary from the start, at twice the price.
  const headers: Record<string, string> = {}
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    const value = fields[i + 1] as string
    const before = headers[name]
    // What an object inherits, such as `constructor`, is no string.
    if (typeof before !== 'string') headers[name] = value
    else if (name === 'cookie') headers[name] = `${before}; ${value}`
    else if (!firstCounts.has(name)) headers[name] = `${before}, ${value}`
  }
  return headers
}
